/* DECIDES. The exact values of products, of layers and of products of groups: sums of products (exact/product.h), alone or with further terms, gelu
 * of such a sum, or such a sum times gelu's derivative (exact/gelu.h). */
#include "ops/product/contract.h"

#include <math.h>

#include "exact/gelu.h"
#include "exact/oracle.h"
#include "exact/product.h"
#include "exact/round.h"
#include "model/attributes.h"
#include "model/case.h"

/* What is done with the sum. */
typedef enum ending { AS_IT_IS, GELU, TIMES_DERIVATIVE } ending;

/* One output of one op, or the part of it that is of one group. */
typedef struct layer {
    tki_product product;
    /* Further terms, NULL where they are not there; `bias` [cols] of its own type, `other` [rows, cols] of the result's. */
    const void *bias, *other;
    tk_dtype bias_type;
    const void *pre; /* [rows, cols], of the result's type: with TIMES_DERIVATIVE */
    int64_t rows, cols;
    tk_dtype result;
    ending ending;
} layer;

/* So many lines and places as they lie in memory. */
static tki_factor factor_of(const void *data, int64_t lines, int64_t places, bool across)
{
    return (tki_factor){.data = data, .line_stride = across ? 1 : places, .place_stride = across ? lines : 1};
}

/* Of all groups as if they were one. */
static layer layer_of(const tki_oracle_job *job, const tki_product_roles *r)
{
    const tk_case *c = job->c;
    const int64_t rows = c->dims[r->rows], cols = c->dims[r->cols], places = c->dims[r->inner];
    const void *pre = tki_product_has(c, r->pre) ? job->buffers[r->pre] : NULL;
    const tk_dtype left = tk_case_param_dtype(c, r->left), right = tk_case_param_dtype(c, r->right);
    const bool activated = tki_product_has(c, r->unactivated) && job->output != r->unactivated;
    return (layer){.product = {.left = factor_of(job->buffers[r->left], rows, places, r->left_across),
                               .right = factor_of(job->buffers[r->right], cols, places, r->right_across),
                               .places = places,
                               .dtype = left,
                               .mixed = left != right,
                               .right_dtype = right,
                               .numerics = tki_choice_of_role(c->contract, c->attributes, TK_ROLE_NUMERICS),
                               .matrix_unit = tki_choice_of_role(c->contract, c->attributes, TK_ROLE_MATRIX_UNIT),
                               .tables = job->tables},
                   .bias = tki_product_has(c, r->bias) ? job->buffers[r->bias] : NULL,
                   .other = tki_product_has(c, r->other) ? job->buffers[r->other] : NULL,
                   .pre = pre,
                   .rows = rows,
                   .cols = cols,
                   .bias_type = r->bias >= 0 ? tk_case_param_dtype(c, r->bias) : left,
                   .result = tk_case_param_dtype(c, r->out),
                   .ending = activated ? GELU
                             : pre     ? TIMES_DERIVATIVE
                                       : AS_IT_IS};
}

/* -- Groups ------------------------------------------------------------------------------------------------------ */

/* Which rows the group has. */
typedef struct stretch {
    int64_t begin, end;
} stretch;

enum { M, N, K, G };

static int64_t end_of(const tki_oracle_job *job, const tki_product_roles *r, int64_t group)
{
    return group < 0 ? 0 : tki_index_at(job->c->index_dtype, job->buffers[r->ends], group);
}

/* The group of a row: the first that ends behind it; g: none. `rows`: of that group, or behind the last end. */
static int64_t group_of(const tki_oracle_job *job, const tki_product_roles *r, int64_t row, stretch *rows)
{
    int64_t low = 0, high = job->c->dims[G];
    while (low < high) {
        const int64_t middle = low + (high - low) / 2;
        if (end_of(job, r, middle) > row)
            high = middle;
        else
            low = middle + 1;
    }
    *rows = (stretch){end_of(job, r, low - 1), low < job->c->dims[G] ? end_of(job, r, low) : job->c->dims[M]};
    return low;
}

static const void *element_at(const tk_case *c, const void *data, int64_t i)
{
    return (const char *)data + i * (int64_t)tk_dtype_size(c->dtype);
}

/* The layer that has that row of the output matrix; `row` becomes its own, and it has `left` rows from there on. The rows of a group begin with
 * that row, since its products know no row before it; a row of no group is a sum over nothing. */
static layer layer_at(const tki_oracle_job *job, int64_t *row, int64_t *left)
{
    const tki_product_roles r = tki_product_roles_of(job->c->contract);
    layer l = layer_of(job, &r);
    tki_factor *x = &l.product.left, *y = &l.product.right;
    if (r.ends < 0) {
        *left = l.rows - *row;
    } else if (r.over_rows) {
        const int64_t group = *row / l.rows;
        const stretch rows = {end_of(job, &r, group - 1), end_of(job, &r, group)};
        x->data = element_at(job->c, x->data, rows.begin * x->place_stride);
        y->data = element_at(job->c, y->data, rows.begin * y->place_stride);
        l.product.places = rows.end - rows.begin;
        *row %= l.rows;
        *left = l.rows - *row;
    } else {
        stretch rows;
        const int64_t group = group_of(job, &r, *row, &rows);
        x->data = element_at(job->c, x->data, *row * x->line_stride);
        l.product.places = group < job->c->dims[G] ? l.product.places : 0;
        y->data = element_at(job->c, y->data, l.product.places ? group * job->c->dims[K] * job->c->dims[N] : 0);
        *left = rows.end - *row;
        *row = 0;
    }
    return l;
}

/* -- Further terms ----------------------------------------------------------------------------------------------- */

static double number_at(tk_dtype dtype, const void *data, int64_t i)
{
    return tki_decode(dtype, tki_element_bits(dtype, data, i));
}

/* The further terms of one element; 0 where one is not there. */
typedef struct extras {
    double term[2];
} extras;

static extras extras_at(const layer *l, int64_t row, int64_t col)
{
    return (extras){{l->bias ? number_at(l->bias_type, l->bias, col) : 0,
                     l->other ? number_at(l->result, l->other, row * l->cols + col) : 0}};
}

/* -- In double ------------------------------------------------------------------------------------------------- */

/* a + b, enclosed; exactly where it is a double. */
static void add_outward(double *lo, double *hi, double term)
{
    const double low = *lo + term, high = *hi + term;
    const double low_part = low - *lo, high_part = high - *hi;
    const double low_lost = (*lo - (low - low_part)) + (term - low_part);
    const double high_lost = (*hi - (high - high_part)) + (term - high_part);
    *lo = low_lost < 0 ? tki_down(low) : low;
    *hi = high_lost > 0 ? tki_up(high) : high;
}

/* The sum with its further terms. `flags` is TKI_SUM_HAS_... of all. */
static tki_product_element with_extras(tki_product_element e, const extras *more)
{
    for (int i = 0; i < 2; i++) {
        const double term = more->term[i];
        e.flags |= tki_sum_flag(term);
        if (!isfinite(term) || term == 0)
            continue;
        tki_product_sum_add(&e.sum, term);
        add_outward(&e.lo, &e.hi, term);
        e.unit = fmin(e.unit, tki_last_bit(term));
        e.magnitude += fabs(term);
    }
    e.sum.exact = tki_sum_is_exact(e.magnitude, e.unit);
    return e;
}

static tki_enclosure of_sum(const tki_product_element *e)
{
    int clause;
    const unsigned admits = tki_product_admits(e->sum, e->flags, &clause);
    return (tki_enclosure){.lo = e->lo,
                           .hi = e->hi,
                           .bound = tki_product_bound(e->sum),
                           .admits = (uint16_t)admits,
                           .clause = (uint8_t)clause};
}

/* gelu of what `sum` says. v lies within r of the middle of its enclosure; a kernel's within e of v. By the mean value and |g''| <= 1,
 * gelu changes over a distance d from a point by at most d (|g'| + d) there. */
static tki_enclosure of_gelu(const tki_exp_pieces *pieces, const tki_enclosure *sum)
{
    tki_enclosure made = *sum;
    if (sum->admits & TKI_ADMIT_MINUS_INF) {
        made.admits |= TKI_ADMIT_NAN | TKI_ADMIT_ZERO;
        made.admits &= (uint16_t)~TKI_ADMIT_MINUS_INF;
    }
    if (!(sum->admits & TKI_ADMIT_INTERVAL))
        return made;
    const double round_up = 1 + 0x1p-48;
    const double middle = 0.5 * sum->lo + 0.5 * sum->hi;
    const double r = fmax(sum->hi - middle, middle - sum->lo) * round_up;
    const double e = sum->bound;
    const tki_gelu_entry value = tki_gelu_in_double(pieces, TKI_GELU_VALUE, middle);
    const tki_gelu_entry slope = tki_gelu_in_double(pieces, TKI_GELU_DERIVATIVE, middle);
    const double steep = fmax(fabs(slope.lo), fabs(slope.hi));
    const double spread = r * fmin(steep + r, TKI_GELU_STEEPEST) * round_up;
    made.lo = r > 0 ? tki_down(value.lo - spread) : value.lo;
    made.hi = r > 0 ? tki_up(value.hi + spread) : value.hi;
    made.bound = (e * fmin(steep + r + e, TKI_GELU_STEEPEST) +
                  tki_gelu_bound_near(pieces, middle, (r + e) * round_up)) *
                 round_up;
    return made;
}

/* What may be where s or pre is infinite or NaN, and where s may overflow on the way. */
static unsigned admit_derivative(const tki_product_element *e, double pre, double derivative,
                                 const tki_enclosure *sum, int *clause)
{
    const double s = tki_sum_is_nan(e->flags)           ? NAN
                     : e->flags & TKI_SUM_HAS_PLUS_INF  ? INFINITY
                     : e->flags & TKI_SUM_HAS_MINUS_INF ? -INFINITY
                                                        : 0;
    int special = TKI_GELU_ERR;
    unsigned admits = isfinite(s) && isfinite(pre) ? TKI_ADMIT_INTERVAL
                                                   : tki_gelu_bwd_special(s, pre, derivative, &special);
    *clause = special == TKI_GELU_NAN ? TKI_SUM_NAN : special == TKI_GELU_INF ? TKI_SUM_INF : sum->clause;
    if (special == TKI_GELU_NAN || sum->clause != TKI_SUM_OVERFLOW)
        return admits;
    *clause = TKI_SUM_OVERFLOW;
    return admits | TKI_ADMIT_NAN | (isfinite(s) ? TKI_ADMIT_PLUS_INF | TKI_ADMIT_MINUS_INF : 0u);
}

static tki_enclosure of_derivative(const tki_exp_pieces *pieces, const tki_product_element *e, double pre,
                                   tk_dtype result)
{
    const tki_enclosure sum = of_sum(e);
    const tki_gelu_entry slope = isfinite(pre) ? tki_gelu_in_double(pieces, TKI_GELU_DERIVATIVE, pre)
                                               : tki_gelu_limit(pre);
    int clause;
    const unsigned admits = admit_derivative(e, pre, slope.lo, &sum, &clause);
    const double corners[] = {sum.lo * slope.lo, sum.lo * slope.hi, sum.hi * slope.lo, sum.hi * slope.hi};
    double lo = corners[0], hi = corners[0];
    for (int i = 1; i < 4; i++) {
        lo = fmin(lo, corners[i]);
        hi = fmax(hi, corners[i]);
    }
    const double most = fmax(fabs(sum.lo), fabs(sum.hi)), steep = fmax(fabs(slope.lo), fabs(slope.hi));
    /* In fp32 the rounding of the product is the last one, and needs no allowance. */
    const double underflow = result == TK_F32 ? 0 : TKI_GELU_BWD_UNDERFLOW;
    return (tki_enclosure){.lo = tki_down(lo),
                           .hi = tki_up(hi),
                           .bound = (steep * sum.bound + slope.bound * (most + sum.bound) + underflow) *
                                    (1 + 0x1p-48),
                           .admits = (uint16_t)admits,
                           .clause = (uint8_t)clause};
}

static tk_status enclose_layer(const layer *l, const tki_box *box, tki_enclosure *out)
{
    const tki_exp_pieces *pieces = NULL;
    tki_product_box *sums = NULL;
    tk_status status = l->ending == AS_IT_IS ? TK_OK : tki_exp_pieces_open(&pieces);
    if (status == TK_OK)
        status = tki_product_box_make(&l->product, box, &sums);
    if (status != TK_OK)
        return status;
    for (int64_t row = box->row_begin; row < box->row_end; row++)
        for (int64_t col = box->col_begin; col < box->col_end; col++, out++) {
            const extras more = extras_at(l, row, col);
            const tki_product_element e = with_extras(
                tki_product_at(sums, row - box->row_begin, col - box->col_begin), &more);
            *out = of_sum(&e);
            if (l->ending == GELU)
                *out = of_gelu(pieces, out);
            if (l->ending == TIMES_DERIVATIVE)
                *out = of_derivative(pieces, &e, number_at(l->result, l->pre, row * l->cols + col), l->result);
        }
    tki_product_box_free(sums);
    return TK_OK;
}

/* A box may have rows of several groups. */
static tk_status enclose(const tki_oracle_job *job, const tki_box *box, tki_enclosure *out)
{
    tk_status status = TK_OK;
    for (int64_t row = box->row_begin, rows; row < box->row_end && status == TK_OK; row += rows) {
        int64_t own = row, left;
        const layer l = layer_at(job, &own, &left);
        rows = left < box->row_end - row ? left : box->row_end - row;
        status = enclose_layer(&l, &(tki_box){own, own + rows, box->col_begin, box->col_end}, out);
        out += rows * (box->col_end - box->col_begin);
    }
    return status;
}

/* -- By MPFR --------------------------------------------------------------------------------------------------- */

/* gelu or its derivative at `x`, which is finite, in s->t. */
static void evaluate_at(tki_gelu_scratch *s, tki_gelu_function f, mpfr_srcptr x)
{
    const bool negative = mpfr_signbit(x) != 0;
    mpfr_abs(s->x.lo, x, MPFR_RNDD);
    mpfr_abs(s->x.hi, x, MPFR_RNDU);
    tki_gelu_evaluate(s, f);
    tki_gelu_set_value(s, f, negative);
}

static void refine_ending(const layer *l, int64_t row, int64_t col, int precision, mpfr_srcptr sum, mpfr_ptr lo,
                          mpfr_ptr hi)
{
    const double pre = l->ending == TIMES_DERIVATIVE ? number_at(l->result, l->pre, row * l->cols + col) : 0;
    tki_gelu_scratch s;
    tki_gelu_scratch_init(&s, precision);
    if (l->ending == GELU) {
        evaluate_at(&s, TKI_GELU_VALUE, sum);
    } else {
        /* Judged by an interval at +inf, too, where the derivative is 1. */
        if (isfinite(pre)) {
            mpfr_t at;
            mpfr_init2(at, 53);
            mpfr_set_d(at, pre, MPFR_RNDN);
            evaluate_at(&s, TKI_GELU_DERIVATIVE, at);
            mpfr_clear(at);
        } else {
            tki_interval_set_d(&s.t, 1);
        }
        mpfr_set(s.x.lo, sum, MPFR_RNDD);
        mpfr_set(s.x.hi, sum, MPFR_RNDU);
        tki_interval_mul(&s.t, &s.t, &s.x);
    }
    tki_interval_get(&s.t, precision, lo, hi);
    tki_gelu_scratch_clear(&s);
}

static tk_status refine(const tki_oracle_job *job, int64_t row, int64_t col, int precision, mpfr_ptr lo, mpfr_ptr hi)
{
    int64_t left;
    const layer l = layer_at(job, &row, &left);
    mpfr_t sum;
    mpfr_init2(sum, 64); /* tki_product_exact() gives it as much as it needs, also for the further terms */
    tki_product_exact(&l.product, row, col, sum);
    const extras more = extras_at(&l, row, col);
    for (int i = 0; i < 2; i++)
        mpfr_add_d(sum, sum, more.term[i], MPFR_RNDN);
    if (l.ending == AS_IT_IS) {
        mpfr_set_prec(lo, mpfr_get_prec(sum));
        mpfr_set_prec(hi, mpfr_get_prec(sum));
        mpfr_set(lo, sum, MPFR_RNDD);
        mpfr_set(hi, sum, MPFR_RNDU);
    } else {
        refine_ending(&l, row, col, precision, sum, lo, hi);
    }
    mpfr_clear(sum);
    return TK_OK;
}

/* -- The oracles ----------------------------------------------------------------------------------------------- */

#define ORACLE(op)                         \
    const tki_oracle tki_##op##_oracle = { \
        .open = tki_product_open, .box_size = tki_product_box_size, .enclose = enclose, .refine = refine}

ORACLE(gemm);
ORACLE(gemm_grad_a);
ORACLE(gemm_grad_b);
ORACLE(linear_fwd);
ORACLE(linear_grad_x);
ORACLE(linear_grad_w);
ORACLE(grouped_gemm);
ORACLE(grouped_gemm_grad_a);
ORACLE(grouped_gemm_grad_b);
