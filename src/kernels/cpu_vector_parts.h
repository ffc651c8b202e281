/* UNTRUSTED. For instruction sets without masked loads and stores of floats: a part of a vector goes by way of an array. Included behind
 * vec_load() and vec_store(); cpu_vector_avx512.h says what each function does. */

TKI_INLINE vec vec_load_part(const float *source, int count)
{
    float lanes[VEC] = {0};
    memcpy(lanes, source, (size_t)count * sizeof *lanes);
    return vec_load(lanes);
}

TKI_INLINE void vec_store_part(float *target, vec v, int count)
{
    float lanes[VEC];
    vec_store(lanes, v);
    memcpy(target, lanes, (size_t)count * sizeof *lanes);
}
