/* What mutants share: elements in and out, and the ways in which a store goes wrong. */
#ifndef TKI_OPS_MUTANT_TOOLS_H
#define TKI_OPS_MUTANT_TOOLS_H

#include <math.h>

#include "core/dtype.h"
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

/* Rounds toward zero: one pattern less where rounding to nearest went up. */
static inline void tki_put_truncated(const tk_case *c, void *data, int64_t i, float value)
{
    tki_put(c, data, i, value);
    if (fabsf(tki_get(c, data, i)) > fabsf(value))
        ((uint16_t *)data)[i]--;
}

static inline int64_t tki_get_index(const tk_case *c, const void *data, int64_t i)
{
    return c->index_dtype == TK_I64 ? ((const int64_t *)data)[i] : ((const int32_t *)data)[i];
}

#endif
