/* fp16 and bf16 to fp32 and back, for kernels: round to nearest, ties to even, subnormals kept, overflow to infinity.
 * A NaN stays a NaN of its sign; narrowing makes it quiet and keeps its upper payload, as the x86 instructions do.
 * Every function is straight-line code with selects, constant shifts and signed compares, so that a loop over an
 * array becomes vector code even for plain SSE2. It needs IEEE arithmetic in round-to-nearest and arithmetic right
 * shifts of negative integers; a caller that flushes fp32 subnormals gets the same results. */
#ifndef TKI_CORE_DTYPE_H
#define TKI_CORE_DTYPE_H

#include <stdint.h>
#include <string.h>

static inline uint32_t tki_f32_bits(float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

static inline float tki_f32_from_bits(uint32_t bits)
{
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static inline float tki_bf16_to_f32(uint16_t bits)
{
    return tki_f32_from_bits((uint32_t)bits << 16);
}

static inline uint16_t tki_f32_to_bf16(float value)
{
    const uint32_t bits = tki_f32_bits(value);
    const int32_t magnitude = (int32_t)(bits & 0x7fffffffu);
    const uint32_t odd = bits >> 16 & 1;
    const uint32_t rounded = (bits + 0x7fff + odd) >> 16;
    /* Rounding could carry a NaN into infinity or the sign, and cutting could leave it without payload. */
    const uint32_t quiet_nan = bits >> 16 | 0x40;
    return (uint16_t)(magnitude > 0x7f800000 ? quiet_nan : rounded);
}

static inline float tki_f16_to_f32(uint16_t bits)
{
    const int32_t magnitude = bits & 0x7fff;
    const uint32_t sign = (uint32_t)(bits & 0x8000) << 16;
    /* Moves the exponent to fp32's bias, all ones to all ones. A subnormal m 2^-24 becomes 2^-14 + m 2^-24, for the
     * subtraction to take 2^-14 away again. */
    const int32_t exponent_step = magnitude >= 0x7c00 ? 255 - 31 : magnitude < 0x0400 ? 113 : 127 - 15;
    const uint32_t excess = magnitude < 0x0400 ? 0x38800000 /* 2^-14 */ : 0;
    const uint32_t moved = ((uint32_t)magnitude << 13) + ((uint32_t)exponent_step << 23);
    return tki_f32_from_bits(sign | tki_f32_bits(tki_f32_from_bits(moved) - tki_f32_from_bits(excess)));
}

static inline uint16_t tki_f32_to_f16(float value)
{
    const uint32_t bits = tki_f32_bits(value);
    const uint32_t sign = bits >> 16 & 0x8000;
    const int32_t magnitude = (int32_t)(bits & 0x7fffffff);

    /* From 2^-14 on, as an integer. The carry may run into the exponent, and from 65520 on into infinity: both are
     * right. Negative where there is no such exponent. */
    const int32_t odd = magnitude >> 13 & 1;
    const int32_t rounded = (magnitude - ((127 - 15) << 23) + 0x0fff + odd) >> 13;
    const int32_t normal = rounded < 0x7c00 ? rounded : 0x7c00;
    const int32_t quiet_nan = (magnitude >> 13 & 0x01ff) | 0x7e00;
    const int32_t large = magnitude > 0x7f800000 ? quiet_nan : normal;

    /* Up to 2^-14. The spacing of fp32 in [0.5, 1) is 2^-24, the smallest fp16 subnormal: the addition rounds to it.
     * Clamped, `small` never exceeds `large` from 2^-14 on; below, `large` never exceeds `small`. So the larger of
     * the two is the result. Not a select by size: for one GCC moves the addition into a branch, unless told
     * -fno-trapping-math, and then cannot vectorise. */
    const int32_t clamped = magnitude < 0x38800000 ? magnitude : 0x38800000;
    const int32_t small = (int32_t)tki_f32_bits(tki_f32_from_bits((uint32_t)clamped) + 0.5f) - 0x3f000000;

    return (uint16_t)(sign | (uint32_t)(large > small ? large : small));
}

#endif
