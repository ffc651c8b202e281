/* DECIDES. What is known of four numbers of a block, and the rules that those of single values rest on: the same roundings in the same order. */
#pragma once

#include "exact/four.h"
#include "interpret/blocks.h"

typedef struct tki_known {
    tki_four v, d, e, l, h;
} tki_known;

TKI_INLINE tki_known tki_known_at(const tki_lines *a, int i)
{
    return (tki_known){tki_four_load(a->v + i), tki_four_load(a->d + i), tki_four_load(a->e + i),
                       tki_four_load(a->l + i), tki_four_load(a->h + i)};
}

TKI_INLINE void tki_known_put(tki_block *y, int i, const tki_known *x)
{
    tki_four_store(y->v + i, x->v);
    tki_four_store(y->d + i, x->d);
    tki_four_store(y->e + i, x->e);
    tki_four_store(y->l + i, x->l);
    tki_four_store(y->h + i, x->h);
}

/* tki_value_least() and tki_value_most(). */
TKI_INLINE tki_four tki_known_wider(const tki_known *x)
{
    const tki_four zero = {0};
    return tki_four_choose(x->d == zero, zero, x->d + 0x1p-52 * (tki_four_size(x->v) + x->d));
}

TKI_INLINE tki_four tki_known_least(const tki_known *x)
{
    return tki_four_above(x->v - tki_known_wider(x), x->l);
}

TKI_INLINE tki_four tki_known_most(const tki_known *x)
{
    return tki_four_below(x->v + tki_known_wider(x), x->h);
}

/* tki_rounded_error() */
TKI_INLINE tki_four tki_four_error(tki_four v, tki_four d, tki_four e, double k, tki_four t)
{
    return (e + k * TKI_U * (tki_four_size(v) + d + e) + t) * TKI_DOUBLE_SLACK;
}

/* tki_rounded_of() of v, d and e, `least` and `most` standing in l and h; returns where it may overflow. */
TKI_INLINE tki_four_bits tki_known_round(tki_known *x, double k, tki_four t)
{
    const tki_four size = tki_four_size(x->v), zero = {0};
    x->e = tki_four_error(x->v, x->d, x->e, k, t);
    const tki_four away = (x->d + x->e) * TKI_DOUBLE_SLACK;
    const tki_four roundings = tki_four_choose(away > zero, 0x1p-51 * (size + away), zero);
    x->l = tki_four_above(x->l, x->v - away - roundings);
    x->h = tki_four_below(x->h, x->v + away + roundings);
    return ~(size + x->d + x->e < tki_fours(TKI_FP32_OVERFLOW));
}

TKI_INLINE tki_four_bits tki_known_zero(const tki_known *x)
{
    const tki_four zero = {0};
    return (x->v == zero) & (x->d == zero) & (x->e == zero);
}

/* Whether the product may not be negative, and not positive. */
TKI_INLINE tki_four_bits tki_known_same_sign(const tki_known *a, const tki_known *b)
{
    const tki_four zero = {0};
    return ((a->l >= zero) & (b->l >= zero)) | ((a->h <= zero) & (b->h <= zero));
}

TKI_INLINE tki_four_bits tki_known_other_sign(const tki_known *a, const tki_known *b)
{
    const tki_four zero = {0};
    return ((a->l >= zero) & (b->h <= zero)) | ((a->h <= zero) & (b->l >= zero));
}

/* v, d and e of a product before it is rounded: tki_product_radius() and tki_product_error(). */
TKI_INLINE tki_known tki_known_product(const tki_known *a, const tki_known *b)
{
    const tki_four zero = {0}, v = a->v * b->v, size_a = tki_four_size(a->v), size_b = tki_four_size(b->v);
    const tki_four_bits exact = (a->d == zero) & (a->e == zero) & (b->d == zero) & (b->e == zero);
    const tki_four radius = (size_a * b->d + size_b * a->d + a->d * b->d + TKI_DOUBLE_UNIT * tki_four_size(v)) *
                                TKI_DOUBLE_SLACK +
                            TKI_DOUBLE_TINY;
    return (tki_known){.v = v,
                       .d = tki_four_choose(exact, zero, radius),
                       .e = (size_a + a->d) * b->e + (size_b + b->d) * a->e + a->e * b->e};
}
