/* The value of one element of a definition's output at 300 bits, node by node as the definition says: exactly but for these bits; or, with random
 * numbers, as an honest kernel in fp32 might, in one of several ways. Nothing here is shared with the interpreter. */
#ifndef TKI_TESTS_EVALUATOR_H
#define TKI_TESTS_EVALUATOR_H

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <mpfr.h>

#include "core/random.h"
#include "define/definition.h"

enum { EVALUATOR_BITS = 300, EVALUATOR_TERMS = 4096, EVALUATOR_WAYS = 6 };

typedef struct evaluator {
    const tki_definition *d;
    const tk_case *c;
    void *const *buffers;
    const int64_t *constants;
    tki_random *random; /* NULL: exactly */
    int way; /* 0: plain and in order; 1: fused, backward; 2: by pairs; 3: anything; 4, 5: large partial sums, and errors of one sign */
    bool met_infinity; /* or NaN, on the way */
} evaluator;

static void value_of(evaluator *ev, int node, int64_t index[], mpfr_ptr y);

static inline double signed_unit(evaluator *ev)
{
    if (ev->way >= 4)
        return ev->way == 4 ? 1 : -1;
    return tki_random_below(ev->random, 3) ? (tki_random_below(ev->random, 2) ? 1 : -1)
                                           : tki_random_unit(ev->random) * 2 - 1;
}

/* To fp32; k - 1 units of what the budget has are spent before. */
static inline void rounded(evaluator *ev, mpfr_ptr y, double k)
{
    if (!ev->random || !mpfr_number_p(y))
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

/* Is it done here, in this way? */
static inline bool tossed(const evaluator *ev)
{
    return ev->random && (ev->way == 3 ? tki_random_below(ev->random, 2) : ev->way & 1);
}

/* -- Integers --------------------------------------------------------------------------------------------------------- */

/* Philox4x32-10 as it is published. */
static inline int64_t philox_word(uint64_t key, uint64_t word)
{
    uint32_t x[4] = {(uint32_t)(word / 4), (uint32_t)(word / 4 >> 32), 0, 0};
    uint32_t low = (uint32_t)key, high = (uint32_t)(key >> 32);
    for (int round = 0; round < 10; round++, low += 0x9E3779B9, high += 0xBB67AE85) {
        const uint64_t first = x[0] * UINT64_C(0xD2511F53), second = x[2] * UINT64_C(0xCD9E8D57);
        x[0] = (uint32_t)(second >> 32) ^ x[1] ^ low;
        x[2] = (uint32_t)(first >> 32) ^ x[3] ^ high;
        x[1] = (uint32_t)second;
        x[3] = (uint32_t)first;
    }
    return x[word % 4];
}

static inline int64_t element_of(evaluator *ev, int tensor, const int64_t at[]);

static inline int64_t integer_of(evaluator *ev, int which, const int64_t index[])
{
    const tki_def_int *e = &ev->d->ints[which];
    if (e->constant)
        return ev->constants[which];
    if (e->kind == TKI_INT_INDEX)
        return index[e->which];
    if (e->kind == TKI_INT_ELEMENT) {
        int64_t at[TK_MAX_RANK];
        for (int axis = 0; axis < ev->d->tensors[e->tensor].rank; axis++)
            at[axis] = integer_of(ev, e->subscripts[axis].value, index);
        return element_of(ev, e->tensor, at);
    }
    const int64_t a = integer_of(ev, e->a, index), b = integer_of(ev, e->b, index);
    const int64_t rest = b > 0 ? (a % b + b) % b : 0;
    switch (e->kind) {
    case TKI_INT_ADD: return a + b;
    case TKI_INT_SUBTRACT: return a - b;
    case TKI_INT_MULTIPLY: return a * b;
    case TKI_INT_DIVIDE: return (a - rest) / b;
    case TKI_INT_MODULO: return rest;
    case TKI_INT_PHILOX: return philox_word((uint64_t)a, (uint64_t)b);
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

/* What is added to a sum may be its first term. */
static inline bool begins_sum(evaluator *ev, int sum, mpfr_srcptr first, bool negative, int64_t index[], mpfr_ptr y);

/* x a + (b - m a) for (x - m) r w + b. */
static inline bool moves_line(evaluator *ev, int product, mpfr_srcptr b, int64_t index[], mpfr_ptr y);

/* A product that is added may be fused with the addition. */
static inline bool fuses(evaluator *ev, int product, mpfr_srcptr other, bool negative, int64_t index[], mpfr_ptr y)
{
    mpfr_t c;
    if (!is_primitive(ev, product, TKI_MULTIPLY) || !tossed(ev))
        return false;
    const tki_def_node *p = &ev->d->nodes[product];
    mpfr_init2(c, 2 * EVALUATOR_BITS);
    value_of(ev, p->operand[0], index, y);
    if (p->operand[0] == p->operand[1])
        mpfr_sqr(c, y, MPFR_RNDN);
    else {
        value_of(ev, p->operand[1], index, c);
        mpfr_mul(c, c, y, MPFR_RNDN);
    }
    if (negative)
        mpfr_neg(c, c, MPFR_RNDN);
    mpfr_add(y, c, other, MPFR_RNDN);
    mpfr_clear(c);
    return true;
}

static inline void add_of(evaluator *ev, const tki_def_node *n, int64_t index[], mpfr_ptr a, mpfr_ptr b, mpfr_ptr y)
{
    const bool minus = n->primitive == TKI_SUBTRACT;
    const int left = n->operand[0], right = n->operand[1];
    if (minus)
        mpfr_neg(b, b, MPFR_RNDN);
    if (ev->random && left != right &&
        ((!minus && moves_line(ev, left, b, index, y)) || begins_sum(ev, left, b, false, index, y) ||
         begins_sum(ev, right, a, minus, index, y) || fuses(ev, left, b, false, index, y) ||
         fuses(ev, right, a, minus, index, y)))
        return;
    mpfr_add(y, a, b, MPFR_RNDN);
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
    case TKI_SUBTRACT: add_of(ev, n, index, a, b, y), k = 1; break;
    case TKI_MULTIPLY: mpfr_mul(y, a, n->operand[0] == n->operand[1] ? a : b, MPFR_RNDN), k = 1; break;
    case TKI_DIVIDE: mpfr_div(y, a, b, MPFR_RNDN), k = 3; break;
    case TKI_NEGATE: mpfr_neg(y, a, MPFR_RNDN), k = 1; break;
    case TKI_FMA:
        mpfr_mul(a, a, b, MPFR_RNDN);
        if (tossed(ev))
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
        if (ev->random && ev->d->nodes[n->operand[1]].kind == TKI_NODE_LITERAL && mpfr_integer_p(b)) { /* a product */
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
    const bool none = mpfr_nan_p(a) || mpfr_nan_p(b);
    const int order = none || n->operand[0] == n->operand[1] ? 0 : mpfr_cmp(a, b);
    mpfr_clears(a, b, (mpfr_ptr)0);
    if (none)
        return n->relation == TKI_IS_UNEQUAL;
    const bool all[] = {order == 0, order != 0, order<0, order <= 0, order> 0, order >= 0};
    return all[n->relation];
}

#include "tests/interpret/evaluator_rows.h"

/* -- Nodes ------------------------------------------------------------------------------------------------------------ */

/* The place of an element; -1 if a subscript is out of range. */
static inline int64_t place_of(evaluator *ev, int tensor, const int64_t at[])
{
    const tki_def_tensor *t = &ev->d->tensors[tensor];
    int64_t flat = 0;
    for (int axis = 0; axis < t->rank; axis++) {
        const int64_t extent = ev->constants[t->extent[axis]];
        if (at[axis] < 0 || at[axis] >= extent)
            return -1;
        flat = flat * extent + at[axis];
    }
    return flat;
}

/* Not every compiler has _Float16. */
static inline double half_precision(uint16_t bits)
{
    const int exponent = bits >> 10 & 31, fraction = bits & 1023;
    const double size = exponent == 31 ? (fraction ? NAN : INFINITY)
                        : exponent     ? ldexp(1024 + fraction, exponent - 25)
                                       : ldexp(fraction, -24);
    return bits & 0x8000 ? -size : size;
}

static inline double decoded(tk_dtype dtype, const void *data, int64_t i)
{
    float y;
    uint32_t bits;
    switch (dtype) {
    case TK_F32: return (double)((const float *)data)[i];
    case TK_F16: return half_precision(((const uint16_t *)data)[i]);
    case TK_BF16:
        bits = (uint32_t)((const uint16_t *)data)[i] << 16;
        memcpy(&y, &bits, sizeof y);
        return (double)y;
    default: abort();
    }
}

static inline int64_t element_of(evaluator *ev, int tensor, const int64_t at[])
{
    const tki_def_tensor *t = &ev->d->tensors[tensor];
    int64_t inner[TKI_MOST_INDICES];
    const int64_t flat = place_of(ev, tensor, at);
    if (t->role == TKI_TENSOR_INPUT)
        return ev->c->index_dtype == TK_I64 ? ((const int64_t *)ev->buffers[t->param])[flat]
                                            : ((const int32_t *)ev->buffers[t->param])[flat];
    for (int axis = 0; axis < t->rank; axis++)
        inner[t->own[axis]] = at[axis];
    const tki_def_node *n = &ev->d->nodes[t->value];
    return n->kind == TKI_NODE_OVER ? chosen_of(ev, n, inner) : integer_of(ev, n->integer, inner);
}

static inline void read_of(evaluator *ev, const tki_def_node *n, int64_t index[], mpfr_ptr y)
{
    const tki_def_tensor *t = &ev->d->tensors[n->tensor];
    int64_t inner[TKI_MOST_INDICES], at[TK_MAX_RANK];
    for (int axis = 0; axis < t->rank; axis++)
        at[axis] = integer_of(ev, n->subscripts[axis].value, index);
    const int64_t flat = place_of(ev, n->tensor, at);
    for (int axis = 0; axis < t->rank && t->role != TKI_TENSOR_INPUT; axis++)
        inner[t->own[axis]] = at[axis];
    if (flat < 0)
        value_of(ev, n->operand[0], index, y);
    else if (t->role != TKI_TENSOR_INPUT)
        value_of(ev, t->value, inner, y);
    else
        mpfr_set_d(y, decoded(tk_case_param_dtype(ev->c, t->param), ev->buffers[t->param], flat), MPFR_RNDN);
}

/* To a format of so many bits, whose least number is 2^least; beyond `most` it has an infinity, or NaN. */
static inline void cast_to(tk_dtype dtype, mpfr_ptr y)
{
    static const struct {
        int bits, least;
        double most;
    } formats[] = {[TK_F16] = {11, -24, 65504},
                   [TK_BF16] = {8, -133, 0x1.fep127},
                   [TK_F32] = {24, -149, FLT_MAX},
                   [TK_F8_E4M3] = {4, -9, 448},
                   [TK_F8_E5M2] = {3, -16, 57344}};
    if (!mpfr_regular_p(y)) {
        if (dtype == TK_F8_E4M3 && mpfr_inf_p(y))
            mpfr_set_nan(y);
        return;
    }
    const long exponent = mpfr_get_exp(y) - formats[dtype].bits;
    mpfr_t unit;
    mpfr_init2(unit, EVALUATOR_BITS);
    mpfr_set_ui_2exp(unit, 1, exponent < formats[dtype].least ? formats[dtype].least : exponent, MPFR_RNDN);
    mpfr_div(y, y, unit, MPFR_RNDN);
    mpfr_rint(y, y, MPFR_RNDN);
    mpfr_mul(y, y, unit, MPFR_RNDN);
    mpfr_clear(unit);
    if (fabs(mpfr_get_d(y, MPFR_RNDN)) <= formats[dtype].most)
        return;
    if (dtype == TK_F8_E4M3)
        mpfr_set_nan(y);
    else
        mpfr_set_inf(y, mpfr_sgn(y));
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
        cast_to(n->dtype, y);
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
    ev->met_infinity |= !mpfr_number_p(y);
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
