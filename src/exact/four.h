/* DECIDES. Four doubles at a time, each rounded as alone. */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "exact/widths.h"

typedef double tki_four __attribute__((vector_size(32)));
typedef int64_t tki_four_bits __attribute__((vector_size(32))); /* a comparison gives -1 where it holds */

TKI_INLINE tki_four tki_fours(double x)
{
    return (tki_four){x, x, x, x};
}

TKI_INLINE tki_four tki_four_load(const double *from)
{
    tki_four x;
    memcpy(&x, from, sizeof x);
    return x;
}

TKI_INLINE void tki_four_store(double *to, tki_four x)
{
    memcpy(to, &x, sizeof x);
}

TKI_INLINE tki_four tki_four_choose(tki_four_bits which, tki_four a, tki_four b)
{
    return (tki_four)((which & (tki_four_bits)a) | (~which & (tki_four_bits)b));
}

TKI_INLINE tki_four tki_four_size(tki_four x)
{
    return (tki_four)((tki_four_bits)x & INT64_MAX);
}

/* The larger and the smaller ones, of numbers. */
TKI_INLINE tki_four tki_four_above(tki_four a, tki_four b)
{
    return tki_four_choose(b > a, b, a);
}

TKI_INLINE tki_four tki_four_below(tki_four a, tki_four b)
{
    return tki_four_choose(b < a, b, a);
}

TKI_INLINE bool tki_four_any(tki_four_bits which)
{
    return (which[0] | which[1] | which[2] | which[3]) != 0;
}
