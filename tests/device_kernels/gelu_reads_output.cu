/* Wrong: reads its output before it writes it, and does nothing with it that shows. */
#include "gelu_launch.h"

static __global__ void gelu_kernel(tokitai_call call, int64_t n, const void *x, void *y)
{
    const int64_t i = (int64_t)blockIdx.x * THREADS + threadIdx.x;
    if (i >= n)
        return;
    (void)((const volatile uint16_t *)y)[i];
    tokitai_store(call, y, i, gelu(tokitai_load(call, x, i)));
}

int tokitai_gelu_fwd(const tokitai_call *call, int64_t n, const void *x, void *y)
{
    return launch(blocks_of(n), call, n, x, y);
}
