/* UNTRUSTED. Vectors of 4 in plain C with the compilers' vector extension, for every processor. Included by cpu_vector.h
 * alone; cpu_vector_avx512.h says what each function does. No FMA: the same bits wherever fp32 is IEEE. */

typedef float vec __attribute__((vector_size(16)));
typedef int32_t vec_mask __attribute__((vector_size(16)));
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

TKI_INLINE vec vec_minus_abs(vec a)
{
    return (vec)((vec_mask)a | (vec_mask)vec_set(-0.0f));
}

TKI_INLINE vec vec_if_greater(vec a, vec b, vec x, vec y)
{
    return vec_choose(a > b, x, y);
}

TKI_INLINE vec vec_if_nan(vec a, vec x)
{
    return vec_choose(a != a, x, a);
}

/* By adding and subtracting 1.5 2^23; |a| < 2^22. */
TKI_INLINE vec vec_round(vec a)
{
    return (a + vec_set(0x1.8p23f)) - vec_set(0x1.8p23f);
}

/* In two factors, so that subnormal results come out right; n in [-252, 254]. The integer is read from the low bits of a
 * shifted number, which for NaN hold rubbish that a NaN then absorbs. */
TKI_INLINE vec vec_scale(vec a, vec n)
{
    vec_mask exponent = (vec_mask)(n + vec_set(0x1.8p23f)) - 0x4b400000;
    vec_mask half = exponent >> 1;
    return a * (vec)((half + 127) << 23) * (vec)((exponent - half + 127) << 23);
}

TKI_INLINE vec vec_scale_normal(vec a, vec n)
{
    vec_mask exponent = (vec_mask)(n + vec_set(0x1.8p23f)) - 0x4b400000;
    return a * (vec)((exponent + 127) << 23);
}

/* -191 takes all of the exponent away from 2^64. n is read from the low bits of a shifted number; a little more than
 * s - 1/2 is rounded, so that -191 is not a tie. */
TKI_INLINE vec vec_split(vec s, vec *whole)
{
    vec clamped = vec_max(vec_set(-191.0f), s);
    vec shifted = (clamped - vec_set(0.498f)) + vec_set(0x1.8p23f);
    *whole = (vec)((vec_mask)shifted << 23);
    return clamped - (shifted - vec_set(0x1.8p23f));
}

TKI_INLINE vec vec_join(vec a, vec whole)
{
    return (vec)((vec_mask)a + (vec_mask)whole);
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

TKI_INLINE vec vec_load16(const uint16_t *source, tk_dtype dtype)
{
    float lanes[VEC];
    for (int i = 0; i < VEC; i++)
        lanes[i] = dtype == TK_F16 ? tki_f16_to_f32(source[i]) : tki_bf16_to_f32(source[i]);
    return vec_load(lanes);
}

TKI_INLINE vec vec_load16_part(const uint16_t *source, int count, tk_dtype dtype)
{
    uint16_t lanes[VEC] = {0};
    memcpy(lanes, source, (size_t)count * sizeof *lanes);
    return vec_load16(lanes, dtype);
}

TKI_INLINE void vec_store16(uint16_t *target, vec v, tk_dtype dtype)
{
    float lanes[VEC];
    vec_store(lanes, v);
    for (int i = 0; i < VEC; i++)
        target[i] = dtype == TK_F16 ? tki_f32_to_f16(lanes[i]) : tki_f32_to_bf16(lanes[i]);
}

TKI_INLINE void vec_store16_part(uint16_t *target, vec v, int count, tk_dtype dtype)
{
    uint16_t lanes[VEC];
    vec_store16(lanes, v, dtype);
    memcpy(target, lanes, (size_t)count * sizeof *lanes);
}

TKI_INLINE void vec_stream16(uint16_t *target, vec v, tk_dtype dtype)
{
    vec_store16(target, v, dtype);
}

TKI_INLINE void vec_load16_pair(const uint16_t *source, vec *first, vec *second, tk_dtype dtype)
{
    *first = vec_load16(source, dtype);
    *second = vec_load16(source + VEC, dtype);
}

TKI_INLINE void vec_store16_pair(uint16_t *target, vec first, vec second, tk_dtype dtype)
{
    vec_store16(target, first, dtype);
    vec_store16(target + VEC, second, dtype);
}

TKI_INLINE void vec_stream16_pair(uint16_t *target, vec first, vec second, tk_dtype dtype)
{
    vec_store16_pair(target, first, second, dtype);
}

TKI_INLINE void vec_stream_copy(void *target, const void *source)
{
    memcpy(target, source, VEC * sizeof(float));
}

TKI_INLINE void vec_stream_end(void)
{
}

TKI_INLINE void vec_transpose(vec rows[VEC])
{
    vec a = rows[0], b = rows[1], c = rows[2], d = rows[3];
    for (int i = 0; i < VEC; i++)
        rows[i] = (vec){a[i], b[i], c[i], d[i]};
}
