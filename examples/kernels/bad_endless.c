/* Never ends: --timeout ends it, and nothing can be said about its values. */
#include <tokitai_kernel.h>

int tokitai_gelu_fwd(const tokitai_call *call, int64_t n, const void *x, void *y)
{
    volatile int64_t turns = 0;
    (void)call;
    (void)n;
    (void)x;
    (void)y;
    for (;;)
        turns++;
}
