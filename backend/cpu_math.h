/* UNTRUSTED. What the portable CPU kernels share: blocks of 16-bit elements to and from fp32, and exp. Everything is
 * written so that a compiler can vectorise a loop over it, with the same bits for every vector width: no calls to libm, no
 * contraction, one fixed order of operations. */
#ifndef TKI_BACKEND_CPU_MATH_H
#define TKI_BACKEND_CPU_MATH_H

#include <stdint.h>
#include <string.h>

#include "backend/cpu_isa.h"
#include "core/dtype.h"
#include "tokitai.h"

TKI_INLINE float tki_load_element(const void *source, int64_t i, tk_dtype dtype)
{
    uint16_t bits = ((const uint16_t *)source)[i];
    return dtype == TK_F16 ? tki_f16_to_f32(bits) : tki_bf16_to_f32(bits);
}

TKI_INLINE void tki_store_element(void *target, int64_t i, float value, tk_dtype dtype)
{
    ((uint16_t *)target)[i] = dtype == TK_F16 ? tki_f32_to_f16(value) : tki_f32_to_bf16(value);
}

/* target[0..count) = source[begin..begin+count) */
TKI_INLINE void tki_load_block(float *restrict target, const void *source, int64_t begin, int count, tk_dtype dtype)
{
    for (int i = 0; i < count; i++)
        target[i] = tki_load_element(source, begin + i, dtype);
}

TKI_INLINE void tki_store_block(void *restrict target, int64_t begin, int count, const float *restrict source,
                                tk_dtype dtype)
{
    for (int i = 0; i < count; i++)
        tki_store_element(target, begin + i, source[i], dtype);
}

/* 2^exponent for an exponent in [-126, 127]. */
TKI_INLINE float tki_power_of_two(int32_t exponent)
{
    uint32_t bits = (uint32_t)(exponent + 127) << 23;
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

/* exp(t) for t <= 0, within 2u relative, subnormal results rounded once more; 0 below about -104; NaN stays NaN.
 * t = n ln 2 + r with |r| <= 0.35, a degree-6 polynomial for exp(r), and 2^n in two factors so that subnormals come out
 * right. */
TKI_INLINE float tki_exp_nonpositive(float t)
{
    float clamped = t < -104.0f ? -104.0f : t;
    const float to_integer = 0x1.8p23f; /* adding and subtracting it rounds to the nearest integer */
    float shifted = clamped * 0x1.715476p+0f + to_integer;
    float n = shifted - to_integer;
    float r = clamped - n * 0x1.62e4p-1f; /* 15 bits: n times it is exact */
    r = r - n * 0x1.7f7d1cp-20f;
    float p = 0x1.6d11fep-10f;
    p = p * r + 0x1.120c62p-7f;
    p = p * r + 0x1.555518p-5f;
    p = p * r + 0x1.5554dcp-3f;
    p = p * r + 0.5f;
    p = (p * r) * r + r;
    p = p + 1.0f;
    uint32_t bits;
    memcpy(&bits, &shifted, sizeof bits);
    /* The low bits of the shifted number hold n; for NaN they hold rubbish, which the mask keeps in range. */
    int32_t exponent = (int32_t)(bits & 0x1ff) - (bits & 0x100 ? 0x200 : 0);
    exponent = exponent > 0 ? 0 : exponent;
    int32_t half = exponent / 2;
    return p * tki_power_of_two(half) * tki_power_of_two(exponent - half);
}

#endif
