/* UNTRUSTED. Row softmax and its gradient on the CPU. One thread computes a row, in an order of operations that is
 * fixed by the number of columns, so its bits depend on nothing else. A row's exponentials wait for their sum in
 * scratch memory; very long rows compute them twice, to the same bits. */
#include "ops/softmax/kernel_cpu.h"

#include "kernels/cpu_vector_rows.h"

extern const tki_softmax_cpu TKI_ISA_TABLE(tki_softmax_cpu);

enum {
    KEPT = 1 << 18, /* rows up to this many columns keep their exponentials */
    CHUNK = 1 << 12,
    PARALLEL_FROM = 1 << 13,
    STREAM_FROM = 3 << 20 /* from this many bytes on, the output would only push other things out of the caches */
};

TKI_INLINE vec scaled_at(const float *e, vec factor)
{
    return vec_mul(vec_load(e), factor);
}

/* Fewer than two vectors, from an element on. */
TKI_INLINE void scale_part(void *y, const float *e, int64_t i, int64_t count, vec factor, tk_dtype dtype)
{
    if (count >= VEC)
        vec_store_elements(element_to(y, i, dtype), scaled_at(e + i, factor), dtype);
    int64_t done = count >= VEC ? VEC : 0;
    if (done < count)
        vec_store_elements_part(element_to(y, i + done, dtype), scaled_at(e + i + done, factor), (int)(count - done),
                                dtype);
}

/* y = e factor */
TKI_INLINE void scale_row(void *y, const float *e, int64_t cols, vec factor, bool stream, tk_dtype dtype)
{
    int64_t i = 0;
    if (stream) {
        i = row_head(y, cols, dtype);
        scale_part(y, e, 0, i, factor, dtype);
        for (; i + ROW_PAIR <= cols; i += ROW_PAIR)
            vec_stream_elements_pair(element_to(y, i, dtype), scaled_at(e + i, factor),
                                     scaled_at(e + i + VEC, factor), dtype);
    } else {
        for (; i + ROW_PAIR <= cols; i += ROW_PAIR)
            vec_store_elements_pair(element_to(y, i, dtype), scaled_at(e + i, factor), scaled_at(e + i + VEC, factor),
                                    dtype);
    }
    scale_part(y, e, i, cols - i, factor, dtype);
}

/* All NaN. */
TKI_INLINE void spoil_row(void *y, int64_t cols, tk_dtype dtype)
{
    for (int64_t i = 0; i < cols; i++)
        element_put(y, i, __builtin_nanf(""), dtype);
}

TKI_INLINE void normalize_row(const void *x, void *y, int64_t cols, row_origin origin, const void *next, float *e,
                              bool stream, tk_dtype dtype)
{
    if (cols <= KEPT) {
        float sum = vec_sum(row_exp_blocks(e, x, cols, origin, next, dtype));
        if (__builtin_isnan(sum))
            spoil_row(y, cols, dtype);
        else
            scale_row(y, e, cols, vec_set(1.0f / sum), stream, dtype);
        return;
    }
    vec lanes = vec_set(0.0f);
    for (int64_t i = 0; i < cols; i += ROW_BLOCK) {
        int count = cols - i < ROW_BLOCK ? (int)(cols - i) : ROW_BLOCK;
        const void *block = element_at(x, i, dtype);
        lanes = vec_add(lanes, row_exp_block(e, block, count, origin, block, dtype));
    }
    float sum = vec_sum(lanes);
    if (__builtin_isnan(sum)) {
        spoil_row(y, cols, dtype);
        return;
    }
    vec factor = vec_set(1.0f / sum);
    for (int64_t i = 0; i < cols; i += CHUNK) {
        int64_t count = cols - i < CHUNK ? cols - i : CHUNK;
        const void *chunk = element_at(x, i, dtype);
        row_exp_blocks(e, chunk, count, origin, chunk, dtype);
        scale_row(element_to(y, i, dtype), e, count, factor, stream, dtype);
    }
}

TKI_INLINE void fwd_row(const void *x, void *y, int64_t cols, const void *next, float *e, bool stream, tk_dtype dtype)
{
    float max = row_greatest(x, cols, dtype);
    if (row_may_fuse(max, dtype))
        normalize_row(x, y, cols, row_origin_at(max, true), next, e, stream, dtype);
    else
        normalize_row(x, y, cols, row_origin_at(max, false), next, e, stream, dtype);
}

/* The sum of y g over a row. */
TKI_INLINE float inner_product(const void *g, const void *y, int64_t cols, tk_dtype dtype)
{
    vec chain[ROW_CHAINS];
    row_clear(chain);
    int64_t i = 0;
    for (; i + ROW_STEP <= cols; i += ROW_STEP)
        for (int j = 0; j < ROW_CHAINS; j += 2) {
            vec of_g[2], of_y[2];
            vec_load_elements_mixed(element_at(g, i + j * VEC, dtype), &of_g[0], &of_g[1], dtype);
            vec_load_elements_mixed(element_at(y, i + j * VEC, dtype), &of_y[0], &of_y[1], dtype);
            chain[j] = vec_fma(of_y[0], of_g[0], chain[j]);
            chain[j + 1] = vec_fma(of_y[1], of_g[1], chain[j + 1]);
        }
    for (; i + VEC <= cols; i += VEC)
        chain[0] = vec_fma(vec_load_elements(element_at(y, i, dtype), dtype),
                           vec_load_elements(element_at(g, i, dtype), dtype), chain[0]);
    if (i < cols) {
        int count = (int)(cols - i);
        chain[1] = vec_fma(vec_load_elements_part(element_at(y, i, dtype), count, dtype),
                           vec_load_elements_part(element_at(g, i, dtype), count, dtype), chain[1]);
    }
    return vec_sum(row_total(chain));
}

/* Fewer than two vectors, from an element on. */
TKI_INLINE void differentiate_part(void *out, const void *g, const void *y, int64_t i, int64_t count, vec sum,
                                   tk_dtype dtype)
{
    if (count >= VEC)
        vec_store_elements(element_to(out, i, dtype),
                           vec_mul(vec_load_elements(element_at(y, i, dtype), dtype),
                                   vec_sub(vec_load_elements(element_at(g, i, dtype), dtype), sum)),
                           dtype);
    int64_t done = i + (count >= VEC ? VEC : 0);
    int left = (int)(i + count - done);
    if (left) {
        vec difference = vec_sub(vec_load_elements_part(element_at(g, done, dtype), left, dtype), sum);
        vec gradient = vec_mul(vec_load_elements_part(element_at(y, done, dtype), left, dtype), difference);
        vec_store_elements_part(element_to(out, done, dtype), gradient, left, dtype);
    }
}

TKI_INLINE void bwd_row(const void *g, const void *y, void *out, int64_t cols, bool stream, tk_dtype dtype)
{
    vec sum = vec_set(inner_product(g, y, cols, dtype));
    int64_t i = 0;
    if (stream) {
        i = row_head(out, cols, dtype);
        differentiate_part(out, g, y, 0, i, sum, dtype);
    }
    for (; i + ROW_PAIR <= cols; i += ROW_PAIR) {
        vec of_g[2], of_y[2], gradient[2];
        vec_load_elements_mixed(element_at(g, i, dtype), &of_g[0], &of_g[1], dtype);
        vec_load_elements_mixed(element_at(y, i, dtype), &of_y[0], &of_y[1], dtype);
        for (int j = 0; j < 2; j++)
            gradient[j] = vec_mul(of_y[j], vec_sub(of_g[j], sum));
        if (stream)
            vec_stream_elements_mixed(element_to(out, i, dtype), gradient[0], gradient[1], dtype);
        else
            vec_store_elements_mixed(element_to(out, i, dtype), gradient[0], gradient[1], dtype);
    }
    differentiate_part(out, g, y, i, cols - i, sum, dtype);
}

TKI_INLINE bool streams(const tki_softmax_params *p, tk_dtype dtype)
{
    return p->rows * p->cols * element_bytes(dtype) >= STREAM_FROM;
}

TKI_INLINE void fwd_rows(const tki_softmax_params *p, int64_t begin, int64_t end, float *e, tk_dtype dtype)
{
    const bool stream = streams(p, dtype);
    for (int64_t row = begin; row < end; row++) {
        const void *x = element_at(p->in, row * p->cols, dtype);
        const void *next = row + 1 < end ? element_at(x, p->cols, dtype) : x;
        fwd_row(x, element_to(p->out, row * p->cols, dtype), p->cols, next, e, stream, dtype);
    }
    if (stream)
        vec_stream_end();
}

TKI_INLINE void bwd_rows(const tki_softmax_params *p, int64_t begin, int64_t end, tk_dtype dtype)
{
    const bool stream = streams(p, dtype);
    for (int64_t row = begin; row < end; row++) {
        const int64_t first = row * p->cols;
        bwd_row(element_at(p->grad_output, first, dtype), element_at(p->in, first, dtype),
                element_to(p->out, first, dtype), p->cols, stream, dtype);
    }
    if (stream)
        vec_stream_end();
}

/* A parallel region is compiled apart, where constants are constants no more; so each kind of row is a function of
 * its own and the region calls it through a pointer. */
typedef void (*rows_function)(const tki_softmax_params *p, int64_t begin, int64_t end, float *e);

static void fwd_rows_f16(const tki_softmax_params *p, int64_t begin, int64_t end, float *e)
{
    fwd_rows(p, begin, end, e, TK_F16);
}

static void fwd_rows_bf16(const tki_softmax_params *p, int64_t begin, int64_t end, float *e)
{
    fwd_rows(p, begin, end, e, TK_BF16);
}

static void fwd_rows_f32(const tki_softmax_params *p, int64_t begin, int64_t end, float *e)
{
    fwd_rows(p, begin, end, e, TK_F32);
}

static void bwd_rows_f16(const tki_softmax_params *p, int64_t begin, int64_t end, float *e)
{
    (void)e;
    bwd_rows(p, begin, end, TK_F16);
}

static void bwd_rows_bf16(const tki_softmax_params *p, int64_t begin, int64_t end, float *e)
{
    (void)e;
    bwd_rows(p, begin, end, TK_BF16);
}

static void bwd_rows_f32(const tki_softmax_params *p, int64_t begin, int64_t end, float *e)
{
    (void)e;
    bwd_rows(p, begin, end, TK_F32);
}

/* Floats of scratch that each thread has; a partial vector that begins anywhere is loaded whole, so there are more.
 * */
static int64_t kept_floats(int64_t cols)
{
    return (cols <= KEPT ? (cols + ROW_BLOCK - 1) / ROW_BLOCK * ROW_BLOCK : CHUNK) + ROW_BLOCK;
}

static void run(const tki_softmax_params *p, float *scratch, int threads, rows_function rows)
{
    if (p->cols == 0)
        return;
    if (threads == 1 || p->rows == 1 || p->rows * p->cols < PARALLEL_FROM) {
        rows(p, 0, p->rows, scratch);
        return;
    }
    const int64_t kept = kept_floats(p->cols);
#pragma omp parallel for schedule(static, 1) num_threads(threads)
    for (int part = 0; part < threads; part++)
        rows(p, row_first_of_part(p->rows, part, threads), row_first_of_part(p->rows, part + 1, threads),
             scratch + kept * part);
}

static size_t fwd_scratch_bytes(int64_t cols, int threads)
{
    return (size_t)kept_floats(cols) * sizeof(float) * (size_t)threads;
}

static void fwd_f16(const tki_softmax_params *p, void *scratch, int threads)
{
    run(p, scratch, threads, fwd_rows_f16);
}

static void fwd_bf16(const tki_softmax_params *p, void *scratch, int threads)
{
    run(p, scratch, threads, fwd_rows_bf16);
}

static void fwd_f32(const tki_softmax_params *p, void *scratch, int threads)
{
    run(p, scratch, threads, fwd_rows_f32);
}

static void bwd_f16(const tki_softmax_params *p, int threads)
{
    run(p, NULL, threads, bwd_rows_f16);
}

static void bwd_bf16(const tki_softmax_params *p, int threads)
{
    run(p, NULL, threads, bwd_rows_bf16);
}

static void bwd_f32(const tki_softmax_params *p, int threads)
{
    run(p, NULL, threads, bwd_rows_f32);
}

const tki_softmax_cpu TKI_ISA_TABLE(tki_softmax_cpu) = {
    .fwd = {fwd_f16, fwd_bf16, fwd_f32}, .bwd = {bwd_f16, bwd_bf16, bwd_f32}, .fwd_scratch_bytes = fwd_scratch_bytes};
