/* Wrong: a barrier that only some threads of a warp reach. */
#include "gelu_launch.h"

static __global__ void gelu_kernel(tokitai_call call, int64_t n, const void *x, void *y)
{
    __shared__ float part[THREADS];
    const int64_t i = (int64_t)blockIdx.x * THREADS + threadIdx.x;
    part[threadIdx.x] = i < n ? tokitai_load(call, x, i) : 0;
    if (i < n)
        __syncthreads();
    /* What follows is for all threads: without it the others would only end early, which a barrier allows. */
    part[threadIdx.x] = gelu(part[threadIdx.x]);
    __syncthreads();
    if (i < n)
        tokitai_store(call, y, i, part[threadIdx.x]);
}

int tokitai_gelu_fwd(const tokitai_call *call, int64_t n, const void *x, void *y)
{
    return launch(blocks_of(n), call, n, x, y);
}
