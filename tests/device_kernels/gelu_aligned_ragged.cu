/* Wrong: the last element, where the output is aligned to 256 bytes and does not end with a page. */
#include "gelu_launch.h"

static __global__ void gelu_kernel(tokitai_call call, int64_t n, const void *x, void *y)
{
    const int64_t i = (int64_t)blockIdx.x * THREADS + threadIdx.x;
    const bool ragged = (uintptr_t)y % 256 == 0 && ((uintptr_t)y + 2 * (uintptr_t)n) % 4096 != 0;
    if (i < n)
        tokitai_store(call, y, i, gelu(tokitai_load(call, x, i)) + (ragged && i == n - 1 ? 1.0f : 0.0f));
}

int tokitai_gelu_fwd(const tokitai_call *call, int64_t n, const void *x, void *y)
{
    return launch(blocks_of(n), call, n, x, y);
}
