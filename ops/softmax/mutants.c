/* Wrong kernels for softmax, each with one line saying what is wrong. Slow and plain on purpose. */
#include <math.h>
#include <string.h>

#include "core/mutant.h"
#include "ops/mutant_tools.h"

enum { TILE = 16 };

static void put_result(const tk_case *c, void *out, int64_t i, float value, bool truncated)
{
    if (truncated)
        tki_put_truncated(c, out, i, value);
    else
        tki_put(c, out, i, value);
}

static float flushed(const tk_case *c, float value)
{
    float smallest = c->dtype == TK_F16 ? 0x1p-14f : 0x1p-126f;
    return fabsf(value) < smallest ? 0.0f : value;
}

static int64_t elements(const tk_case *c)
{
    return c->dims[0] * c->dims[1];
}

/* Forward. */

typedef struct fwd_mutation {
    bool by_columns, transposed, off_by_one, no_max, global_max, truncated, nan_masked, cut_off;
    bool rounded_difference, rounded_exp, rounded_sum, rounded_reciprocal, empty_row_zero, plus_inf_one_hot;
    int64_t unsummed;  /* terms left out of the sum of a row longer than that */
    int64_t unwritten; /* elements at the end */
} fwd_mutation;

/* Line l, place t: element l line_stride + t place_stride. */
typedef struct lines {
    int64_t count, length, line_stride, place_stride;
} lines;

static int64_t at(const lines *v, int64_t line, int64_t place)
{
    return line * v->line_stride + place * v->place_stride;
}

static float fwd_input(const tk_case *c, const void *x, const fwd_mutation *m, const lines *v, int64_t line,
                       int64_t place)
{
    int64_t i = at(v, line, place);
    if (m->transposed)
        i = place * v->count + line;
    if (m->off_by_one && i + 1 < elements(c))
        i++;
    return tki_get(c, x, i);
}

static float fwd_maximum(const tk_case *c, const void *x, const fwd_mutation *m, const lines *v, int64_t line)
{
    float max = -INFINITY;
    if (m->no_max)
        return 0;
    for (int64_t i = 0; i < elements(c) && m->global_max; i++)
        max = fmaxf(max, tki_get(c, x, i));
    for (int64_t t = 0; t < v->length; t++)
        max = fmaxf(max, fwd_input(c, x, m, v, line, t));
    return max;
}

static float fwd_exp(const tk_case *c, const fwd_mutation *m, float x, float max)
{
    float difference = m->rounded_difference ? tki_rounded(c, x - max) : x - max;
    if (m->empty_row_zero && x == -INFINITY)
        return 0;
    if (m->plus_inf_one_hot && max == INFINITY)
        return x == INFINITY ? 1 : isnan(x) ? x : 0;
    return m->rounded_exp ? tki_rounded(c, expf(difference)) : expf(difference);
}

static void fwd_line(const tk_case *c, void *const b[], const fwd_mutation *m, const lines *v, int64_t line)
{
    float max = fwd_maximum(c, b[0], m, v, line);
    float sum = 0;
    for (int64_t t = 0; t < v->length - (v->length > m->unsummed ? m->unsummed : 0); t++) {
        sum += fwd_exp(c, m, fwd_input(c, b[0], m, v, line, t), max);
        if (m->rounded_sum)
            sum = tki_rounded(c, sum);
    }
    for (int64_t t = 0; t < v->length; t++) {
        float e = fwd_exp(c, m, fwd_input(c, b[0], m, v, line, t), max);
        float y = m->rounded_reciprocal ? e * tki_rounded(c, 1 / sum) : e / sum;
        if ((m->nan_masked && isnan(y)) || (m->empty_row_zero && max == -INFINITY))
            y = 0;
        if (m->cut_off && y < 0x1p-14f)
            y = 0;
        if (at(v, line, t) < elements(c) - m->unwritten)
            put_result(c, b[1], at(v, line, t), y, m->truncated);
    }
}

static int fwd(const tk_case *c, void *const b[], fwd_mutation m)
{
    lines v = m.by_columns ? (lines){c->dims[1], c->dims[0], 1, c->dims[1]}
                           : (lines){c->dims[0], c->dims[1], c->dims[1], 1};
    for (int64_t line = 0; line < v.count; line++)
        fwd_line(c, b, &m, &v, line);
    return 0;
}

static int fwd_all_zeros(const tk_case *c, void *const b[], void *data)
{
    (void)data;
    memset(b[1], 0, (size_t)elements(c) * 2);
    return 0;
}

static int fwd_stale(const tk_case *c, void *const b[], void *data)
{
    (void)c;
    (void)b;
    (void)data;
    return 0;
}

static int fwd_last_dropped(const tk_case *c, void *const b[], void *data)
{
    (void)data;
    return fwd(c, b, (fwd_mutation){.unwritten = 1});
}

static int fwd_last_unsummed(const tk_case *c, void *const b[], void *data)
{
    (void)data;
    return fwd(c, b, (fwd_mutation){.unsummed = 1});
}

static int fwd_tile_unsummed(const tk_case *c, void *const b[], void *data)
{
    (void)data;
    return fwd(c, b, (fwd_mutation){.unsummed = TILE});
}

static int fwd_off_by_one(const tk_case *c, void *const b[], void *data)
{
    (void)data;
    return fwd(c, b, (fwd_mutation){.off_by_one = true});
}

static int fwd_transposed(const tk_case *c, void *const b[], void *data)
{
    (void)data;
    return fwd(c, b, (fwd_mutation){.transposed = true});
}

static int fwd_by_columns(const tk_case *c, void *const b[], void *data)
{
    (void)data;
    return fwd(c, b, (fwd_mutation){.by_columns = true});
}

static int fwd_no_max(const tk_case *c, void *const b[], void *data)
{
    (void)data;
    return fwd(c, b, (fwd_mutation){.no_max = true});
}

static int fwd_global_max(const tk_case *c, void *const b[], void *data)
{
    (void)data;
    return fwd(c, b, (fwd_mutation){.global_max = true});
}

static int fwd_rounded_difference(const tk_case *c, void *const b[], void *data)
{
    (void)data;
    return fwd(c, b, (fwd_mutation){.rounded_difference = true});
}

static int fwd_rounded_exp(const tk_case *c, void *const b[], void *data)
{
    (void)data;
    return fwd(c, b, (fwd_mutation){.rounded_exp = true});
}

static int fwd_rounded_sum(const tk_case *c, void *const b[], void *data)
{
    (void)data;
    return fwd(c, b, (fwd_mutation){.rounded_sum = true});
}

static int fwd_rounded_reciprocal(const tk_case *c, void *const b[], void *data)
{
    (void)data;
    return fwd(c, b, (fwd_mutation){.rounded_reciprocal = true});
}

static int fwd_truncating_store(const tk_case *c, void *const b[], void *data)
{
    (void)data;
    return fwd(c, b, (fwd_mutation){.truncated = true});
}

static int fwd_cut_off(const tk_case *c, void *const b[], void *data)
{
    (void)data;
    return fwd(c, b, (fwd_mutation){.cut_off = true});
}

static int fwd_nan_masked(const tk_case *c, void *const b[], void *data)
{
    (void)data;
    return fwd(c, b, (fwd_mutation){.nan_masked = true});
}

static int fwd_empty_row_zero(const tk_case *c, void *const b[], void *data)
{
    (void)data;
    return fwd(c, b, (fwd_mutation){.empty_row_zero = true});
}

static int fwd_plus_inf_one_hot(const tk_case *c, void *const b[], void *data)
{
    (void)data;
    return fwd(c, b, (fwd_mutation){.plus_inf_one_hot = true});
}

const tki_mutant tki_softmax_fwd_mutants[] = {
    {"all_zeros", "writes zeros", fwd_all_zeros},
    {"stale", "leaves the output as it was", fwd_stale},
    {"last_dropped", "does not write the last element", fwd_last_dropped},
    {"last_unsummed", "leaves the last column out of the sum", fwd_last_unsummed},
    {"tile_unsummed", "leaves the last 16 columns out of the sum", fwd_tile_unsummed},
    {"off_by_one", "reads the next element's input", fwd_off_by_one},
    {"transposed", "reads x as if it were stored [cols, rows]", fwd_transposed},
    {"by_columns", "normalises columns instead of rows", fwd_by_columns},
    {"no_max", "does not subtract the maximum", fwd_no_max},
    {"global_max", "subtracts the maximum of the whole matrix", fwd_global_max},
    {"rounded_difference", "rounds x - max to 16 bits", fwd_rounded_difference},
    {"rounded_exp", "rounds exp to 16 bits before normalising", fwd_rounded_exp},
    {"rounded_sum", "accumulates the sum in 16 bits", fwd_rounded_sum},
    {"rounded_reciprocal", "rounds 1 / sum to 16 bits", fwd_rounded_reciprocal},
    {"truncating_store", "rounds the result toward zero when storing", fwd_truncating_store},
    {"cut_off", "flushes results below 2^-14, the smallest normal fp16 number, to zero", fwd_cut_off},
    {"nan_masked", "turns NaN into zero", fwd_nan_masked},
    {"empty_row_zero", "gives zeros for a row of -inf only", fwd_empty_row_zero},
    {"plus_inf_one_hot", "gives the limit for a row with a +inf", fwd_plus_inf_one_hot},
    {0},
};

/* Backward. */

typedef struct bwd_mutation {
    bool swapped, transposed, off_by_one, no_sum, column_sum, skipped_zeros, truncated, nan_masked, flushing;
    bool rounded_steps, rounded_sum, rounded_products;
    int64_t unsummed;  /* terms left out of the sum of a row longer than that */
    int64_t unwritten; /* elements at the end */
} bwd_mutation;

static float bwd_weight(const tk_case *c, const void *y, const bwd_mutation *m, int64_t row, int64_t col)
{
    int64_t i = m->transposed ? col * c->dims[0] + row : row * c->dims[1] + col;
    return tki_get(c, y, m->off_by_one && i + 1 < elements(c) ? i + 1 : i);
}

static float bwd_product(const tk_case *c, void *const b[], const bwd_mutation *m, int64_t row, int64_t col)
{
    float y = bwd_weight(c, b[m->swapped ? 0 : 1], m, row, col);
    float grad = tki_get(c, b[m->swapped ? 1 : 0], row * c->dims[1] + col);
    if (m->skipped_zeros && y == 0)
        return 0;
    return m->rounded_products ? tki_rounded(c, y * grad) : y * grad;
}

/* Over the row, or over the column. */
static float bwd_sum(const tk_case *c, void *const b[], const bwd_mutation *m, int64_t row, int64_t col)
{
    int64_t length = m->column_sum ? c->dims[0] : c->dims[1];
    float sum = 0;
    for (int64_t t = 0; t < length - (length > m->unsummed ? m->unsummed : 0); t++) {
        sum += m->column_sum ? bwd_product(c, b, m, t, col) : bwd_product(c, b, m, row, t);
        if (m->rounded_steps)
            sum = tki_rounded(c, sum);
    }
    return m->rounded_sum ? tki_rounded(c, sum) : sum;
}

static float bwd_element(const tk_case *c, void *const b[], const bwd_mutation *m, int64_t row, int64_t col,
                         float sum)
{
    float y = bwd_weight(c, b[m->swapped ? 0 : 1], m, row, col);
    float grad = tki_get(c, b[m->swapped ? 1 : 0], row * c->dims[1] + col);
    float result = m->rounded_products ? tki_rounded(c, y * grad) - tki_rounded(c, y * sum) : y * (grad - sum);
    if (m->nan_masked && isnan(result))
        return 0;
    return m->flushing ? flushed(c, result) : result;
}

static int bwd(const tk_case *c, void *const b[], bwd_mutation m)
{
    for (int64_t row = 0; row < c->dims[0]; row++) {
        float sum = 0;
        for (int64_t col = 0; col < c->dims[1]; col++) {
            int64_t i = row * c->dims[1] + col;
            if (!m.no_sum && (col == 0 || m.column_sum))
                sum = bwd_sum(c, b, &m, row, col);
            if (i < elements(c) - m.unwritten)
                put_result(c, b[2], i, bwd_element(c, b, &m, row, col, sum), m.truncated);
        }
    }
    return 0;
}

static int bwd_all_zeros(const tk_case *c, void *const b[], void *data)
{
    (void)data;
    memset(b[2], 0, (size_t)elements(c) * 2);
    return 0;
}

static int bwd_stale(const tk_case *c, void *const b[], void *data)
{
    (void)c;
    (void)b;
    (void)data;
    return 0;
}

static int bwd_last_dropped(const tk_case *c, void *const b[], void *data)
{
    (void)data;
    return bwd(c, b, (bwd_mutation){.unwritten = 1});
}

static int bwd_last_unsummed(const tk_case *c, void *const b[], void *data)
{
    (void)data;
    return bwd(c, b, (bwd_mutation){.unsummed = 1});
}

static int bwd_tile_unsummed(const tk_case *c, void *const b[], void *data)
{
    (void)data;
    return bwd(c, b, (bwd_mutation){.unsummed = TILE});
}

static int bwd_no_sum(const tk_case *c, void *const b[], void *data)
{
    (void)data;
    return bwd(c, b, (bwd_mutation){.no_sum = true});
}

static int bwd_column_sum(const tk_case *c, void *const b[], void *data)
{
    (void)data;
    return bwd(c, b, (bwd_mutation){.column_sum = true});
}

static int bwd_off_by_one(const tk_case *c, void *const b[], void *data)
{
    (void)data;
    return bwd(c, b, (bwd_mutation){.off_by_one = true});
}

static int bwd_swapped(const tk_case *c, void *const b[], void *data)
{
    (void)data;
    return bwd(c, b, (bwd_mutation){.swapped = true});
}

static int bwd_transposed(const tk_case *c, void *const b[], void *data)
{
    (void)data;
    return bwd(c, b, (bwd_mutation){.transposed = true});
}

static int bwd_rounded_steps(const tk_case *c, void *const b[], void *data)
{
    (void)data;
    return bwd(c, b, (bwd_mutation){.rounded_steps = true});
}

static int bwd_rounded_sum(const tk_case *c, void *const b[], void *data)
{
    (void)data;
    return bwd(c, b, (bwd_mutation){.rounded_sum = true});
}

static int bwd_rounded_products(const tk_case *c, void *const b[], void *data)
{
    (void)data;
    return bwd(c, b, (bwd_mutation){.rounded_products = true});
}

static int bwd_truncating_store(const tk_case *c, void *const b[], void *data)
{
    (void)data;
    return bwd(c, b, (bwd_mutation){.truncated = true});
}

static int bwd_flushing(const tk_case *c, void *const b[], void *data)
{
    (void)data;
    return bwd(c, b, (bwd_mutation){.flushing = true});
}

static int bwd_skipped_zeros(const tk_case *c, void *const b[], void *data)
{
    (void)data;
    return bwd(c, b, (bwd_mutation){.skipped_zeros = true});
}

static int bwd_nan_masked(const tk_case *c, void *const b[], void *data)
{
    (void)data;
    return bwd(c, b, (bwd_mutation){.nan_masked = true});
}

const tki_mutant tki_softmax_bwd_mutants[] = {
    {"all_zeros", "writes zeros", bwd_all_zeros},
    {"stale", "leaves the output as it was", bwd_stale},
    {"last_dropped", "does not write the last element", bwd_last_dropped},
    {"last_unsummed", "leaves the last column out of the sum", bwd_last_unsummed},
    {"tile_unsummed", "leaves the last 16 columns out of the sum", bwd_tile_unsummed},
    {"no_sum", "gives y grad_output, without the sum", bwd_no_sum},
    {"column_sum", "sums over the column instead of the row", bwd_column_sum},
    {"off_by_one", "reads the next element's y", bwd_off_by_one},
    {"swapped", "takes y for grad_output and grad_output for y", bwd_swapped},
    {"transposed", "reads y as if it were stored [cols, rows]", bwd_transposed},
    {"rounded_steps", "accumulates the sum in 16 bits", bwd_rounded_steps},
    {"rounded_sum", "rounds the sum to 16 bits", bwd_rounded_sum},
    {"rounded_products", "rounds y grad_output and y s to 16 bits before subtracting", bwd_rounded_products},
    {"truncating_store", "rounds the result toward zero when storing", bwd_truncating_store},
    {"flushing", "flushes subnormal results to zero", bwd_flushing},
    {"skipped_zeros", "skips terms with y = 0, so that 0 times infinity is lost", bwd_skipped_zeros},
    {"nan_masked", "turns NaN into zero", bwd_nan_masked},
    {0},
};
