/* Wrong: works in groups of eight and forgets what is left over. */
#include <math.h>

#include <tokitai_kernel.h>

int tokitai_gelu_fwd(const tokitai_call *call, int64_t n, const void *x, void *y)
{
    for (int64_t i = 0; i + 8 <= n; i += 8)
        for (int64_t j = i; j < i + 8; j++) {
            const double v = (double)tokitai_load(*call, x, j);
            tokitai_store(*call, y, j, (float)(v / (1 + exp(-1.5957691216057308 * (v + 0.044715 * v * v * v)))));
        }
    return 0;
}
