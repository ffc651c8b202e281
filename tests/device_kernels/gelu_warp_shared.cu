/* Right: neighbours in a warp exchange by shared memory, with __syncwarp() between. */
#include "gelu_launch.h"

static __global__ void gelu_kernel(tokitai_call call, int64_t n, const void *x, void *y)
{
    __shared__ float part[THREADS];
    const int64_t i = (int64_t)blockIdx.x * THREADS + threadIdx.x;
    part[threadIdx.x] = i < n ? tokitai_load(call, x, i) : 0;
    __syncwarp();
    const float other = part[threadIdx.x ^ 1];
    __syncwarp();
    part[threadIdx.x ^ 1] = other;
    __syncwarp();
    if (i < n)
        tokitai_store(call, y, i, gelu(part[threadIdx.x]));
}

int tokitai_gelu_fwd(const tokitai_call *call, int64_t n, const void *x, void *y)
{
    return launch(blocks_of(n), call, n, x, y);
}
