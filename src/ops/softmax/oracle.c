/* DECIDES. The exact value of softmax and of its gradient. Forward: exact/exp_row.h gives each row's sum and each
 * element in double with a derived error. Backward: products are exact in double, so only their sum is rounded. What
 * double does not decide is refined with MPFR: forward by intervals, backward exactly. */
#include <math.h>
#include <stdlib.h>

#include "exact/accumulator.h"
#include "exact/exact_sum.h"
#include "exact/exp_row.h"
#include "exact/floats.h"
#include "exact/interval.h"
#include "exact/kept_table.h"
#include "exact/oracle.h"
#include "exact/round.h"
#include "ops/softmax/contract.h"

/* Rows are summed in blocks, and the blocks' sums one after another. */
enum { BOX = 4096, BLOCK = 256, PARALLEL_FROM = 1 << 12 };

static void box_size(const tk_case *c, int output, int64_t *rows, int64_t *cols)
{
    (void)output;
    *cols = c->dims[1] < BOX ? c->dims[1] : BOX;
    *rows = *cols > 0 && *cols < BOX ? BOX / *cols : 1;
}

static int64_t block_end(int64_t begin, int64_t cols)
{
    return cols - begin < BLOCK ? cols : begin + BLOCK;
}

/* Most additions that a term passes through; the first one, to zero, is exact. */
static double additions(int64_t cols)
{
    return (double)(cols < BLOCK ? cols : BLOCK + cols / BLOCK + 1);
}

static const void *row_of(const tki_oracle_job *job, int param, int64_t row)
{
    const int64_t bytes = row * job->c->dims[1] * (int64_t)tk_dtype_size(job->c->dtype);
    return (const char *)job->buffers[param] + bytes;
}

static void free_memory(void *memory)
{
    free(memory);
}

/* -- Forward ------------------------------------------------------------------------------------------------ */

/* What the elements of one row have in common. Their terms are those of tki_exp_row_term(). */
typedef struct fwd_row {
    int64_t max;    /* the place of the maximum; -1: the row is NaN */
    double inverse; /* 1 / the sum of the terms, rounded */
    tki_softmax_w w;
} fwd_row;

typedef struct fwd_prepared {
    double relative_error; /* of an element whose term is not cut to zero */
    fwd_row rows[];
} fwd_prepared;

static tki_exp_row logits_of(const tki_oracle_job *job, int64_t row, int64_t max)
{
    return tki_exp_row_at(job->c->dtype, job->tables, row_of(job, 0, row), max);
}

/* -1 where there is a NaN, a +inf or nothing but -inf. */
static int64_t find_maximum(const tki_exp_row *x, int64_t cols)
{
    int64_t place = 0;
    double max = -INFINITY;
    bool special = false;
    for (int64_t j = 0; j < cols; j++) {
        const double value = tki_exp_row_value(x, j);
        special |= !(value < INFINITY);
        if (value > max) {
            max = value;
            place = j;
        }
    }
    return special || max == -INFINITY ? -1 : place;
}

/* A distance is rounded to nearest. One rounded to exactly 104 from either side falls on the near side, where B is the
 * larger. */
static fwd_row summarise_fwd(const tki_oracle_job *job, int64_t index)
{
    int64_t cols = job->c->dims[1];
    tki_exp_row x = tki_exp_row_of(job->c->dtype, job->tables, row_of(job, 0, index));
    fwd_row row = {.max = find_maximum(&x, cols)};
    if (row.max < 0)
        return row;
    x = logits_of(job, index, row.max);
    double sum = 0;
    tki_softmax_terms terms = {.cols = cols, .max = x.max};
    for (int64_t begin = 0; begin < cols; begin = block_end(begin, cols)) {
        double block = 0;
        for (int64_t j = begin; j < block_end(begin, cols); j++) {
            const double d = tki_exp_row_distance(&x, j);
            terms.near += d <= TKI_SOFTMAX_FAR;
            terms.top += d == 0;
            block += tki_exp_row_term(&x, j);
        }
        sum += block;
    }
    row.inverse = 1 / sum;
    row.w = tki_softmax_fwd_w(&terms, job->promised);
    return row;
}

/* An element is term * inverse, with these relative errors of at most 2^-53 (1 + 2^-40) each: in the sum `additions`
 * roundings; the reciprocal; the product; then 1 -+ relative_error, the product with it, and adding what the ratio
 * itself may have been cut by. The terms cut to zero are less than n 2^-360 of the sum: one more covers them. A term's own
 * error comes twice, in the element and in the sum. The factor 0x1.01 covers products of errors, since there are fewer
 * than 2^44 of them. */
static double relative_error(tk_dtype dtype, int64_t cols)
{
    return (additions(cols) + 6 + 2 * tki_exp_row_term_error(dtype)) * 0x1.01p-53;
}

static tk_status fwd_prepare(const tki_oracle_job *job, void **prepared)
{
    int64_t rows = job->c->dims[1] > 0 ? job->c->dims[0] : 0;
    fwd_prepared *p = malloc(sizeof *p + (size_t)rows * sizeof p->rows[0]);
    if (!p)
        return TK_NO_MEMORY;
    p->relative_error = relative_error(job->c->dtype, job->c->dims[1]);
#pragma omp parallel if (rows * job->c->dims[1] >= PARALLEL_FROM)
    {
        const tki_floats floats = tki_floats_begin();
#pragma omp for schedule(dynamic, 16)
        for (int64_t row = 0; row < rows; row++)
            p->rows[row] = summarise_fwd(job, row);
        tki_floats_end(&floats);
    }
    *prepared = p;
    return TK_OK;
}

/* Writes field by field: a struct that is put together elsewhere and copied takes three times as long. */
static void enclose_fwd(const tki_oracle_job *job, const fwd_row *row, const tki_exp_row *x, int64_t j,
                        tki_enclosure *out)
{
    const fwd_prepared *p = job->prepared;
    if (row->max < 0) {
        *out = (tki_enclosure){.admits = TKI_ADMIT_NAN, .clause = TKI_SOFTMAX_NAN};
        return;
    }
    if (tki_exp_row_value(x, j) == -INFINITY) {
        *out = (tki_enclosure){.admits = TKI_ADMIT_ZERO, .clause = TKI_SOFTMAX_FWD_ZERO};
        return;
    }
    double y = tki_exp_row_term(x, j) * row->inverse;
    out->lo = y * (1 - p->relative_error);
    out->hi = y * (1 + p->relative_error) + TKI_EXP_RATIO_TINY;
    out->bound = tki_softmax_fwd_bound(row->w, tki_exp_row_distance(x, j), out->hi);
    out->bits = 0;
    out->admits = out->bound < INFINITY ? TKI_ADMIT_INTERVAL : TKI_UNDEFINED;
    out->clause = job->promised ? TKI_SOFTMAX_FWD_PROMISE : TKI_SOFTMAX_ERR;
}

static tk_status fwd_enclose(const tki_oracle_job *job, const tki_box *box, tki_enclosure *out)
{
    const fwd_prepared *p = job->prepared;
    for (int64_t row = box->row_begin; row < box->row_end; row++) {
        const tki_exp_row x = logits_of(job, row, p->rows[row].max < 0 ? 0 : p->rows[row].max);
        for (int64_t j = box->col_begin; j < box->col_end; j++)
            enclose_fwd(job, &p->rows[row], &x, j, out++);
    }
    return TK_OK;
}

static tk_status fwd_refine(const tki_oracle_job *job, int64_t row, int64_t col, int precision, mpfr_ptr lo,
                            mpfr_ptr hi)
{
    const fwd_prepared *p = job->prepared;
    const tki_exp_row x = logits_of(job, row, p->rows[row].max);
    tki_interval t;
    tki_interval sum;
    tki_interval_init(&t, precision);
    tki_interval_init(&sum, precision);
    tki_interval_set_d(&sum, 0);
    for (int64_t j = 0; j < job->c->dims[1]; j++) {
        tki_exp_row_enclose(&t, &x, j);
        tki_interval_add(&sum, &sum, &t);
    }
    tki_exp_row_enclose(&t, &x, col);
    tki_interval_div(&t, &t, &sum);
    tki_interval_get(&t, precision, lo, hi);
    tki_interval_clear(&t);
    tki_interval_clear(&sum);
    return TK_OK;
}

const tki_oracle tki_softmax_fwd_oracle = {.open = tki_exp_row_open,
                                           .prepare = fwd_prepare,
                                           .release = free_memory,
                                           .box_size = box_size,
                                           .enclose = fwd_enclose,
                                           .refine = fwd_refine};

/* -- Backward ----------------------------------------------------------------------------------------------- */

typedef struct bwd_row {
    double sum;         /* s, rounded; infinite or NaN exactly where s is: finite products never overflow double */
    double low;         /* fp32: what `sum` has lost, since its results show more of s than double alone has */
    double sum_error;   /* |s - sum - low| is at most this */
    double sum_bound;   /* Bs */
    double sum_at_most; /* |s| */
    bool overflows;     /* in fp32, the sum of the finite products may */
} bwd_row;

/* a + b rounded, and what that lost, exactly. */
static double add_exactly(double a, double b, double *lost)
{
    const double sum = a + b;
    const double added = sum - a;
    *lost = (a - (sum - added)) + (b - added);
    return sum;
}

/* What the sums of a row have lost: `inexact` if that is rounded itself. */
typedef struct losses {
    double sum;
    bool inexact;
} losses;

static double add_with(losses *all, double a, double b)
{
    double lost;
    double lost_again;
    const double sum = add_exactly(a, b, &lost);
    all->sum = add_exactly(all->sum, lost, &lost_again);
    all->inexact |= lost_again != 0;
    return sum;
}

/* With h = `additions` the sum's error is at most h 2^-53 / (1 - h 2^-53) times the sum of the magnitudes, below
 * `share` since h < 2^44; the computed sum of the magnitudes is too small by less than that share of itself. A sum of
 * at most one nonzero product is exact, and so is one of few enough units. What all additions lost is that share at
 * most, too, and is itself a sum of as many terms as there are products and blocks. */
static void conclude_bwd(bwd_row *row, const tki_oracle_job *job, int64_t nonzero, double magnitude, bool exact,
                         const losses *all)
{
    const tk_dtype dtype = job->c->dtype;
    const int64_t cols = job->c->dims[1];
    const double share = additions(cols) * 0x1.01p-53;
    magnitude *= nonzero > 1 ? 1 + 2 * share : 1;
    row->sum_error = nonzero > 1 && !exact ? share * magnitude : 0;
    if (!tki_products_fit_fp32(dtype)) {
        row->low = all->sum;
        row->sum_error *= all->inexact ? 2 * (double)cols * 0x1.01p-53 : 0;
    }
    row->sum_bound = tki_softmax_bwd_sum_bound(dtype, cols, nonzero, magnitude, exact);
    row->sum_at_most = (fabs(row->sum) + fabs(row->low) + row->sum_error) * (1 + 0x1p-51);
    row->overflows = tki_softmax_bwd_sum_overflows(dtype, cols, magnitude);
}

static bwd_row summarise_bwd(const tki_oracle_job *job, int64_t index)
{
    const float *value = job->tables;
    const void *grad = row_of(job, 0, index);
    const void *y = row_of(job, 1, index);
    const bool wide = !tki_products_fit_fp32(job->c->dtype);
    int64_t cols = job->c->dims[1];
    bwd_row row = {.sum = 0};
    losses all = {.sum = 0};
    double magnitude = 0;
    double unit = INFINITY;
    int64_t nonzero = 0;
    for (int64_t begin = 0; begin < cols; begin = block_end(begin, cols)) {
        double block = 0;
        double block_magnitude = 0;
        for (int64_t j = begin; j < block_end(begin, cols); j++) {
            double product = tki_value_at(value, y, j) * tki_value_at(value, grad, j);
            block = wide ? add_with(&all, block, product) : block + product;
            block_magnitude += fabs(product) < INFINITY ? fabs(product) : 0;
            nonzero += product != 0;
            /* Of what is infinite or NaN anything, for no bound is asked for then. */
            double last = product != 0 ? tki_last_bit(product) : INFINITY;
            unit = last < unit ? last : unit;
        }
        row.sum = wide ? add_with(&all, row.sum, block) : row.sum + block;
        magnitude += block_magnitude;
    }
    conclude_bwd(&row, job, nonzero, magnitude, tki_sum_is_exact(magnitude, unit), &all);
    return row;
}

static tk_status bwd_prepare(const tki_oracle_job *job, void **prepared)
{
    int64_t rows = job->c->dims[1] > 0 ? job->c->dims[0] : 0;
    bwd_row *p = malloc((size_t)rows * sizeof *p + 1);
    if (!p)
        return TK_NO_MEMORY;
#pragma omp parallel if (rows * job->c->dims[1] >= PARALLEL_FROM)
    {
        const tki_floats floats = tki_floats_begin();
#pragma omp for schedule(dynamic, 16)
        for (int64_t row = 0; row < rows; row++)
            p[row] = summarise_bwd(job, row);
        tki_floats_end(&floats);
    }
    *prepared = p;
    return TK_OK;
}

/* g - s: off by sum_error, by *error, and by a share 2^-53 of itself. */
static double difference_of(const bwd_row *row, double grad, double *error)
{
    double lost;
    double lost_again;
    const double difference = add_exactly(grad, -row->sum, &lost);
    const double rest = row->low == 0 ? 0 : add_exactly(lost, -row->low, &lost_again);
    *error = row->low == 0 ? 0 : fabs(lost_again) * (1 + 0x1p-50);
    return difference + rest;
}

/* The product is off by 2^-53 more, and each end of the enclosure by one rounding. Nothing underflows: differences are zero
 * or above 2^-320, elements above 2^-150. */
static tki_enclosure enclose_bwd(const tki_oracle_job *job, const bwd_row *row, double grad, double y)
{
    if (!isfinite(row->sum))
        return (tki_enclosure){.admits = (uint8_t)tki_softmax_bwd_special(grad, y, row->sum, row->overflows),
                               .clause = TKI_SOFTMAX_NAN};
    double difference_error;
    double difference = difference_of(row, grad, &difference_error);
    double middle = y * difference;
    difference_error += row->sum_error; /* what this rounds is in the excess of both */
    double error = fabs(y) * difference_error * (1 + 0x1p-48) + fabs(middle) * 0x1.2p-51;
    double difference_at_most = fabs(difference) * (1 + 0x1p-51) + difference_error;
    unsigned beside = row->overflows ? TKI_ADMIT_NAN | TKI_ADMIT_PLUS_INF | TKI_ADMIT_MINUS_INF : 0u;
    beside |= tki_softmax_bwd_overflow(job->c->dtype, y, copysign(difference_at_most, difference), row->sum_at_most,
                                       row->sum_bound);
    return (tki_enclosure){
        .lo = middle - error,
        .hi = middle + error,
        .bound = tki_softmax_bwd_bound(job->c->dtype, fabs(y), difference_at_most, row->sum_at_most, row->sum_bound),
        .admits = (uint8_t)(TKI_ADMIT_INTERVAL | beside),
        .clause = TKI_SOFTMAX_ERR};
}

static tk_status bwd_enclose(const tki_oracle_job *job, const tki_box *box, tki_enclosure *out)
{
    const bwd_row *rows = job->prepared;
    const float *value = job->tables;
    for (int64_t row = box->row_begin; row < box->row_end; row++) {
        const void *grad = row_of(job, 0, row);
        const void *y = row_of(job, 1, row);
        for (int64_t i = box->col_begin; i < box->col_end; i++)
            *out++ = enclose_bwd(job, &rows[row], tki_value_at(value, grad, i), tki_value_at(value, y, i));
    }
    return TK_OK;
}

/* Exactly, whatever the precision asked for. */
static tk_status bwd_refine(const tki_oracle_job *job, int64_t row, int64_t col, int precision, mpfr_ptr lo,
                            mpfr_ptr hi)
{
    (void)precision;
    const float *value = job->tables;
    const void *grad = row_of(job, 0, row);
    const void *y = row_of(job, 1, row);
    const tk_dtype dtype = job->c->dtype;
    tki_accumulator sum;
    tki_accumulator_clear(&sum);
    for (int64_t j = 0; j < job->c->dims[1]; j++)
        tki_accumulator_add_product(&sum, dtype, tki_element_bits(dtype, y, j), dtype,
                                    tki_element_bits(dtype, grad, j));
    mpfr_set_prec(lo, TKI_ACCUMULATOR_TIMES_ELEMENT_BITS);
    mpfr_set_prec(hi, TKI_ACCUMULATOR_TIMES_ELEMENT_BITS);
    tki_accumulator_get(&sum, lo);
    mpfr_d_sub(lo, tki_value_at(value, grad, col), lo, MPFR_RNDN);
    mpfr_mul_d(lo, lo, tki_value_at(value, y, col), MPFR_RNDN);
    mpfr_set(hi, lo, MPFR_RNDN);
    return TK_OK;
}

const tki_oracle tki_softmax_bwd_oracle = {.open = tki_values_open,
                                           .prepare = bwd_prepare,
                                           .release = free_memory,
                                           .box_size = box_size,
                                           .enclose = bwd_enclose,
                                           .refine = bwd_refine};
