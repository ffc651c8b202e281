/* Wrong: where its two arrays lie at different offsets from a multiple of 256 bytes. */
#include "gelu_launch.h"

static __global__ void gelu_kernel(tokitai_call call, int64_t n, const void *x, void *y)
{
    const int64_t i = (int64_t)blockIdx.x * THREADS + threadIdx.x;
    const bool differ = (uintptr_t)x % 256 != (uintptr_t)y % 256;
    if (i < n)
        tokitai_store(call, y, i, gelu(tokitai_load(call, x, i)) + (differ ? 1.0f : 0.0f));
}

int tokitai_gelu_fwd(const tokitai_call *call, int64_t n, const void *x, void *y)
{
    return launch(blocks_of(n), call, n, x, y);
}
