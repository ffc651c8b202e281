/* UNTRUSTED. Vectors of elements of a type that the kernel is given: 16-bit ones are converted, fp32 moves as it is. `dtype` is
 * a constant wherever these are used, so that nothing is decided at run time. */
#ifndef TKI_KERNELS_CPU_VECTOR_ELEMENTS_H
#define TKI_KERNELS_CPU_VECTOR_ELEMENTS_H

#include "kernels/cpu_vector.h"

TKI_INLINE int64_t element_bytes(tk_dtype dtype)
{
    return dtype == TK_F32 ? (int64_t)sizeof(float) : (int64_t)sizeof(uint16_t);
}

/* The address of element `i`. */
TKI_INLINE const void *element_at(const void *first, int64_t i, tk_dtype dtype)
{
    return (const char *)first + i * element_bytes(dtype);
}

TKI_INLINE void *element_to(void *first, int64_t i, tk_dtype dtype)
{
    return (char *)first + i * element_bytes(dtype);
}

/* One element as fp32, and back. */
TKI_INLINE float element_get(const void *first, int64_t i, tk_dtype dtype)
{
    if (dtype == TK_F32)
        return ((const float *)first)[i];
    const uint16_t bits = ((const uint16_t *)first)[i];
    return dtype == TK_F16 ? tki_f16_to_f32(bits) : tki_bf16_to_f32(bits);
}

TKI_INLINE void element_put(void *first, int64_t i, float value, tk_dtype dtype)
{
    if (dtype == TK_F32)
        ((float *)first)[i] = value;
    else
        ((uint16_t *)first)[i] = dtype == TK_F16 ? tki_f32_to_f16(value) : tki_f32_to_bf16(value);
}

TKI_INLINE vec vec_load_elements(const void *source, tk_dtype dtype)
{
    return dtype == TK_F32 ? vec_load(source) : vec_load16(source, dtype);
}

/* The first `count` lanes; the others are zero and their memory is not touched. */
TKI_INLINE vec vec_load_elements_part(const void *source, int count, tk_dtype dtype)
{
    return dtype == TK_F32 ? vec_load_part(source, count) : vec_load16_part(source, count, dtype);
}

TKI_INLINE void vec_store_elements(void *target, vec v, tk_dtype dtype)
{
    if (dtype == TK_F32)
        vec_store(target, v);
    else
        vec_store16(target, v, dtype);
}

TKI_INLINE void vec_store_elements_part(void *target, vec v, int count, tk_dtype dtype)
{
    if (dtype == TK_F32)
        vec_store_part(target, v, count);
    else
        vec_store16_part(target, v, count, dtype);
}

/* Two vectors, one behind the other, past the caches; the target is aligned to 4 VEC bytes. */
TKI_INLINE void vec_stream_elements_pair(void *target, vec first, vec second, tk_dtype dtype)
{
    if (dtype == TK_F32) {
        vec_stream(target, first);
        vec_stream((float *)target + VEC, second);
    } else {
        vec_stream16_pair(target, first, second, dtype);
    }
}

TKI_INLINE void vec_store_elements_pair(void *target, vec first, vec second, tk_dtype dtype)
{
    if (dtype == TK_F32) {
        vec_store(target, first);
        vec_store((float *)target + VEC, second);
    } else {
        vec_store16_pair(target, first, second, dtype);
    }
}

/* The _mixed functions: pairs in an order of lanes that only these three know. */
TKI_INLINE void vec_load_elements_mixed(const void *source, vec *first, vec *second, tk_dtype dtype)
{
    if (dtype == TK_F32) {
        *first = vec_load(source);
        *second = vec_load((const float *)source + VEC);
    } else {
        vec_load16_mixed(source, first, second, dtype);
    }
}

TKI_INLINE void vec_store_elements_mixed(void *target, vec first, vec second, tk_dtype dtype)
{
    if (dtype == TK_F32)
        vec_store_elements_pair(target, first, second, dtype);
    else
        vec_store16_mixed(target, first, second, dtype);
}

/* The target is aligned to 4 VEC bytes. */
TKI_INLINE void vec_stream_elements_mixed(void *target, vec first, vec second, tk_dtype dtype)
{
    if (dtype == TK_F32)
        vec_stream_elements_pair(target, first, second, dtype);
    else
        vec_stream16_mixed(target, first, second, dtype);
}

#endif
