/* gelu_bwd on an NVIDIA GPU: two elements to a thread, in fp32. */
#include <tokitai_kernel.h>

static __device__ float derivative(float x)
{
    const float bounded = fminf(fmaxf(x, -15.0f), 15.0f);
    const float e = expf(-fabsf(1.5957691216f * (bounded + 0.044715f * bounded * bounded * bounded)));
    const float low = e / (1 + e);
    const float high = 1 / (1 + e);
    const float sigma = bounded > 0 ? high : low;
    const float rest = bounded > 0 ? low : high; /* 1 - sigma without cancellation */
    const float h = 1.5957691216f * bounded * (1 + 3 * 0.044715f * bounded * bounded);
    return isnan(x) ? x : x == -INFINITY ? NAN : sigma * (1 + rest * h);
}

static __global__ void gelu_bwd_kernel(tokitai_call call, int64_t n, const void *grad_output, const void *x,
                                       void *grad_input)
{
    const int64_t first = 2 * ((int64_t)blockIdx.x * blockDim.x + threadIdx.x);
    for (int64_t i = first; i < first + 2 && i < n; i++)
        tokitai_store(call, grad_input, i, tokitai_load(call, grad_output, i) * derivative(tokitai_load(call, x, i)));
}

int tokitai_gelu_bwd(const tokitai_call *call, int64_t n, const void *grad_output, const void *x, void *grad_input)
{
    const int64_t threads = (n + 1) / 2;
    if (n == 0)
        return 0;
    gelu_bwd_kernel<<<(unsigned)((threads + 255) / 256), 256, 0, (cudaStream_t)call->stream>>>(*call, n, grad_output,
                                                                                               x, grad_input);
    return cudaGetLastError() == cudaSuccess ? 0 : 1;
}
