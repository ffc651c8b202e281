/* Wrong: rows that several queries hit are added up in whatever order the threads come, so that the bits differ from run to run, and
 * each addition is rounded to 16 bits. */
#include <cuda_fp16.h>
#include <cuda_bf16.h>

#include <tokitai_kernel.h>

static __global__ void embedding_bwd_kernel(tokitai_call call, int64_t queries, int64_t dim, const void *grad_output,
                                            const void *index, void *grad_weight)
{
    const int64_t at = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (at >= queries * dim)
        return;
    const int64_t place = tokitai_load_index(call, index, at / dim) * dim + at % dim;
    if (call.dtype == TOKITAI_F16)
        atomicAdd((__half *)grad_weight + place, ((const __half *)grad_output)[at]);
    else
        atomicAdd((__nv_bfloat16 *)grad_weight + place, ((const __nv_bfloat16 *)grad_output)[at]);
}

int tokitai_embedding_bwd(const tokitai_call *call, int64_t queries, int64_t dim, int64_t vocab,
                          const void *grad_output, const void *index, void *grad_weight)
{
    const cudaStream_t stream = (cudaStream_t)call->stream;
    if (vocab * dim == 0)
        return 0;
    if (cudaMemsetAsync(grad_weight, 0, (size_t)(vocab * dim) * 2, stream) != cudaSuccess)
        return 1;
    if (queries > 0)
        embedding_bwd_kernel<<<(unsigned)((queries * dim + 255) / 256), 256, 0, stream>>>(
            *call, queries, dim, grad_output, index, grad_weight);
    return cudaGetLastError() == cudaSuccess ? 0 : 1;
}
