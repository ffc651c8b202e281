/* The interface of user kernels: `tokitai certify OP --kernel FILE` loads FILE and calls the function that has the
 * op's name. This header is for C, C++, CUDA and HIP.
 *
 *   - Define the function of one op or of several, in one of two forms. The typed one, for most of our ops, is declared
 *     by tokitai_kernel_ops.h: int tokitai_gelu_fwd(call, n, x, y). The general one serves every op, also those that a
 *     program registers:
 *         TOKITAI_KERNEL3(gelu_fwd) { ... call->tensors[0].data, tokitai_real3(call, "scale") ... }
 *     A file that has several is judged by the general one. TOKITAI_KERNEL is the general form of ABI 2, which tensors of
 *     more than four axes, types from ABI 3 on, such as those of 8 bits, and attributes that are no fp32 numbers do not reach.
 *   - Tensors are row-major and dense, at any alignment of the element type. fp16 and bf16 elements are their 16-bit
 *     patterns. `tokitai ops OP` prints an op's formula, error bound and shapes.
 *   - On `cpu` all pointers are host memory. On `cuda` and `hip` they are device memory: queue the work on
 *     call->stream; waiting for it is optional. `call` itself always points to host memory.
 *   - Inputs must not be written, outputs must be written in full, and nothing may be accessed after the work is done.
 *     Sizes may be zero; the pointer of a tensor without elements may be anything. A tensor that is there only with
 *     some choices of an attribute has no elements with the others, and all sizes of its shape are zero.
 *   - All indices and targets are in range; targets may be call->ignore_index as well.
 *   - Return 0. Any other number says that the kernel does not support this case: the verdict is then UNKNOWN, not a
 *     pass.
 *
 * `tokitai new-kernel OP` writes a file to start from. */
#ifndef TOKITAI_KERNEL_H
#define TOKITAI_KERNEL_H

#include <stdint.h>

#include "tokitai_kernel_ops.h" /* tokitai_gelu_fwd(), ...: the typed functions of our ops */

#define TOKITAI_KERNEL_ABI 2 /* of tokitai_call; functions of ABI 3 take tokitai_call3, which has its size */

enum tokitai_dtype {
    TOKITAI_F16 = 0, /* IEEE binary16 */
    TOKITAI_BF16 = 1,
    TOKITAI_F32 = 2,
    TOKITAI_I32 = 3,
    TOKITAI_I64 = 4,
    TOKITAI_U64 = 5,
    /* Since ABI 3, and for its functions alone. */
    TOKITAI_F8_E4M3 = 6,
    TOKITAI_F8_E5M2 = 7,
    TOKITAI_BOOL = 8, /* a byte, 0 or 1 */
    TOKITAI_U8 = 9
};

enum tokitai_attribute_type { TOKITAI_CHOICE = 0, TOKITAI_REAL = 1, TOKITAI_INTEGER = 2 };

/* One of the op's attributes. */
typedef struct tokitai_attribute {
    const char *name;
    int32_t type; /* TOKITAI_REAL: `real` has the value; else `integer`, which of a choice is its position */
    double real;  /* in the forms before ABI 3 an fp32 number */
    int64_t integer;
} tokitai_attribute;

/* One of the op's tensors, in the order of its contract. */
typedef struct tokitai_tensor {
    const char *name;
    void *data;     /* inputs must not be written */
    int32_t dtype;  /* TOKITAI_F16, ... */
    int32_t output; /* 1: the kernel writes it */
    int32_t rank;
    int64_t shape[4]; /* [rank] */
} tokitai_tensor;

typedef struct tokitai_call {
    int32_t abi;             /* 2 */
    int32_t dtype;           /* TOKITAI_F16, TOKITAI_BF16 or TOKITAI_F32: every tensor without a type stated below */
    int32_t index_dtype;     /* TOKITAI_I32 or TOKITAI_I64: index and target */
    int32_t threads;         /* that a CPU kernel may use, at least 1; the bits may not depend on it */
    TOKITAI_CALL_ATTRIBUTES; /* of the typed functions, by name: float label_smoothing; ... */
    void *stream;            /* CUstream or hipStream_t; NULL on the CPU */
    /* Since ABI 2. */
    int32_t result_dtype; /* of outputs that are sums: `dtype`, or TOKITAI_F32 */
    int32_t attribute_count;
    const tokitai_attribute *attributes; /* host memory */
} tokitai_call;

/* The general form of ABI 2: TOKITAI_KERNEL(gelu_fwd) { ... return 0; } */
#ifdef __cplusplus
#define TOKITAI_EXTERN_C extern "C"
#else
#define TOKITAI_EXTERN_C
#endif
#define TOKITAI_UNUSED __attribute__((unused))
#define TOKITAI_KERNEL(op)                                                                                      \
    TOKITAI_EXTERN_C int tokitai_##op##_v2(const tokitai_call *call, const tokitai_tensor *tensors, int count); \
    TOKITAI_EXTERN_C int tokitai_##op##_v2(TOKITAI_UNUSED const tokitai_call *call,                             \
                                           TOKITAI_UNUSED const tokitai_tensor *tensors, TOKITAI_UNUSED int count)

/* ABI 3: a format for each tensor, and as many axes as it has. */
typedef struct tokitai_tensor3 {
    const char *name;
    void *data;     /* inputs must not be written; a tensor that is not there has no elements */
    int32_t dtype;  /* TOKITAI_F16, ... */
    int32_t output; /* 1: the kernel writes it */
    int32_t rank;
    int32_t zero;
    const int64_t *shape; /* [rank] */
} tokitai_tensor3;

typedef struct tokitai_call3 {
    int32_t size;    /* of this struct: later versions add members at the end */
    int32_t threads; /* that a CPU kernel may use, at least 1; the bits may not depend on it */
    void *stream;    /* CUstream or hipStream_t; NULL on the CPU */
    int32_t tensor_count, attribute_count;
    const tokitai_tensor3 *tensors;      /* in the order of the contract; host memory */
    const tokitai_attribute *attributes; /* host memory */
} tokitai_call3;

/* The general form: TOKITAI_KERNEL3(gelu_fwd) { ... return 0; } */
#define TOKITAI_KERNEL3(op)                                            \
    TOKITAI_EXTERN_C int tokitai_##op##_v3(const tokitai_call3 *call); \
    TOKITAI_EXTERN_C int tokitai_##op##_v3(TOKITAI_UNUSED const tokitai_call3 *call)

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

#define TOKITAI_HOST static inline __attribute__((unused))

/* What the functions of this header do says nothing about a kernel, so builds that report what runs leave it out. */
#if defined(__CUDACC__) || defined(__HIPCC__) || !defined(__has_attribute)
#define TOKITAI_UNWATCHED
#elif defined(__clang__) && __has_attribute(no_profile_instrument_function)
#define TOKITAI_UNWATCHED __attribute__((no_sanitize("coverage"), no_profile_instrument_function))
#elif !defined(__clang__) && __has_attribute(no_sanitize_coverage)
#define TOKITAI_UNWATCHED __attribute__((no_sanitize_coverage, no_profile_instrument_function))
#else
#define TOKITAI_UNWATCHED
#endif
#define TOKITAI_PROVIDED TOKITAI_DEVICE TOKITAI_UNWATCHED
#define TOKITAI_PROVIDED_HOST TOKITAI_HOST TOKITAI_UNWATCHED

union tokitai_float {
    float value;
    uint32_t bits;
};

TOKITAI_PROVIDED float tokitai_from_bf16(uint16_t pattern)
{
    union tokitai_float f;
    f.bits = (uint32_t)pattern << 16;
    return f.value;
}

/* Rounds to nearest, ties to even; NaN stays NaN. */
TOKITAI_PROVIDED uint16_t tokitai_to_bf16(float value)
{
    union tokitai_float f;
    f.value = value;
    if ((f.bits & 0x7fffffffu) > 0x7f800000u)
        return (uint16_t)(f.bits >> 16 | 0x40);
    return (uint16_t)((f.bits + 0x7fff + (f.bits >> 16 & 1)) >> 16);
}

TOKITAI_PROVIDED float tokitai_from_f16(uint16_t pattern)
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
TOKITAI_PROVIDED uint16_t tokitai_to_f16(float value)
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

/* The 8-bit formats: a sign, `fraction` bits below the hidden one, normal numbers from 2^exponent_min on. Rounds to nearest, ties to even,
 * once, subnormals included; what rounds to more than the pattern `largest` becomes `beyond`; NaN stays NaN. */
TOKITAI_PROVIDED uint8_t tokitai_to_8_bits(float value, int fraction, int exponent_min, uint32_t largest,
                                           uint32_t beyond)
{
    union tokitai_float f, spacing; /* numbers of fp32 that lie as close as the format's subnormals */
    f.value = value;
    spacing.bits = (uint32_t)(127 + exponent_min - fraction + 23) << 23;
    const uint32_t sign = f.bits >> 24 & 0x80;
    f.bits &= 0x7fffffffu;
    if (f.bits > 0x7f800000u)
        return (uint8_t)(sign | 0x7f);
    if (f.bits < (uint32_t)(127 + exponent_min) << 23) {
        f.value += spacing.value;
        return (uint8_t)(sign | (f.bits - spacing.bits));
    }
    f.bits -= (uint32_t)(126 + exponent_min) << 23;
    f.bits += (1u << (22 - fraction)) - 1 + (f.bits >> (23 - fraction) & 1);
    f.bits >>= 23 - fraction;
    return (uint8_t)(sign | (f.bits > largest ? beyond : f.bits));
}

/* Above 464 in magnitude, half-way from 448 to what would follow it, to NaN. */
TOKITAI_PROVIDED uint8_t tokitai_to_f8_e4m3(float value)
{
    return tokitai_to_8_bits(value, 3, -6, 0x7e, 0x7f);
}

/* From 61440 in magnitude on to infinity. */
TOKITAI_PROVIDED uint8_t tokitai_to_f8_e5m2(float value)
{
    return tokitai_to_8_bits(value, 2, -14, 0x7b, 0x7c);
}

TOKITAI_PROVIDED float tokitai_from_f8_e4m3(uint8_t pattern)
{
    union tokitai_float f;
    const uint32_t magnitude = pattern & 0x7f;
    if (magnitude == 0x7f)
        f.bits = 0x7fc00000u;
    else if (magnitude >= 0x08)
        f.bits = (magnitude << 20) + ((127 - 7) << 23);
    else
        f.value = (float)magnitude * 0.001953125f; /* 2^-9 */
    f.bits |= (uint32_t)(pattern & 0x80) << 24;
    return f.value;
}

TOKITAI_PROVIDED float tokitai_from_f8_e5m2(uint8_t pattern)
{
    return tokitai_from_f16((uint16_t)(pattern << 8)); /* the upper half of fp16 */
}

/* What to store where overflow is `saturate`: the largest number for what is too large for 8 bits. NaN stays NaN. */
TOKITAI_PROVIDED float tokitai_saturated(int32_t dtype, float value)
{
    const float largest = dtype == TOKITAI_F8_E4M3 ? 448.0f : 57344.0f;
    if (dtype != TOKITAI_F8_E4M3 && dtype != TOKITAI_F8_E5M2)
        return value;
    return value > largest ? largest : value < -largest ? -largest : value;
}

/* Of floating point, bool and u8; other types are not accessed. */
TOKITAI_PROVIDED float tokitai_load_as(int32_t dtype, const void *tensor, int64_t i)
{
    switch (dtype) {
    case TOKITAI_F16: return tokitai_from_f16(((const uint16_t *)tensor)[i]);
    case TOKITAI_BF16: return tokitai_from_bf16(((const uint16_t *)tensor)[i]);
    case TOKITAI_F32: return ((const float *)tensor)[i];
    case TOKITAI_F8_E4M3: return tokitai_from_f8_e4m3(((const uint8_t *)tensor)[i]);
    case TOKITAI_F8_E5M2: return tokitai_from_f8_e5m2(((const uint8_t *)tensor)[i]);
    case TOKITAI_BOOL:
    case TOKITAI_U8: return (float)((const uint8_t *)tensor)[i];
    default: return 0;
    }
}

/* A value that bool or u8 has. */
TOKITAI_PROVIDED void tokitai_store_as(int32_t dtype, void *tensor, int64_t i, float value)
{
    switch (dtype) {
    case TOKITAI_F16: ((uint16_t *)tensor)[i] = tokitai_to_f16(value); return;
    case TOKITAI_BF16: ((uint16_t *)tensor)[i] = tokitai_to_bf16(value); return;
    case TOKITAI_F32: ((float *)tensor)[i] = value; return;
    case TOKITAI_F8_E4M3: ((uint8_t *)tensor)[i] = tokitai_to_f8_e4m3(value); return;
    case TOKITAI_F8_E5M2: ((uint8_t *)tensor)[i] = tokitai_to_f8_e5m2(value); return;
    case TOKITAI_BOOL:
    case TOKITAI_U8: ((uint8_t *)tensor)[i] = (uint8_t)value; return;
    default: return;
    }
}

TOKITAI_PROVIDED float tokitai_load(tokitai_call call, const void *tensor, int64_t i)
{
    return tokitai_load_as(call.dtype, tensor, i);
}

TOKITAI_PROVIDED void tokitai_store(tokitai_call call, void *tensor, int64_t i, float value)
{
    tokitai_store_as(call.dtype, tensor, i, value);
}

/* Of an output that is a sum. */
TOKITAI_PROVIDED void tokitai_store_result(tokitai_call call, void *tensor, int64_t i, float value)
{
    tokitai_store_as(call.result_dtype, tensor, i, value);
}

TOKITAI_PROVIDED int64_t tokitai_load_index(tokitai_call call, const void *tensor, int64_t i)
{
    return call.index_dtype == TOKITAI_I64 ? ((const int64_t *)tensor)[i] : ((const int32_t *)tensor)[i];
}

TOKITAI_PROVIDED_HOST int tokitai_same_name(const char *a, const char *b)
{
    while (*a && *a == *b) {
        a++;
        b++;
    }
    return *a == *b;
}

/* Attributes by name, on the host. 0 if the op has none of that name. */
TOKITAI_PROVIDED_HOST const tokitai_attribute *tokitai_find_attribute(const tokitai_call *call, const char *name)
{
    for (int i = 0; i < call->attribute_count; i++)
        if (tokitai_same_name(call->attributes[i].name, name))
            return &call->attributes[i];
    return 0;
}

TOKITAI_PROVIDED_HOST float tokitai_real(const tokitai_call *call, const char *name)
{
    const tokitai_attribute *attribute = tokitai_find_attribute(call, name);
    return attribute ? (float)attribute->real : 0;
}

TOKITAI_PROVIDED_HOST int64_t tokitai_integer(const tokitai_call *call, const char *name)
{
    const tokitai_attribute *attribute = tokitai_find_attribute(call, name);
    return attribute ? attribute->integer : 0;
}

/* The same of ABI 3; and a tensor by its name, 0 if the op has none of that name. */
TOKITAI_PROVIDED_HOST double tokitai_real3(const tokitai_call3 *call, const char *name)
{
    for (int i = 0; i < call->attribute_count; i++)
        if (tokitai_same_name(call->attributes[i].name, name))
            return call->attributes[i].real;
    return 0;
}

TOKITAI_PROVIDED_HOST int64_t tokitai_integer3(const tokitai_call3 *call, const char *name)
{
    for (int i = 0; i < call->attribute_count; i++)
        if (tokitai_same_name(call->attributes[i].name, name))
            return call->attributes[i].integer;
    return 0;
}

/* For the loads and stores above that take a tokitai_call: its three types, and nothing else. */
TOKITAI_PROVIDED_HOST tokitai_call tokitai_types3(int32_t dtype, int32_t index_dtype, int32_t result_dtype)
{
    static tokitai_call none;
    tokitai_call call = none;
    call.dtype = dtype;
    call.index_dtype = index_dtype;
    call.result_dtype = result_dtype;
    return call;
}

TOKITAI_PROVIDED_HOST const tokitai_tensor3 *tokitai_tensor_named(const tokitai_call3 *call, const char *name)
{
    for (int i = 0; i < call->tensor_count; i++)
        if (tokitai_same_name(call->tensors[i].name, name))
            return &call->tensors[i];
    return 0;
}

#undef TOKITAI_PROVIDED
#undef TOKITAI_PROVIDED_HOST

#endif
