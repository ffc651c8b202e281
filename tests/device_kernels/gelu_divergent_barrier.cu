/* Wrong: a barrier that only some threads of a warp reach. */
#include <tokitai_kernel.h>

enum { THREADS = 256 };

static __device__ float gelu(float x)
{
    const float v = x > 15 ? 15 : x < -15 ? -15 : x;
    const float two_z = 1.5957691216f * (v + 0.044715f * v * v * v);
    const float e = expf(-fabsf(two_z));
    return x * (two_z > 0 ? 1 / (1 + e) : e / (1 + e));
}

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
    if (n > 0)
        gelu_kernel<<<(unsigned)((n + THREADS - 1) / THREADS), THREADS, 0, (cudaStream_t)call->stream>>>(*call, n, x,
                                                                                                         y);
    return cudaGetLastError() == cudaSuccess ? 0 : 1;
}
