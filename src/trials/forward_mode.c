/* CHOOSES. Forward mode: each primitive with its derivative, reductions term by term. */
#include "trials/forward_mode.h"

#include <stdlib.h>

#include "exact/round.h"

#define MOST_VALUES 0x1p24

static void eval(tki_forward *f, int node, int64_t index[], tki_dual *y);

/* -- Memory ---------------------------------------------------------------------------------------------------------- */

static tki_dual *create(const tki_forward *f)
{
    tki_dual *a = malloc(sizeof *a + (size_t)f->directions * sizeof *a->t);
    if (!a)
        return NULL;
    *a = (tki_dual){.next = NULL};
    mpfr_init2(a->v, f->precision);
    for (int k = 0; k < f->directions; k++)
        mpfr_init2(a->t[k], f->precision);
    return a;
}

static tki_dual *take(tki_forward *f)
{
    tki_dual *a = f->unused;
    if (a)
        f->unused = a->next;
    else if (!(a = create(f)))
        f->status = TK_NO_MEMORY;
    return a ? a : f->last_resort;
}

static void give(tki_forward *f, tki_dual *a)
{
    if (a == f->last_resort)
        return;
    a->next = f->unused;
    f->unused = a;
}

static void destroy(const tki_forward *f, tki_dual *a)
{
    if (!a)
        return;
    mpfr_clear(a->v);
    for (int k = 0; k < f->directions; k++)
        mpfr_clear(a->t[k]);
    free(a);
}

/* -- Arithmetic: the result may be an operand ------------------------------------------------------------------------ */

static void stay(const tki_forward *f, tki_dual *y)
{
    y->kink = false;
    for (int k = 0; k < f->directions; k++)
        mpfr_set_zero(y->t[k], 1);
}

static void set_number(const tki_forward *f, tki_dual *y, double value)
{
    mpfr_set_d(y->v, value, MPFR_RNDN);
    stay(f, y);
}

static void copy(const tki_forward *f, tki_dual *y, const tki_dual *a)
{
    if (y == a)
        return;
    mpfr_set(y->v, a->v, MPFR_RNDN);
    for (int k = 0; k < f->directions; k++)
        mpfr_set(y->t[k], a->t[k], MPFR_RNDN);
    y->kink = a->kink;
}

static bool move_alike(const tki_forward *f, const tki_dual *a, const tki_dual *b)
{
    for (int k = 0; k < f->directions; k++)
        if (!mpfr_equal_p(a->t[k], b->t[k]))
            return false;
    return true;
}

static void negate(const tki_forward *f, tki_dual *y)
{
    mpfr_neg(y->v, y->v, MPFR_RNDN);
    for (int k = 0; k < f->directions; k++)
        mpfr_neg(y->t[k], y->t[k], MPFR_RNDN);
}

static void add(const tki_forward *f, tki_dual *y, const tki_dual *a, const tki_dual *b)
{
    mpfr_add(y->v, a->v, b->v, MPFR_RNDN);
    for (int k = 0; k < f->directions; k++)
        mpfr_add(y->t[k], a->t[k], b->t[k], MPFR_RNDN);
    y->kink = a->kink || b->kink;
}

static void subtract(const tki_forward *f, tki_dual *y, const tki_dual *a, const tki_dual *b)
{
    mpfr_sub(y->v, a->v, b->v, MPFR_RNDN);
    for (int k = 0; k < f->directions; k++)
        mpfr_sub(y->t[k], a->t[k], b->t[k], MPFR_RNDN);
    y->kink = a->kink || b->kink;
}

/* What does not move times an infinity does not move. */
static void slope_times(mpfr_ptr y, mpfr_srcptr slope, mpfr_srcptr t)
{
    if (mpfr_zero_p(t))
        mpfr_set_zero(y, 1);
    else
        mpfr_mul(y, slope, t, MPFR_RNDN);
}

static void multiply(tki_forward *f, tki_dual *y, const tki_dual *a, const tki_dual *b)
{
    tki_dual *p = take(f);
    mpfr_mul(p->v, a->v, b->v, MPFR_RNDN);
    mpfr_t other;
    mpfr_init2(other, f->precision);
    for (int k = 0; k < f->directions; k++) {
        slope_times(p->t[k], b->v, a->t[k]);
        slope_times(other, a->v, b->t[k]);
        mpfr_add(p->t[k], p->t[k], other, MPFR_RNDN);
    }
    mpfr_clear(other);
    p->kink = a->kink || b->kink;
    copy(f, y, p);
    give(f, p);
}

/* q = a / b: q' = (a' - q b') / b */
static void divide(tki_forward *f, tki_dual *y, const tki_dual *a, const tki_dual *b)
{
    tki_dual *q = take(f);
    mpfr_div(q->v, a->v, b->v, MPFR_RNDN);
    for (int k = 0; k < f->directions; k++) {
        slope_times(q->t[k], q->v, b->t[k]);
        mpfr_sub(q->t[k], a->t[k], q->t[k], MPFR_RNDN);
        if (!mpfr_zero_p(q->t[k]))
            mpfr_div(q->t[k], q->t[k], b->v, MPFR_RNDN);
    }
    q->kink = a->kink || b->kink;
    copy(f, y, q);
    give(f, q);
}

static void divide_by(tki_forward *f, tki_dual *y, double number)
{
    tki_dual *n = take(f);
    set_number(f, n, number);
    divide(f, y, y, n);
    give(f, n);
}

/* The larger one, or the smaller one. What is not chosen may have kinks of its own. */
static void choose(const tki_forward *f, tki_dual *y, const tki_dual *a, const tki_dual *b, bool larger)
{
    const bool equal = mpfr_equal_p(a->v, b->v), nan = mpfr_nan_p(a->v) || mpfr_nan_p(b->v);
    const bool kink = equal && (a->kink || b->kink || !move_alike(f, a, b));
    copy(f, y, (larger ? mpfr_less_p(a->v, b->v) : mpfr_greater_p(a->v, b->v)) ? b : a);
    y->kink |= kink;
    if (nan)
        mpfr_set_nan(y->v);
}

/* -- Functions: the value and the slope ------------------------------------------------------------------------------ */

typedef void function(mpfr_ptr y, mpfr_ptr slope, mpfr_srcptr x);

static void of_sqrt(mpfr_ptr y, mpfr_ptr slope, mpfr_srcptr x)
{
    mpfr_sqrt(y, x, MPFR_RNDN);
    mpfr_mul_ui(slope, y, 2, MPFR_RNDN);
    mpfr_ui_div(slope, 1, slope, MPFR_RNDN);
}

static void of_rsqrt(mpfr_ptr y, mpfr_ptr slope, mpfr_srcptr x)
{
    mpfr_rec_sqrt(y, x, MPFR_RNDN);
    mpfr_div(slope, y, x, MPFR_RNDN);
    mpfr_div_si(slope, slope, -2, MPFR_RNDN);
}

static void of_exp(mpfr_ptr y, mpfr_ptr slope, mpfr_srcptr x)
{
    mpfr_exp(y, x, MPFR_RNDN);
    mpfr_set(slope, y, MPFR_RNDN);
}

static void of_exp2(mpfr_ptr y, mpfr_ptr slope, mpfr_srcptr x)
{
    mpfr_exp2(y, x, MPFR_RNDN);
    mpfr_const_log2(slope, MPFR_RNDN);
    mpfr_mul(slope, slope, y, MPFR_RNDN);
}

static void of_log(mpfr_ptr y, mpfr_ptr slope, mpfr_srcptr x)
{
    mpfr_log(y, x, MPFR_RNDN);
    mpfr_ui_div(slope, 1, x, MPFR_RNDN);
}

static void of_log1p(mpfr_ptr y, mpfr_ptr slope, mpfr_srcptr x)
{
    mpfr_log1p(y, x, MPFR_RNDN);
    mpfr_add_ui(slope, x, 1, MPFR_RNDN);
    mpfr_ui_div(slope, 1, slope, MPFR_RNDN);
}

static void of_expm1(mpfr_ptr y, mpfr_ptr slope, mpfr_srcptr x)
{
    mpfr_expm1(y, x, MPFR_RNDN);
    mpfr_exp(slope, x, MPFR_RNDN);
}

static void of_tanh(mpfr_ptr y, mpfr_ptr slope, mpfr_srcptr x)
{
    mpfr_tanh(y, x, MPFR_RNDN);
    mpfr_sech(slope, x, MPFR_RNDN);
    mpfr_sqr(slope, slope, MPFR_RNDN);
}

/* exp(-x^2) times sqrt(4 / pi), halved `halvings` times below the root */
static void bell(mpfr_ptr y, mpfr_srcptr x, int halvings)
{
    mpfr_t factor;
    mpfr_init2(factor, mpfr_get_prec(y));
    mpfr_const_pi(factor, MPFR_RNDN);
    mpfr_ui_div(factor, 4, factor, MPFR_RNDN);
    mpfr_div_2ui(factor, factor, (unsigned long)halvings, MPFR_RNDN);
    mpfr_sqrt(factor, factor, MPFR_RNDN);
    mpfr_sqr(y, x, MPFR_RNDN);
    mpfr_neg(y, y, MPFR_RNDN);
    mpfr_exp(y, y, MPFR_RNDN);
    mpfr_mul(y, y, factor, MPFR_RNDN);
    mpfr_clear(factor);
}

static void of_erf(mpfr_ptr y, mpfr_ptr slope, mpfr_srcptr x)
{
    mpfr_erf(y, x, MPFR_RNDN);
    bell(slope, x, 0);
}

/* erfc(-x / sqrt 2) / 2, which rises by exp(-x^2 / 2) / sqrt(2 pi) */
static void of_normal_cdf(mpfr_ptr y, mpfr_ptr slope, mpfr_srcptr x)
{
    mpfr_t z;
    mpfr_init2(z, mpfr_get_prec(y));
    mpfr_sqrt_ui(z, 2, MPFR_RNDN);
    mpfr_div(z, x, z, MPFR_RNDN);
    bell(slope, z, 3);
    mpfr_neg(z, z, MPFR_RNDN);
    mpfr_erfc(y, z, MPFR_RNDN);
    mpfr_div_2ui(y, y, 1, MPFR_RNDN);
    mpfr_clear(z);
}

/* 1 / (1 + exp(-x)), and times 1 / (1 + exp x) */
static void of_sigmoid(mpfr_ptr y, mpfr_ptr slope, mpfr_srcptr x)
{
    mpfr_exp(slope, x, MPFR_RNDN);
    mpfr_add_ui(slope, slope, 1, MPFR_RNDN);
    mpfr_neg(y, x, MPFR_RNDN);
    mpfr_exp(y, y, MPFR_RNDN);
    mpfr_add_ui(y, y, 1, MPFR_RNDN);
    mpfr_ui_div(y, 1, y, MPFR_RNDN);
    mpfr_div(slope, y, slope, MPFR_RNDN);
}

static void of_softplus(mpfr_ptr y, mpfr_ptr slope, mpfr_srcptr x)
{
    mpfr_exp(y, x, MPFR_RNDN);
    mpfr_add_ui(slope, y, 1, MPFR_RNDN);
    mpfr_div(slope, y, slope, MPFR_RNDN);
    mpfr_log1p(y, y, MPFR_RNDN);
}

/* sqrt(8 / pi) (x + 0.044715 x^3), of which gelu_tanh takes the sigmoid */
static void of_gelu_argument(mpfr_ptr y, mpfr_ptr slope, mpfr_srcptr x)
{
    mpfr_t square, factor;
    mpfr_inits2(mpfr_get_prec(y), square, factor, (mpfr_ptr)0);
    mpfr_const_pi(factor, MPFR_RNDN);
    mpfr_ui_div(factor, 8, factor, MPFR_RNDN);
    mpfr_sqrt(factor, factor, MPFR_RNDN);
    mpfr_sqr(square, x, MPFR_RNDN);
    mpfr_mul_ui(square, square, 44715, MPFR_RNDN);
    mpfr_div_ui(square, square, 1000000, MPFR_RNDN);
    mpfr_add_ui(y, square, 1, MPFR_RNDN);
    mpfr_mul(y, y, x, MPFR_RNDN);
    mpfr_mul(y, y, factor, MPFR_RNDN);
    mpfr_mul_ui(slope, square, 3, MPFR_RNDN);
    mpfr_add_ui(slope, slope, 1, MPFR_RNDN);
    mpfr_mul(slope, slope, factor, MPFR_RNDN);
    mpfr_clears(square, factor, (mpfr_ptr)0);
}

static void apply(const tki_forward *f, tki_dual *y, function *of)
{
    mpfr_t value, slope;
    mpfr_inits2(f->precision, value, slope, (mpfr_ptr)0);
    of(value, slope, y->v);
    for (int k = 0; k < f->directions; k++)
        slope_times(y->t[k], slope, y->t[k]);
    mpfr_swap(y->v, value);
    mpfr_clears(value, slope, (mpfr_ptr)0);
}

/* x times these functions of it, one of the other. */
static void times_function(tki_forward *f, tki_dual *x, function *inner, function *outer)
{
    tki_dual *y = take(f);
    copy(f, y, x);
    if (inner)
        apply(f, y, inner);
    apply(f, y, outer);
    multiply(f, x, x, y);
    give(f, y);
}

/* a^b with a whole b, and exp(b log a) */
static void power(tki_forward *f, tki_dual *a, tki_dual *b)
{
    tki_dual *still = take(f);
    stay(f, still);
    if (mpfr_integer_p(b->v) && move_alike(f, b, still)) {
        mpfr_sub_ui(still->v, b->v, 1, MPFR_RNDN);
        mpfr_pow(still->v, a->v, still->v, MPFR_RNDN);
        mpfr_pow(a->v, a->v, b->v, MPFR_RNDN);
        mpfr_mul(still->v, still->v, b->v, MPFR_RNDN);
        for (int k = 0; k < f->directions; k++)
            slope_times(a->t[k], still->v, a->t[k]);
    } else {
        apply(f, a, of_log);
        multiply(f, a, a, b);
        apply(f, a, of_exp);
    }
    give(f, still);
}

static void magnitude(const tki_forward *f, tki_dual *y)
{
    bool moves = false;
    for (int k = 0; k < f->directions; k++)
        moves |= !mpfr_zero_p(y->t[k]);
    y->kink |= mpfr_zero_p(y->v) && moves;
    if (mpfr_signbit(y->v))
        negate(f, y);
}

static function *const functions[TKI_PRIMITIVE_COUNT] = {
    [TKI_SQRT] = of_sqrt, [TKI_RSQRT] = of_rsqrt,     [TKI_EXP] = of_exp,           [TKI_EXP2] = of_exp2,
    [TKI_LOG] = of_log,   [TKI_LOG1P] = of_log1p,     [TKI_EXPM1] = of_expm1,       [TKI_TANH] = of_tanh,
    [TKI_ERF] = of_erf,   [TKI_SIGMOID] = of_sigmoid, [TKI_SOFTPLUS] = of_softplus, [TKI_NORMAL_CDF] = of_normal_cdf};

/* The first operand becomes the result. */
static void compute(tki_forward *f, tki_primitive primitive, tki_dual *a, tki_dual *b, tki_dual *c)
{
    switch (primitive) {
    case TKI_ADD: add(f, a, a, b); break;
    case TKI_SUBTRACT: subtract(f, a, a, b); break;
    case TKI_MULTIPLY: multiply(f, a, a, b); break;
    case TKI_DIVIDE: divide(f, a, a, b); break;
    case TKI_NEGATE: negate(f, a); break;
    case TKI_FMA:
        multiply(f, a, a, b);
        add(f, a, a, c);
        break;
    case TKI_SQUARE: multiply(f, a, a, a); break;
    case TKI_ABS: magnitude(f, a); break;
    case TKI_MIN: choose(f, a, a, b, false); break;
    case TKI_MAX: choose(f, a, a, b, true); break;
    case TKI_POW: power(f, a, b); break;
    case TKI_SILU: times_function(f, a, NULL, of_sigmoid); break;
    case TKI_MISH: times_function(f, a, of_softplus, of_tanh); break;
    case TKI_GELU: times_function(f, a, NULL, of_normal_cdf); break;
    case TKI_GELU_TANH: times_function(f, a, of_gelu_argument, of_sigmoid); break;
    case TKI_ONE_MINUS_SIGMOID:
        negate(f, a);
        apply(f, a, of_sigmoid);
        break;
    case TKI_LOG_SIGMOID:
        negate(f, a);
        apply(f, a, of_softplus);
        negate(f, a);
        break;
    default: apply(f, a, functions[primitive]);
    }
}

static void eval_primitive(tki_forward *f, const tki_def_node *n, int64_t index[], tki_dual *y)
{
    const int count = tki_primitive_operands(n->primitive);
    tki_dual *b = count > 1 ? take(f) : NULL, *c = count > 2 ? take(f) : NULL;
    eval(f, n->operand[0], index, y);
    if (b)
        eval(f, n->operand[1], index, b);
    if (c)
        eval(f, n->operand[2], index, c);
    compute(f, n->primitive, y, b, c);
    if (b)
        give(f, b);
    if (c)
        give(f, c);
}

/* -- Truths ---------------------------------------------------------------------------------------------------------- */

/* `kink`: the sides are equal, and move apart. A NaN compares as false. */
static bool eval_truth(tki_forward *f, int node, int64_t index[], bool *kink)
{
    const tki_def_node *n = &f->in->d->nodes[tki_resolved(f->in, node)];
    if (n->kind == TKI_NODE_AND) {
        const bool first = eval_truth(f, n->operand[0], index, kink),
                   second = eval_truth(f, n->operand[1], index, kink);
        return first && second;
    }
    tki_dual *a = take(f), *b = take(f);
    eval(f, n->operand[0], index, a);
    eval(f, n->operand[1], index, b);
    const bool equal = mpfr_equal_p(a->v, b->v), unordered = mpfr_unordered_p(a->v, b->v);
    const int order = equal ? 0 : mpfr_less_p(a->v, b->v) ? -1 : 1;
    *kink |= equal && !move_alike(f, a, b);
    give(f, a);
    give(f, b);
    return unordered ? n->relation == TKI_IS_UNEQUAL : tki_relation_holds(n->relation, order, 0);
}

static void eval_select(tki_forward *f, const tki_def_node *n, int64_t index[], tki_dual *y)
{
    bool kink = false;
    const bool truth = eval_truth(f, n->operand[0], index, &kink);
    eval(f, n->operand[truth ? 1 : 2], index, y);
    y->kink |= kink;
}

/* -- Reductions ------------------------------------------------------------------------------------------------------ */

/* Sets the indices of the next term that is there; false behind the last one. Of what accumulates the terms are those up to `upto`. */
static bool next_term(const tki_forward *f, const tki_def_node *n, int64_t index[], int64_t upto, bool *begun)
{
    if (f->status != TK_OK)
        return false;
    for (;;) {
        int k = n->bound_count - 1;
        if (!*begun) {
            bool any = true;
            for (k = 0; k < n->bound_count; k++) {
                index[n->bound[k]] = 0;
                any &= tki_extent_of(f->in, n->bound[k]) > 0;
            }
            *begun = true;
            if (!any)
                return false;
        } else {
            while (k >= 0 && ++index[n->bound[k]] == tki_extent_of(f->in, n->bound[k]))
                index[n->bound[k--]] = 0;
            if (k < 0)
                return false;
        }
        if (upto >= 0 && index[n->bound[0]] > upto)
            return false;
        if (tki_tests_hold(f->in, n->tests, n->test_count, index) == 1)
            return true;
    }
}

/* The sum of the terms, of their exponentials, or of their squares above `mean`; how many there are. */
static int64_t sum_of(tki_forward *f, const tki_def_node *n, int64_t index[], int64_t upto, function *of,
                      const tki_dual *mean, tki_dual *y)
{
    tki_dual *term = take(f);
    int64_t count = 0;
    set_number(f, y, 0);
    for (bool begun = false; next_term(f, n, index, upto, &begun); count++) {
        eval(f, n->operand[0], index, term);
        if (mean) {
            subtract(f, term, term, mean);
            multiply(f, term, term, term);
        } else if (of) {
            apply(f, term, of);
        }
        add(f, y, y, term);
    }
    give(f, term);
    return count;
}

static void mean_of(tki_forward *f, const tki_def_node *n, int64_t index[], tki_dual *y)
{
    divide_by(f, y, (double)sum_of(f, n, index, -1, NULL, NULL, y));
}

static void variance_of(tki_forward *f, const tki_def_node *n, int64_t index[], double correction, tki_dual *mean,
                        tki_dual *y)
{
    mean_of(f, n, index, mean);
    divide_by(f, y, (double)sum_of(f, n, index, -1, NULL, mean, y) - correction);
}

static void fold(tki_forward *f, const tki_def_node *n, int64_t index[], int64_t upto, tki_dual *y)
{
    const bool product = n->over == TKI_PROD || n->over == TKI_CUMPROD;
    const bool larger = n->over == TKI_MAXIMUM || n->over == TKI_CUMMAX;
    tki_dual *term = take(f);
    set_number(f, y, product ? 1 : larger ? -INFINITY : INFINITY);
    for (bool begun = false; next_term(f, n, index, upto, &begun);) {
        eval(f, n->operand[0], index, term);
        if (product)
            multiply(f, y, y, term);
        else
            choose(f, y, y, term, larger);
    }
    give(f, term);
}

/* The term at the place of the element; false if its predicate does not hold. */
static bool eval_own(tki_forward *f, const tki_def_node *n, int64_t index[], tki_dual *y)
{
    for (int k = 0; k < n->bound_count; k++)
        index[n->bound[k]] = index[n->at[k]];
    const bool there = tki_tests_hold(f->in, n->tests, n->test_count, index) == 1;
    if (there)
        eval(f, n->operand[0], index, y);
    return there;
}

static void eval_exponentials(tki_forward *f, const tki_def_node *n, int64_t index[], tki_dual *y)
{
    tki_dual *sum = take(f);
    const bool divides = n->over == TKI_SOFTMAX;
    sum_of(f, n, index, -1, of_exp, NULL, sum);
    if (!eval_own(f, n, index, y)) {
        set_number(f, y, divides ? 0 : -INFINITY);
    } else if (divides) {
        apply(f, y, of_exp);
        divide(f, y, y, sum);
    } else {
        apply(f, sum, of_log);
        subtract(f, y, y, sum);
    }
    give(f, sum);
}

static void eval_standardized(tki_forward *f, const tki_def_node *n, int64_t index[], tki_dual *y)
{
    tki_dual *mean = take(f), *scale = take(f);
    variance_of(f, n, index, 0, mean, scale);
    eval(f, n->operand[1], index, y);
    add(f, scale, scale, y);
    apply(f, scale, of_rsqrt);
    if (eval_own(f, n, index, y)) {
        subtract(f, y, y, mean);
        multiply(f, y, y, scale);
    } else {
        set_number(f, y, 0);
    }
    give(f, mean);
    give(f, scale);
}

static void eval_half(tki_forward *f, const tki_def_node *n, int64_t index[], tki_dual *y)
{
    const int64_t at = index[n->at[0]], half = tki_extent_of(f->in, n->bound[0]) / 2;
    index[n->bound[0]] = at < half ? at + half : at - half;
    eval(f, n->operand[0], index, y);
    if (at < half)
        negate(f, y);
}

static void eval_variance(tki_forward *f, const tki_def_node *n, int64_t index[], tki_dual *y)
{
    tki_dual *mean = take(f);
    set_number(f, y, 0);
    if (n->operand[1] != TKI_NONE)
        eval(f, n->operand[1], index, y);
    variance_of(f, n, index, mpfr_get_d(y->v, MPFR_RNDN), mean, y);
    give(f, mean);
}

static void eval_over(tki_forward *f, const tki_def_node *n, int64_t index[], tki_dual *y)
{
    int64_t saved[TK_MAX_RANK];
    const int64_t upto = tki_over_accumulates(n->over) ? index[n->at[0]] : -1;
    for (int k = 0; k < n->bound_count; k++)
        saved[k] = index[n->bound[k]];
    switch (n->over) {
    case TKI_SUM:
    case TKI_CUMSUM: sum_of(f, n, index, upto, NULL, NULL, y); break;
    case TKI_MEAN: mean_of(f, n, index, y); break;
    case TKI_VAR: eval_variance(f, n, index, y); break;
    case TKI_LOG_SUM_EXP:
        sum_of(f, n, index, -1, of_exp, NULL, y);
        apply(f, y, of_log);
        break;
    case TKI_SOFTMAX:
    case TKI_LOG_SOFTMAX: eval_exponentials(f, n, index, y); break;
    case TKI_STANDARDIZE: eval_standardized(f, n, index, y); break;
    case TKI_ROTATE_HALF: eval_half(f, n, index, y); break;
    case TKI_ARGMAX:
    case TKI_ARGMIN:
    case TKI_TOPK: set_number(f, y, NAN); break; /* they stand in lines of their own */
    default: fold(f, n, index, upto, y);
    }
    for (int k = 0; k < n->bound_count; k++)
        index[n->bound[k]] = saved[k];
}

/* -- Nodes ----------------------------------------------------------------------------------------------------------- */

static void set_given(const tki_forward *f, int tensor, int64_t place, tki_dual *y)
{
    stay(f, y);
    if (f->in->d->tensors[tensor].integer)
        mpfr_set_si(y->v, tki_input_integer(f->in, tensor, place), MPFR_RNDN);
    else
        mpfr_set_d(y->v, tki_input_value(f->in, tensor, place), MPFR_RNDN);
}

static void eval_read(tki_forward *f, const tki_def_node *n, int64_t index[], tki_dual *y)
{
    int64_t place[TK_MAX_RANK];
    const int64_t flat = tki_place_read(f->in, n, index, place);
    if (flat < 0 && n->operand[0] != TKI_NONE)
        eval(f, n->operand[0], index, y);
    else if (flat < 0)
        set_number(f, y, NAN);
    else if (f->tensor[n->tensor])
        copy(f, y, f->tensor[n->tensor][flat]);
    else
        set_given(f, n->tensor, flat, y);
}

static void eval_integer(const tki_forward *f, const tki_def_node *n, const int64_t index[], tki_dual *y)
{
    const int64_t value = tki_integer_of(f->in, n->integer, index);
    set_number(f, y, NAN);
    if (value != TKI_NO_INTEGER)
        mpfr_set_si(y->v, value, MPFR_RNDN);
}

static void eval_literal(const tki_forward *f, const tki_def_node *n, tki_dual *y)
{
    set_number(f, y, n->nearest);
    if (!n->exact)
        mpfr_set_str(y->v, n->text, 0, MPFR_RNDN);
}

static void eval_pieces(tki_forward *f, const tki_def_node *n, int64_t index[], tki_dual *y)
{
    const int64_t *constants = f->in->constants, at = index[n->which];
    set_number(f, y, NAN);
    for (int i = 0; i < n->piece_count; i++)
        if (at >= constants[n->pieces[i].start] && at - constants[n->pieces[i].start] < constants[n->pieces[i].size])
            eval(f, n->pieces[i].read, index, y);
}

static void eval(tki_forward *f, int node, int64_t index[], tki_dual *y)
{
    const tki_def_node *n = &f->in->d->nodes[tki_resolved(f->in, node)];
    if (--f->left < 0)
        f->status = TK_BAD_ARGUMENT;
    if (f->status != TK_OK) {
        set_number(f, y, NAN);
        return;
    }
    switch (n->kind) {
    case TKI_NODE_LITERAL: eval_literal(f, n, y); break;
    case TKI_NODE_ATTRIBUTE: set_number(f, y, f->in->c->attributes[n->which].real); break;
    case TKI_NODE_INTEGER: eval_integer(f, n, index, y); break;
    case TKI_NODE_READ: eval_read(f, n, index, y); break;
    case TKI_NODE_PRIMITIVE: eval_primitive(f, n, index, y); break;
    case TKI_NODE_CAST:
        eval(f, n->operand[0], index, y);
        if (!mpfr_nan_p(y->v))
            mpfr_set_d(y->v, tki_decode_end(n->dtype, tki_round_mpfr(n->dtype, y->v)), MPFR_RNDN);
        break;
    case TKI_NODE_SELECT: eval_select(f, n, index, y); break;
    case TKI_NODE_OVER: eval_over(f, n, index, y); break;
    case TKI_NODE_PIECES: eval_pieces(f, n, index, y); break;
    default: f->status = TK_INTERNAL; /* truths are no numbers, and choices are resolved */
    }
}

/* -- Tensors --------------------------------------------------------------------------------------------------------- */

bool tki_dual_is_number(const tki_forward *f, const tki_dual *a)
{
    bool is = mpfr_number_p(a->v);
    for (int k = 0; k < f->directions; k++)
        is &= mpfr_number_p(a->t[k]);
    return is;
}

/* An array of so many elements. */
static tki_dual **make_elements(tki_forward *f, int tensor)
{
    const tki_def_tensor *t = &f->in->d->tensors[tensor];
    int64_t count = 1;
    for (int axis = 0; axis < t->rank; axis++)
        if (__builtin_mul_overflow(count, f->in->constants[t->extent[axis]], &count) || (double)count > f->left) {
            f->status = TK_BAD_ARGUMENT;
            return NULL;
        }
    f->left -= (double)count;
    tki_dual **elements = malloc((size_t)count * sizeof *elements + 1);
    if (!elements) {
        f->status = TK_NO_MEMORY;
        return NULL;
    }
    for (int64_t i = 0; i < count; i++)
        elements[i] = take(f);
    f->tensor[tensor] = elements;
    f->count[tensor] = count;
    return elements;
}

tki_dual **tki_forward_open(tki_forward *f, int tensor)
{
    tki_dual **elements = make_elements(f, tensor);
    for (int64_t i = 0; elements && i < f->count[tensor]; i++)
        set_given(f, tensor, i, elements[i]);
    return f->status == TK_OK ? elements : NULL;
}

static void run_choices(tki_forward *f, int tensor, tki_dual **elements)
{
    for (int64_t i = 0; i < f->count[tensor] && f->status == TK_OK; i++) {
        int64_t chosen;
        f->status = tki_interpreter_choices(f->in, tensor, 1, i, 1, &chosen);
        set_number(f, elements[i], NAN);
        if (f->status == TK_OK && chosen != TKI_NO_INTEGER)
            mpfr_set_si(elements[i]->v, chosen, MPFR_RNDN);
    }
}

static void run_tensor(tki_forward *f, int tensor)
{
    const tki_def_tensor *t = &f->in->d->tensors[tensor];
    int64_t index[TKI_MOST_INDICES] = {0};
    tki_dual **elements = make_elements(f, tensor);
    if (elements && tki_chooses(f->in, tensor)) {
        run_choices(f, tensor, elements);
        return;
    }
    for (int64_t i = 0; elements && i < f->count[tensor] && f->status == TK_OK; i++) {
        int64_t rest = i;
        for (int axis = t->rank - 1; axis >= 0; axis--) {
            const int64_t extent = f->in->constants[t->extent[axis]];
            index[t->own[axis]] = rest % extent;
            rest /= extent;
        }
        eval(f, t->value, index, elements[i]);
    }
}

tk_status tki_forward_begin(tki_forward *f, const tki_interpreter *in, int precision, int directions)
{
    const size_t tensors = (size_t)in->d->tensor_count + 1;
    *f = (tki_forward){.in = in, .precision = precision, .directions = directions, .left = MOST_VALUES};
    f->tensor = calloc(tensors, sizeof *f->tensor);
    f->count = calloc(tensors, sizeof *f->count);
    f->last_resort = create(f);
    if (f->tensor && f->count && f->last_resort)
        return TK_OK;
    tki_forward_end(f);
    return TK_NO_MEMORY;
}

tk_status tki_forward_run(tki_forward *f)
{
    for (int i = 0; i < f->in->d->tensor_count && f->status == TK_OK; i++)
        if (f->in->d->tensors[i].role != TKI_TENSOR_INPUT &&
            tki_condition_holds(&f->in->d->tensors[i].present, f->in->c))
            run_tensor(f, i);
    return f->status;
}

void tki_forward_end(tki_forward *f)
{
    for (int i = 0; i < f->in->d->tensor_count && f->tensor && f->count; i++) {
        for (int64_t k = 0; f->tensor[i] && k < f->count[i]; k++)
            give(f, f->tensor[i][k]);
        free(f->tensor[i]);
    }
    while (f->unused) {
        tki_dual *a = f->unused;
        f->unused = a->next;
        destroy(f, a);
    }
    destroy(f, f->last_resort);
    free(f->tensor);
    free(f->count);
}
