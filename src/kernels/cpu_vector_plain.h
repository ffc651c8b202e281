/* UNTRUSTED. For instruction sets that have no stores past the caches, and no cheaper order of elements for two vectors at once: a stream
 * is a store, a pair is one vector after the other. Included behind vec_load16() and vec_store16(), and vec_load() and vec_store(); cpu_vector_avx512.h says what each
 * function does. */

#include "kernels/cpu_vector_parts.h"

TKI_INLINE void vec_store16_part(uint16_t *target, vec v, int count, tk_dtype dtype)
{
    uint16_t lanes[VEC];
    vec_store16(lanes, v, dtype);
    memcpy(target, lanes, (size_t)count * sizeof *lanes);
}

TKI_INLINE void vec_stream(float *target, vec v)
{
    vec_store(target, v);
}

TKI_INLINE void vec_stream16(uint16_t *target, vec v, tk_dtype dtype)
{
    vec_store16(target, v, dtype);
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

TKI_INLINE void vec_load16_mixed(const uint16_t *source, vec *first, vec *second, tk_dtype dtype)
{
    *first = vec_load16(source, dtype);
    *second = vec_load16(source + VEC, dtype);
}

TKI_INLINE void vec_store16_mixed(uint16_t *target, vec first, vec second, tk_dtype dtype)
{
    vec_store16_pair(target, first, second, dtype);
}

TKI_INLINE void vec_stream16_mixed(uint16_t *target, vec first, vec second, tk_dtype dtype)
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
