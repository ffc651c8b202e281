/* TRUSTED. The exact value of softmax and of its gradient. Forward: a table of exp over all patterns, made with MPFR,
 * gives each row's sum and each element in double with a derived error. Backward: products are exact in double, so
 * only their sum is rounded. What double does not decide is refined with MPFR: forward by intervals, backward
 * exactly. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "exact/accumulator.h"
#include "exact/interval.h"
#include "exact/oracle.h"
#include "exact/round.h"
#include "ops/softmax/contract.h"

/* Rows are summed in blocks, and the blocks' sums one after another. */
enum { PATTERNS = 1 << 16, BOX = 4096, BLOCK = 256, PARALLEL_FROM = 1 << 12 };

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

/* The rows of a matrix as patterns. */
static const uint16_t *row_of(const tki_oracle_job *job, int param, int64_t row)
{
    return (const uint16_t *)job->buffers[param] + row * job->c->dims[1];
}

static void free_memory(void *memory)
{
    free(memory);
}

/* -- Forward ------------------------------------------------------------------------------------------------ */

/* Terms at least this far below the maximum are left out: each lies in [0, exp(-128)], below 2^-184. */
static const double LEFT_OUT = 128;
/* And below this in the units of a row's sum (see fwd_row), which are less than twice as small. */
static const double LEFT_OUT_TERM = 0x1p-183;

/* exp(x) = m 2^k (1 + e) with m in [1, 2) and |e| <= 2^-53. */
typedef struct entry {
    double m;
    int32_t k;
    float x; /* exactly, infinities and NaN included */
} entry;

/* bf16 values of magnitude 2^15 and more differ from every other value by at least 128. So they are the maximum
 * itself or left out, everything else beside such a maximum is left out, and their exp, which would leave MPFR's
 * range, is never asked for: 1 stands for it. */
static bool exp_is_never_needed(tk_dtype dtype, double x)
{
    return !isfinite(x) || (dtype == TK_BF16 && fabs(x) >= 0x1p15);
}

static entry table_entry(tk_dtype dtype, uint32_t bits, mpfr_ptr t)
{
    double x = tki_decode(dtype, bits);
    if (exp_is_never_needed(dtype, x))
        return (entry){.m = 1, .k = 0, .x = (float)x};
    mpfr_set_d(t, x, MPFR_RNDN);
    mpfr_exp(t, t, MPFR_RNDN); /* correctly rounded to 53 bits */
    long exponent = (long)mpfr_get_exp(t) - 1;
    mpfr_div_2si(t, t, exponent, MPFR_RNDN);
    return (entry){.m = mpfr_get_d(t, MPFR_RNDN), .k = (int32_t)exponent, .x = (float)x};
}

static tk_status fwd_open(tk_dtype dtype, void **tables)
{
    entry *table = malloc(PATTERNS * sizeof *table);
    if (!table)
        return TK_NO_MEMORY;
#pragma omp parallel
    {
        mpfr_t t;
        mpfr_init2(t, 53);
#pragma omp for schedule(dynamic, 256)
        for (uint32_t bits = 0; bits < PATTERNS; bits++)
            table[bits] = table_entry(dtype, bits, t);
        mpfr_clear(t);
        mpfr_free_cache2(MPFR_FREE_LOCAL_CACHE);
    }
    *tables = table;
    return TK_OK;
}

/* What the elements of one row have in common. Terms are exp(x) in units of 2^k of the maximum, so that the maximum's
 * own term lies in [1, 2). */
typedef struct fwd_row {
    double max;
    double inverse; /* 1 / the sum of the terms, rounded */
    tki_softmax_w w;
    int32_t k; /* of the maximum */
    bool nan;
} fwd_row;

typedef struct fwd_prepared {
    double relative_error; /* of an element that is not left out */
    fwd_row rows[];
} fwd_prepared;

/* m 2^(k - unit), exactly: x is at most LEFT_OUT below the maximum, so the exponent is at least -187. */
static double term(const entry *e, int32_t unit)
{
    uint64_t bits;
    double value;
    memcpy(&bits, &e->m, sizeof bits);
    bits += (uint64_t)((int64_t)e->k - unit) << 52;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static void find_maximum(const entry *table, const uint16_t *x, int64_t cols, fwd_row *row)
{
    row->max = -INFINITY;
    for (int64_t j = 0; j < cols; j++) {
        const entry *e = &table[x[j]];
        row->nan |= !(e->x < INFINITY);
        if (e->x > row->max) {
            row->max = e->x;
            row->k = e->k;
        }
    }
    row->nan |= row->max == -INFINITY;
}

/* A distance is rounded to nearest here. One rounded to exactly 104 or 128 from either side falls on the near side of
 * 104, where B is the larger, and on the far side of 128, where LEFT_OUT_TERM still covers it. */
static fwd_row summarise_fwd(const tki_oracle_job *job, int64_t index)
{
    const entry *table = job->tables;
    const uint16_t *x = row_of(job, 0, index);
    int64_t cols = job->c->dims[1];
    fwd_row row = {0};
    find_maximum(table, x, cols, &row);
    if (row.nan)
        return row;
    double sum = 0;
    int64_t near = 0;
    for (int64_t begin = 0; begin < cols; begin = block_end(begin, cols)) {
        double block = 0;
        for (int64_t j = begin; j < block_end(begin, cols); j++) {
            const entry *e = &table[x[j]];
            double d = row.max - e->x;
            near += d <= TKI_SOFTMAX_FAR;
            block += d < LEFT_OUT ? term(e, row.k) : 0;
        }
        sum += block;
    }
    row.inverse = 1 / sum;
    row.w = tki_softmax_fwd_w(cols, near, job->promised);
    return row;
}

/* An element is term * inverse, with these relative errors of at most 2^-53 each: the term's own; in the sum, each
 * term's own and `additions` roundings; the reciprocal; the product; then 1 -+ relative_error and the product with
 * it. The terms left out add less than n 2^-183 to a sum of at least 1: one more covers them. The factor 0x1.01
 * covers products of errors, since there are fewer than 2^44 of them. */
static double relative_error(int64_t cols)
{
    return (additions(cols) + 8) * 0x1.01p-53;
}

static tk_status fwd_prepare(const tki_oracle_job *job, void **prepared)
{
    int64_t rows = job->c->dims[1] > 0 ? job->c->dims[0] : 0;
    fwd_prepared *p = malloc(sizeof *p + (size_t)rows * sizeof p->rows[0]);
    if (!p)
        return TK_NO_MEMORY;
    p->relative_error = relative_error(job->c->dims[1]);
#pragma omp parallel for schedule(dynamic, 16) if (rows * job->c->dims[1] >= PARALLEL_FROM)
    for (int64_t row = 0; row < rows; row++)
        p->rows[row] = summarise_fwd(job, row);
    *prepared = p;
    return TK_OK;
}

static tki_enclosure enclose_fwd(const tki_oracle_job *job, const fwd_row *row, const entry *e)
{
    const fwd_prepared *p = job->prepared;
    if (row->nan)
        return (tki_enclosure){.admits = TKI_ADMIT_NAN, .clause = TKI_SOFTMAX_NAN};
    if (e->x == -INFINITY)
        return (tki_enclosure){.admits = TKI_ADMIT_ZERO, .clause = TKI_SOFTMAX_FWD_ZERO};
    double d = row->max - e->x;
    double y = d < LEFT_OUT ? term(e, row->k) * row->inverse : 0;
    double hi = d < LEFT_OUT ? y * (1 + p->relative_error) : LEFT_OUT_TERM;
    double bound = tki_softmax_fwd_bound(row->w, d, hi);
    return (tki_enclosure){.lo = y * (1 - p->relative_error),
                           .hi = hi,
                           .bound = bound,
                           .admits = bound < INFINITY ? TKI_ADMIT_INTERVAL : TKI_UNDEFINED,
                           .clause = job->promised ? TKI_SOFTMAX_FWD_PROMISE : TKI_SOFTMAX_ERR};
}

static tk_status fwd_enclose(const tki_oracle_job *job, const tki_box *box, tki_enclosure *out)
{
    const fwd_prepared *p = job->prepared;
    const entry *table = job->tables;
    for (int64_t row = box->row_begin; row < box->row_end; row++) {
        const uint16_t *x = row_of(job, 0, row);
        for (int64_t i = box->col_begin; i < box->col_end; i++)
            *out++ = enclose_fwd(job, &p->rows[row], &table[x[i]]);
    }
    return TK_OK;
}

/* exp(x - max); the difference of two 16-bit numbers spans at most 262 bits. */
static void set_exp_of_difference(tki_interval *result, double x, double max, mpfr_ptr difference)
{
    mpfr_set_d(difference, x, MPFR_RNDN);
    mpfr_sub_d(difference, difference, max, MPFR_RNDN);
    mpfr_exp(result->lo, difference, MPFR_RNDD);
    mpfr_exp(result->hi, difference, MPFR_RNDU);
}

static tk_status fwd_refine(const tki_oracle_job *job, int64_t row, int64_t col, int precision, mpfr_ptr lo,
                            mpfr_ptr hi)
{
    const fwd_prepared *p = job->prepared;
    const entry *table = job->tables;
    const uint16_t *x = row_of(job, 0, row);
    double max = p->rows[row].max;
    tki_interval t;
    tki_interval sum;
    mpfr_t difference;
    tki_interval_init(&t, precision);
    tki_interval_init(&sum, precision);
    mpfr_init2(difference, 320);
    tki_interval_set_d(&sum, 0);
    for (int64_t j = 0; j < job->c->dims[1]; j++) {
        set_exp_of_difference(&t, table[x[j]].x, max, difference);
        tki_interval_add(&sum, &sum, &t);
    }
    set_exp_of_difference(&t, table[x[col]].x, max, difference);
    tki_interval_div(&t, &t, &sum);
    mpfr_set_prec(lo, precision);
    mpfr_set_prec(hi, precision);
    mpfr_set(lo, t.lo, MPFR_RNDD);
    mpfr_set(hi, t.hi, MPFR_RNDU);
    tki_interval_clear(&t);
    tki_interval_clear(&sum);
    mpfr_clear(difference);
    return TK_OK;
}

const tki_oracle tki_softmax_fwd_oracle = {.open = fwd_open,
                                           .close = free_memory,
                                           .prepare = fwd_prepare,
                                           .release = free_memory,
                                           .box_size = box_size,
                                           .enclose = fwd_enclose,
                                           .refine = fwd_refine};

/* -- Backward ----------------------------------------------------------------------------------------------- */

/* Every pattern's value. fp32 holds each exactly. */
static tk_status bwd_open(tk_dtype dtype, void **tables)
{
    float *table = malloc(PATTERNS * sizeof *table);
    if (!table)
        return TK_NO_MEMORY;
    for (uint32_t bits = 0; bits < PATTERNS; bits++)
        table[bits] = (float)tki_decode(dtype, bits);
    *tables = table;
    return TK_OK;
}

typedef struct bwd_row {
    double sum;         /* s, rounded; infinite or NaN exactly where s is: finite products never overflow double */
    double sum_error;   /* |s - sum| is at most this */
    double sum_bound;   /* Bs */
    double sum_at_most; /* |s| */
    bool overflows;     /* in fp32, the sum of the finite products may */
} bwd_row;

/* With h = `additions` the sum's error is at most h 2^-53 / (1 - h 2^-53) times the sum of the magnitudes, below
 * `share` since h < 2^44; the computed sum of the magnitudes is too small by less than that share of itself. A sum of
 * at most one nonzero product is exact. */
static bwd_row summarise_bwd(const tki_oracle_job *job, int64_t index)
{
    const float *value = job->tables;
    const uint16_t *grad = row_of(job, 0, index);
    const uint16_t *y = row_of(job, 1, index);
    int64_t cols = job->c->dims[1];
    double sum = 0;
    double magnitude = 0;
    int64_t nonzero = 0;
    for (int64_t begin = 0; begin < cols; begin = block_end(begin, cols)) {
        double block = 0;
        double block_magnitude = 0;
        for (int64_t j = begin; j < block_end(begin, cols); j++) {
            double product = (double)value[y[j]] * value[grad[j]];
            block += product;
            block_magnitude += fabs(product) < INFINITY ? fabs(product) : 0;
            nonzero += product != 0;
        }
        sum += block;
        magnitude += block_magnitude;
    }
    double share = additions(cols) * 0x1.01p-53;
    magnitude *= nonzero > 1 ? 1 + 2 * share : 1;
    bwd_row row = {.sum = sum, .sum_error = nonzero > 1 ? share * magnitude : 0};
    row.sum_bound = tki_softmax_bwd_sum_bound(job->c->dtype, cols, nonzero, magnitude);
    row.sum_at_most = (fabs(sum) + row.sum_error) * (1 + 0x1p-51);
    row.overflows = tki_softmax_bwd_sum_overflows(job->c->dtype, cols, magnitude);
    return row;
}

static tk_status bwd_prepare(const tki_oracle_job *job, void **prepared)
{
    int64_t rows = job->c->dims[1] > 0 ? job->c->dims[0] : 0;
    bwd_row *p = malloc((size_t)rows * sizeof *p + 1);
    if (!p)
        return TK_NO_MEMORY;
#pragma omp parallel for schedule(dynamic, 16) if (rows * job->c->dims[1] >= PARALLEL_FROM)
    for (int64_t row = 0; row < rows; row++)
        p[row] = summarise_bwd(job, row);
    *prepared = p;
    return TK_OK;
}

/* The computed difference is off by sum_error and a share 2^-53 of itself, the product by 2^-53 more, and each end of
 * the enclosure by one rounding. Nothing underflows: differences are zero or above 2^-320, elements above 2^-134. */
static tki_enclosure enclose_bwd(const tki_oracle_job *job, const bwd_row *row, double grad, double y)
{
    if (!isfinite(row->sum))
        return (tki_enclosure){.admits = (uint8_t)tki_softmax_bwd_special(grad, y, row->sum, row->overflows),
                               .clause = TKI_SOFTMAX_NAN};
    double difference = grad - row->sum;
    double middle = y * difference;
    double error = fabs(y) * row->sum_error * (1 + 0x1p-48) + fabs(middle) * 0x1.2p-51;
    double difference_at_most = fabs(difference) * (1 + 0x1p-51) + row->sum_error;
    unsigned beside = row->overflows ? TKI_ADMIT_NAN | TKI_ADMIT_PLUS_INF | TKI_ADMIT_MINUS_INF : 0u;
    beside |= tki_softmax_bwd_overflow(job->c->dtype, y, copysign(difference_at_most, difference), row->sum_at_most,
                                       row->sum_bound);
    return (tki_enclosure){
        .lo = middle - error,
        .hi = middle + error,
        .bound = tki_softmax_bwd_bound(fabs(y), difference_at_most, row->sum_at_most, row->sum_bound),
        .admits = (uint8_t)(TKI_ADMIT_INTERVAL | beside),
        .clause = TKI_SOFTMAX_ERR};
}

static tk_status bwd_enclose(const tki_oracle_job *job, const tki_box *box, tki_enclosure *out)
{
    const bwd_row *rows = job->prepared;
    const float *value = job->tables;
    for (int64_t row = box->row_begin; row < box->row_end; row++) {
        const uint16_t *grad = row_of(job, 0, row);
        const uint16_t *y = row_of(job, 1, row);
        for (int64_t i = box->col_begin; i < box->col_end; i++)
            *out++ = enclose_bwd(job, &rows[row], value[grad[i]], value[y[i]]);
    }
    return TK_OK;
}

/* Exactly, whatever the precision asked for. */
static tk_status bwd_refine(const tki_oracle_job *job, int64_t row, int64_t col, int precision, mpfr_ptr lo,
                            mpfr_ptr hi)
{
    (void)precision;
    const float *value = job->tables;
    const uint16_t *grad = row_of(job, 0, row);
    const uint16_t *y = row_of(job, 1, row);
    tki_accumulator sum;
    tki_accumulator_clear(&sum);
    for (int64_t j = 0; j < job->c->dims[1]; j++)
        tki_accumulator_add_product(&sum, job->c->dtype, y[j], grad[j]);
    mpfr_set_prec(lo, TKI_ACCUMULATOR_TIMES_ELEMENT_BITS);
    mpfr_set_prec(hi, TKI_ACCUMULATOR_TIMES_ELEMENT_BITS);
    tki_accumulator_get(&sum, lo);
    mpfr_d_sub(lo, value[grad[col]], lo, MPFR_RNDN);
    mpfr_mul_d(lo, lo, value[y[col]], MPFR_RNDN);
    mpfr_set(hi, lo, MPFR_RNDN);
    return TK_OK;
}

const tki_oracle tki_softmax_bwd_oracle = {.open = bwd_open,
                                           .close = free_memory,
                                           .prepare = bwd_prepare,
                                           .release = free_memory,
                                           .box_size = box_size,
                                           .enclose = bwd_enclose,
                                           .refine = bwd_refine};
