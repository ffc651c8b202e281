/* gelu_fwd on an AMD GPU, in fp32: one element to a thread. */
#include <hip/hip_runtime.h>

#include <tokitai_kernel.h>

static __global__ void gelu_fwd_kernel(tokitai_call call, int64_t n, const void *x, void *y)
{
    const int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    const float v = tokitai_load(call, x, i);
    const float bounded = v > 15 ? 15 : v < -15 ? -15 : v;
    const float two_z = 1.5957691216f * (bounded + 0.044715f * bounded * bounded * bounded);
    const float e = expf(-fabsf(two_z));
    tokitai_store(call, y, i, v * (two_z > 0 ? 1 / (1 + e) : e / (1 + e)));
}

int tokitai_gelu_fwd(const tokitai_call *call, int64_t n, const void *x, void *y)
{
    if (n == 0)
        return 0;
    gelu_fwd_kernel<<<(unsigned)((n + 255) / 256), 256, 0, (hipStream_t)call->stream>>>(*call, n, x, y);
    return hipGetLastError() == hipSuccess ? 0 : 1;
}
