/* gelu_fwd as a user would write it, for the worker on a real GPU. MISBEHAVE, given by the compiler's flags, makes it do something else:
 * 1 writes to an address that is nobody's, 2 never ends, 3 finishes on a stream of its own after its caller's stream is done, 4 writes
 * one element behind its output, 5 changes its input, 6 takes device memory for host memory. */
#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include "tokitai_kernel.h"

#ifndef MISBEHAVE
#define MISBEHAVE 0
#endif

enum { THREADS = 256 };

__device__ float gelu(float x)
{
    return 0.5f * x * (1.0f + tanhf(0.7978845608f * (x + 0.044715f * x * x * x)));
}

__device__ void wait_long(void)
{
    for (long long end = clock64() + 400000000; clock64() < end;)
        ;
}

__global__ void run(int64_t n, bool bf16, uint16_t *x, uint16_t *y)
{
    int64_t i = blockIdx.x * (int64_t)THREADS + threadIdx.x;
    if (MISBEHAVE == 1)
        y = (uint16_t *)16;
    if (MISBEHAVE == 2)
        while (*(volatile uint16_t *)x == x[0])
            ;
    if (MISBEHAVE == 3)
        wait_long();
    if (i >= n + (MISBEHAVE == 4))
        return;
    if (bf16)
        ((__nv_bfloat16 *)y)[i] = __float2bfloat16_rn(gelu(__bfloat162float(((__nv_bfloat16 *)x)[i])));
    else
        ((__half *)y)[i] = __float2half_rn(gelu(__half2float(((__half *)x)[i])));
    if (MISBEHAVE == 5 && i == 0)
        x[0] = 7;
}

int tokitai_gelu_fwd(const tokitai_call *call, int64_t n, const void *x, void *y)
{
    cudaStream_t stream = (cudaStream_t)call->stream;
    if (n == 0)
        return 0;
    if (MISBEHAVE == 3)
        cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
    if (MISBEHAVE == 6)
        *(volatile uint16_t *)y = *(const uint16_t *)x;
    unsigned blocks = (unsigned)((n + (MISBEHAVE == 4) + THREADS - 1) / THREADS);
    run<<<blocks, THREADS, 0, stream>>>(n, call->dtype == TOKITAI_BF16, (uint16_t *)x, (uint16_t *)y);
    return cudaGetLastError() == cudaSuccess ? 0 : 1;
}
