/* UNTRUSTED. GELU and its gradient on the CPU. Elementwise, so no bit depends on the threads. */
#include "ops/gelu/kernel_cpu.h"

#include "kernels/cpu_gelu.h"
#include "kernels/cpu_vector_elements.h"

extern const tki_gelu_cpu TKI_ISA_TABLE(tki_gelu_cpu);

enum {
    PAIR = 2 * VEC,         /* elements that are computed side by side */
    STREAM_BYTES = 4 * VEC, /* what streams are aligned to */
    CHUNK = 1 << 14,        /* elements that one thread takes at a time */
    STREAM_FROM = 3 << 20   /* from this many bytes on, the output would only push other things out of the caches */
};

/* Up to a pair from element `i` on; nothing beyond is touched. */
TKI_INLINE void load(vec *to, const void *from, int64_t i, int count, tk_dtype dtype)
{
    const void *first = element_at(from, i, dtype);
    if (count == PAIR) {
        vec_load_elements_mixed(first, &to[0], &to[1], dtype);
    } else {
        to[0] = vec_load_elements_part(first, count < VEC ? count : VEC, dtype);
        to[1] = count > VEC ? vec_load_elements_part(element_at(from, i + VEC, dtype), count - VEC, dtype)
                            : vec_set(0.0f);
    }
}

TKI_INLINE void store(void *to, int64_t i, const vec *from, int count, bool stream, tk_dtype dtype)
{
    void *first = element_to(to, i, dtype);
    if (count == PAIR && stream) {
        vec_stream_elements_mixed(first, from[0], from[1], dtype);
    } else if (count == PAIR) {
        vec_store_elements_mixed(first, from[0], from[1], dtype);
    } else {
        vec_store_elements_part(first, from[0], count < VEC ? count : VEC, dtype);
        if (count > VEC)
            vec_store_elements_part(element_to(to, i + VEC, dtype), from[1], count - VEC, dtype);
    }
}

TKI_INLINE void load_and_begin(const tki_gelu_params *p, int64_t i, int count, gelu_work *w, bool backward,
                               tk_dtype dtype)
{
    load(w->kept, p->x, i, count, dtype);
    gelu_begin(w, backward, dtype);
}

TKI_INLINE void end_and_store(const tki_gelu_params *p, int64_t i, int count, gelu_work *w, bool stream,
                              bool backward, tk_dtype dtype)
{
    gelu_end(w, backward);
    if (backward) {
        vec grad[2];
        load(grad, p->grad_output, i, count, dtype);
        for (int j = 0; j < 2; j++)
            w->result[j] = vec_mul(grad[j], w->result[j]);
    }
    store(p->out, i, w->result, count, stream, dtype);
}

TKI_INLINE void run_pair(const tki_gelu_params *p, int64_t i, int count, bool stream, bool backward, tk_dtype dtype)
{
    gelu_work w;
    load_and_begin(p, i, count, &w, backward, dtype);
    gelu_split(&w, backward);
    gelu_join(&w, backward);
    end_and_store(p, i, count, &w, stream, backward, dtype);
}

/* As many whole pairs as there are in [i, end). Returns where they end. */
TKI_INLINE int64_t run_pairs(const tki_gelu_params *p, int64_t i, int64_t end, bool stream, bool backward,
                             tk_dtype dtype)
{
    if (i + 4 * PAIR <= end) {
        gelu_work first, second, third; /* as many steps behind the fourth */
        load_and_begin(p, i, PAIR, &third, backward, dtype);
        load_and_begin(p, i + PAIR, PAIR, &second, backward, dtype);
        load_and_begin(p, i + 2 * PAIR, PAIR, &first, backward, dtype);
        gelu_split(&third, backward);
        gelu_split(&second, backward);
        gelu_join(&third, backward);
        for (; i + 4 * PAIR <= end; i += PAIR) {
            end_and_store(p, i, PAIR, &third, stream, backward, dtype);
            third = second;
            gelu_join(&third, backward);
            second = first;
            gelu_split(&second, backward);
            load_and_begin(p, i + 3 * PAIR, PAIR, &first, backward, dtype);
        }
    }
    for (; i + PAIR <= end; i += PAIR)
        run_pair(p, i, PAIR, stream, backward, dtype);
    return i;
}

TKI_INLINE void run_range(const tki_gelu_params *p, int64_t first, int64_t end, bool stream, bool backward,
                          tk_dtype dtype)
{
    int64_t i = first;
    if (stream) {
        /* up to where the output is aligned for streaming */
        const uintptr_t address = (uintptr_t)element_to(p->out, i, dtype);
        const int64_t head = (int64_t)(-address % STREAM_BYTES) / element_bytes(dtype);
        i = head < end - i ? i + head : end;
        run_pair(p, first, (int)(i - first), false, backward, dtype);
        i = run_pairs(p, i, end, true, backward, dtype);
        vec_stream_end();
    } else {
        i = run_pairs(p, i, end, false, backward, dtype);
    }
    if (i < end)
        run_pair(p, i, (int)(end - i), false, backward, dtype);
}

/* A parallel region is compiled apart, where constants are constants no more; so each kind of range is a function of
 * its own and the region calls it through a pointer. */
typedef void (*range_function)(const tki_gelu_params *p, int64_t begin, int64_t end, bool stream);

static void fwd_range_f16(const tki_gelu_params *p, int64_t begin, int64_t end, bool stream)
{
    run_range(p, begin, end, stream, false, TK_F16);
}

static void fwd_range_bf16(const tki_gelu_params *p, int64_t begin, int64_t end, bool stream)
{
    run_range(p, begin, end, stream, false, TK_BF16);
}

static void fwd_range_f32(const tki_gelu_params *p, int64_t begin, int64_t end, bool stream)
{
    run_range(p, begin, end, stream, false, TK_F32);
}

static void bwd_range_f16(const tki_gelu_params *p, int64_t begin, int64_t end, bool stream)
{
    run_range(p, begin, end, stream, true, TK_F16);
}

static void bwd_range_bf16(const tki_gelu_params *p, int64_t begin, int64_t end, bool stream)
{
    run_range(p, begin, end, stream, true, TK_BF16);
}

static void bwd_range_f32(const tki_gelu_params *p, int64_t begin, int64_t end, bool stream)
{
    run_range(p, begin, end, stream, true, TK_F32);
}

static void run(const tki_gelu_params *p, int threads, range_function range, tk_dtype dtype)
{
    const int64_t n = p->n;
    const bool stream = n * element_bytes(dtype) >= STREAM_FROM;
    if (n <= CHUNK || threads == 1) {
        range(p, 0, n, stream);
        return;
    }
#pragma omp parallel for schedule(static) num_threads(threads)
    for (int64_t begin = 0; begin < n; begin += CHUNK)
        range(p, begin, n - begin < CHUNK ? n : begin + CHUNK, stream);
}

static void fwd_f16(const tki_gelu_params *p, int threads)
{
    run(p, threads, fwd_range_f16, TK_F16);
}

static void fwd_bf16(const tki_gelu_params *p, int threads)
{
    run(p, threads, fwd_range_bf16, TK_BF16);
}

static void fwd_f32(const tki_gelu_params *p, int threads)
{
    run(p, threads, fwd_range_f32, TK_F32);
}

static void bwd_f16(const tki_gelu_params *p, int threads)
{
    run(p, threads, bwd_range_f16, TK_F16);
}

static void bwd_bf16(const tki_gelu_params *p, int threads)
{
    run(p, threads, bwd_range_bf16, TK_BF16);
}

static void bwd_f32(const tki_gelu_params *p, int threads)
{
    run(p, threads, bwd_range_f32, TK_F32);
}

const tki_gelu_cpu TKI_ISA_TABLE(tki_gelu_cpu) = {.fwd = {fwd_f16, fwd_bf16, fwd_f32},
                                                  .bwd = {bwd_f16, bwd_bf16, bwd_f32}};
