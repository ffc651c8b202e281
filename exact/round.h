/* TRUSTED. The 16-bit formats and fp32 by definition: decoding, correct rounding, rounding intervals.
 * Shares nothing with the conversions that kernels use (core/dtype.h). Here `bits` is an element's pattern in the
 * low bits of a uint32_t, and dtype is TK_F16, TK_BF16 or TK_F32. */
#ifndef TKI_EXACT_ROUND_H
#define TKI_EXACT_ROUND_H

#include <mpfr.h>

#include "tokitai.h"

/* u, the unit roundoff of fp32: every bound is written with it. */
#define TKI_U 0x1p-24

bool tki_is_nan(tk_dtype dtype, uint32_t bits);
bool tki_is_infinite(tk_dtype dtype, uint32_t bits);
bool tki_is_finite(tk_dtype dtype, uint32_t bits);

/* The number that the pattern stands for, exactly; infinities and NaN as themselves. */
double tki_decode(tk_dtype dtype, uint32_t bits);

/* Element `i` of an array of that type, as its pattern. Works at any alignment of the element type. */
uint32_t tki_element_bits(tk_dtype dtype, const void *data, int64_t i);

/* Round to nearest, ties to even. NaN gives the canonical quiet NaN. Infinities stay. */
uint32_t tki_round_double(tk_dtype dtype, double value);
uint32_t tki_round_mpfr(tk_dtype dtype, mpfr_srcptr value);

/* The rounding interval of a non-NaN pattern: every real strictly between *below and *above rounds to it, none
 * outside [*below, *above] does. The bounds are exact. Both zeros have the interval around zero; an infinity's
 * interval is unbounded on its side. */
void tki_rounding_interval(tk_dtype dtype, uint32_t bits, double *below, double *above);

/* The spacing of the format at |value|: 2^(max(floor(log2|value|), emin) - p + 1). For zero, the smallest subnormal. */
double tki_ulp(tk_dtype dtype, double value);

uint32_t tki_canonical_nan(tk_dtype dtype); /* quiet, positive, no payload: 0x7e00, 0x7fc0, 0x7fc00000 */

/* The next double below and above; infinities and NaN stay. Used to round a double result outward. */
double tki_down(double value);
double tki_up(double value);

#endif
