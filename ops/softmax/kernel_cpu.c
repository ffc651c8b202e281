/* UNTRUSTED. Row softmax and its gradient on the CPU. One thread computes a row, in an order of operations that is
 * fixed by the number of columns, so its bits depend on nothing else. A row's exponentials wait for their sum in
 * scratch memory; very long rows compute them twice, to the same bits. */
#include "ops/softmax/kernel_cpu.h"

#include "backend/cpu_vector_rows.h"

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

/* Fewer than two vectors. */
TKI_INLINE void scale_part(uint16_t *y, const float *e, int64_t count, vec factor, tk_dtype dtype)
{
    if (count >= VEC)
        vec_store16(y, scaled_at(e, factor), dtype);
    int64_t done = count >= VEC ? VEC : 0;
    if (done < count)
        vec_store16_part(y + done, scaled_at(e + done, factor), (int)(count - done), dtype);
}

/* y = e factor */
TKI_INLINE void scale_row(uint16_t *y, const float *e, int64_t cols, vec factor, bool stream, tk_dtype dtype)
{
    int64_t i = 0;
    if (stream) {
        i = row_head(y, cols);
        scale_part(y, e, i, factor, dtype);
        for (; i + ROW_PAIR <= cols; i += ROW_PAIR)
            vec_stream16_pair(y + i, scaled_at(e + i, factor), scaled_at(e + i + VEC, factor), dtype);
    } else {
        for (; i + ROW_PAIR <= cols; i += ROW_PAIR)
            vec_store16_pair(y + i, scaled_at(e + i, factor), scaled_at(e + i + VEC, factor), dtype);
    }
    scale_part(y + i, e + i, cols - i, factor, dtype);
}

/* All NaN. */
TKI_INLINE void spoil_row(uint16_t *y, int64_t cols, tk_dtype dtype)
{
    for (int64_t i = 0; i < cols; i++)
        y[i] = dtype == TK_F16 ? 0x7e00 : 0x7fc0;
}

TKI_INLINE void normalize_row(const uint16_t *x, uint16_t *y, int64_t cols, row_origin origin, const uint16_t *next,
                              float *e, bool stream, tk_dtype dtype)
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
        lanes = vec_add(lanes, row_exp_block(e, x + i, count, origin, x + i, dtype));
    }
    float sum = vec_sum(lanes);
    if (__builtin_isnan(sum)) {
        spoil_row(y, cols, dtype);
        return;
    }
    vec factor = vec_set(1.0f / sum);
    for (int64_t i = 0; i < cols; i += CHUNK) {
        int64_t count = cols - i < CHUNK ? cols - i : CHUNK;
        row_exp_blocks(e, x + i, count, origin, x + i, dtype);
        scale_row(y + i, e, count, factor, stream, dtype);
    }
}

TKI_INLINE void fwd_row(const uint16_t *x, uint16_t *y, int64_t cols, const uint16_t *next, float *e, bool stream,
                        tk_dtype dtype)
{
    float max = row_element(row_greatest(x, cols), dtype);
    if (row_may_fuse(max, dtype))
        normalize_row(x, y, cols, row_origin_at(max, true), next, e, stream, dtype);
    else
        normalize_row(x, y, cols, row_origin_at(max, false), next, e, stream, dtype);
}

/* The sum of y g over a row. */
TKI_INLINE float inner_product(const uint16_t *g, const uint16_t *y, int64_t cols, tk_dtype dtype)
{
    vec chain[ROW_CHAINS];
    row_clear(chain);
    int64_t i = 0;
    for (; i + ROW_STEP <= cols; i += ROW_STEP)
        for (int j = 0; j < ROW_CHAINS; j += 2) {
            vec of_g[2], of_y[2];
            vec_load16_mixed(g + i + j * VEC, &of_g[0], &of_g[1], dtype);
            vec_load16_mixed(y + i + j * VEC, &of_y[0], &of_y[1], dtype);
            chain[j] = vec_fma(of_y[0], of_g[0], chain[j]);
            chain[j + 1] = vec_fma(of_y[1], of_g[1], chain[j + 1]);
        }
    for (; i + VEC <= cols; i += VEC)
        chain[0] = vec_fma(vec_load16(y + i, dtype), vec_load16(g + i, dtype), chain[0]);
    if (i < cols) {
        int count = (int)(cols - i);
        chain[1] = vec_fma(vec_load16_part(y + i, count, dtype), vec_load16_part(g + i, count, dtype), chain[1]);
    }
    return vec_sum(row_total(chain));
}

TKI_INLINE vec gradient_at(const uint16_t *g, const uint16_t *y, vec sum, tk_dtype dtype)
{
    return vec_mul(vec_load16(y, dtype), vec_sub(vec_load16(g, dtype), sum));
}

/* Fewer than two vectors. */
TKI_INLINE void differentiate_part(uint16_t *out, const uint16_t *g, const uint16_t *y, int64_t count, vec sum,
                                   tk_dtype dtype)
{
    if (count >= VEC)
        vec_store16(out, gradient_at(g, y, sum, dtype), dtype);
    int64_t done = count >= VEC ? VEC : 0;
    int left = (int)(count - done);
    if (left) {
        vec difference = vec_sub(vec_load16_part(g + done, left, dtype), sum);
        vec gradient = vec_mul(vec_load16_part(y + done, left, dtype), difference);
        vec_store16_part(out + done, gradient, left, dtype);
    }
}

TKI_INLINE void bwd_row(const uint16_t *g, const uint16_t *y, uint16_t *out, int64_t cols, bool stream,
                        tk_dtype dtype)
{
    vec sum = vec_set(inner_product(g, y, cols, dtype));
    int64_t i = 0;
    if (stream) {
        i = row_head(out, cols);
        differentiate_part(out, g, y, i, sum, dtype);
    }
    for (; i + ROW_PAIR <= cols; i += ROW_PAIR) {
        vec of_g[2], of_y[2], gradient[2];
        vec_load16_mixed(g + i, &of_g[0], &of_g[1], dtype);
        vec_load16_mixed(y + i, &of_y[0], &of_y[1], dtype);
        for (int j = 0; j < 2; j++)
            gradient[j] = vec_mul(of_y[j], vec_sub(of_g[j], sum));
        if (stream)
            vec_stream16_mixed(out + i, gradient[0], gradient[1], dtype);
        else
            vec_store16_mixed(out + i, gradient[0], gradient[1], dtype);
    }
    differentiate_part(out + i, g + i, y + i, cols - i, sum, dtype);
}

TKI_INLINE bool streams(const tki_softmax_params *p)
{
    return p->rows * p->cols * (int64_t)sizeof(uint16_t) >= STREAM_FROM;
}

TKI_INLINE void fwd_rows(const tki_softmax_params *p, int64_t begin, int64_t end, float *e, tk_dtype dtype)
{
    const bool stream = streams(p);
    for (int64_t row = begin; row < end; row++) {
        const uint16_t *x = (const uint16_t *)p->in + row * p->cols;
        fwd_row(x, (uint16_t *)p->out + row * p->cols, p->cols, row + 1 < end ? x + p->cols : x, e, stream, dtype);
    }
    if (stream)
        vec_stream_end();
}

TKI_INLINE void bwd_rows(const tki_softmax_params *p, int64_t begin, int64_t end, tk_dtype dtype)
{
    const bool stream = streams(p);
    for (int64_t row = begin; row < end; row++)
        bwd_row((const uint16_t *)p->grad_output + row * p->cols, (const uint16_t *)p->in + row * p->cols,
                (uint16_t *)p->out + row * p->cols, p->cols, stream, dtype);
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

static void bwd_f16(const tki_softmax_params *p, int threads)
{
    run(p, NULL, threads, bwd_rows_f16);
}

static void bwd_bf16(const tki_softmax_params *p, int threads)
{
    run(p, NULL, threads, bwd_rows_bf16);
}

const tki_softmax_cpu TKI_ISA_TABLE(tki_softmax_cpu) = {
    .fwd = {fwd_f16, fwd_bf16}, .bwd = {bwd_f16, bwd_bf16}, .fwd_scratch_bytes = fwd_scratch_bytes};
