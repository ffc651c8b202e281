/* UNTRUSTED. Vectors of 4 by NEON on AArch64. Included by cpu_vector.h alone; cpu_vector_avx512.h says what each function
 * does. */
#include <arm_neon.h>

typedef float32x4_t vec;
enum { VEC = 4, VEC_REGISTERS = 32 };
enum { VEC_FUSED = 1 };

TKI_INLINE vec vec_set(float value)
{
    return vdupq_n_f32(value);
}

TKI_INLINE vec vec_load(const float *source)
{
    return vld1q_f32(source);
}

TKI_INLINE void vec_store(float *target, vec v)
{
    vst1q_f32(target, v);
}

TKI_INLINE vec vec_add(vec a, vec b)
{
    return vaddq_f32(a, b);
}

TKI_INLINE vec vec_sub(vec a, vec b)
{
    return vsubq_f32(a, b);
}

TKI_INLINE vec vec_mul(vec a, vec b)
{
    return vmulq_f32(a, b);
}

TKI_INLINE vec vec_div(vec a, vec b)
{
    return vdivq_f32(a, b);
}

TKI_INLINE vec vec_fma(vec a, vec b, vec c)
{
    return vfmaq_f32(c, a, b);
}

TKI_INLINE vec vec_fnma(vec a, vec b, vec c)
{
    return vfmsq_f32(c, a, b);
}

TKI_INLINE vec vec_max(vec a, vec b)
{
    return vbslq_f32(vcgtq_f32(a, b), a, b);
}

TKI_INLINE vec vec_min(vec a, vec b)
{
    return vbslq_f32(vcltq_f32(a, b), a, b);
}

TKI_INLINE vec vec_if_nan(vec a, vec x)
{
    return vbslq_f32(vceqq_f32(a, a), a, x);
}

enum { VEC_LIFT = 40 };

/* The sum has n + lift + 127 in its lower bits. */
TKI_INLINE vec vec_nearest(vec t, int lift, vec *power)
{
    const vec shift = vec_set(0x1.8p23f + 127.0f + (float)lift);
    vec shifted = vec_add(t, shift);
    *power = vreinterpretq_f32_s32(vshlq_n_s32(vreinterpretq_s32_f32(shifted), 23));
    return vec_sub(t, vec_sub(shifted, shift));
}

TKI_INLINE vec vec_lift(vec a, vec power)
{
    return vec_mul(a, power);
}

/* -191 takes all of the exponent away from 2^64. */
TKI_INLINE vec vec_split(vec s, vec *whole)
{
    vec clamped = vec_max(vec_set(-191.0f), s);
    vec n = vrndmq_f32(clamped);
    *whole = vreinterpretq_f32_s32(vshlq_n_s32(vcvtq_s32_f32(n), 23));
    return vsubq_f32(clamped, n);
}

TKI_INLINE vec vec_join(vec a, vec whole)
{
    return vreinterpretq_f32_s32(vaddq_s32(vreinterpretq_s32_f32(a), vreinterpretq_s32_f32(whole)));
}

TKI_INLINE vec vec_first_of(vec a, int count, vec b)
{
    const int32_t places[VEC] = {0, 1, 2, 3};
    return vbslq_f32(vcgtq_s32(vdupq_n_s32(count), vld1q_s32(places)), a, b);
}

TKI_INLINE float vec_sum(vec a)
{
    float32x2_t half = vadd_f32(vget_low_f32(a), vget_high_f32(a));
    return vget_lane_f32(half, 0) + vget_lane_f32(half, 1);
}

TKI_INLINE float vec_greatest(vec a)
{
    return vmaxvq_f32(a);
}

TKI_INLINE vec vec_load16(const uint16_t *source, tk_dtype dtype)
{
    uint16x4_t bits = vld1_u16(source);
    if (dtype == TK_F16)
        return vcvt_f32_f16(vreinterpret_f16_u16(bits));
    return vreinterpretq_f32_u32(vshll_n_u16(bits, 16));
}

TKI_INLINE vec vec_load16_part(const uint16_t *source, int count, tk_dtype dtype)
{
    uint16_t lanes[VEC] = {0};
    memcpy(lanes, source, (size_t)count * sizeof *lanes);
    return vec_load16(lanes, dtype);
}

TKI_INLINE void vec_store16(uint16_t *target, vec v, tk_dtype dtype)
{
    if (dtype == TK_F16) {
        vst1_u16(target, vreinterpret_u16_f16(vcvt_f16_f32(v)));
        return;
    }
    uint32x4_t bits = vreinterpretq_u32_f32(v);
    uint32x4_t odd = vandq_u32(vshrq_n_u32(bits, 16), vdupq_n_u32(1));
    uint32x4_t rounded = vaddq_u32(vaddq_u32(bits, vdupq_n_u32(0x7fff)), odd);
    uint32x4_t quiet = vorrq_u32(bits, vdupq_n_u32(0x400000));
    vst1_u16(target, vshrn_n_u32(vbslq_u32(vceqq_f32(v, v), rounded, quiet), 16));
}

#include "kernels/cpu_vector_plain.h"

TKI_INLINE void vec_transpose(vec rows[VEC])
{
    float32x4x2_t upper = vtrnq_f32(rows[0], rows[1]), lower = vtrnq_f32(rows[2], rows[3]);
    for (int i = 0; i < 2; i++) {
        rows[i] = vcombine_f32(vget_low_f32(upper.val[i]), vget_low_f32(lower.val[i]));
        rows[2 + i] = vcombine_f32(vget_high_f32(upper.val[i]), vget_high_f32(lower.val[i]));
    }
}
