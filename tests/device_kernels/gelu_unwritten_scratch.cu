/* Wrong: looks at device memory of its own that nothing has written, and does nothing with it that shows. */
#include "gelu.h"

static __global__ void gelu_kernel(tokitai_call call, int64_t n, const void *x, void *y, const uint32_t *scratch)
{
    const int64_t i = (int64_t)blockIdx.x * THREADS + threadIdx.x;
    if (i >= n)
        return;
    (void)((const volatile uint32_t *)scratch)[i % THREADS];
    tokitai_store(call, y, i, gelu(tokitai_load(call, x, i)));
}

int tokitai_gelu_fwd(const tokitai_call *call, int64_t n, const void *x, void *y)
{
    static uint32_t *scratch;
    if (!scratch && cudaMalloc(&scratch, THREADS * sizeof *scratch) != cudaSuccess)
        return 1;
    if (n > 0)
        gelu_kernel<<<(unsigned)((n + THREADS - 1) / THREADS), THREADS, 0, (cudaStream_t)call->stream>>>(*call, n, x,
                                                                                                         y, scratch);
    return cudaGetLastError() == cudaSuccess ? 0 : 1;
}
