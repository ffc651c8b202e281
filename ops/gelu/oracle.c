/* TRUSTED. The exact value of gelu and of its derivative. Both are functions of one x (the gradient is that times grad_output). For
 * 16-bit types a table over all patterns of x, enclosed with MPFR, serves every element; for fp32 an element is enclosed in double. What
 * that does not decide is refined from scratch. */
#include <math.h>

#include "exact/exp_enclosure.h"
#include "exact/floats.h"
#include "exact/interval.h"
#include "exact/kept_table.h"
#include "exact/oracle.h"
#include "exact/round.h"
#include "ops/gelu/contract.h"

enum { TABLE_PRECISION = 96, BOX = 2048 };

typedef struct entry {
    double lo, hi; /* encloses y or g' at this x; for x = +-inf its limit */
    double bound;  /* B, or B / |grad_output| */
    double x;
} entry;

typedef enum function { VALUE, DERIVATIVE } function;

/* Working variables of one evaluation, all of one precision. For x >= 0 the sigmoid of 2z is `large` and what it lacks to one `small`; for
 * -x it is the other way round, and 2z and h change sign. So one evaluation serves both. */
typedef struct scratch {
    tki_interval two_c, a; /* constants of the formula */
    tki_interval two_z, small, large, h, t;
} scratch;

static void scratch_init(scratch *s, int precision)
{
    tki_interval *all[] = {&s->two_c, &s->a, &s->two_z, &s->small, &s->large, &s->h, &s->t};
    for (int i = 0; i < 7; i++)
        tki_interval_init(all[i], precision);
    tki_interval_set_pi(&s->t);
    tki_interval_set_d(&s->two_c, 8);
    tki_interval_div(&s->two_c, &s->two_c, &s->t);
    tki_interval_sqrt(&s->two_c, &s->two_c); /* 2 sqrt(2 / pi) */
    tki_interval_set_ratio(&s->a, 44715, 1000000);
}

static void scratch_clear(scratch *s)
{
    tki_interval *all[] = {&s->two_c, &s->a, &s->two_z, &s->small, &s->large, &s->h, &s->t};
    for (int i = 0; i < 7; i++)
        tki_interval_clear(all[i]);
}

/* result = 2 c x (1 + k a x^2), which is 2z for k = 1 and h for k = 3 */
static void set_cubic(const scratch *s, tki_interval *result, double x, double k)
{
    tki_interval_mul_d(result, &s->a, k * x);
    tki_interval_mul_d(result, result, x);
    tki_interval_add_d(result, result, 1);
    tki_interval_mul(result, result, &s->two_c);
    tki_interval_mul_d(result, result, x);
}

/* Fills in two_z, small, large and, for the derivative, h at a finite x >= 0; nothing cancels. */
static void evaluate(scratch *s, function f, double x)
{
    set_cubic(s, &s->two_z, x, 1);
    tki_interval_neg(&s->t, &s->two_z);
    tki_interval_exp(&s->t, &s->t);
    tki_interval_add_d(&s->small, &s->t, 1);
    tki_interval_set_d(&s->large, 1);
    tki_interval_div(&s->large, &s->large, &s->small);
    tki_interval_mul(&s->small, &s->t, &s->large);
    /* It is at most one half; rounding outward may have gone beyond. */
    if (mpfr_cmp_d(s->small.hi, 0.5) > 0)
        mpfr_set_d(s->small.hi, 0.5, MPFR_RNDU);
    if (f == DERIVATIVE)
        set_cubic(s, &s->h, x, 3);
}

/* Leaves the function's value in s->t, at x or, if `negative`, at -x, where s was evaluated at x. */
static void set_value(scratch *s, function f, double x, bool negative)
{
    const tki_interval *sigma = negative ? &s->small : &s->large;
    const tki_interval *one_minus_sigma = negative ? &s->large : &s->small;
    if (f == VALUE) {
        tki_interval_mul_d(&s->t, sigma, negative ? -x : x);
        return;
    }
    tki_interval_mul(&s->t, one_minus_sigma, &s->h);
    if (negative)
        tki_interval_neg(&s->t, &s->t);
    tki_interval_add_d(&s->t, &s->t, 1);
    tki_interval_mul(&s->t, &s->t, sigma);
}

static entry table_entry(scratch *s, function f, double x, bool negative)
{
    set_value(s, f, x, negative);
    entry e = {.lo = tki_interval_low(&s->t), .hi = tki_interval_high(&s->t), .x = negative ? -x : x};
    double two_z = tki_interval_magnitude(&s->two_z);
    double sigma = tki_interval_high(negative ? &s->small : &s->large);
    double one_minus_sigma = tki_interval_high(negative ? &s->large : &s->small);
    if (f == VALUE)
        e.bound = tki_gelu_fwd_bound(x, two_z, one_minus_sigma, fmax(fabs(e.lo), fabs(e.hi)));
    else
        e.bound = tki_gelu_bwd_bound(two_z, sigma, one_minus_sigma, tki_interval_magnitude(&s->h));
    return e;
}

static entry limit_entry(double x)
{
    double limit = x > 0 ? 1 : 0;
    return (entry){.lo = limit, .hi = limit, .bound = 0, .x = x};
}

static void fill(tk_dtype dtype, function f, entry *table)
{
    const uint32_t sign = TKI_PATTERNS / 2;
#pragma omp parallel
    {
        const tki_floats floats = tki_floats_begin();
        scratch s;
        scratch_init(&s, TABLE_PRECISION);
#pragma omp for schedule(dynamic, 128)
        for (uint32_t bits = 0; bits < sign; bits++) {
            double x = tki_decode(dtype, bits);
            if (isfinite(x))
                evaluate(&s, f, x);
            table[bits] = isfinite(x) ? table_entry(&s, f, x, false) : limit_entry(x);
            table[bits | sign] = isfinite(x) ? table_entry(&s, f, x, true) : limit_entry(-x);
        }
        scratch_clear(&s);
        mpfr_free_cache2(MPFR_FREE_LOCAL_CACHE);
        tki_floats_end(&floats);
    }
}

/* -- In double, for fp32 ---------------------------------------------------------------------------------------- */

#define ROUNDING 0x1p-53
#define TWO_C 0x1.9884533d43651p+0 /* 2c, rounded to nearest, as the next two */
#define TWO_C_A 0x1.2444f2a4d8b4bp-4
#define SIX_C_A 0x1.b6676bf7450f0p-3

/* What is enclosed at |x|; each value is within its error, relative, of the exact one. */
typedef struct parts {
    double two_z,
        h; /* h only for the derivative; within 4.01 roundings: x^2 is exact, then a constant, 2 products and a sum */
    double small, large; /* e / (1 + e) and 1 / (1 + e) for e = exp(-2z) */
    double small_error, large_error;
    double cut; /* what e may be more than it is here: 0, or its size from TKI_EXP_CUT on */
} parts;

/* e has its own error and that of its argument, 2z (1 +- 4.01 roundings); of that sum `large` has the share e and `small` at most all. Then
 * each has its own roundings: 2 for `large`, 3 for `small`. */
static parts parts_at(const tki_exp_pieces *pieces, function f, double x)
{
    parts p = {.two_z = x * (TWO_C + TWO_C_A * (x * x))};
    const double e = tki_exp_minus(pieces, p.two_z);
    const double e_error = TKI_EXP_MINUS_ERROR + 4.02 * ROUNDING * p.two_z;
    p.large = 1 / (1 + e);
    p.small = e * p.large;
    p.large_error = e * e_error + 2.01 * ROUNDING;
    p.small_error = e_error + 3.01 * ROUNDING;
    p.cut = e == 0 ? TKI_EXP_MINUS_TINY : 0;
    if (f == DERIVATIVE)
        p.h = x * (TWO_C + SIX_C_A * (x * x));
    return p;
}

/* Upper bounds of what B is made of, at x or, if `negative`, at -x. */
static double bound_in_double(function f, double x, const parts *p, bool negative, double value)
{
    const double two_z = p->two_z * (1 + 0x1p-50);
    const double small = p->small * (1 + p->small_error + ROUNDING) + p->cut;
    const double large = p->large * (1 + p->large_error + ROUNDING);
    const double one_minus_sigma = negative ? large : small;
    if (f == VALUE)
        return tki_gelu_fwd_bound(x, two_z, one_minus_sigma, value);
    return tki_gelu_bwd_bound(two_z, negative ? small : large, one_minus_sigma, p->h * (1 + 0x1p-50));
}

/* y = x sigma has 3 roundings beside the error of sigma: the product, and the error's own and its product. */
static entry value_in_double(const tki_exp_pieces *pieces, double x, bool negative)
{
    const parts p = parts_at(pieces, VALUE, x);
    const double y = x * (negative ? p.small : p.large);
    const double error = (negative ? p.small_error : p.large_error) + 4 * ROUNDING;
    const double lo = y * (1 - error);
    const double hi = y * (1 + error) + p.cut * x;
    return (entry){.lo = negative ? -hi : lo,
                   .hi = negative ? -lo : hi,
                   .bound = bound_in_double(VALUE, x, &p, negative, hi),
                   .x = negative ? -x : x};
}

/* g' = sigma (1 + t), t = (1 - sigma) h. The error of t, with 5.01 roundings of h and of the product, is absolute beside the 1, which may
 * cancel; that of sigma is relative, with 3 roundings: the sum, the product, and the last ones below. */
static entry derivative_in_double(const tki_exp_pieces *pieces, double x, bool negative)
{
    const parts p = parts_at(pieces, DERIVATIVE, x);
    const double sigma = negative ? p.small : p.large;
    const double sigma_error = (negative ? p.small_error : p.large_error) + 4 * ROUNDING;
    const double t = (negative ? p.large : p.small) * p.h;
    const double t_error = (negative ? p.large_error : p.small_error) + 6 * ROUNDING;
    const double value = sigma * (negative ? 1 - t : 1 + t);
    const double error = (sigma * t * t_error + fabs(value) * sigma_error + p.cut * (2 + 2 * p.h)) * (1 + 0x1p-40);
    return (entry){.lo = value - error,
                   .hi = value + error,
                   .bound = bound_in_double(DERIVATIVE, x, &p, negative, 0),
                   .x = negative ? -x : x};
}

/* The entry of an element: that of the table, or made in `room`. */
static inline const entry *entry_of(const tki_oracle_job *job, function f, int input, int64_t i, entry *room)
{
    const uint32_t bits = tki_element_bits(job->c->dtype, job->buffers[input], i);
    if (job->c->dtype != TK_F32)
        return (const entry *)job->tables + bits;
    const double x = tki_decode(TK_F32, bits);
    if (!isfinite(x))
        *room = limit_entry(x);
    else
        *room = f == VALUE ? value_in_double(job->tables, fabs(x), signbit(x))
                           : derivative_in_double(job->tables, fabs(x), signbit(x));
    return room;
}

static tk_status open_pieces(void **tables)
{
    const tki_exp_pieces *pieces;
    tk_status status = tki_exp_pieces_open(&pieces);
    *tables = (void *)(uintptr_t)pieces;
    return status;
}

/* -- The oracles ------------------------------------------------------------------------------------------------ */

static void fill_values(tk_dtype dtype, void *table)
{
    fill(dtype, VALUE, table);
}

static void fill_derivatives(tk_dtype dtype, void *table)
{
    fill(dtype, DERIVATIVE, table);
}

static tk_status fwd_open(tk_dtype dtype, void **tables)
{
    static tki_kept_table kept = {.entry_bytes = sizeof(entry), .fill = fill_values};
    return dtype == TK_F32 ? open_pieces(tables) : tki_kept_table_open(&kept, dtype, tables);
}

static tk_status bwd_open(tk_dtype dtype, void **tables)
{
    static tki_kept_table kept = {.entry_bytes = sizeof(entry), .fill = fill_derivatives};
    return dtype == TK_F32 ? open_pieces(tables) : tki_kept_table_open(&kept, dtype, tables);
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
    entry room;
    for (int64_t i = box->col_begin; i < box->col_end; i++, out++) {
        const entry *e = entry_of(job, VALUE, 0, i, &room);
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
    entry room;
    /* In fp32 the rounding of the product is the last one, and needs no allowance. */
    const double underflow = job->c->dtype == TK_F32 ? 0 : TKI_GELU_BWD_UNDERFLOW;
    for (int64_t i = box->col_begin; i < box->col_end; i++, out++) {
        double grad = tki_decode(job->c->dtype, tki_element_bits(job->c->dtype, job->buffers[0], i));
        const entry *e = entry_of(job, DERIVATIVE, 1, i, &room);
        int clause = TKI_GELU_ERR;
        unsigned special = isfinite(e->x) && isfinite(grad) ? 0 : tki_gelu_bwd_special(grad, e->x, e->lo, &clause);
        double a = grad * e->lo;
        double b = grad * e->hi;
        *out = (tki_enclosure){.lo = tki_down(a < b ? a : b),
                               .hi = tki_up(a < b ? b : a),
                               .bound = (fabs(grad) * e->bound + underflow) * (1 + 0x1p-50),
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
    evaluate(&s, f, fabs(x));
    set_value(&s, f, fabs(x), x < 0);
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
    .open = fwd_open, .box_size = box_size, .enclose = fwd_enclose, .refine = fwd_refine};

const tki_oracle tki_gelu_bwd_oracle = {
    .open = bwd_open, .box_size = box_size, .enclose = bwd_enclose, .refine = bwd_refine};
