/* The general form in CUDA: what a kernel on the device needs of the tensors and of the call is passed by value. */
#include <tokitai_kernel.h>

static __global__ void gelu_fwd(tokitai_tensor x, tokitai_tensor y)
{
    const int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= x.shape[0])
        return;
    const float v = tokitai_load_as(x.dtype, x.data, i);
    const float bounded = v > 15 ? 15 : v < -15 ? -15 : v;
    const float two_z = 1.5957691216f * (bounded + 0.044715f * bounded * bounded * bounded);
    const float e = expf(-fabsf(two_z));
    tokitai_store_as(y.dtype, y.data, i, v * (two_z > 0 ? 1 / (1 + e) : e / (1 + e)));
}

TOKITAI_KERNEL(gelu_fwd)
{
    enum { THREADS = 256 };
    const int64_t n = tensors[0].shape[0];
    if (count != 2 || n == 0)
        return count != 2;
    const unsigned blocks = (unsigned)((n + THREADS - 1) / THREADS);
    gelu_fwd<<<blocks, THREADS, 0, (cudaStream_t)call->stream>>>(tensors[0], tensors[1]);
    return cudaGetLastError() != cudaSuccess;
}
