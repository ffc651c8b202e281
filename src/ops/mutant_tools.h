/* CHOOSES. What planted kernels share: elements in and out, and the ways in which a call or a store goes wrong. */
#pragma once

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/dtype.h"
#include "exact/round.h"
#include "model/attributes.h"
#include "model/format.h"
#include "model/mutant.h"
#include "tokitai.h"

static inline float tki_get_as(tk_dtype dtype, const void *data, int64_t i)
{
    switch (dtype) {
    case TK_F16: return tki_f16_to_f32(((const uint16_t *)data)[i]);
    case TK_BF16: return tki_bf16_to_f32(((const uint16_t *)data)[i]);
    case TK_F32: return ((const float *)data)[i];
    default: return (float)tki_decode(dtype, tki_element_bits(dtype, data, i));
    }
}

/* What is too large for 8 bits: as the case asks for. */
static inline uint32_t tki_small_of(const tk_case *c, tk_dtype dtype, float value)
{
    const tki_format f = tki_format_of(dtype);
    const uint32_t bits = tki_round_double(dtype, (double)value);
    const bool saturates = tki_choice_of_role(c->contract, c->attributes, TK_ROLE_OVERFLOW) == TKI_OVERFLOW_SATURATE;
    return saturates && !isnan(value) && !tki_is_finite(dtype, bits) ? (bits & f.sign) | f.largest : bits;
}

static inline void tki_put_of(const tk_case *c, tk_dtype dtype, void *data, int64_t i, float value)
{
    switch (dtype) {
    case TK_F16: ((uint16_t *)data)[i] = tki_f32_to_f16(value); return;
    case TK_BF16: ((uint16_t *)data)[i] = tki_f32_to_bf16(value); return;
    case TK_F32: ((float *)data)[i] = value; return;
    default: tki_put_bits(dtype, data, i, tki_small_of(c, dtype, value)); return;
    }
}

/* An element of an input. */
static inline float tki_get(const tk_case *c, const void *data, int64_t i)
{
    return tki_get_as(c->dtype, data, i);
}

/* The case's result_dtype, but for factors of different types. */
static inline tk_dtype tki_results_of(const tk_case *c)
{
    const bool may_differ = c->contract->tensor_types && c->dtype != c->result_dtype;
    return may_differ ? tk_case_param_dtype(c, c->contract->param_count - 1) : c->result_dtype;
}

/* An element of an output, read and written. */
static inline float tki_get_result(const tk_case *c, const void *data, int64_t i)
{
    return tki_get_as(tki_results_of(c), data, i);
}

static inline void tki_put(const tk_case *c, void *data, int64_t i, float value)
{
    tki_put_of(c, tki_results_of(c), data, i, value);
}

/* The value after one rounding to 16 bits on the way: to the type of the inputs, or to bf16 where they have more. */
static inline float tki_rounded(const tk_case *c, float value)
{
    return c->dtype == TK_F16 ? tki_f16_to_f32(tki_f32_to_f16(value)) : tki_bf16_to_f32(tki_f32_to_bf16(value));
}

/* Of the results. */
static inline float tki_largest(const tk_case *c)
{
    const tki_format f = tki_format_of(tki_results_of(c));
    const uint32_t hidden = UINT32_C(1) << (f.precision - 1);
    const uint32_t significand = hidden | (f.largest & (hidden - 1));
    return ldexpf((float)significand, tki_format_exponent_max(f) - f.precision + 1);
}

/* An input as a kernel sees it that takes subnormal numbers for zero. */
static inline float tki_flushed(const tk_case *c, float value)
{
    return fabsf(value) < ldexpf(1, tki_format_of(c->dtype).exponent_min) ? copysignf(0.0f, value) : value;
}

/* What a store does to the value. */
typedef enum tki_store {
    TKI_STORE_RIGHT,
    TKI_STORE_TRUNCATED, /* rounded toward zero */
    TKI_STORE_OUTWARD,   /* rounded away from zero */
    TKI_STORE_SATURATED, /* the largest finite number for what overflows; where that is asked for, infinity or NaN */
    TKI_STORE_FLUSHED,   /* zero for what is subnormal in the inputs' type: sums of fp16 numbers never are in fp32 */
    TKI_STORE_NAN_MASKED /* zero for NaN */
} tki_store;

/* Rounds what was put as `value` in another direction: the next pattern is the next number. */
static inline void tki_misround(tk_dtype dtype, void *data, int64_t i, float value, tki_store store)
{
    const uint32_t stored = tki_element_bits(dtype, data, i);
    const float rounded = tki_get_as(dtype, data, i);
    if (store == TKI_STORE_TRUNCATED && fabsf(rounded) > fabsf(value))
        tki_put_bits(dtype, data, i, stored - 1);
    if (store == TKI_STORE_OUTWARD && fabsf(rounded) < fabsf(value))
        tki_put_bits(dtype, data, i, stored + 1);
}

/* fp32 holds the value as it is: there the lower half of its bits is what such a store loses. */
static inline void tki_misround_f32(uint32_t *stored, tki_store store)
{
    const bool inexact = (*stored & 0xffff) != 0 && (*stored & 0x7f800000) != 0x7f800000;
    if (inexact && (store == TKI_STORE_TRUNCATED || store == TKI_STORE_OUTWARD))
        *stored = (*stored & 0xffff0000) + (store == TKI_STORE_OUTWARD ? 0x10000 : 0);
}

static inline void tki_put_as(const tk_case *c, void *data, int64_t i, float value, tki_store store)
{
    const tk_dtype dtype = tki_results_of(c);
    if (store == TKI_STORE_FLUSHED)
        value = tki_flushed(c, value);
    if (store == TKI_STORE_NAN_MASKED && isnan(value))
        value = 0;
    const bool saturated = store == TKI_STORE_SATURATED && fabsf(value) > tki_largest(c);
    const bool asked_for = tki_may_saturate(dtype) &&
                           tki_choice_of_role(c->contract, c->attributes, TK_ROLE_OVERFLOW) == TKI_OVERFLOW_SATURATE;
    if (saturated)
        value = copysignf(tki_largest(c), value);
    tki_put(c, data, i, value);
    if (saturated && asked_for)
        tki_put_bits(dtype, data, i, tki_round_double(dtype, (double)copysignf(INFINITY, value)));
    if (tk_dtype_size(dtype) <= sizeof(uint16_t))
        tki_misround(dtype, data, i, value, store);
    else
        tki_misround_f32((uint32_t *)data + i, store);
}

static inline int64_t tki_get_index(const tk_case *c, const void *data, int64_t i)
{
    return c->index_dtype == TK_I64 ? ((const int64_t *)data)[i] : ((const int32_t *)data)[i];
}

/* clang-format off */
#define TKI_PLANTED(function, type, ...) .kernel = function, .how = &(const type){__VA_ARGS__}
/* clang-format on */

static inline const void *tki_how(const void *run)
{
    return ((const tki_mutant_run *)run)->how;
}

/* How many of `count` are left after the last multiple of `multiple`. */
static inline int64_t tki_tail(int64_t count, int64_t multiple)
{
    return multiple ? count % multiple : 0;
}

/* A kernel that leaves its outputs as they were. */
static inline int tki_stale(const tk_case *c, void *const b[], void *run)
{
    (void)c;
    (void)b;
    (void)run;
    return 0;
}

/* A kernel that sets every bit of its outputs to zero. */
static inline int tki_all_zeros(const tk_case *c, void *const b[], void *run)
{
    (void)run;
    for (int p = 0; p < c->contract->param_count; p++) {
        size_t bytes = (size_t)tk_case_elements(c, p) * tk_dtype_size(tk_case_param_dtype(c, p));
        if (c->contract->params[p].output && bytes > 0)
            memset(b[p], 0, bytes);
    }
    return 0;
}

/* Mistakes that have nothing to do with the op: `right` is the kernel that makes none when nobody tells it how. */
typedef struct tki_call_mutation {
    tk_kernel right;
    bool first_call_only;  /* later calls leave the outputs as they were */
    bool cached;           /* gives again what it gave for the first call of this size */
    bool input_changed;    /* sets the first element of the first input to zero */
    bool before_the_start; /* writes one more element, before the output */
    bool aligned_only;     /* reads the first input of values from the last multiple of 16 bytes on */
} tki_call_mutation;

#define TKI_CALL(...) TKI_PLANTED(tki_mutated_call, tki_call_mutation, __VA_ARGS__)

/* clang-format off */ /* one row below the other */
/* The rows that every op has: right by themselves, wrong in how they are called. */
#define TKI_CALL_MUTANTS(correct)                                                                                    \
    {"first_call_only", "is right on the first call and writes nothing afterwards",                                  \
     TKI_CALL(.right = correct, .first_call_only = true)},                                                           \
    {"cached", "gives again what it gave for the first inputs of this size",                                         \
     TKI_CALL(.right = correct, .cached = true)},                                                                    \
    {"input_changed", "writes to its input",                                                                         \
     TKI_CALL(.right = correct, .input_changed = true)},                                                             \
    {"aligned_only", "reads an input that does not begin at a multiple of 16 bytes from the last such place on",     \
     TKI_CALL(.right = correct, .aligned_only = true)}
/* clang-format on */

static inline int tki_mutated_call(const tk_case *c, void *const b[], void *data)
{
    tki_mutant_run *run = data;
    const tki_call_mutation *m = run->how;
    int last = c->contract->param_count - 1;
    char *out = b[last];
    const size_t element = tk_dtype_size(tk_case_param_dtype(c, last));
    const size_t bytes = (size_t)tk_case_elements(c, last) * element;
    if (m->first_call_only && run->calls++ > 0)
        return 0;
    if (m->cached && bytes > 0 && run->kept_bytes == bytes) {
        memcpy(out, run->kept, bytes);
        return 0;
    }
    tki_mutant_run plain = {0};
    void *moved[TK_MAX_PARAMS] = {NULL};
    memcpy(moved, b, (size_t)(last + 1) * sizeof *moved);
    int first_value = c->contract->params[0].kind == TK_KIND_VALUE ? 0 : 1;
    if (m->aligned_only)
        moved[first_value] = (char *)b[first_value] - (uintptr_t)b[first_value] % 16;
    int status = m->right(c, moved, &plain);
    if (m->cached && bytes > 0) {
        void *kept = realloc(run->kept, bytes);
        if (!kept)
            return 1;
        run->kept = memcpy(kept, out, bytes);
        run->kept_bytes = bytes;
    }
    if (m->input_changed && tk_case_elements(c, 0) > 0)
        memset(b[0], 0, tk_dtype_size(tk_case_param_dtype(c, 0)));
    if (m->before_the_start)
        memset(out - element, 0, element);
    return status;
}
