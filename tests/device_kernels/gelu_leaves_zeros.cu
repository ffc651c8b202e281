/* Wrong: leaves an output that begins and ends with zeros as it is. */
#include <tokitai_kernel.h>

enum { THREADS = 256 };

static __device__ float gelu(float x)
{
    const float v = x > 15 ? 15 : x < -15 ? -15 : x;
    const float two_z = 1.5957691216f * (v + 0.044715f * v * v * v);
    const float e = expf(-fabsf(two_z));
    return x * (two_z > 0 ? 1 / (1 + e) : e / (1 + e));
}

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
    if (n > 0)
        gelu_kernel<<<1, THREADS, 0, (cudaStream_t)call->stream>>>(*call, n, x, y);
    return cudaGetLastError() == cudaSuccess ? 0 : 1;
}
