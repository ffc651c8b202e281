/* DECIDES. Domain normal: inputs of which nothing subnormal comes, for kernels that flush. Its elements are 0 or of
 * a magnitude from 2^-40 to 2^20; docs/contracts.md shows op by op what a kernel that flushes does there. Inline,
 * since billions of elements may pass. */
#pragma once

#include <string.h>

#include "exact/oracle.h"
#include "exact/round.h"
#include "model/attributes.h"

enum { TKI_DOMAIN_LOWEST_EXPONENT = -40, TKI_DOMAIN_HIGHEST_EXPONENT = 20 };

static inline bool tki_domain_is_normal(const tk_case *c)
{
    return tki_choice_of_role(c->contract, c->attributes, TK_ROLE_DOMAIN) == TKI_DOMAIN_NORMAL;
}

/* The smallest and the largest nonzero magnitude of the domain, as patterns; fp16 reaches neither end. */
static inline uint32_t tki_domain_smallest(tk_dtype dtype)
{
    const tki_format f = tki_format_of(dtype);
    const int field = TKI_DOMAIN_LOWEST_EXPONENT - f.exponent_min + 1;
    return field > 0 ? (uint32_t)field << (f.precision - 1) : 1;
}

static inline uint32_t tki_domain_largest(tk_dtype dtype)
{
    const tki_format f = tki_format_of(dtype);
    const uint32_t pattern = (uint32_t)(TKI_DOMAIN_HIGHEST_EXPONENT - f.exponent_min + 1) << (f.precision - 1);
    return pattern < f.largest ? pattern : f.largest;
}

static inline bool tki_domain_has(tk_dtype dtype, uint32_t bits)
{
    const uint32_t magnitude = tki_magnitude_of(tki_format_of(dtype), bits);
    return magnitude == 0 || (magnitude >= tki_domain_smallest(dtype) && magnitude <= tki_domain_largest(dtype));
}

/* The element that stands in the domain for a drawn one: itself if it lies there. Any other keeps its sign and its
 * fraction and gets the nearest exponent that lies inside with every fraction, so that what was far apart stays so. */
static inline uint32_t tki_domain_nearest(tk_dtype dtype, uint32_t bits)
{
    if (tki_domain_has(dtype, bits))
        return bits;
    const tki_format f = tki_format_of(dtype);
    const uint32_t hidden = UINT32_C(1) << (f.precision - 1);
    const uint32_t largest = tki_domain_largest(dtype);
    const bool small = tki_magnitude_of(f, bits) < largest;
    const uint32_t inside = small ? tki_domain_smallest(dtype) : (largest - (hidden - 1)) & ~(hidden - 1);
    return (bits & f.sign) | inside | (bits & (hidden - 1));
}

/* Is not every element allowed in that input? */
static inline bool tki_domain_limits(const tk_case *c, int p)
{
    const tk_param *param = &c->contract->params[p];
    return !param->output && tki_format_of(tk_case_param_dtype(c, p)).number == TKI_FLOATING &&
           (tki_domain_is_normal(c) || param->least != param->most);
}

static inline bool tki_domain_allows(const tk_case *c, int p, uint32_t bits)
{
    const tk_param *param = &c->contract->params[p];
    const tk_dtype dtype = tk_case_param_dtype(c, p);
    const double value = tki_decode(dtype, bits);
    return (!tki_domain_is_normal(c) || tki_domain_has(dtype, bits)) &&
           (param->least == param->most || (value >= param->least && value <= param->most));
}

/* An element of the input's range that stands for a drawn one outside of it: which one follows from the pattern. */
static inline uint32_t tki_domain_place(const tk_case *c, int p, uint32_t bits)
{
    const tk_param *param = &c->contract->params[p];
    const tk_dtype dtype = tk_case_param_dtype(c, p);
    const bool normal = tki_domain_is_normal(c);
    const double end = tki_decode(dtype, normal ? tki_domain_largest(dtype) : tki_format_of(dtype).largest);
    const double least = fmax(param->least, -end), most = fmin(param->most, end);
    if (normal)
        bits = tki_domain_nearest(dtype, bits);
    for (uint32_t i = 0; param->least != param->most && i < 8 && !tki_domain_allows(c, p, bits); i++) {
        const double share = i < 7 ? (double)((bits + i) * UINT32_C(2654435761)) * 0x1p-32 : 0.5;
        bits = tki_round_double(dtype, least + share * (most - least));
    }
    return bits;
}

/* The same of integers: the one at a place, as far as those go that a range can hold; is it allowed; and what stands for it. */
static inline bool tki_range_limits(const tk_case *c, int p)
{
    const tk_param *param = &c->contract->params[p];
    return !param->output && param->kind != TK_KIND_INDEX && param->least != param->most &&
           tki_format_of(tk_case_param_dtype(c, p)).number != TKI_FLOATING;
}

static inline int64_t tki_ranged_at(tk_dtype dtype, const void *data, int64_t i)
{
    const size_t bytes = tk_dtype_size(dtype);
    uint64_t pattern = 0;
    memcpy(&pattern, (const char *)data + (size_t)i * bytes,
           bytes); /* little-endian, as all of the judge takes it to be */
    return dtype == TK_I32 ? (int32_t)(uint32_t)pattern : (int64_t)pattern;
}

static inline bool tki_range_allows(const tk_param *param, int64_t value)
{
    return value >= (int64_t)param->least && value <= (int64_t)param->most;
}

static inline int64_t tki_range_place(const tk_param *param, int64_t value)
{
    const int64_t least = (int64_t)param->least;
    return tki_range_allows(param, value)
               ? value
               : least + (int64_t)((uint64_t)value % (uint64_t)((int64_t)param->most - least + 1));
}

static inline void tki_put_ranged(tk_dtype dtype, void *data, int64_t i, int64_t value)
{
    const size_t bytes = tk_dtype_size(dtype);
    memcpy((char *)data + (size_t)i * bytes, &value, bytes);
}

/* Moves all values of a case's inputs into its domain. */
static inline void tki_domain_apply(const tk_case *c, void *const data[])
{
    for (int p = 0; p < c->contract->param_count; p++) {
        const tk_dtype dtype = tk_case_param_dtype(c, p);
        const int64_t count = tki_domain_limits(c, p) ? tk_case_elements(c, p) : 0;
        const int64_t integers = tki_range_limits(c, p) ? tk_case_elements(c, p) : 0;
        for (int64_t i = 0; i < count; i++)
            tki_put_bits(dtype, data[p], i, tki_domain_place(c, p, tki_element_bits(dtype, data[p], i)));
        for (int64_t i = 0; i < integers; i++)
            tki_put_ranged(dtype, data[p], i,
                           tki_range_place(&c->contract->params[p], tki_ranged_at(dtype, data[p], i)));
    }
}

/* What flushes gives zero where its result before rounding, some value within B of S, is below the smallest normal
 * number of fp32. */
static inline void tki_domain_admit(tki_enclosure *enclosures, int64_t count)
{
    for (int64_t i = 0; i < count; i++) {
        tki_enclosure *e = &enclosures[i];
        if ((e->admits & TKI_ADMIT_INTERVAL) && e->lo - e->bound < TKI_FP32_SMALLEST_NORMAL &&
            e->hi + e->bound > -TKI_FP32_SMALLEST_NORMAL)
            e->admits |= TKI_ADMIT_ZERO;
    }
}
