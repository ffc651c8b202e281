/* What planted kernels share: elements in and out, and the ways in which a call or a store goes wrong. */
#ifndef TKI_OPS_MUTANT_TOOLS_H
#define TKI_OPS_MUTANT_TOOLS_H

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/dtype.h"
#include "model/mutant.h"
#include "tokitai.h"

static inline float tki_get(const tk_case *c, const void *data, int64_t i)
{
    uint16_t bits = ((const uint16_t *)data)[i];
    return c->dtype == TK_F16 ? tki_f16_to_f32(bits) : tki_bf16_to_f32(bits);
}

static inline void tki_put(const tk_case *c, void *data, int64_t i, float value)
{
    ((uint16_t *)data)[i] = c->dtype == TK_F16 ? tki_f32_to_f16(value) : tki_f32_to_bf16(value);
}

/* The value after one rounding to the case's 16-bit type. */
static inline float tki_rounded(const tk_case *c, float value)
{
    uint16_t bits;
    tki_put(c, &bits, 0, value);
    return tki_get(c, &bits, 0);
}

static inline float tki_largest(const tk_case *c)
{
    return c->dtype == TK_F16 ? 65504.0f : 0x1.fep127f;
}

static inline float tki_smallest_normal(const tk_case *c)
{
    return c->dtype == TK_F16 ? 0x1p-14f : 0x1p-126f;
}

static inline float tki_flushed(const tk_case *c, float value)
{
    return fabsf(value) < tki_smallest_normal(c) ? copysignf(0.0f, value) : value;
}

/* What a store does to the value. */
typedef enum tki_store {
    TKI_STORE_RIGHT,
    TKI_STORE_TRUNCATED, /* rounded toward zero */
    TKI_STORE_OUTWARD,   /* rounded away from zero */
    TKI_STORE_SATURATED, /* the largest finite number for what overflows */
    TKI_STORE_FLUSHED,   /* zero for what is subnormal */
    TKI_STORE_NAN_MASKED /* zero for NaN */
} tki_store;

static inline void tki_put_as(const tk_case *c, void *data, int64_t i, float value, tki_store store)
{
    if (store == TKI_STORE_FLUSHED)
        value = tki_flushed(c, value);
    if (store == TKI_STORE_NAN_MASKED && isnan(value))
        value = 0;
    if (store == TKI_STORE_SATURATED && fabsf(value) > tki_largest(c))
        value = copysignf(tki_largest(c), value);
    tki_put(c, data, i, value);
    /* The next pattern is the next number. */
    float stored = tki_get(c, data, i);
    if (store == TKI_STORE_TRUNCATED && fabsf(stored) > fabsf(value))
        ((uint16_t *)data)[i]--;
    if (store == TKI_STORE_OUTWARD && fabsf(stored) < fabsf(value))
        ((uint16_t *)data)[i]++;
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
    uint16_t *out = b[last];
    size_t bytes = (size_t)tk_case_elements(c, last) * sizeof *out;
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
        *(uint16_t *)b[0] = 0;
    if (m->before_the_start)
        out[-1] = 0;
    return status;
}

#endif
