/* UNTRUSTED. Vectors of 4 in plain C with the compilers' vector extension, for every processor. Included by cpu_vector.h
 * alone; cpu_vector_avx512.h says what each function does. No FMA: the same bits wherever fp32 is IEEE. */

typedef float vec __attribute__((vector_size(16)));
typedef int32_t vec_mask __attribute__((vector_size(16)));
typedef uint32_t vec_bits
    __attribute__((vector_size(16))); /* for arithmetic that may wrap, as with the bits of a NaN */
enum { VEC = 4, VEC_REGISTERS = 16 };
enum { VEC_FUSED = 0 };

TKI_INLINE vec vec_set(float value)
{
    return (vec){value, value, value, value};
}

TKI_INLINE vec vec_load(const float *source)
{
    vec v;
    memcpy(&v, source, sizeof v);
    return v;
}

TKI_INLINE void vec_store(float *target, vec v)
{
    memcpy(target, &v, sizeof v);
}

TKI_INLINE vec vec_add(vec a, vec b)
{
    return a + b;
}

TKI_INLINE vec vec_sub(vec a, vec b)
{
    return a - b;
}

TKI_INLINE vec vec_mul(vec a, vec b)
{
    return a * b;
}

TKI_INLINE vec vec_div(vec a, vec b)
{
    return a / b;
}

TKI_INLINE vec vec_fma(vec a, vec b, vec c)
{
    return a * b + c;
}

TKI_INLINE vec vec_fnma(vec a, vec b, vec c)
{
    return c - a * b;
}

TKI_INLINE vec vec_choose(vec_mask mask, vec x, vec y)
{
    return (vec)(((vec_mask)x & mask) | ((vec_mask)y & ~mask));
}

TKI_INLINE vec vec_max(vec a, vec b)
{
    return vec_choose(a > b, a, b);
}

TKI_INLINE vec vec_min(vec a, vec b)
{
    return vec_choose(a < b, a, b);
}

TKI_INLINE vec vec_if_nan(vec a, vec x)
{
    return vec_choose(a != a, x, a);
}

enum { VEC_LIFT = 40 };

/* The sum has n + lift + 127 in its lower bits. */
TKI_INLINE vec vec_nearest(vec t, int lift, vec *power)
{
    const vec shift = vec_set(0x1.8p23f + 127.0f + (float)lift);
    vec shifted = t + shift;
    *power = (vec)((vec_bits)shifted << 23);
    return t - (shifted - shift);
}

TKI_INLINE vec vec_lift(vec a, vec power)
{
    return a * power;
}

/* -191 takes all of the exponent away from 2^64. n is read from the low bits of a shifted number; a little more than
 * s - 1/2 is rounded, so that -191 is not a tie. */
TKI_INLINE vec vec_split(vec s, vec *whole)
{
    vec clamped = vec_max(vec_set(-191.0f), s);
    vec shifted = (clamped - vec_set(0.498f)) + vec_set(0x1.8p23f);
    *whole = (vec)((vec_bits)shifted << 23);
    return clamped - (shifted - vec_set(0x1.8p23f));
}

TKI_INLINE vec vec_join(vec a, vec whole)
{
    return (vec)((vec_bits)a + (vec_bits)whole);
}

TKI_INLINE vec vec_first_of(vec a, int count, vec b)
{
    return vec_choose((vec_mask){0, 1, 2, 3} < count, a, b);
}

TKI_INLINE float vec_sum(vec a)
{
    return (a[0] + a[2]) + (a[1] + a[3]);
}

TKI_INLINE float vec_greatest(vec a)
{
    float left = a[0] > a[2] ? a[0] : a[2];
    float right = a[1] > a[3] ? a[1] : a[3];
    return left > right ? left : right;
}

typedef uint16_t vec_elements __attribute__((vector_size(8)));

TKI_INLINE vec_bits vec_choose_bits(vec_mask mask, vec_bits x, vec_bits y)
{
    return (x & (vec_bits)mask) | (y & ~(vec_bits)mask);
}

/* The four conversions of core/dtype.h, four lanes at a time; compilers do not make vectors of those by themselves here. */

TKI_INLINE vec vec_from_f16(vec_bits bits)
{
    vec_bits magnitude = bits & 0x7fff;
    vec_mask small = (vec_mask)magnitude < 0x0400;
    vec_mask special = (vec_mask)magnitude >= 0x7c00;
    vec_bits step = (vec_bits){127 - 15, 127 - 15, 127 - 15, 127 - 15} + ((vec_bits)small & 1) +
                    ((vec_bits)special & (255 - 31 - (127 - 15)));
    vec_bits moved = (magnitude << 13) + (step << 23);
    vec value = (vec)moved - (vec)((vec_bits)small & 0x38800000); /* 2^-14 */
    return (vec)((vec_bits)value | (bits & 0x8000) << 16);
}

TKI_INLINE vec_bits vec_to_f16(vec value)
{
    vec_bits bits = (vec_bits)value;
    vec_mask magnitude = (vec_mask)(bits & 0x7fffffff);
    vec_bits odd = (vec_bits)magnitude >> 13 & 1;
    vec_mask rounded = (vec_mask)((vec_bits)magnitude - ((127 - 15) << 23) + 0x0fff + odd) >> 13;
    vec_bits infinity = {0x7c00, 0x7c00, 0x7c00, 0x7c00};
    vec_bits normal = vec_choose_bits(rounded < 0x7c00, (vec_bits)rounded, infinity);
    vec_bits quiet_nan = (vec_bits)(magnitude >> 13 & 0x01ff) | 0x7e00;
    vec_mask large = (vec_mask)vec_choose_bits(magnitude > 0x7f800000, quiet_nan, normal);
    vec_bits limit = {0x38800000, 0x38800000, 0x38800000, 0x38800000};
    vec_bits clamped = vec_choose_bits(magnitude < 0x38800000, (vec_bits)magnitude, limit);
    vec_mask small = (vec_mask)((vec_bits)((vec)clamped + vec_set(0.5f)) - 0x3f000000);
    return (bits >> 16 & 0x8000) | vec_choose_bits(large > small, (vec_bits)large, (vec_bits)small);
}

TKI_INLINE vec_bits vec_to_bf16(vec value)
{
    vec_bits bits = (vec_bits)value;
    vec_bits rounded = (bits + 0x7fff + (bits >> 16 & 1)) >> 16;
    return vec_choose_bits((vec_mask)(bits & 0x7fffffff) > 0x7f800000, bits >> 16 | 0x40, rounded);
}

TKI_INLINE vec vec_load16(const uint16_t *source, tk_dtype dtype)
{
    vec_elements elements;
    memcpy(&elements, source, sizeof elements);
    vec_bits bits = __builtin_convertvector(elements, vec_bits);
    return dtype == TK_F16 ? vec_from_f16(bits) : (vec)(bits << 16);
}

TKI_INLINE vec vec_load16_part(const uint16_t *source, int count, tk_dtype dtype)
{
    uint16_t lanes[VEC] = {0};
    memcpy(lanes, source, (size_t)count * sizeof *lanes);
    return vec_load16(lanes, dtype);
}

TKI_INLINE void vec_store16(uint16_t *target, vec v, tk_dtype dtype)
{
    vec_elements elements = __builtin_convertvector(dtype == TK_F16 ? vec_to_f16(v) : vec_to_bf16(v), vec_elements);
    memcpy(target, &elements, sizeof elements);
}

#include "kernels/cpu_vector_plain.h"

TKI_INLINE void vec_transpose(vec rows[VEC])
{
    vec a = rows[0], b = rows[1], c = rows[2], d = rows[3];
    for (int i = 0; i < VEC; i++)
        rows[i] = (vec){a[i], b[i], c[i], d[i]};
}
