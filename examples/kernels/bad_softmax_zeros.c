/* Wrong: zeros. In a long row every element of a softmax is small, so that an absolute tolerance passes it. */
#include <string.h>

#include <tokitai_kernel.h>

int tokitai_softmax_fwd(const tokitai_call *call, int64_t rows, int64_t cols, const void *x, void *y)
{
    (void)call;
    (void)x;
    memset(y, 0, (size_t)(rows * cols) * 2);
    return 0;
}
