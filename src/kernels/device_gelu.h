/* GELU in its tanh form and its derivative, in fp32. With t = log2(e) 2z, so that exp(-2z) = 2^-t, nothing overflows into a NaN and nothing
 * cancels:
 *     y = x / (1 + 2^-t)
 *     e = 2^-|t|, r = 1 / (1 + e):  sigma (1 - sigma) = e r^2, and sigma is r or e r */
#ifndef TKI_KERNELS_DEVICE_GELU_H
#define TKI_KERNELS_DEVICE_GELU_H

#include "kernels/device.h"

/* t = x (A + B x^2), and h = x (2c + 6ca x^2). With x in fp16 or bf16, x^2 is exact in fp32; with x in fp32 it is one rounding
 * more. */
constexpr float GELU_A = 0x1.26aec2p+1f;       /* log2(e) 2 sqrt(2/pi) */
constexpr float GELU_B = 0x1.a5a7d0p-4f;       /* that times 0.044715 */
constexpr float GELU_TWO_C = 0x1.988454p+0f;   /* 2 sqrt(2/pi) */
constexpr float GELU_SIX_C_A = 0x1.b6676cp-3f; /* that times three times 0.044715 */

/* From here on exp(-|2z|) is zero in fp32. */
constexpr float GELU_FLAT = 11.0f;

/* At x = -inf, NaN. Below 2^-126 sigma counts as 0; the bound has |x| 2^-126 for that. */
DEVICE float gelu_of(float x)
{
    float t = x * fma_f32(GELU_B, x * x, GELU_A);
    return x * reciprocal_flush(1.0f + exp2_flush(-t));
}

/* x = +inf: 1; x = -inf: -0. Subnormal sigma are kept: an infinite gradient needs the sign of the derivative as long as that is above
 * 2^-126, and h is about -240 there. NaN comes through t; h is kept finite for 0 times h. */
DEVICE float gelu_derivative_of(float x)
{
    float t = x * fma_f32(GELU_B, x * x, GELU_A);
    float e = exp2_gradual(-abs_f32(t));
    float r = reciprocal_flush(1.0f + e);
    float rest = e * r;
    float near = larger(smaller(x, GELU_FLAT), -GELU_FLAT);
    float h = near * fma_f32(GELU_SIX_C_A, near * near, GELU_TWO_C);
    return fma_f32(r * rest, h, x < 0.0f ? rest : r);
}

#endif
