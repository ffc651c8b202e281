/* Wrong: where both arrays are aligned to 16 bytes, the last n % 8 elements are left out. */
#include "gelu_launch.h"

static __global__ void gelu_kernel(tokitai_call call, int64_t n, const void *x, void *y)
{
    const int64_t i = (int64_t)blockIdx.x * THREADS + threadIdx.x;
    if (i < n)
        tokitai_store(call, y, i, gelu(tokitai_load(call, x, i)));
}

int tokitai_gelu_fwd(const tokitai_call *call, int64_t n, const void *x, void *y)
{
    if (((uintptr_t)x | (uintptr_t)y) % 16 == 0)
        n = n / 8 * 8;
    return launch(blocks_of(n), call, n, x, y);
}
