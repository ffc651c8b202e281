/* DECIDES. The exact loss and gradient of xent. prepare() sums each row once in double by exact/exp_row.h, with
 * an error term; the one logarithm of a row is MPFR's. What that leaves open is refined in MPFR intervals over the
 * row, whose sums are kept, since in a row of equal logits every element may ask for them. */
#include <math.h>
#include <pthread.h>
#include <stdlib.h>

#include "exact/exp_row.h"
#include "exact/floats.h"
#include "exact/interval.h"
#include "exact/oracle.h"
#include "exact/round.h"
#include "ops/xent/contract.h"

enum { LOG_PRECISION = 80, GUARD_BITS = 64, GRADIENT_BOX = 4096, LOSS_BOX = 256, PARALLEL_FROM = 1 << 14 };

/* Widens a result of at most eight double operations on numbers of one sign that enclose theirs: eight times
 * 2^-53. */
#define DOWN (1 - 0x1p-49)
#define UP (1 + 0x1p-49)

typedef struct range {
    double lo, hi;
} range;

typedef struct row_facts {
    tki_xent_kind kind;
    int64_t target;
    int64_t first_max;
    bool target_is_minus_inf, loss_is_infinite;
    range others; /* sum of exp(-d_j) over j != t */
    range rest;   /* the same without the first maximum: Z - 1 */
    range ln_z, sum_d;
    tki_xent_row bound; /* `promised` as the job says */
} row_facts;

/* Sums of one row in intervals, at one precision. */
typedef struct refined {
    struct refined *next;
    int precision;
    tki_interval others, rest, sum_d;
} refined;

typedef struct prepared {
    int64_t row_count;
    row_facts *rows;
    refined **refined; /* [rows], lists; guarded by the mutex */
    pthread_mutex_t *mutex;
} prepared;

static int64_t target_of(const tki_oracle_job *job, int64_t row)
{
    const void *targets = job->buffers[TKI_XENT_TARGETS];
    return job->c->index_dtype == TK_I64 ? ((const int64_t *)targets)[row] : ((const int32_t *)targets)[row];
}

static const void *row_of(const tki_oracle_job *job, int64_t row)
{
    const int64_t bytes = row * job->c->dims[1] * (int64_t)tk_dtype_size(job->c->dtype);
    return (const char *)job->buffers[TKI_XENT_LOGITS] + bytes;
}

static tki_exp_row logits_of(const tki_oracle_job *job, int64_t row, int64_t max)
{
    return tki_exp_row_at(job->c->dtype, job->tables, row_of(job, row), max);
}

/* -- The sums of a row in double ----------------------------------------------------------------------------- */

/* Finds the maximum and what makes a row special. */
static void classify(const tki_oracle_job *job, int64_t row, row_facts *f)
{
    double max = -INFINITY;
    bool has_nan = false;
    bool has_minus_inf = false;
    const tki_exp_row logits = tki_exp_row_of(job->c->dtype, job->tables, row_of(job, row));
    for (int64_t j = 0; j < job->c->dims[1]; j++) {
        double x = tki_exp_row_value(&logits, j);
        has_nan |= isnan(x);
        has_minus_inf |= x == -INFINITY;
        if (x > max) {
            max = x;
            f->first_max = j;
        }
    }
    f->target = target_of(job, row);
    f->kind = tki_xent_row_kind(job->c, f->target, max, has_nan);
    if (f->kind != TKI_XENT_ORDINARY)
        return;
    f->target_is_minus_inf = tki_exp_row_value(&logits, f->target) == -INFINITY;
    f->loss_is_infinite = tki_xent_loss_is_infinite(job->c, has_minus_inf, f->target_is_minus_inf);
}

/* A sum of n ratios in double: the ratios have a relative error of at most 4.25 times 2^-53, n - 1 additions 2^-53
 * each; twice that and some covers products of errors. Ratios that were cut to zero come on top. */
static range enclose_sum(double sum, double n)
{
    double relative = (2 * n + 16) * 0x1p-53;
    return (range){sum * (1 - relative), sum * (1 + relative) + n * TKI_EXP_RATIO_TINY};
}

static void sum_row(const tki_oracle_job *job, int64_t row, row_facts *f)
{
    const tki_exp_row x = logits_of(job, row, f->first_max);
    double n = (double)job->c->dims[1];
    double others = 0;
    double rest = 0;
    double sum_d = 0;
    double second_d = INFINITY;
    double other_d = INFINITY;
    tki_softmax_terms terms = {.cols = job->c->dims[1], .max = x.max};
    for (int64_t j = 0; j < job->c->dims[1]; j++) {
        double d = tki_exp_row_distance(&x, j);
        double ratio = tki_exp_row_ratio(&x, j);
        terms.near += d <= TKI_SOFTMAX_FAR;
        terms.top += d == 0;
        sum_d += d;
        if (j != f->first_max) {
            rest += ratio;
            second_d = d < second_d ? d : second_d;
        }
        if (j != f->target) {
            others += ratio;
            other_d = d < other_d ? d : other_d;
        }
    }
    f->rest = enclose_sum(rest, n);
    f->others = enclose_sum(others, n);
    /* Each difference has one rounding. With an infinite logit the sum is not used. */
    f->sum_d = isfinite(sum_d) ? enclose_sum(sum_d, n) : (range){0, 0};
    f->bound.target_d = tki_exp_row_distance(&x, f->target) * UP;
    f->bound.second_d = second_d;
    f->bound.other_d = other_d;
    f->bound.sum_d = f->sum_d.hi;
    f->bound.depth = tki_softmax_sum_depth(&terms, job->promised, job->promised);
    f->bound.depth_d = tki_softmax_depth(terms.cols - terms.top, terms.cols, job->promised);
    f->bound.rescalings = tki_softmax_rescalings(&terms);
}

/* ln x for x >= 1, given x - 1. */
static range enclose_log1p(range x)
{
    mpfr_t t;
    range y;
    mpfr_init2(t, LOG_PRECISION);
    mpfr_set_d(t, x.lo, MPFR_RNDD);
    mpfr_log1p(t, t, MPFR_RNDD);
    y.lo = mpfr_get_d(t, MPFR_RNDD);
    mpfr_set_d(t, x.hi, MPFR_RNDU);
    mpfr_log1p(t, t, MPFR_RNDU);
    y.hi = mpfr_get_d(t, MPFR_RNDU);
    mpfr_clear(t);
    return y;
}

static void prepare_row(const tki_oracle_job *job, int64_t row, double ln_cols, row_facts *f)
{
    *f = (row_facts){.bound = {.cols = (double)job->c->dims[1],
                               .ln_cols = ln_cols,
                               .label_smoothing = job->c->attributes[TKI_XENT_LABEL_SMOOTHING].real,
                               .scale = job->c->attributes[TKI_XENT_SCALE].real,
                               .promised = job->promised}};
    classify(job, row, f);
    if (f->kind != TKI_XENT_ORDINARY)
        return;
    sum_row(job, row, f);
    f->ln_z = enclose_log1p(f->rest);
    f->bound.ln_z = f->ln_z.hi;
}

static void release(void *data)
{
    prepared *p = data;
    if (!p)
        return;
    for (int64_t row = 0; p->refined && row < p->row_count; row++)
        for (refined *r = p->refined[row], *next; r; r = next) {
            next = r->next;
            tki_interval_clear(&r->others);
            tki_interval_clear(&r->rest);
            tki_interval_clear(&r->sum_d);
            free(r);
        }
    if (p->mutex)
        pthread_mutex_destroy(p->mutex);
    free(p->mutex);
    free(p->refined);
    free(p->rows);
    free(p);
}

static prepared *allocate(int64_t rows)
{
    prepared *p = calloc(1, sizeof *p);
    if (!p)
        return NULL;
    p->row_count = rows;
    p->rows = calloc((size_t)rows + 1, sizeof *p->rows);
    p->refined = calloc((size_t)rows + 1, sizeof(refined *));
    p->mutex = malloc(sizeof *p->mutex);
    if (p->mutex && pthread_mutex_init(p->mutex, NULL) != 0) {
        free(p->mutex);
        p->mutex = NULL;
    }
    if (p->rows && p->refined && p->mutex)
        return p;
    release(p);
    return NULL;
}

static tk_status prepare(const tki_oracle_job *job, void **result)
{
    int64_t rows = job->c->dims[0];
    prepared *p = allocate(rows);
    *result = p;
    if (!p)
        return TK_NO_MEMORY;
    /* Without columns every row is ignored and nothing asks for it. */
    double ln_cols = job->c->dims[1] > 0 ? tki_softmax_ln(job->c->dims[1]) : 0;
#pragma omp parallel if (rows > 1 && tk_case_elements(job->c, TKI_XENT_LOGITS) > PARALLEL_FROM)
    {
        const tki_floats floats = tki_floats_begin();
#pragma omp for schedule(dynamic, 8)
        for (int64_t row = 0; row < rows; row++)
            prepare_row(job, row, ln_cols, &p->rows[row]);
        mpfr_free_cache2(MPFR_FREE_LOCAL_CACHE);
        tki_floats_end(&floats);
    }
    return TK_OK;
}

/* -- Enclosures ---------------------------------------------------------------------------------------------- */

static void box_size(const tk_case *c, int output, int64_t *rows, int64_t *cols)
{
    *cols = output == TKI_XENT_LOSSES || c->dims[1] < 1 ? 1 : c->dims[1] < GRADIENT_BOX ? c->dims[1] : GRADIENT_BOX;
    *rows = output == TKI_XENT_LOSSES ? LOSS_BOX : GRADIENT_BOX / *cols;
}

static tki_enclosure special_enclosure(tki_xent_kind kind)
{
    int clause = TKI_XENT_NAN;
    unsigned admits = tki_xent_special(kind, &clause);
    return (tki_enclosure){.admits = (uint8_t)admits, .clause = (uint8_t)clause};
}

static tki_enclosure interval_enclosure(double lo, double hi, double bound, int clause)
{
    /* A bound that does not exist comes as infinity. */
    unsigned admits = isfinite(bound) ? TKI_ADMIT_INTERVAL : TKI_UNDEFINED;
    return (tki_enclosure){.lo = lo, .hi = hi, .bound = bound, .admits = (uint8_t)admits, .clause = (uint8_t)clause};
}

static int clause_of(const row_facts *f, int clause)
{
    return f->bound.promised ? TKI_XENT_PROMISE : clause;
}

static tki_enclosure enclose_loss(const row_facts *f)
{
    if (f->kind != TKI_XENT_ORDINARY)
        return special_enclosure(f->kind);
    if (f->loss_is_infinite)
        return (tki_enclosure){.admits = TKI_ADMIT_PLUS_INF, .clause = TKI_XENT_INF};
    /* Every term is at least zero, so seven operations lose at most seven times 2^-53 of the whole. */
    double eps = f->bound.label_smoothing;
    double target_term = (1 - eps) * f->bound.target_d;
    double share = eps / f->bound.cols;
    bool smooth = eps > 0;
    double lo = f->ln_z.lo + target_term * (1 - 0x1p-48) + (smooth ? share * f->sum_d.lo : 0);
    double hi = f->ln_z.hi + target_term + (smooth ? share * f->sum_d.hi : 0);
    tki_enclosure e = interval_enclosure(lo * DOWN, hi * UP, tki_xent_loss_bound(&f->bound),
                                         clause_of(f, TKI_XENT_LOSS));
    if (f->bound.promised)
        e.admits |= TKI_NOT_NEGATIVE;
    else if (tki_xent_loss_may_overflow(&f->bound))
        e.admits |= TKI_ADMIT_PLUS_INF;
    return e;
}

/* One double operation's result, widened by twice its rounding and by more than it can underflow by. */
static double below(double value)
{
    return value - fabs(value) * 0x1p-52 - 0x1p-1000;
}

static double above(double value)
{
    return value + fabs(value) * 0x1p-52 + 0x1p-1000;
}

static double larger(double a, double b)
{
    return a > b ? a : b;
}

/* What all gradient elements of a row share. */
typedef struct row_factors {
    tki_exp_row x;
    double inverse_lo, inverse_hi; /* of Z, with the error of a ratio in */
    double q_lo, q_hi;             /* eps / C */
} row_factors;

static row_factors factors_of(const tki_oracle_job *job, int64_t row, const row_facts *f)
{
    double error = tki_exp_row_ratio_error(job->c->dtype);
    double share = f->bound.label_smoothing / f->bound.cols;
    return (row_factors){.x = logits_of(job, row, f->first_max),
                         .inverse_lo = (1 - error) / (1 + f->rest.hi) * DOWN,
                         .inverse_hi = (1 + error) / (1 + f->rest.lo) * UP,
                         .q_lo = share * DOWN,
                         .q_hi = share * UP};
}

/* Pairs of doubles go as scalars here: in structs they make this the slowest part of a certificate. */
static void enclose_target_gradient(const row_facts *f, tki_enclosure *out)
{
    double p_lo = f->others.lo / (1 + f->rest.hi) * DOWN;
    double p_hi = f->others.hi / (1 + f->rest.lo) * UP;
    double share = f->bound.label_smoothing * (f->bound.cols - 1) / f->bound.cols;
    double lo = below(share * DOWN - p_hi);
    double hi = above(share * UP - p_lo);
    double scale = f->bound.scale;
    double bound = tki_xent_target_grad_bound(&f->bound, p_hi, share * UP, larger(fabs(lo), fabs(hi)));
    *out = interval_enclosure(below(scale * (scale < 0 ? hi : lo)), above(scale * (scale < 0 ? lo : hi)), bound,
                              f->target_is_minus_inf ? TKI_XENT_INF : clause_of(f, TKI_XENT_ERR));
}

static void enclose_gradient(const row_facts *f, const row_factors *r, int64_t j, tki_enclosure *out)
{
    double ratio = tki_exp_row_ratio(&r->x, j);
    double p_lo = ratio > 0 ? below(ratio * r->inverse_lo) : 0;
    double p_hi = above(ratio * r->inverse_hi) + 2 * TKI_EXP_RATIO_TINY;
    double lo = below(p_lo - r->q_hi);
    double hi = above(p_hi - r->q_lo);
    double scale = f->bound.scale;
    double bound = tki_xent_grad_bound(&f->bound, tki_exp_row_distance(&r->x, j), p_hi, r->q_hi,
                                       larger(fabs(lo), fabs(hi)));
    *out = interval_enclosure(below(scale * (scale < 0 ? hi : lo)), above(scale * (scale < 0 ? lo : hi)), bound,
                              tki_exp_row_value(&r->x, j) == -INFINITY ? TKI_XENT_INF : clause_of(f, TKI_XENT_ERR));
}

static void enclose_gradient_row(const tki_oracle_job *job, int64_t row, const tki_box *box, tki_enclosure *out)
{
    const prepared *all = job->prepared;
    const row_facts *f = &all->rows[row];
    if (f->kind != TKI_XENT_ORDINARY) {
        for (int64_t j = box->col_begin; j < box->col_end; j++)
            *out++ = special_enclosure(f->kind);
        return;
    }
    row_factors r = factors_of(job, row, f);
    for (int64_t j = box->col_begin; j < box->col_end; j++)
        if (j == f->target)
            enclose_target_gradient(f, out++);
        else
            enclose_gradient(f, &r, j, out++);
}

static tk_status enclose(const tki_oracle_job *job, const tki_box *box, tki_enclosure *out)
{
    const prepared *all = job->prepared;
    for (int64_t row = box->row_begin; row < box->row_end; row++) {
        if (job->output == TKI_XENT_LOSSES)
            *out = enclose_loss(&all->rows[row]);
        else
            enclose_gradient_row(job, row, box, out);
        out += box->col_end - box->col_begin;
    }
    return TK_OK;
}

/* -- Refinement ---------------------------------------------------------------------------------------------- */

/* result = max - x, for finite x */
static void set_d(tki_interval *result, const tki_exp_row *x, int64_t j)
{
    tki_interval_set_d(result, x->max);
    tki_interval_add_d(result, result, -tki_exp_row_value(x, j));
}

static refined *refine_sums(const tki_oracle_job *job, int64_t row, const row_facts *f, int precision)
{
    refined *r = calloc(1, sizeof *r);
    if (!r)
        return NULL;
    tki_interval t;
    r->precision = precision;
    tki_interval_init(&r->others, precision);
    tki_interval_init(&r->rest, precision);
    tki_interval_init(&r->sum_d, precision);
    tki_interval_init(&t, precision);
    tki_interval_set_d(&r->others, 0);
    tki_interval_set_d(&r->rest, 0);
    tki_interval_set_d(&r->sum_d, 0);
    const tki_exp_row x = logits_of(job, row, f->first_max);
    for (int64_t j = 0; j < job->c->dims[1]; j++) {
        tki_exp_row_enclose(&t, &x, j);
        if (j != f->target)
            tki_interval_add(&r->others, &r->others, &t);
        if (j != f->first_max)
            tki_interval_add(&r->rest, &r->rest, &t);
        /* Where a logit is -inf the sum of the d_j is infinite, or has no weight. */
        if (tki_exp_row_value(&x, j) != -INFINITY) {
            set_d(&t, &x, j);
            tki_interval_add(&r->sum_d, &r->sum_d, &t);
        }
    }
    tki_interval_clear(&t);
    return r;
}

/* The row's sums at that precision, made once; NULL when memory ran out. */
static const refined *sums_of(const tki_oracle_job *job, int64_t row, const row_facts *f, int precision)
{
    const prepared *all = job->prepared;
    pthread_mutex_lock(all->mutex);
    refined *r = all->refined[row];
    while (r && r->precision != precision)
        r = r->next;
    if (!r) {
        r = refine_sums(job, row, f, precision);
        if (r) {
            r->next = all->refined[row];
            all->refined[row] = r;
        }
    }
    pthread_mutex_unlock(all->mutex);
    return r;
}

/* s = log1p(rest) + (1 - eps) d_t + eps sum d / C */
static void refine_loss(const tki_oracle_job *job, int64_t row, const row_facts *f, const refined *r, tki_interval *s,
                        tki_interval *t)
{
    tki_interval factor;
    tki_interval_init(&factor, r->precision);
    tki_interval_log1p(s, &r->rest);
    tki_interval_set_d(&factor, 1);
    tki_interval_add_d(&factor, &factor, -f->bound.label_smoothing);
    const tki_exp_row x = logits_of(job, row, f->first_max);
    set_d(t, &x, f->target);
    tki_interval_mul(t, t, &factor);
    tki_interval_add(s, s, t);
    tki_interval_set_d(&factor, f->bound.cols);
    tki_interval_mul_d(t, &r->sum_d, f->bound.label_smoothing);
    tki_interval_div(t, t, &factor);
    tki_interval_add(s, s, t);
    tki_interval_clear(&factor);
}

/* s = scale (C e_j - eps Z) / (C Z), and scale (eps (C - 1) Z - C others) / (C Z) for the target: what is exact
 * stays exact, such as the zero gradient of equal logits with eps = 1. */
static void refine_gradient(const tki_oracle_job *job, int64_t row, int64_t col, const row_facts *f, const refined *r,
                            tki_interval *s, tki_interval *t)
{
    double cols = f->bound.cols;
    double eps = f->bound.label_smoothing;
    tki_interval z;
    tki_interval_init(&z, r->precision);
    tki_interval_add_d(&z, &r->rest, 1);
    if (col == f->target) {
        tki_interval_mul_d(s, &z, eps);
        tki_interval_mul_d(s, s, cols - 1);
        tki_interval_mul_d(t, &r->others, cols);
    } else {
        const tki_exp_row x = logits_of(job, row, f->first_max);
        tki_exp_row_enclose(s, &x, col);
        tki_interval_mul_d(s, s, cols);
        tki_interval_mul_d(t, &z, eps);
    }
    tki_interval_sub(s, s, t);
    tki_interval_mul_d(&z, &z, cols);
    tki_interval_div(s, s, &z);
    tki_interval_mul_d(s, s, f->bound.scale);
    tki_interval_clear(&z);
}

static tk_status refine(const tki_oracle_job *job, int64_t row, int64_t col, int precision, mpfr_ptr lo, mpfr_ptr hi)
{
    const prepared *all = job->prepared;
    const row_facts *f = &all->rows[row];
    /* The guard bits pay for what P - Q cancels. */
    const refined *r = sums_of(job, row, f, precision + GUARD_BITS);
    if (!r)
        return TK_NO_MEMORY;
    tki_interval s;
    tki_interval t;
    tki_interval_init(&s, r->precision);
    tki_interval_init(&t, r->precision);
    if (job->output == TKI_XENT_LOSSES)
        refine_loss(job, row, f, r, &s, &t);
    else
        refine_gradient(job, row, col, f, r, &s, &t);
    tki_interval_get(&s, r->precision, lo, hi);
    tki_interval_clear(&s);
    tki_interval_clear(&t);
    return TK_OK;
}

const tki_oracle tki_xent_oracle = {.open = tki_exp_row_open,
                                    .prepare = prepare,
                                    .release = release,
                                    .box_size = box_size,
                                    .enclose = enclose,
                                    .refine = refine};
