/* Right: an element to a thread. */
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
    const int64_t i = (int64_t)blockIdx.x * THREADS + threadIdx.x;
    if (i < n)
        tokitai_store(call, y, i, gelu(tokitai_load(call, x, i)));
}

int tokitai_gelu_fwd(const tokitai_call *call, int64_t n, const void *x, void *y)
{
    if (n > 0)
        gelu_kernel<<<(unsigned)((n + THREADS - 1) / THREADS), THREADS, 0, (cudaStream_t)call->stream>>>(*call, n, x,
                                                                                                         y);
    return cudaGetLastError() == cudaSuccess ? 0 : 1;
}
