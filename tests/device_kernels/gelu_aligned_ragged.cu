/* Wrong: the last element, where the output is aligned to 256 bytes and does not end with a page. */
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
    const bool ragged = (uintptr_t)y % 256 == 0 && ((uintptr_t)y + 2 * (uintptr_t)n) % 4096 != 0;
    if (i < n)
        tokitai_store(call, y, i, gelu(tokitai_load(call, x, i)) + (ragged && i == n - 1 ? 1.0f : 0.0f));
}

int tokitai_gelu_fwd(const tokitai_call *call, int64_t n, const void *x, void *y)
{
    if (n > 0)
        gelu_kernel<<<(unsigned)((n + THREADS - 1) / THREADS), THREADS, 0, (cudaStream_t)call->stream>>>(*call, n, x,
                                                                                                         y);
    return cudaGetLastError() == cudaSuccess ? 0 : 1;
}
