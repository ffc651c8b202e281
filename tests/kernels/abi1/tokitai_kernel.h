/* The interface of users' kernels: `tokitai certify OP --kernel FILE` loads FILE and calls the function below that has
 * the op's name. The header is for C, C++, CUDA and HIP and needs only <stdint.h>.
 *
 *   - Define the function of one op or of several. The declarations here give it C linkage.
 *   - Tensors are row-major and dense, at any alignment of the element type. fp16 and bf16 elements are their 16-bit
 *     patterns. `tokitai ops OP` prints an op's formula, error bound and shapes.
 *   - On `cpu` all pointers are host memory. On `cuda` and `hip` they are device memory: queue the work on
 *     call->stream; waiting for it is optional. `call` itself always points to host memory.
 *   - Inputs must not be written, outputs must be written in full, and nothing may be accessed after the work is done.
 *     Sizes may be zero; the pointer of a tensor without elements may be anything.
 *   - All indices and targets are in range; targets may be call->ignore_index as well.
 *   - Return 0. Any other number says that the kernel does not support this case: the verdict is then UNKNOWN, not a
 *     pass.
 *
 * `tokitai new-kernel OP` writes a file to start from. */
#ifndef TOKITAI_KERNEL_H
#define TOKITAI_KERNEL_H

#include <stdint.h>

#define TOKITAI_KERNEL_ABI 1

enum tokitai_dtype {
    TOKITAI_F16 = 0, /* IEEE binary16 */
    TOKITAI_BF16 = 1,
    TOKITAI_I32 = 3,
    TOKITAI_I64 = 4
};

typedef struct tokitai_call {
    int32_t abi;           /* TOKITAI_KERNEL_ABI of the caller; later versions only add members at the end */
    int32_t dtype;         /* TOKITAI_F16 or TOKITAI_BF16: every tensor without a type stated below */
    int32_t index_dtype;   /* TOKITAI_I32 or TOKITAI_I64: index and target */
    int32_t threads;       /* that a CPU kernel may use, at least 1; the bits may not depend on it */
    float label_smoothing; /* xent only, these three */
    float scale;
    int64_t ignore_index;
    void *stream; /* CUstream or hipStream_t; NULL on the CPU */
} tokitai_call;

#ifdef __cplusplus
extern "C" {
#endif

/* clang-format off */ /* one tensor per line, with its shape */

int tokitai_gelu_fwd(const tokitai_call *call, int64_t n,
                     const void *x, /* [n] */
                     void *y /* [n] */);

int tokitai_gelu_bwd(const tokitai_call *call, int64_t n,
                     const void *grad_output, /* [n] */
                     const void *x,           /* [n] */
                     void *grad_input /* [n] */);

int tokitai_softmax_fwd(const tokitai_call *call, int64_t rows, int64_t cols,
                        const void *x, /* [rows, cols] */
                        void *y /* [rows, cols] */);

int tokitai_softmax_bwd(const tokitai_call *call, int64_t rows, int64_t cols,
                        const void *grad_output, /* [rows, cols] */
                        const void *y,           /* [rows, cols] */
                        void *grad_input /* [rows, cols] */);

/* grad_logits may be the same buffer as logits. */
int tokitai_xent(const tokitai_call *call, int64_t rows, int64_t cols,
                 const void *logits, /* [rows, cols] */
                 const void *target, /* [rows], call->index_dtype */
                 float *loss,        /* [rows] */
                 void *grad_logits /* [rows, cols] */);

int tokitai_gemm(const tokitai_call *call, int64_t m, int64_t n, int64_t k,
                 const void *a, /* [m, k] */
                 const void *b, /* [k, n] */
                 void *c /* [m, n] */);

int tokitai_gemm_grad_a(const tokitai_call *call, int64_t m, int64_t n, int64_t k,
                        const void *grad_c, /* [m, n] */
                        const void *b,      /* [k, n] */
                        void *grad_a /* [m, k] */);

int tokitai_gemm_grad_b(const tokitai_call *call, int64_t m, int64_t n, int64_t k,
                        const void *grad_c, /* [m, n] */
                        const void *a,      /* [m, k] */
                        void *grad_b /* [k, n] */);

int tokitai_embedding_fwd(const tokitai_call *call, int64_t queries, int64_t dim, int64_t vocab,
                          const void *index,  /* [queries], call->index_dtype */
                          const void *weight, /* [vocab, dim] */
                          void *out /* [queries, dim] */);

int tokitai_embedding_bwd(const tokitai_call *call, int64_t queries, int64_t dim, int64_t vocab,
                          const void *grad_output, /* [queries, dim] */
                          const void *index,       /* [queries], call->index_dtype */
                          void *grad_weight /* [vocab, dim] */);

/* clang-format on */

#ifdef __cplusplus
}
#endif

/* ------------------------------------------------------------------------------------------------------------
 * Loads and stores of elements, for simple kernels. On a GPU pass the call by value.
 * ------------------------------------------------------------------------------------------------------------ */

#if defined(TOKITAI_DEVICE)
/* set by the build */
#elif defined(__CUDACC__) || defined(__HIPCC__)
#define TOKITAI_DEVICE static inline __host__ __device__
#else
#define TOKITAI_DEVICE static inline __attribute__((unused))
#endif

union tokitai_float {
    float value;
    uint32_t bits;
};

TOKITAI_DEVICE float tokitai_from_bf16(uint16_t pattern)
{
    union tokitai_float f;
    f.bits = (uint32_t)pattern << 16;
    return f.value;
}

/* Rounds to nearest, ties to even; NaN stays NaN. */
TOKITAI_DEVICE uint16_t tokitai_to_bf16(float value)
{
    union tokitai_float f;
    f.value = value;
    if ((f.bits & 0x7fffffffu) > 0x7f800000u)
        return (uint16_t)(f.bits >> 16 | 0x40);
    return (uint16_t)((f.bits + 0x7fff + (f.bits >> 16 & 1)) >> 16);
}

TOKITAI_DEVICE float tokitai_from_f16(uint16_t pattern)
{
    union tokitai_float f;
    const uint32_t sign = (uint32_t)(pattern & 0x8000) << 16;
    const uint32_t magnitude = pattern & 0x7fff;
    if (magnitude >= 0x7c00)
        f.bits = magnitude << 13 | 0x7f800000u; /* infinity or NaN */
    else if (magnitude >= 0x0400)
        f.bits = (magnitude << 13) + ((127 - 15) << 23);
    else
        f.value = (float)magnitude * 5.9604644775390625e-8f; /* 2^-24 */
    f.bits |= sign;
    return f.value;
}

/* Rounds to nearest, ties to even, once, subnormals included; from 65520 on to infinity; NaN stays NaN. */
TOKITAI_DEVICE uint16_t tokitai_to_f16(float value)
{
    union tokitai_float f;
    f.value = value;
    const uint32_t sign = f.bits >> 16 & 0x8000;
    f.bits &= 0x7fffffffu;
    if (f.bits > 0x7f800000u)
        return (uint16_t)(sign | 0x7e00);
    if (f.bits >= 0x477ff000u)
        return (uint16_t)(sign | 0x7c00);
    if (f.bits >= 0x38800000u) /* 2^-14; a carry may run into the exponent */
        return (uint16_t)(sign | ((f.bits - ((127 - 15) << 23) + 0x0fff + (f.bits >> 13 & 1)) >> 13));
    f.value += 0.5f; /* the spacing of fp32 there is that of fp16's subnormals */
    return (uint16_t)(sign | (f.bits - 0x3f000000u));
}

TOKITAI_DEVICE float tokitai_load(tokitai_call call, const void *tensor, int64_t i)
{
    const uint16_t pattern = ((const uint16_t *)tensor)[i];
    return call.dtype == TOKITAI_F16 ? tokitai_from_f16(pattern) : tokitai_from_bf16(pattern);
}

TOKITAI_DEVICE void tokitai_store(tokitai_call call, void *tensor, int64_t i, float value)
{
    ((uint16_t *)tensor)[i] = call.dtype == TOKITAI_F16 ? tokitai_to_f16(value) : tokitai_to_bf16(value);
}

TOKITAI_DEVICE int64_t tokitai_load_index(tokitai_call call, const void *tensor, int64_t i)
{
    return call.index_dtype == TOKITAI_I64 ? ((const int64_t *)tensor)[i] : ((const int32_t *)tensor)[i];
}

#endif
