/* TRUSTED. The exact value of gelu and of its derivative. Both are functions of one 16-bit x (the gradient is that times
 * grad_output), so a table over all patterns of x, enclosed with MPFR, serves every element; what a table entry in
 * double does not decide is refined from scratch. */
#include <math.h>
#include <stdlib.h>

#include "exact/interval.h"
#include "exact/oracle.h"
#include "exact/round.h"
#include "ops/gelu/contract.h"

enum { PATTERNS = 1 << 16, TABLE_PRECISION = 96, BOX = 2048 };

typedef struct entry {
    double lo, hi; /* encloses y or g' at this x; for x = +-inf its limit */
    double bound;  /* B, or B / |grad_output| */
    double x;
} entry;

typedef enum function { VALUE, DERIVATIVE } function;

/* Working variables of one evaluation, all of one precision. */
typedef struct scratch {
    tki_interval c, two_z, sigma, one_minus_sigma, h, t;
} scratch;

static void scratch_init(scratch *s, int precision)
{
    tki_interval *all[] = {&s->c, &s->two_z, &s->sigma, &s->one_minus_sigma, &s->h, &s->t};
    for (int i = 0; i < 6; i++)
        tki_interval_init(all[i], precision);
    tki_interval_set_pi(&s->t);
    tki_interval_set_d(&s->c, 2);
    tki_interval_div(&s->c, &s->c, &s->t);
    tki_interval_sqrt(&s->c, &s->c);
}

static void scratch_clear(scratch *s)
{
    tki_interval *all[] = {&s->c, &s->two_z, &s->sigma, &s->one_minus_sigma, &s->h, &s->t};
    for (int i = 0; i < 6; i++)
        tki_interval_clear(all[i]);
}

/* x = 2 c x (1 + k a x^2), which is 2z for k = 1 and h for k = 3 */
static void set_cubic(scratch *s, tki_interval *result, double x, long k)
{
    tki_interval_set_ratio(result, k * 44715, 1000000);
    tki_interval_mul_d(result, result, x);
    tki_interval_mul_d(result, result, x);
    tki_interval_add_d(result, result, 1);
    tki_interval_mul(result, result, &s->c);
    tki_interval_mul_d(result, result, x);
    tki_interval_mul_d(result, result, 2);
}

/* x = 1 / (1 + exp(a)), without cancellation */
static void set_sigmoid_of_minus(tki_interval *result, const tki_interval *a, tki_interval *t)
{
    tki_interval_exp(t, a);
    tki_interval_add_d(t, t, 1);
    tki_interval_set_d(result, 1);
    tki_interval_div(result, result, t);
}

/* Leaves the function's value at a finite x in s->t, and its ingredients in s. */
static void evaluate(scratch *s, function f, double x)
{
    set_cubic(s, &s->two_z, x, 1);
    tki_interval_neg(&s->h, &s->two_z);
    set_sigmoid_of_minus(&s->sigma, &s->h, &s->t);
    set_sigmoid_of_minus(&s->one_minus_sigma, &s->two_z, &s->t);
    set_cubic(s, &s->h, x, 3);
    if (f == VALUE) {
        tki_interval_mul_d(&s->t, &s->sigma, x);
        return;
    }
    tki_interval_mul(&s->t, &s->one_minus_sigma, &s->h);
    tki_interval_add_d(&s->t, &s->t, 1);
    tki_interval_mul(&s->t, &s->t, &s->sigma);
}

static entry table_entry(scratch *s, function f, double x)
{
    if (!isfinite(x)) {
        double limit = x > 0 ? 1 : 0;
        return (entry){.lo = limit, .hi = limit, .bound = 0, .x = x};
    }
    evaluate(s, f, x);
    entry e = {.lo = tki_interval_low(&s->t), .hi = tki_interval_high(&s->t), .x = x};
    double two_z = tki_interval_magnitude(&s->two_z);
    double sigma = tki_interval_high(&s->sigma);
    double one_minus_sigma = tki_interval_high(&s->one_minus_sigma);
    if (f == VALUE)
        e.bound = tki_gelu_fwd_bound(fabs(x), two_z, one_minus_sigma, fmax(fabs(e.lo), fabs(e.hi)));
    else
        e.bound = tki_gelu_bwd_bound(two_z, sigma, one_minus_sigma, tki_interval_magnitude(&s->h));
    return e;
}

static tk_status open_table(tk_dtype dtype, function f, void **tables)
{
    entry *table = malloc(PATTERNS * sizeof *table);
    if (!table)
        return TK_NO_MEMORY;
#pragma omp parallel
    {
        scratch s;
        scratch_init(&s, TABLE_PRECISION);
#pragma omp for schedule(dynamic, 256)
        for (uint32_t bits = 0; bits < PATTERNS; bits++)
            table[bits] = table_entry(&s, f, tki_decode(dtype, bits));
        scratch_clear(&s);
        mpfr_free_cache2(MPFR_FREE_LOCAL_CACHE);
    }
    *tables = table;
    return TK_OK;
}

static tk_status fwd_open(tk_dtype dtype, void **tables)
{
    return open_table(dtype, VALUE, tables);
}

static tk_status bwd_open(tk_dtype dtype, void **tables)
{
    return open_table(dtype, DERIVATIVE, tables);
}

static void close_table(void *tables)
{
    free(tables);
}

static void box_size(const tk_case *c, int output, int64_t *rows, int64_t *cols)
{
    (void)c;
    (void)output;
    *rows = 1;
    *cols = BOX;
}

static tk_status fwd_enclose(const tki_oracle_job *job, const tki_box *box, tki_enclosure *out)
{
    const entry *table = job->tables;
    for (int64_t i = box->col_begin; i < box->col_end; i++, out++) {
        const entry *e = &table[tki_element_bits(job->c->dtype, job->buffers[0], i)];
        int clause = TKI_GELU_ERR;
        unsigned special = isfinite(e->x) ? 0 : tki_gelu_fwd_special(e->x, &clause);
        *out = (tki_enclosure){.lo = e->lo,
                               .hi = e->hi,
                               .bound = e->bound,
                               .admits = (uint8_t)(special ? special : TKI_ADMIT_INTERVAL),
                               .clause = (uint8_t)clause};
    }
    return TK_OK;
}

static tk_status bwd_enclose(const tki_oracle_job *job, const tki_box *box, tki_enclosure *out)
{
    const entry *table = job->tables;
    for (int64_t i = box->col_begin; i < box->col_end; i++, out++) {
        double grad = tki_decode(job->c->dtype, tki_element_bits(job->c->dtype, job->buffers[0], i));
        const entry *e = &table[tki_element_bits(job->c->dtype, job->buffers[1], i)];
        int clause = TKI_GELU_ERR;
        unsigned special = isfinite(e->x) && isfinite(grad) ? 0 : tki_gelu_bwd_special(grad, e->x, e->lo, &clause);
        double a = grad * e->lo;
        double b = grad * e->hi;
        *out = (tki_enclosure){.lo = tki_down(a < b ? a : b),
                               .hi = tki_up(a < b ? b : a),
                               .bound = (fabs(grad) * e->bound + TKI_GELU_BWD_UNDERFLOW) * (1 + 0x1p-50),
                               .admits = (uint8_t)(special ? special : TKI_ADMIT_INTERVAL),
                               .clause = (uint8_t)clause};
    }
    return TK_OK;
}

static tk_status refine(const tki_oracle_job *job, function f, double x, double factor, int precision, mpfr_ptr lo,
                        mpfr_ptr hi)
{
    (void)job;
    mpfr_set_prec(lo, precision);
    mpfr_set_prec(hi, precision);
    if (!isfinite(x)) {
        /* Only the gradient at +inf is judged by an interval: its limit is grad_output itself. */
        mpfr_set_d(lo, factor, MPFR_RNDD);
        mpfr_set_d(hi, factor, MPFR_RNDU);
        return TK_OK;
    }
    scratch s;
    scratch_init(&s, precision);
    evaluate(&s, f, x);
    tki_interval_mul_d(&s.t, &s.t, factor);
    mpfr_set(lo, s.t.lo, MPFR_RNDD);
    mpfr_set(hi, s.t.hi, MPFR_RNDU);
    scratch_clear(&s);
    return TK_OK;
}

static tk_status fwd_refine(const tki_oracle_job *job, int64_t row, int64_t col, int precision, mpfr_ptr lo,
                            mpfr_ptr hi)
{
    (void)row;
    double x = tki_decode(job->c->dtype, tki_element_bits(job->c->dtype, job->buffers[0], col));
    return refine(job, VALUE, x, 1, precision, lo, hi);
}

static tk_status bwd_refine(const tki_oracle_job *job, int64_t row, int64_t col, int precision, mpfr_ptr lo,
                            mpfr_ptr hi)
{
    (void)row;
    double grad = tki_decode(job->c->dtype, tki_element_bits(job->c->dtype, job->buffers[0], col));
    double x = tki_decode(job->c->dtype, tki_element_bits(job->c->dtype, job->buffers[1], col));
    return refine(job, DERIVATIVE, x, grad, precision, lo, hi);
}

const tki_oracle tki_gelu_fwd_oracle = {
    .open = fwd_open, .close = close_table, .box_size = box_size, .enclose = fwd_enclose, .refine = fwd_refine};

const tki_oracle tki_gelu_bwd_oracle = {
    .open = bwd_open, .close = close_table, .box_size = box_size, .enclose = bwd_enclose, .refine = bwd_refine};
