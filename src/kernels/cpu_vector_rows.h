/* UNTRUSTED. What kernels share that work on rows: the maximum of a row, its exponentials, and their sums.
 * Sums run in a few chains of vectors over blocks of 256, which are then added one after another: no element passes
 * through more than ceil(cols / 256) + 16 additions, and the order is fixed by the number of columns alone. */
#ifndef TKI_KERNELS_CPU_VECTOR_ROWS_H
#define TKI_KERNELS_CPU_VECTOR_ROWS_H

#include <stdbool.h>

#include "kernels/cpu_vector_elements.h"

enum {
    ROW_BLOCK = 256,
    ROW_CHAINS = VEC < 8 ? 8 : 4, /* independent sums */
    ROW_STEP = ROW_CHAINS * VEC,
    ROW_PAIR = 2 * VEC,
    ROW_LINE_BYTES = 64 /* a cache line */
};

/* Elements to a cache line. */
TKI_INLINE int row_line(tk_dtype dtype)
{
    return ROW_LINE_BYTES / (int)element_bytes(dtype);
}

/* Patterns as integers in the order of their values, a NaN beyond the infinity of its sign. Its own inverse. */
TKI_INLINE int16_t row_ordered(uint16_t bits)
{
    return (int16_t)(bits ^ ((uint16_t)((int16_t)bits >> 15) & 0x7fff));
}

/* The greatest of 16-bit patterns, where a positive NaN is greater than infinity and a negative one less. */
TKI_INLINE uint16_t row_greatest_pattern(const uint16_t *x, int64_t cols)
{
    int16_t greatest = INT16_MIN;
    for (int64_t i = 0; i < cols; i++) {
        int16_t key = row_ordered(x[i]);
        greatest = key > greatest ? key : greatest;
    }
    return (uint16_t)row_ordered((uint16_t)greatest);
}

/* The greatest number; NaNs are passed over. */
TKI_INLINE float row_greatest_float(const float *x, int64_t cols)
{
    vec chain[ROW_CHAINS];
    for (int j = 0; j < ROW_CHAINS; j++)
        chain[j] = vec_set(-__builtin_inff());
    int64_t i = 0;
    for (; i + ROW_STEP <= cols; i += ROW_STEP)
        for (int j = 0; j < ROW_CHAINS; j++)
            chain[j] = vec_max(vec_load(x + i + j * VEC), chain[j]);
    for (; i + VEC <= cols; i += VEC)
        chain[0] = vec_max(vec_load(x + i), chain[0]);
    if (i < cols) {
        int left = (int)(cols - i);
        chain[0] = vec_max(vec_first_of(vec_load_part(x + i, left), left, chain[0]), chain[0]);
    }
    for (int j = 1; j < ROW_CHAINS; j++)
        chain[0] = vec_max(chain[j], chain[0]);
    return vec_greatest(chain[0]);
}

/* The maximum of a row, as it is there; NaN or any other element where the row has a NaN. */
TKI_INLINE float row_greatest(const void *x, int64_t cols, tk_dtype dtype)
{
    if (dtype == TK_F32)
        return row_greatest_float(x, cols);
    const uint16_t bits = row_greatest_pattern(x, cols);
    return element_get(&bits, 0, dtype);
}

/* The exponent of 2 is log2(e) (x - max). With a fused multiply-add it is `log2(e) x - c` in one step, where c need
 * only be near log2(e) max: quotients do not change with it. That must not be far from 0, or c would be. */
typedef struct row_origin {
    vec value; /* c, or the maximum */
    bool fused;
} row_origin;

TKI_INLINE row_origin row_origin_at(float max, bool fused)
{
    return (row_origin){vec_set(fused ? max * LOG2_E : max), fused};
}

/* Constant for fp16 and without FMA. */
TKI_INLINE bool row_may_fuse(float max, tk_dtype dtype)
{
    return VEC_FUSED && (dtype == TK_F16 || __builtin_fabsf(max) <= 0x1p16f);
}

/* 2^64 exp(x - max), times a constant near 1. A NaN, an infinite maximum or none but -infinities makes some of them
 * NaN. vec_join() adds the last bits of a NaN to an exponent: they are zero in a NaN of 16 bits, and cleared in one of
 * fp32. */
TKI_INLINE vec row_exp(vec x, row_origin origin, tk_dtype dtype)
{
    const vec log2_e = vec_set(LOG2_E);
    if (dtype == TK_F32)
        x = vec_if_nan(x, vec_set(__builtin_nanf("")));
    return vec_exp2_raised(origin.fused ? vec_fma(x, log2_e, vec_sub(vec_set(0.0f), origin.value))
                                        : vec_mul(vec_sub(x, origin.value), log2_e));
}

TKI_INLINE void row_clear(vec *chain)
{
    for (int j = 0; j < ROW_CHAINS; j++)
        chain[j] = vec_set(0.0f);
}

/* In pairs. */
TKI_INLINE vec row_total(vec *chain)
{
    for (int half = ROW_CHAINS / 2; half > 0; half /= 2)
        for (int j = 0; j < half; j++)
            chain[j] = vec_add(chain[j], chain[j + half]);
    return chain[0];
}

/* e[0..count) of a block and their sum in lanes; what e has beyond, to a whole vector, becomes 0. `ahead` will be
 * read next. */
TKI_INLINE vec row_exp_block(float *e, const void *x, int count, row_origin origin, const void *ahead, tk_dtype dtype)
{
    vec chain[ROW_CHAINS];
    row_clear(chain);
    int i = 0;
    for (; i + ROW_STEP <= count; i += ROW_STEP) {
        for (int line = 0; line < ROW_STEP; line += row_line(dtype))
            __builtin_prefetch(element_at(ahead, i + line, dtype));
        for (int j = 0; j < ROW_CHAINS; j++) {
            vec v = row_exp(vec_load_elements(element_at(x, i + j * VEC, dtype), dtype), origin, dtype);
            vec_store(e + i + j * VEC, v);
            chain[j] = vec_add(chain[j], v);
        }
    }
    vec rest = vec_set(0.0f);
    for (; i + VEC <= count; i += VEC) {
        vec v = row_exp(vec_load_elements(element_at(x, i, dtype), dtype), origin, dtype);
        vec_store(e + i, v);
        rest = vec_add(rest, v);
    }
    if (i < count) {
        vec v = row_exp(vec_load_elements_part(element_at(x, i, dtype), count - i, dtype), origin, dtype);
        v = vec_first_of(v, count - i, vec_set(0.0f));
        vec_store(e + i, v);
        rest = vec_add(rest, v);
    }
    return vec_add(row_total(chain), rest);
}

/* e[0..count) of as many blocks as it takes. */
TKI_INLINE vec row_exp_blocks(float *e, const void *x, int64_t count, row_origin origin, const void *ahead,
                              tk_dtype dtype)
{
    vec sum = vec_set(0.0f);
    int64_t i = 0;
    for (; i + ROW_BLOCK <= count; i += ROW_BLOCK)
        sum = vec_add(sum, row_exp_block(e + i, element_at(x, i, dtype), ROW_BLOCK, origin,
                                         element_at(ahead, i, dtype), dtype));
    if (i < count)
        sum = vec_add(sum, row_exp_block(e + i, element_at(x, i, dtype), (int)(count - i), origin,
                                         element_at(ahead, i, dtype), dtype));
    return sum;
}

/* Elements before the output is aligned for streaming pairs of vectors. */
TKI_INLINE int64_t row_head(const void *out, int64_t count, tk_dtype dtype)
{
    int64_t head = (int64_t)((-(uintptr_t)out / (uintptr_t)element_bytes(dtype)) % ROW_PAIR);
    return head < count ? head : count;
}

/* Rows are dealt out to the threads in parts of nearly one size. */
TKI_INLINE int64_t row_first_of_part(int64_t rows, int part, int parts)
{
    int64_t longer = rows % parts;
    return rows / parts * part + (part < longer ? part : longer);
}

#endif
