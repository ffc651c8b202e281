/* CHOOSES. Wrong kernels for softmax, each with one line saying what is wrong. Slow and plain on purpose. */
#include <math.h>

#include "ops/mutant_tools.h"

enum { TILE = 16 };

/* (1 + x/1024)^1024 */
static float poor_exp(float x)
{
    float power = 1.0f + x / 1024.0f;
    for (int i = 0; i < 10; i++)
        power *= power;
    return x < -1024.0f ? 0.0f : power;
}

static int64_t elements(const tk_case *c)
{
    return c->dims[0] * c->dims[1];
}

/* Forward. */

typedef struct fwd_mutation {
    tki_store store;
    bool by_columns, transposed, square_stride, off_by_one, no_max, global_max, max_from_zero, max_of_first_tile;
    bool rounded_difference, rounded_exp, rounded_sum, rounded_reciprocal, empty_row_zero, plus_inf_one_hot;
    bool poor_exp, short_log2e, clamped_exp, unscaled, adding, cut_off;
    float epsilon;          /* added to the sum */
    int64_t unsummed;       /* terms left out of the sum of a row longer than that */
    int64_t multiple;       /* terms after the last multiple are left out of the sum */
    int64_t most_summed;    /* terms beyond are left out of the sum */
    int64_t most_dense;     /* of a row in which more matter 700 are left out of the sum */
    int64_t unwritten;      /* elements at the end */
    int64_t write_multiple; /* columns after the last multiple are not written */
    int64_t row_multiple;   /* rows after the last multiple are not written */
    int64_t most_rows;      /* rows beyond are not written */
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
    if (m->square_stride)
        i = (line * v->count + place) % elements(c);
    if (m->off_by_one && i + 1 < elements(c))
        i++;
    return tki_get(c, x, i);
}

static float fwd_maximum(const tk_case *c, const void *x, const fwd_mutation *m, const lines *v, int64_t line)
{
    float max = m->max_from_zero ? 0 : -INFINITY;
    int64_t end = m->max_of_first_tile && v->length > TILE ? TILE : v->length;
    if (m->no_max)
        return 0;
    for (int64_t i = 0; i < elements(c) && m->global_max; i++)
        max = fmaxf(max, tki_get(c, x, i));
    for (int64_t t = 0; t < end; t++)
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
    if (m->short_log2e)
        return exp2f(difference * 1.443f);
    if (m->poor_exp)
        return poor_exp(difference);
    if (m->clamped_exp && difference < -10)
        return expf(-10.0f);
    return m->rounded_exp ? tki_rounded(c, expf(difference)) : expf(difference);
}

/* In one pass, with the maximum so far; what was summed before a new maximum is left as it was. */
static float fwd_unscaled_sum(const tk_case *c, const void *x, const fwd_mutation *m, const lines *v, int64_t line)
{
    float max = -INFINITY;
    float sum = 0;
    for (int64_t t = 0; t < v->length; t++) {
        max = fmaxf(max, fwd_input(c, x, m, v, line, t));
        sum += fwd_exp(c, m, fwd_input(c, x, m, v, line, t), max);
    }
    return sum;
}

static float fwd_sum(const tk_case *c, const void *x, const fwd_mutation *m, const lines *v, int64_t line, float max)
{
    int64_t end = v->length - (v->length > m->unsummed ? m->unsummed : 0);
    if (end > m->multiple)
        end -= tki_tail(end, m->multiple);
    if (m->most_summed && end > m->most_summed)
        end = m->most_summed;
    float sum = m->epsilon;
    int64_t near = 0;
    for (int64_t t = 0; t < end && m->most_dense; t++)
        near += fwd_input(c, x, m, v, line, t) > max - 104;
    for (int64_t t = 0; t < end; t++) {
        if (m->most_dense && near > m->most_dense && t >= end / 2 && t < end / 2 + 700)
            continue;
        sum += fwd_exp(c, m, fwd_input(c, x, m, v, line, t), max);
        if (m->rounded_sum)
            sum = tki_rounded(c, sum);
    }
    return sum;
}

static void fwd_line(const tk_case *c, void *const b[], const fwd_mutation *m, const lines *v, int64_t line)
{
    float max = fwd_maximum(c, b[0], m, v, line);
    float sum = m->unscaled ? fwd_unscaled_sum(c, b[0], m, v, line) : fwd_sum(c, b[0], m, v, line, max);
    for (int64_t t = 0; t < v->length - tki_tail(v->length, m->write_multiple); t++) {
        float e = fwd_exp(c, m, fwd_input(c, b[0], m, v, line, t), max);
        float y = m->rounded_reciprocal ? e * tki_rounded(c, 1 / sum) : e / sum;
        int64_t place = at(v, line, t);
        if ((m->empty_row_zero && max == -INFINITY) || (m->cut_off && y < 0x1p-14f))
            y = 0;
        if (m->adding)
            y += tki_get_result(c, b[1], place);
        if (place < elements(c) - m->unwritten)
            tki_put_as(c, b[1], place, y, m->store);
    }
}

static int fwd(const tk_case *c, void *const b[], void *run)
{
    static const fwd_mutation right_way = {0};
    const fwd_mutation *m = tki_how(run) ? tki_how(run) : &right_way;
    lines v = m->by_columns ? (lines){c->dims[1], c->dims[0], 1, c->dims[1]}
                            : (lines){c->dims[0], c->dims[1], c->dims[1], 1};
    int64_t end = v.count - tki_tail(v.count, m->row_multiple);
    for (int64_t line = 0; line < (m->most_rows && m->most_rows < end ? m->most_rows : end); line++)
        fwd_line(c, b, m, &v, line);
    return 0;
}

#define FWD(...) TKI_PLANTED(fwd, fwd_mutation, __VA_ARGS__)

const tki_mutant tki_softmax_fwd_mutants[] = {
    {"all_zeros", "writes zeros", .kernel = tki_all_zeros},
    {"stale", "leaves the output as it was", .kernel = tki_stale},
    {"last_dropped", "does not write the last element", FWD(.unwritten = 1)},
    {"last_unsummed", "leaves the last column out of the sum", FWD(.unsummed = 1)},
    {"tile_unsummed", "leaves the last 16 columns out of the sum", FWD(.unsummed = TILE)},
    {"off_by_one", "reads the next element's input", FWD(.off_by_one = true)},
    {"transposed", "reads x as if it were stored [cols, rows]", FWD(.transposed = true)},
    {"by_columns", "normalises columns instead of rows", FWD(.by_columns = true)},
    {"no_max", "does not subtract the maximum", FWD(.no_max = true)},
    {"global_max", "subtracts the maximum of the whole matrix", FWD(.global_max = true)},
    {"rounded_difference", "rounds x - max to 16 bits", FWD(.rounded_difference = true)},
    {"rounded_exp", "rounds exp to 16 bits before normalising", FWD(.rounded_exp = true)},
    {"rounded_sum", "accumulates the sum in 16 bits", FWD(.rounded_sum = true)},
    {"rounded_reciprocal", "rounds 1 / sum to 16 bits", FWD(.rounded_reciprocal = true)},
    {"truncating_store", "rounds the result toward zero when storing", FWD(.store = TKI_STORE_TRUNCATED)},
    {"cut_off", "flushes results below 2^-14, the smallest normal fp16 number, to zero", FWD(.cut_off = true)},
    {"nan_masked", "turns NaN into zero", FWD(.store = TKI_STORE_NAN_MASKED)},
    {"empty_row_zero", "gives zeros for a row of -inf only", FWD(.empty_row_zero = true)},
    {"plus_inf_one_hot", "gives the limit for a row with a +inf", FWD(.plus_inf_one_hot = true)},
    {"outward_store", "rounds the result away from zero when storing", FWD(.store = TKI_STORE_OUTWARD)},
    {"adding", "adds to what the output held", FWD(.adding = true)},
    {"square_stride", "takes x for square when it computes places", FWD(.square_stride = true)},
    {"tail_unsummed", "leaves the columns after the last multiple of 8 out of the sum", FWD(.multiple = 8)},
    {"tail_dropped", "does not write the columns after the last multiple of 32", FWD(.write_multiple = 32)},
    {"last_rows_dropped", "does not write the rows after the last multiple of 4", FWD(.row_multiple = 4)},
    {"max_from_zero", "takes the maximum of the row and zero", FWD(.max_from_zero = true)},
    {"max_of_first_tile", "subtracts the maximum of the first 16 columns", FWD(.max_of_first_tile = true)},
    {"unscaled", "sums in one pass and does not rescale when the maximum changes", FWD(.unscaled = true)},
    {"epsilon_in_sum", "adds 0.0001 to the sum", FWD(.epsilon = 1e-4f)},
    {"short_log2e", "exp(x) as exp2(1.443 x)", FWD(.short_log2e = true)},
    {"poor_exp", "exp as (1 + x/1024)^1024", FWD(.poor_exp = true)},
    {"clamped_exp", "does not take exp of less than -10", FWD(.clamped_exp = true)},
    TKI_CALL_MUTANTS(fwd),
    {"before_the_start", "writes one element before its output", TKI_CALL(.right = fwd, .before_the_start = true)},
    {"rows_beyond_65535_dropped",
     "does not write rows beyond the first 65535, the most blocks of a grid's second size", FWD(.most_rows = 65535)},
    {"long_rows_cut", "sums over the first 65536 columns only", FWD(.most_summed = 65536), .level = TK_FULL},
    {"dense_rows_cut", "leaves 700 columns out of the sum of a row in which more than 60000 matter",
     FWD(.most_dense = 60000)},
    {0},
};

/* Backward. */

typedef struct bwd_mutation {
    tki_store store;
    bool swapped, transposed, square_stride, off_by_one, no_sum, column_sum, skipped_zeros, first_sum_kept;
    bool carried_over, mean, infinity_masked, flushed_inputs, rounded_steps, rounded_sum, rounded_products, adding;
    int64_t unsummed;       /* terms left out of the sum of a row longer than that */
    int64_t multiple;       /* terms after the last multiple are left out of the sum */
    int64_t most_summed;    /* terms beyond are left out of the sum */
    int64_t unwritten;      /* elements at the end */
    int64_t write_multiple; /* columns after the last multiple are not written */
    int64_t row_multiple;   /* rows after the last multiple are not written */
    int64_t most_rows;      /* rows beyond are not written */
} bwd_mutation;

static float bwd_weight(const tk_case *c, const void *y, const bwd_mutation *m, int64_t row, int64_t col)
{
    int64_t i = m->transposed ? col * c->dims[0] + row : row * c->dims[1] + col;
    if (m->square_stride)
        i = (row * c->dims[0] + col) % elements(c);
    float weight = tki_get(c, y, m->off_by_one && i + 1 < elements(c) ? i + 1 : i);
    return m->flushed_inputs ? tki_flushed(c, weight) : weight;
}

static float bwd_product(const tk_case *c, void *const b[], const bwd_mutation *m, int64_t row, int64_t col)
{
    float y = bwd_weight(c, b[m->swapped ? 0 : 1], m, row, col);
    float grad = tki_get(c, b[m->swapped ? 1 : 0], row * c->dims[1] + col);
    if ((m->skipped_zeros && y == 0) || (m->infinity_masked && isinf(y * grad)))
        return 0;
    return m->rounded_products ? tki_rounded(c, y * grad) : y * grad;
}

/* Over the row, or over the column. */
static float bwd_sum(const tk_case *c, void *const b[], const bwd_mutation *m, int64_t row, int64_t col, float start)
{
    int64_t length = m->column_sum ? c->dims[0] : c->dims[1];
    int64_t end = length - (length > m->unsummed ? m->unsummed : 0);
    if (end > m->multiple)
        end -= tki_tail(end, m->multiple);
    if (m->most_summed && end > m->most_summed)
        end = m->most_summed;
    float sum = start;
    for (int64_t t = 0; t < end; t++) {
        sum += m->column_sum ? bwd_product(c, b, m, t, col) : bwd_product(c, b, m, row, t);
        if (m->rounded_steps)
            sum = tki_rounded(c, sum);
    }
    if (m->mean)
        sum /= (float)length;
    return m->rounded_sum ? tki_rounded(c, sum) : sum;
}

static float bwd_element(const tk_case *c, void *const b[], const bwd_mutation *m, int64_t row, int64_t col,
                         float sum)
{
    float y = bwd_weight(c, b[m->swapped ? 0 : 1], m, row, col);
    float grad = tki_get(c, b[m->swapped ? 1 : 0], row * c->dims[1] + col);
    return m->rounded_products ? tki_rounded(c, y * grad) - tki_rounded(c, y * sum) : y * (grad - sum);
}

static int bwd(const tk_case *c, void *const b[], void *run)
{
    static const bwd_mutation right_way = {0};
    const bwd_mutation *m = tki_how(run) ? tki_how(run) : &right_way;
    int64_t rows = c->dims[0] - tki_tail(c->dims[0], m->row_multiple);
    float sum = 0;
    for (int64_t row = 0; row < (m->most_rows && m->most_rows < rows ? m->most_rows : rows); row++) {
        for (int64_t col = 0; col < c->dims[1] - tki_tail(c->dims[1], m->write_multiple); col++) {
            int64_t i = row * c->dims[1] + col;
            if (!m->no_sum && (m->column_sum || (col == 0 && (row == 0 || !m->first_sum_kept))))
                sum = bwd_sum(c, b, m, row, col, m->carried_over ? sum : 0);
            float result = bwd_element(c, b, m, row, col, sum);
            if (m->adding)
                result += tki_get_result(c, b[2], i);
            if (i < elements(c) - m->unwritten)
                tki_put_as(c, b[2], i, result, m->store);
        }
    }
    return 0;
}

#define BWD(...) TKI_PLANTED(bwd, bwd_mutation, __VA_ARGS__)

const tki_mutant tki_softmax_bwd_mutants[] = {
    {"all_zeros", "writes zeros", .kernel = tki_all_zeros},
    {"stale", "leaves the output as it was", .kernel = tki_stale},
    {"last_dropped", "does not write the last element", BWD(.unwritten = 1)},
    {"last_unsummed", "leaves the last column out of the sum", BWD(.unsummed = 1)},
    {"tile_unsummed", "leaves the last 16 columns out of the sum", BWD(.unsummed = TILE)},
    {"no_sum", "gives y grad_output, without the sum", BWD(.no_sum = true)},
    {"column_sum", "sums over the column instead of the row", BWD(.column_sum = true)},
    {"off_by_one", "reads the next element's y", BWD(.off_by_one = true)},
    {"swapped", "takes y for grad_output and grad_output for y", BWD(.swapped = true)},
    {"transposed", "reads y as if it were stored [cols, rows]", BWD(.transposed = true)},
    {"rounded_steps", "accumulates the sum in 16 bits", BWD(.rounded_steps = true)},
    {"rounded_sum", "rounds the sum to 16 bits", BWD(.rounded_sum = true)},
    {"rounded_products", "rounds y grad_output and y s to 16 bits before subtracting", BWD(.rounded_products = true)},
    {"truncating_store", "rounds the result toward zero when storing", BWD(.store = TKI_STORE_TRUNCATED)},
    {"flushing", "flushes subnormal results to zero", BWD(.store = TKI_STORE_FLUSHED)},
    {"skipped_zeros", "skips terms with y = 0, so that 0 times infinity is lost", BWD(.skipped_zeros = true)},
    {"nan_masked", "turns NaN into zero", BWD(.store = TKI_STORE_NAN_MASKED)},
    {"outward_store", "rounds the result away from zero when storing", BWD(.store = TKI_STORE_OUTWARD)},
    {"adding", "adds to what the output held", BWD(.adding = true)},
    {"square_stride", "takes y for square when it computes places", BWD(.square_stride = true)},
    {"tail_unsummed", "leaves the columns after the last multiple of 8 out of the sum", BWD(.multiple = 8)},
    {"tail_dropped", "does not write the columns after the last multiple of 32", BWD(.write_multiple = 32)},
    {"last_rows_dropped", "does not write the rows after the last multiple of 4", BWD(.row_multiple = 4)},
    {"first_sum_kept", "takes the first row's sum for all rows", BWD(.first_sum_kept = true)},
    {"carried_over", "does not clear the sum between rows", BWD(.carried_over = true)},
    {"mean", "divides the sum by the number of columns", BWD(.mean = true)},
    {"infinity_masked", "takes infinite products for zero", BWD(.infinity_masked = true)},
    {"saturating", "returns the largest finite number instead of infinity", BWD(.store = TKI_STORE_SATURATED)},
    {"flushing_inputs", "takes subnormal y for zero", BWD(.flushed_inputs = true)},
    TKI_CALL_MUTANTS(bwd),
    {"before_the_start", "writes one element before its output", TKI_CALL(.right = bwd, .before_the_start = true)},
    {"rows_beyond_65535_dropped",
     "does not write rows beyond the first 65535, the most blocks of a grid's second size", BWD(.most_rows = 65535)},
    {"long_rows_cut", "sums over the first 16384 columns only", BWD(.most_summed = 16384)},
    {"longer_rows_cut", "sums over the first 65536 columns only", BWD(.most_summed = 65536)},
    {"longest_rows_cut", "sums over the first 2^19 columns only", BWD(.most_summed = 1 << 19), .level = TK_FULL},
    {0},
};
