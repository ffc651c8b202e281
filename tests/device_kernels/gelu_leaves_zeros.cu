/* Wrong: leaves an output that begins and ends with zeros as it is. */
#include "gelu_launch.h"

/* One block, so that it is decided before anything is written. */
static __global__ void gelu_kernel(tokitai_call call, int64_t n, const void *x, void *y)
{
    __shared__ bool seen;
    if (threadIdx.x == 0)
        seen = ((const uint16_t *)y)[0] == 0 && ((const uint16_t *)y)[n - 1] == 0;
    __syncthreads();
    for (int64_t i = threadIdx.x; i < n; i += THREADS)
        if (!seen)
            tokitai_store(call, y, i, gelu(tokitai_load(call, x, i)));
}

int tokitai_gelu_fwd(const tokitai_call *call, int64_t n, const void *x, void *y)
{
    return launch(1, call, n, x, y);
}
