/* UNTRUSTED. Conversions, limits and SLEEF loops; one body, compiled once per instruction set over the vector layer that
 * the kernels use, so that peers and limits get the same instructions as our own kernels. */
#include "bench/isa/machine.h"

#include <math.h>

#include "kernels/cpu_vector.h"

/* The two functions of a row of the table: its body, with the type known. */
#define FOR_BOTH_TYPES(result, name, parameters, ...) \
    static result name##_f16 parameters               \
    {                                                 \
        return name(__VA_ARGS__, TK_F16);             \
    }                                                 \
    static result name##_bf16 parameters              \
    {                                                 \
        return name(__VA_ARGS__, TK_BF16);            \
    }

/* -- Conversions: the work that a peer computing in fp32 must do besides ---------------------------------------- */

TKI_INLINE void widen(const uint16_t *from, float *to, int64_t count, tk_dtype dtype)
{
    int64_t i = 0;
    for (; i + VEC <= count; i += VEC)
        vec_store(to + i, vec_load16(from + i, dtype));
    for (; i < count; i++)
        to[i] = dtype == TK_F16 ? tki_f16_to_f32(from[i]) : tki_bf16_to_f32(from[i]);
}

TKI_INLINE void narrow(const float *from, uint16_t *to, int64_t count, tk_dtype dtype)
{
    int64_t i = 0;
    for (; i + VEC <= count; i += VEC)
        vec_store16(to + i, vec_load(from + i), dtype);
    for (; i < count; i++)
        to[i] = dtype == TK_F16 ? tki_f32_to_f16(from[i]) : tki_f32_to_bf16(from[i]);
}

TKI_INLINE void add(const uint16_t *from, float *to, int64_t count, tk_dtype dtype)
{
    int64_t i = 0;
    for (; i + VEC <= count; i += VEC)
        vec_store(to + i, vec_add(vec_load(to + i), vec_load16(from + i, dtype)));
    for (; i < count; i++)
        to[i] += dtype == TK_F16 ? tki_f16_to_f32(from[i]) : tki_bf16_to_f32(from[i]);
}

FOR_BOTH_TYPES(void, widen, (const uint16_t *from, float *to, int64_t count), from, to, count)
FOR_BOTH_TYPES(void, narrow, (const float *from, uint16_t *to, int64_t count), from, to, count)
FOR_BOTH_TYPES(void, add, (const uint16_t *from, float *to, int64_t count), from, to, count)

/* -- Limits ----------------------------------------------------------------------------------------------------- */

enum { VEC_BYTES = 4 * VEC, BLOCK = 4096 };

TKI_INLINE vec read_block(const char *from, int64_t bytes, vec sum)
{
    vec sums[4] = {sum, sum, sum, sum};
    int64_t i = 0;
    for (; i + 4 * VEC_BYTES <= bytes; i += 4 * VEC_BYTES)
        for (int k = 0; k < 4; k++)
            sums[k] = vec_max(sums[k], vec_load((const float *)(const void *)(from + i + k * VEC_BYTES)));
    for (; i + VEC_BYTES <= bytes; i += VEC_BYTES)
        sum = vec_max(sum, vec_load((const float *)(const void *)(from + i)));
    return vec_max(vec_max(vec_max(sums[0], sums[1]), vec_max(sums[2], sums[3])), sum);
}

TKI_INLINE void write_block(char *to, int64_t bytes, bool past_caches)
{
    static const float values[VEC] = {1.5f};
    const vec value = vec_set(1.5f);
    int64_t i = 0;
    if (past_caches) {
        for (; i < bytes && (uintptr_t)(to + i) % VEC_BYTES; i++)
            to[i] = 1;
        for (; i + VEC_BYTES <= bytes; i += VEC_BYTES)
            vec_stream_copy(to + i, values);
    } else {
        for (; i + VEC_BYTES <= bytes; i += VEC_BYTES)
            vec_store((float *)(void *)(to + i), value);
    }
    for (; i < bytes; i++)
        to[i] = 1;
}

/* The `step`-th of `steps` parts, rounded down to whole cache lines but for the last. */
TKI_INLINE int64_t part_begin(int64_t bytes, int64_t step, int64_t steps)
{
    return step == steps ? bytes : (int64_t)((double)bytes * (double)step / (double)steps) / 64 * 64;
}

static float move(const bench_traffic *t, bool past_caches)
{
    int64_t most = 1;
    vec sum = vec_set(0.0f);
    for (int k = 0; k < t->read_count; k++)
        most = t->read_bytes[k] > most ? t->read_bytes[k] : most;
    for (int k = 0; k < t->write_count; k++)
        most = t->write_bytes[k] > most ? t->write_bytes[k] : most;
    const int64_t steps = (most + BLOCK - 1) / BLOCK;
    for (int64_t s = 0; s < steps; s++) {
        for (int k = 0; k < t->read_count; k++) {
            int64_t begin = part_begin(t->read_bytes[k], s, steps);
            sum = read_block(t->reads[k] + begin, part_begin(t->read_bytes[k], s + 1, steps) - begin, sum);
        }
        for (int k = 0; k < t->write_count; k++) {
            int64_t begin = part_begin(t->write_bytes[k], s, steps);
            write_block(t->writes[k] + begin, part_begin(t->write_bytes[k], s + 1, steps) - begin, past_caches);
        }
    }
    if (past_caches)
        vec_stream_end();
    return vec_greatest(sum);
}

/* Twelve chains: enough to hide the latency of two units, few enough for sixteen registers. */
static double multiply_add(int64_t rounds, float *sink)
{
    enum { CHAINS = 12 };
    vec chain[CHAINS];
    const vec factor = vec_set(0.5f);
    const vec addend = vec_set(*sink);
    for (int k = 0; k < CHAINS; k++)
        chain[k] = vec_set((float)k);
    for (int64_t r = 0; r < rounds; r++) {
#pragma GCC unroll 12
        for (int k = 0; k < CHAINS; k++)
            chain[k] = vec_fma(chain[k], factor, addend);
    }
    for (int k = 1; k < CHAINS; k++)
        chain[0] = vec_add(chain[0], chain[k]);
    *sink = vec_sum(chain[0]) > 1e30f ? 1.0f : 0.25f;
    return 2.0 * CHAINS * VEC * (double)rounds;
}

/* -- Loops around SLEEF's exponential --------------------------------------------------------------------------- */

#if !defined(TKI_ISA_PORTABLE)
#if defined(__AVX512F__)
static const char exp_name[] = "Sleef_expf16_u10avx512f";
#elif defined(__AVX2__)
static const char exp_name[] = "Sleef_expf8_u10avx2";
#else
static const char exp_name[] = "Sleef_expf4_u10advsimd";
#endif

typedef vec (*exp_function)(vec);

TKI_INLINE exp_function exp_at(void *address)
{
    exp_function function;
    memcpy(&function, &address, sizeof function);
    return function;
}

/* -2z = -2 sqrt(2/pi) (x + 0.044715 x^3) */
TKI_INLINE vec minus_2z(vec x)
{
    vec square = vec_mul(x, x);
    return vec_mul(x, vec_fma(square, vec_set(-0.0713548162726f), vec_set(-1.59576912161f)));
}

TKI_INLINE vec gelu_of(exp_function exponential, vec x)
{
    return vec_div(x, vec_add(vec_set(1.0f), exponential(minus_2z(x))));
}

TKI_INLINE vec gelu_grad_of(exp_function exponential, vec grad, vec x)
{
    const vec one = vec_set(1.0f);
    vec sigma = vec_div(one, vec_add(one, exponential(minus_2z(x))));
    vec h = vec_mul(x, vec_fma(vec_mul(x, x), vec_set(0.214064448818f), vec_set(1.59576912161f)));
    return vec_mul(grad, vec_mul(sigma, vec_fma(vec_sub(one, sigma), h, one)));
}

TKI_INLINE void gelu(void *address, const uint16_t *x, uint16_t *y, int64_t count, tk_dtype dtype)
{
    exp_function exponential = exp_at(address);
    int64_t i = 0;
    for (; i + VEC <= count; i += VEC)
        vec_store16(y + i, gelu_of(exponential, vec_load16(x + i, dtype)), dtype);
    if (i < count) {
        int rest = (int)(count - i);
        vec_store16_part(y + i, gelu_of(exponential, vec_load16_part(x + i, rest, dtype)), rest, dtype);
    }
}

TKI_INLINE void gelu_grad(void *address, const uint16_t *grad, const uint16_t *x, uint16_t *out, int64_t count,
                          tk_dtype dtype)
{
    exp_function exponential = exp_at(address);
    int64_t i = 0;
    for (; i + VEC <= count; i += VEC)
        vec_store16(out + i, gelu_grad_of(exponential, vec_load16(grad + i, dtype), vec_load16(x + i, dtype)), dtype);
    if (i < count) {
        int rest = (int)(count - i);
        vec g = vec_load16_part(grad + i, rest, dtype);
        vec_store16_part(out + i, gelu_grad_of(exponential, g, vec_load16_part(x + i, rest, dtype)), rest, dtype);
    }
}

TKI_INLINE float softmax(void *address, const uint16_t *x, uint16_t *y, float *scratch, int64_t count,
                         float *greatest, tk_dtype dtype)
{
    exp_function exponential = exp_at(address);
    vec top = vec_set(-INFINITY);
    vec sums = vec_set(0.0f);
    const int64_t whole = count / VEC * VEC;
    const int rest = (int)(count - whole);
    for (int64_t i = 0; i < whole; i += VEC)
        top = vec_max(top, vec_load16(x + i, dtype));
    float maximum = vec_greatest(top);
    for (int64_t i = whole; i < count; i++)
        maximum = fmaxf(maximum, dtype == TK_F16 ? tki_f16_to_f32(x[i]) : tki_bf16_to_f32(x[i]));
    const vec high = vec_set(maximum);
    for (int64_t i = 0; i < whole; i += VEC) {
        vec e = exponential(vec_sub(vec_load16(x + i, dtype), high));
        vec_store(scratch + i, e);
        sums = vec_add(sums, e);
    }
    float sum = vec_sum(sums);
    float tail[VEC] = {0};
    if (rest)
        vec_store(tail, exponential(vec_sub(vec_load16_part(x + whole, rest, dtype), high)));
    for (int k = 0; k < rest; k++)
        sum += tail[k];
    const vec scale = vec_set(1.0f / sum);
    for (int64_t i = 0; i < whole; i += VEC)
        vec_store16(y + i, vec_mul(vec_load(scratch + i), scale), dtype);
    if (rest)
        vec_store16_part(y + whole, vec_mul(vec_load(tail), scale), rest, dtype);
    *greatest = maximum;
    return sum;
}

FOR_BOTH_TYPES(void, gelu, (void *exp, const uint16_t *x, uint16_t *y, int64_t count), exp, x, y, count)
FOR_BOTH_TYPES(void, gelu_grad, (void *exp, const uint16_t *grad, const uint16_t *x, uint16_t *out, int64_t count),
               exp, grad, x, out, count)
FOR_BOTH_TYPES(float, softmax,
               (void *exp, const uint16_t *x, uint16_t *y, float *scratch, int64_t count, float *greatest), exp, x, y,
               scratch, count, greatest)
#endif

extern const bench_machine TKI_ISA_TABLE(bench_machine);

const bench_machine TKI_ISA_TABLE(bench_machine) = {
    .lanes = VEC,
    .widen = {widen_f16, widen_bf16},
    .narrow = {narrow_f16, narrow_bf16},
    .add = {add_f16, add_bf16},
    .move = move,
    .multiply_add = multiply_add,
#if !defined(TKI_ISA_PORTABLE)
    .exp_name = exp_name,
    .gelu = {gelu_f16, gelu_bf16},
    .gelu_grad = {gelu_grad_f16, gelu_grad_bf16},
    .softmax = {softmax_f16, softmax_bf16},
#endif
};
