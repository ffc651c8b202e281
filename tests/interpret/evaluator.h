/* The value of one element of a definition's output at 300 bits, node by node as the definition says: exactly but for these bits; or, with random
 * numbers, as an honest kernel in fp32 might, in one of several ways. Nothing here is shared with the interpreter. */
#ifndef TKI_TESTS_EVALUATOR_H
#define TKI_TESTS_EVALUATOR_H

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <mpfr.h>

#include "core/random.h"
#include "define/definition.h"

enum { EVALUATOR_BITS = 300, EVALUATOR_TERMS = 4096 };

typedef struct evaluator {
    const tki_definition *d;
    const tk_case *c;
    void *const *buffers;
    const int64_t *constants;
    tki_random *random; /* NULL: exactly */
    int way;            /* 0: plain and in order; 1: fused, backward; 2: by pairs; 3: anything */
} evaluator;

static void value_of(evaluator *ev, int node, int64_t index[], mpfr_ptr y);

static inline double signed_unit(evaluator *ev)
{
    return tki_random_below(ev->random, 3) ? (tki_random_below(ev->random, 2) ? 1 : -1)
                                           : tki_random_unit(ev->random) * 2 - 1;
}

/* To fp32; k - 1 units of what the budget has are spent before. */
static inline void rounded(evaluator *ev, mpfr_ptr y, double k)
{
    if (!ev->random)
        return;
    if (k > 1) {
        mpfr_t more;
        mpfr_init2(more, EVALUATOR_BITS);
        mpfr_mul_d(more, y, signed_unit(ev) * (k - 1) * 0x1p-24 * (1 - 0x1p-20), MPFR_RNDN);
        mpfr_add(y, y, more, MPFR_RNDN);
        mpfr_clear(more);
    }
    mpfr_set_d(y, (double)mpfr_get_flt(y, MPFR_RNDN), MPFR_RNDN);
}

/* -- Integers --------------------------------------------------------------------------------------------------------- */

static inline int64_t integer_of(evaluator *ev, int which, const int64_t index[])
{
    const tki_def_int *e = &ev->d->ints[which];
    if (e->constant)
        return ev->constants[which];
    if (e->kind == TKI_INT_INDEX)
        return index[e->which];
    if (e->kind == TKI_INT_ELEMENT) {
        const tki_def_tensor *t = &ev->d->tensors[e->tensor];
        int64_t flat = 0;
        for (int axis = 0; axis < t->rank; axis++)
            flat = flat * ev->constants[t->extent[axis]] + integer_of(ev, e->subscripts[axis].value, index);
        return ((const int32_t *)ev->buffers[t->param])[flat];
    }
    const int64_t a = integer_of(ev, e->a, index), b = integer_of(ev, e->b, index);
    switch (e->kind) {
    case TKI_INT_ADD: return a + b;
    case TKI_INT_SUBTRACT: return a - b;
    case TKI_INT_MULTIPLY: return a * b;
    case TKI_INT_DIVIDE: return (int64_t)floor((double)a / (double)b);
    case TKI_INT_MODULO: return a - (int64_t)floor((double)a / (double)b) * b;
    case TKI_INT_MIN: return a < b ? a : b;
    default: return a > b ? a : b;
    }
}

static inline bool holds(evaluator *ev, const tki_def_node *n, const int64_t index[])
{
    for (int i = 0; i < n->test_count; i++) {
        const int64_t a = integer_of(ev, n->tests[i].a, index), b = integer_of(ev, n->tests[i].b, index);
        const bool all[] = {a == b, a != b, a<b, a <= b, a> b, a >= b};
        if (!all[n->tests[i].relation])
            return false;
    }
    return true;
}

static inline int64_t extent_of(evaluator *ev, int index)
{
    return ev->constants[ev->d->indices[index].extent];
}

/* -- Numbers ---------------------------------------------------------------------------------------------------------- */

static inline bool is_primitive(evaluator *ev, int node, tki_primitive p)
{
    const tki_def_node *n = &ev->d->nodes[node];
    return n->kind == TKI_NODE_PRIMITIVE && n->primitive == p;
}

static inline void normal_cdf(mpfr_ptr y, mpfr_srcptr x)
{
    mpfr_sqrt_ui(y, 2, MPFR_RNDN);
    mpfr_div(y, x, y, MPFR_RNDN);
    mpfr_neg(y, y, MPFR_RNDN);
    mpfr_erfc(y, y, MPFR_RNDN);
    mpfr_div_ui(y, y, 2, MPFR_RNDN);
}

static inline void sigmoid(mpfr_ptr y, mpfr_srcptr x)
{
    mpfr_neg(y, x, MPFR_RNDN);
    mpfr_exp(y, y, MPFR_RNDN);
    mpfr_add_ui(y, y, 1, MPFR_RNDN);
    mpfr_ui_div(y, 1, y, MPFR_RNDN);
}

static inline void softplus(mpfr_ptr y, mpfr_srcptr x)
{
    mpfr_abs(y, x, MPFR_RNDN);
    mpfr_neg(y, y, MPFR_RNDN);
    mpfr_exp(y, y, MPFR_RNDN);
    mpfr_log1p(y, y, MPFR_RNDN);
    if (mpfr_sgn(x) > 0)
        mpfr_add(y, y, x, MPFR_RNDN);
}

static inline void gelu_tanh(evaluator *ev, mpfr_ptr y, mpfr_srcptr x)
{
    mpfr_t z, c;
    mpfr_inits2(EVALUATOR_BITS, z, c, (mpfr_ptr)0);
    mpfr_sqr(z, x, MPFR_RNDN);
    mpfr_mul_ui(z, z, 44715, MPFR_RNDN);
    mpfr_div_ui(z, z, 1000000, MPFR_RNDN);
    mpfr_add_ui(z, z, 1, MPFR_RNDN);
    mpfr_mul(z, z, x, MPFR_RNDN);
    mpfr_const_pi(c, MPFR_RNDN);
    mpfr_ui_div(c, 8, c, MPFR_RNDN);
    mpfr_sqrt(c, c, MPFR_RNDN);
    mpfr_mul(z, z, c, MPFR_RNDN);
    if (ev->random)
        mpfr_mul_d(z, z, 1 + signed_unit(ev) * 4 * 0x1p-24 * (1 - 0x1p-20), MPFR_RNDN);
    sigmoid(y, z);
    mpfr_mul(y, y, x, MPFR_RNDN);
    mpfr_clears(z, c, (mpfr_ptr)0);
}

/* The argument as a kernel's exp may see it. */
static inline void perturb(evaluator *ev, mpfr_ptr x)
{
    if (ev->random)
        mpfr_mul_d(x, x, 1 + signed_unit(ev) * 2.25 * 0x1p-24 * (1 - 0x1p-20), MPFR_RNDN);
}

static inline void primitive_of(evaluator *ev, const tki_def_node *n, int64_t index[], mpfr_ptr y)
{
    mpfr_t a, b, c;
    mpfr_inits2(EVALUATOR_BITS, a, b, c, (mpfr_ptr)0);
    mpfr_ptr all[] = {a, b, c};
    for (int i = 0; i < 3; i++)
        if (n->operand[i] != TKI_NONE)
            value_of(ev, n->operand[i], index, all[i]);
    double k = 8;
    const bool infinite = mpfr_inf_p(a);
    const bool of_exp = n->primitive == TKI_EXP || n->primitive == TKI_EXP2 || n->primitive == TKI_EXPM1 ||
                        n->primitive == TKI_TANH || n->primitive == TKI_ERF || n->primitive == TKI_SIGMOID ||
                        (n->primitive >= TKI_SILU && n->primitive != TKI_GELU_TANH);
    if (of_exp && n->primitive != TKI_SILU && n->primitive != TKI_MISH && n->primitive != TKI_GELU)
        perturb(ev, a);
    switch (n->primitive) {
    case TKI_ADD:
    case TKI_SUBTRACT:
        /* A product that is added may be fused with the addition. */
        if (n->primitive == TKI_SUBTRACT)
            mpfr_neg(b, b, MPFR_RNDN);
        if (ev->random && ev->way & 1 && is_primitive(ev, n->operand[0], TKI_MULTIPLY)) {
            const tki_def_node *product = &ev->d->nodes[n->operand[0]];
            value_of(ev, product->operand[0], index, a);
            value_of(ev, product->operand[1], index, c);
            mpfr_mul(a, a, product->operand[0] == product->operand[1] ? a : c, MPFR_RNDN);
        }
        mpfr_add(y, a, b, MPFR_RNDN), k = 1;
        break;
    case TKI_MULTIPLY: mpfr_mul(y, a, n->operand[0] == n->operand[1] ? a : b, MPFR_RNDN), k = 1; break;
    case TKI_DIVIDE: mpfr_div(y, a, b, MPFR_RNDN), k = 3; break;
    case TKI_NEGATE: mpfr_neg(y, a, MPFR_RNDN), k = 1; break;
    case TKI_FMA:
        mpfr_mul(a, a, b, MPFR_RNDN);
        if (ev->way & 1)
            rounded(ev, a, 1);
        mpfr_add(y, a, c, MPFR_RNDN), k = 1;
        break;
    case TKI_SQUARE: mpfr_sqr(y, a, MPFR_RNDN), k = 1; break;
    case TKI_SQRT: mpfr_sqrt(y, a, MPFR_RNDN), k = 1; break;
    case TKI_RSQRT: mpfr_rec_sqrt(y, a, MPFR_RNDN), k = 4; break;
    case TKI_EXP: mpfr_exp(y, a, MPFR_RNDN); break;
    case TKI_EXP2: mpfr_exp2(y, a, MPFR_RNDN); break;
    case TKI_LOG: mpfr_log(y, a, MPFR_RNDN), k = 4; break;
    case TKI_LOG1P: mpfr_log1p(y, a, MPFR_RNDN); break;
    case TKI_EXPM1: mpfr_expm1(y, a, MPFR_RNDN); break;
    case TKI_TANH: mpfr_tanh(y, a, MPFR_RNDN); break;
    case TKI_ERF: mpfr_erf(y, a, MPFR_RNDN); break;
    case TKI_SIGMOID: sigmoid(y, a); break;
    case TKI_ABS: mpfr_abs(y, a, MPFR_RNDN), k = 1; break;
    case TKI_MIN: mpfr_min(y, a, b, MPFR_RNDN), k = 1; break;
    case TKI_MAX: mpfr_max(y, a, b, MPFR_RNDN), k = 1; break;
    case TKI_POW:
        mpfr_pow(y, a, b, MPFR_RNDN);
        if (ev->random && mpfr_integer_p(b)) { /* a product */
            mpfr_set(y, a, MPFR_RNDN);
            for (long i = 1; i < mpfr_get_si(b, MPFR_RNDN); i++) {
                mpfr_mul(y, y, a, MPFR_RNDN);
                rounded(ev, y, 1);
            }
            k = 1;
        }
        break;
    case TKI_SILU:
        mpfr_set(b, a, MPFR_RNDN);
        perturb(ev, b);
        sigmoid(y, b);
        mpfr_mul(y, y, b, MPFR_RNDN);
        break;
    case TKI_SOFTPLUS: softplus(y, a); break;
    case TKI_MISH:
        perturb(ev, a);
        softplus(y, a);
        mpfr_tanh(y, y, MPFR_RNDN);
        mpfr_mul(y, y, a, MPFR_RNDN);
        break;
    case TKI_GELU:
        perturb(ev, a);
        normal_cdf(y, a);
        mpfr_mul(y, y, a, MPFR_RNDN);
        break;
    case TKI_GELU_TANH: gelu_tanh(ev, y, a); break;
    case TKI_NORMAL_CDF: normal_cdf(y, a); break;
    case TKI_ONE_MINUS_SIGMOID:
        mpfr_neg(a, a, MPFR_RNDN);
        sigmoid(y, a);
        break;
    default: /* log_sigmoid */
        mpfr_neg(a, a, MPFR_RNDN);
        softplus(y, a);
        mpfr_neg(y, y, MPFR_RNDN);
    }
    if ((n->primitive == TKI_MIN || n->primitive == TKI_MAX) && (mpfr_nan_p(a) || mpfr_nan_p(b)))
        mpfr_set_nan(y);              /* which MPFR's do not propagate */
    rounded(ev, y, infinite ? 1 : k); /* at infinity there is nothing to lose */
    mpfr_clears(a, b, c, (mpfr_ptr)0);
}

static inline void literal_of(evaluator *ev, const tki_def_node *n, mpfr_ptr y)
{
    mpfr_set_str(y, n->text, 0, MPFR_RNDN);
    rounded(ev, y, 1);
}

static inline bool truth_of(evaluator *ev, int node, int64_t index[])
{
    const tki_def_node *n = &ev->d->nodes[node];
    if (n->kind == TKI_NODE_AND)
        return truth_of(ev, n->operand[0], index) && truth_of(ev, n->operand[1], index);
    mpfr_t a, b;
    mpfr_inits2(EVALUATOR_BITS, a, b, (mpfr_ptr)0);
    value_of(ev, n->operand[0], index, a);
    value_of(ev, n->operand[1], index, b);
    const int order = n->operand[0] == n->operand[1] ? 0 : mpfr_cmp(a, b);
    mpfr_clears(a, b, (mpfr_ptr)0);
    const bool all[] = {order == 0, order != 0, order<0, order <= 0, order> 0, order >= 0};
    return all[n->relation];
}

/* -- Reductions ------------------------------------------------------------------------------------------------------- */

/* The terms of a row; of products their factors, if these are not rounded by themselves. */
typedef struct row {
    int count;
    mpfr_t *a, *b;
    bool products;
    int here; /* the term at the element's own place; -1 if it is absent */
} row;

static inline bool next_indices(evaluator *ev, const tki_def_node *n, int64_t index[])
{
    for (int k = n->bound_count - 1; k >= 0; k--) {
        if (++index[n->bound[k]] < extent_of(ev, n->bound[k]))
            return true;
        index[n->bound[k]] = 0;
    }
    return false;
}

static inline row row_of_terms(evaluator *ev, const tki_def_node *n, int64_t index[], int64_t upto)
{
    row r = {.a = malloc(EVALUATOR_TERMS * sizeof(mpfr_t)), .b = malloc(EVALUATOR_TERMS * sizeof(mpfr_t))};
    bool more = true;
    int64_t at[TK_MAX_RANK] = {0};
    for (int k = 0; k < n->bound_count && n->at; k++)
        at[k] = index[n->at[k]];
    r.here = -1;
    r.products = ev->random && (n->over == TKI_SUM || n->over == TKI_MEAN) &&
                 is_primitive(ev, n->operand[0], TKI_MULTIPLY);
    for (int k = 0; k < n->bound_count; k++) {
        index[n->bound[k]] = 0;
        more &= extent_of(ev, n->bound[k]) > 0;
    }
    for (; more; more = next_indices(ev, n, index)) {
        if (!holds(ev, n, index) || (upto >= 0 && index[n->bound[0]] > upto))
            continue;
        if (r.count == EVALUATOR_TERMS)
            abort();
        mpfr_inits2(EVALUATOR_BITS, r.a[r.count], r.b[r.count], (mpfr_ptr)0);
        bool here = n->at != NULL;
        for (int k = 0; k < n->bound_count && here; k++)
            here = index[n->bound[k]] == at[k];
        r.here = here ? r.count : r.here;
        if (r.products) {
            const tki_def_node *product = &ev->d->nodes[n->operand[0]];
            value_of(ev, product->operand[0], index, r.a[r.count]);
            value_of(ev, product->operand[1], index, r.b[r.count]);
            if (product->operand[0] == product->operand[1])
                mpfr_set(r.b[r.count], r.a[r.count], MPFR_RNDN);
        } else {
            value_of(ev, n->operand[0], index, r.a[r.count]);
            mpfr_set_ui(r.b[r.count], 1, MPFR_RNDN);
        }
        r.count++;
    }
    return r;
}

static inline void free_row(row *r)
{
    for (int i = 0; i < r->count; i++)
        mpfr_clears(r->a[i], r->b[i], (mpfr_ptr)0);
    free(r->a);
    free(r->b);
}

/* a[i] b[i], rounded; b[i] is 1 then. */
static inline void multiply_out(evaluator *ev, row *r)
{
    for (int i = 0; i < r->count && r->products; i++) {
        mpfr_mul(r->a[i], r->a[i], r->b[i], MPFR_RNDN);
        rounded(ev, r->a[i], 1);
    }
    r->products = false;
}

static inline void sum_of(evaluator *ev, row *r, mpfr_ptr y)
{
    mpfr_t t;
    mpfr_init2(t, 2 * EVALUATOR_BITS);
    mpfr_set_zero(y, 1);
    if (!ev->random || ev->way < 2) { /* one after the other, fused on the second way */
        if (ev->way != 1)
            multiply_out(ev, r);
        for (int i = 0; i < r->count; i++) {
            const int at = ev->way == 1 ? r->count - 1 - i : i;
            if (r->products)
                mpfr_mul(t, r->a[at], r->b[at], MPFR_RNDN);
            else
                mpfr_set(t, r->a[at], MPFR_RNDN);
            mpfr_add(y, y, t, MPFR_RNDN);
            rounded(ev, y, 1);
        }
        mpfr_clear(t);
        return;
    }
    multiply_out(ev, r);
    int left = r->count;
    while (left > 1) { /* neighbours, or any two */
        int pairs = ev->way == 2 ? left / 2 : 1;
        for (int i = 0; i < pairs; i++) {
            int one = ev->way == 2 ? i : (int)tki_random_below(ev->random, (uint64_t)left);
            int other = ev->way == 2 ? left - 1 - i : left - 1;
            if (one == other)
                one = 0;
            mpfr_add(r->a[one], r->a[one], r->a[other], MPFR_RNDN);
            rounded(ev, r->a[one], 1);
        }
        left -= pairs;
    }
    if (left == 1)
        mpfr_set(y, r->a[0], MPFR_RNDN);
    mpfr_clear(t);
}

/* Sum over n, by a quotient or a product with the literal 1/n. */
static inline void over_number(evaluator *ev, mpfr_ptr y, double n)
{
    if (ev->random && ev->way & 1)
        mpfr_mul_d(y, y, (double)(float)(1 / n), MPFR_RNDN);
    else
        mpfr_div_d(y, y, n, MPFR_RNDN);
    rounded(ev, y, 1);
}

/* Two passes, or Welford's way. */
static inline void moments_of(evaluator *ev, const tki_def_node *n, int64_t index[], mpfr_ptr mean, mpfr_ptr squares,
                              int *count, mpfr_ptr own)
{
    row r = row_of_terms(ev, n, index, -1);
    mpfr_t t, u;
    mpfr_inits2(EVALUATOR_BITS, t, u, (mpfr_ptr)0);
    *count = r.count;
    if (r.here >= 0)
        mpfr_set(own, r.a[r.here], MPFR_RNDN);
    if (ev->random && ev->way == 1) {
        mpfr_set_zero(mean, 1);
        mpfr_set_zero(squares, 1);
        for (int i = 0; i < r.count; i++) {
            mpfr_sub(t, r.a[i], mean, MPFR_RNDN);
            rounded(ev, t, 1);
            mpfr_div_d(u, t, i + 1, MPFR_RNDN);
            rounded(ev, u, 1);
            mpfr_add(mean, mean, u, MPFR_RNDN);
            rounded(ev, mean, 1);
            mpfr_sub(u, r.a[i], mean, MPFR_RNDN);
            rounded(ev, u, 1);
            mpfr_mul(u, u, t, MPFR_RNDN);
            mpfr_add(squares, squares, u, MPFR_RNDN); /* fused */
            rounded(ev, squares, 1);
        }
    } else {
        row copy = row_of_terms(ev, n, index, -1);
        for (int i = 0; i < r.count; i++) /* the same terms: what is drawn is drawn once */
            mpfr_set(copy.a[i], r.a[i], MPFR_RNDN);
        sum_of(ev, &copy, mean);
        over_number(ev, mean, r.count);
        for (int i = 0; i < r.count; i++) {
            mpfr_sub(r.a[i], r.a[i], mean, MPFR_RNDN);
            rounded(ev, r.a[i], 1);
            mpfr_sqr(r.a[i], r.a[i], MPFR_RNDN);
            rounded(ev, r.a[i], 1);
        }
        sum_of(ev, &r, squares);
        free_row(&copy);
    }
    mpfr_clears(t, u, (mpfr_ptr)0);
    free_row(&r);
}

/* The largest, the sum of exp(x - largest), and the element's own term, of softmax its exponential, which is the one that was added; a careful kernel rounds x - largest. */
static inline bool exponentials_of(evaluator *ev, const tki_def_node *n, int64_t index[], mpfr_ptr top, mpfr_ptr sum,
                                   mpfr_ptr own)
{
    row r = row_of_terms(ev, n, index, -1);
    mpfr_set_inf(top, -1);
    for (int i = 0; i < r.count; i++)
        mpfr_max(top, top, r.a[i], MPFR_RNDN);
    const bool present = r.here >= 0;
    if (present)
        mpfr_set(own, r.a[r.here], MPFR_RNDN);
    for (int i = 0; i < r.count; i++) {
        mpfr_sub(r.a[i], r.a[i], top, MPFR_RNDN);
        rounded(ev, r.a[i], 1);
        mpfr_exp(r.a[i], r.a[i], MPFR_RNDN);
        rounded(ev, r.a[i], 8);
    }
    if (present && n->over == TKI_SOFTMAX)
        mpfr_set(own, r.a[r.here], MPFR_RNDN);
    sum_of(ev, &r, sum);
    free_row(&r);
    return present;
}

static inline void over_of(evaluator *ev, const tki_def_node *n, int64_t index[], mpfr_ptr y)
{
    mpfr_t a, b, c;
    int count = 0;
    mpfr_inits2(EVALUATOR_BITS, a, b, c, (mpfr_ptr)0);
    const bool keeps = n->at != NULL, cumulative = n->over >= TKI_CUMSUM && n->over <= TKI_CUMMIN;
    int64_t at[TK_MAX_RANK] = {0};
    for (int k = 0; k < n->bound_count && keeps; k++)
        at[k] = index[n->at[k]];
    switch (n->over) {
    case TKI_SOFTMAX:
    case TKI_LOG_SOFTMAX:
        if (!exponentials_of(ev, n, index, a, b, y)) {
            if (n->over == TKI_SOFTMAX)
                mpfr_set_zero(y, 1);
            else
                mpfr_set_inf(y, -1);
            break;
        }
        if (n->over == TKI_SOFTMAX) {
            mpfr_div(y, y, b, MPFR_RNDN);
            rounded(ev, y, 3);
        } else {
            mpfr_sub(y, y, a, MPFR_RNDN);
            rounded(ev, y, 1);
            mpfr_log(b, b, MPFR_RNDN);
            rounded(ev, b, 4);
            mpfr_sub(y, y, b, MPFR_RNDN);
            rounded(ev, y, 1);
        }
        break;
    case TKI_LOG_SUM_EXP:
        (void)exponentials_of(ev, n, index, a, b, y);
        mpfr_log(b, b, MPFR_RNDN);
        rounded(ev, b, 4);
        mpfr_add(y, a, b, MPFR_RNDN);
        rounded(ev, y, 1);
        break;
    case TKI_STANDARDIZE:
    case TKI_VAR:
        moments_of(ev, n, index, a, b, &count, y);
        mpfr_set_ui(c, 0, MPFR_RNDN);
        if (n->operand[1] != TKI_NONE)
            value_of(ev, n->operand[1], index, c);
        if (n->over == TKI_VAR) {
            over_number(ev, b, count - mpfr_get_d(c, MPFR_RNDN));
            mpfr_set(y, b, MPFR_RNDN);
            break;
        }
        over_number(ev, b, count);
        mpfr_add(b, b, c, MPFR_RNDN);
        rounded(ev, b, 1);
        mpfr_rec_sqrt(b, b, MPFR_RNDN);
        rounded(ev, b, 4);
        if (ev->random && ev->way == 2) { /* x r + (-m r) */
            mpfr_mul(a, a, b, MPFR_RNDN);
            rounded(ev, a, 1);
            mpfr_mul(y, y, b, MPFR_RNDN);
            rounded(ev, y, 1);
            mpfr_sub(y, y, a, MPFR_RNDN);
        } else {
            mpfr_sub(y, y, a, MPFR_RNDN);
            rounded(ev, y, 1);
            mpfr_mul(y, y, b, MPFR_RNDN);
        }
        rounded(ev, y, 1);
        break;
    case TKI_ROTATE_HALF: {
        const int64_t half = extent_of(ev, n->bound[0]) / 2;
        index[n->bound[0]] = at[0] < half ? at[0] + half : at[0] - half;
        value_of(ev, n->operand[0], index, y);
        if (at[0] < half)
            mpfr_neg(y, y, MPFR_RNDN);
        break;
    }
    default: {
        row r = row_of_terms(ev, n, index, cumulative ? at[0] : -1);
        if (n->over == TKI_SUM || n->over == TKI_CUMSUM || n->over == TKI_MEAN) {
            count = r.count;
            sum_of(ev, &r, y);
            if (n->over == TKI_MEAN)
                over_number(ev, y, count);
        } else {
            const bool product = n->over == TKI_PROD || n->over == TKI_CUMPROD;
            const bool most = n->over == TKI_MAXIMUM || n->over == TKI_CUMMAX;
            if (product)
                mpfr_set_ui(y, 1, MPFR_RNDN);
            else
                mpfr_set_inf(y, most ? -1 : 1);
            for (int i = 0; i < r.count; i++) {
                mpfr_srcptr term = r.a[ev->way == 1 ? r.count - 1 - i : i];
                if (product)
                    mpfr_mul(y, y, term, MPFR_RNDN);
                else if (most)
                    mpfr_max(y, y, term, MPFR_RNDN);
                else
                    mpfr_min(y, y, term, MPFR_RNDN);
                rounded(ev, y, 1);
            }
        }
        free_row(&r);
    }
    }
    mpfr_clears(a, b, c, (mpfr_ptr)0);
}

/* -- Nodes ------------------------------------------------------------------------------------------------------------ */

static inline void read_of(evaluator *ev, const tki_def_node *n, int64_t index[], mpfr_ptr y)
{
    const tki_def_tensor *t = &ev->d->tensors[n->tensor];
    int64_t inner[TKI_MOST_INDICES], flat = 0;
    for (int axis = 0; axis < t->rank; axis++) {
        const int64_t extent = ev->constants[t->extent[axis]], at = integer_of(ev, n->subscripts[axis].value, index);
        if (at < 0 || at >= extent) {
            value_of(ev, n->operand[0], index, y);
            return;
        }
        flat = flat * extent + at;
        if (t->role != TKI_TENSOR_INPUT)
            inner[t->own[axis]] = at;
    }
    if (t->role != TKI_TENSOR_INPUT)
        value_of(ev, t->value, inner, y);
    else if (t->integer)
        mpfr_set_si(y, ((const int32_t *)ev->buffers[t->param])[flat], MPFR_RNDN);
    else
        mpfr_set_d(y, (double)((const float *)ev->buffers[t->param])[flat], MPFR_RNDN);
}

static void value_of(evaluator *ev, int node, int64_t index[], mpfr_ptr y)
{
    const tki_def_node *n = &ev->d->nodes[node];
    int64_t own[TKI_MOST_INDICES];
    switch (n->kind) {
    case TKI_NODE_LITERAL: literal_of(ev, n, y); break;
    case TKI_NODE_ATTRIBUTE:
        mpfr_set_d(y, ev->c->attributes[n->which].real, MPFR_RNDN);
        rounded(ev, y, 1);
        break;
    case TKI_NODE_INTEGER:
        mpfr_set_si(y, integer_of(ev, n->integer, index), MPFR_RNDN);
        rounded(ev, y, 1);
        break;
    case TKI_NODE_READ: read_of(ev, n, index, y); break;
    case TKI_NODE_PRIMITIVE:
        if (n->constant && ev->random) { /* a host computes it in double */
            evaluator host = *ev;
            host.random = NULL;
            primitive_of(&host, n, index, y);
            rounded(ev, y, 1);
        } else {
            primitive_of(ev, n, index, y);
        }
        break;
    case TKI_NODE_CAST:
        value_of(ev, n->operand[0], index, y);
        if (mpfr_regular_p(y)) {
            const long bits = n->dtype == TK_F16 ? 11 : 8, least = n->dtype == TK_F16 ? -24 : -133;
            const long exponent = mpfr_get_exp(y) - bits;
            mpfr_t unit;
            mpfr_init2(unit, EVALUATOR_BITS);
            mpfr_set_ui_2exp(unit, 1, exponent < least ? least : exponent, MPFR_RNDN);
            mpfr_div(y, y, unit, MPFR_RNDN);
            mpfr_rint(y, y, MPFR_RNDN);
            mpfr_mul(y, y, unit, MPFR_RNDN);
            mpfr_clear(unit);
            if (fabs(mpfr_get_d(y, MPFR_RNDN)) > (n->dtype == TK_F16 ? 65504 : 0x1.fep127))
                mpfr_set_inf(y, mpfr_sgn(y));
        }
        break;
    case TKI_NODE_SELECT: value_of(ev, n->operand[truth_of(ev, n->operand[0], index) ? 1 : 2], index, y); break;
    case TKI_NODE_OVER:
        memcpy(own, index, sizeof own);
        over_of(ev, n, own, y);
        break;
    case TKI_NODE_PIECES:
        for (int i = 0; i < n->piece_count; i++) {
            const int64_t at = index[n->which] - ev->constants[n->pieces[i].start];
            if (at >= 0 && at < ev->constants[n->pieces[i].size])
                value_of(ev, n->pieces[i].read, index, y);
        }
        break;
    default: { /* a choice */
        bool all = true;
        for (int i = 0; i < n->condition.count; i++)
            all &= n->condition.terms[i].choices >> ev->c->attributes[n->condition.terms[i].attribute].integer & 1;
        value_of(ev, n->operand[all ? 0 : 1], index, y);
    }
    }
}

/* `y` has EVALUATOR_BITS. */
static inline void evaluate(evaluator *ev, int tensor, int64_t element, mpfr_ptr y)
{
    const tki_def_tensor *t = &ev->d->tensors[tensor];
    int64_t index[TKI_MOST_INDICES] = {0};
    for (int axis = t->rank - 1; axis >= 0; axis--) {
        index[t->own[axis]] = element % ev->constants[t->extent[axis]];
        element /= ev->constants[t->extent[axis]];
    }
    value_of(ev, t->value, index, y);
}

#endif
