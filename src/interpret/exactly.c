/* DECIDES. The exact value of one element by MPFR intervals, node by node. What the plan keeps in tables is kept here for as long as one element is
 * worked on. An interval that nothing is known of is the whole line. */
#include "interpret/exactly.h"

#include <stdlib.h>
#include <string.h>

#include "exact/accumulator.h"
#include "exact/floats.h"
#include "exact/interval.h"
#include "exact/round.h"
#include "interpret/functions.h"

enum { CONSTANT_BITS = 256 };

/* What is known beside the interval, which is right without it: an absent term, by which a product is zero whatever the other factor is; or NaN. */
typedef enum nature { NUMBER, ABSENT, NO_NUMBER } nature;

/* A value, or the two that a row of softmax or standardize is reduced to. */
typedef struct memory {
    const void *of; /* the table it would be in; NULL: free */
    int64_t place;
    tki_interval first, second;
    nature kind;
} memory;

typedef struct exactly {
    const tki_interpreter *in;
    int precision;
    memory *kept; /* [kept_room], a power of two, by hash */
    size_t kept_count, kept_room;
    nature kind; /* of what eval() has computed last */
    tk_status status;
} exactly;

static void eval(exactly *x, int node, int64_t index[], tki_interval *y);

static const tki_def_node *node_of(const exactly *x, int node)
{
    return &x->in->d->nodes[node];
}

static void set_whole_line(tki_interval *y)
{
    mpfr_set_inf(y->lo, -1);
    mpfr_set_inf(y->hi, 1);
}

static void set_infinity(tki_interval *y, int sign)
{
    mpfr_set_inf(y->lo, sign);
    mpfr_set_inf(y->hi, sign);
}

static bool holds_zero(const tki_interval *a)
{
    return mpfr_sgn(a->lo) <= 0 && mpfr_sgn(a->hi) >= 0;
}

static void include(tki_interval *y, const tki_interval *a)
{
    mpfr_min(y->lo, y->lo, a->lo, MPFR_RNDD);
    mpfr_max(y->hi, y->hi, a->hi, MPFR_RNDU);
}

/* -- What is kept ----------------------------------------------------------------------------------------------------- */

static size_t slot_of(const exactly *x, const void *of, int64_t place)
{
    uint64_t h = ((uint64_t)(uintptr_t)of + (uint64_t)place * UINT64_C(0x9E3779B97F4A7C15)) *
                 UINT64_C(0xD6E8FEB86659FD93);
    size_t at = (size_t)(h >> 32) & (x->kept_room - 1);
    while (x->kept[at].of && (x->kept[at].of != of || x->kept[at].place != place))
        at = (at + 1) & (x->kept_room - 1);
    return at;
}

static memory *recall(const exactly *x, const void *of, int64_t place)
{
    if (x->kept_room == 0)
        return NULL;
    memory *m = &x->kept[slot_of(x, of, place)];
    return m->of ? m : NULL;
}

static bool grow(exactly *x)
{
    const size_t room = x->kept_room ? 2 * x->kept_room : 256;
    memory *old = x->kept, *all = calloc(room, sizeof *all);
    const size_t old_room = x->kept_room;
    if (!all) {
        x->status = TK_NO_MEMORY;
        return false;
    }
    x->kept = all;
    x->kept_room = room;
    for (size_t i = 0; i < old_room; i++)
        if (old[i].of)
            all[slot_of(x, old[i].of, old[i].place)] = old[i];
    free(old);
    return true;
}

static void remember(exactly *x, const void *of, int64_t place, const tki_interval *first, const tki_interval *second)
{
    if (2 * x->kept_count >= x->kept_room && !grow(x))
        return;
    memory *m = &x->kept[slot_of(x, of, place)];
    if (m->of)
        return;
    x->kept_count++;
    *m = (memory){.of = of, .place = place, .kind = x->kind};
    tki_interval_init(&m->first, x->precision);
    tki_interval_init(&m->second, x->precision);
    tki_interval_set(&m->first, first);
    tki_interval_set(&m->second, second);
}

static void take_kept(exactly *x, const memory *m, tki_interval *y)
{
    tki_interval_set(y, &m->first);
    x->kind = m->kind;
}

static void forget_all(exactly *x)
{
    for (size_t i = 0; i < x->kept_room; i++)
        if (x->kept[i].of) {
            tki_interval_clear(&x->kept[i].first);
            tki_interval_clear(&x->kept[i].second);
        }
    free(x->kept);
}

static int64_t place_in(const exactly *x, int count, const int *indices, const int64_t index[])
{
    int64_t flat = 0;
    for (int i = 0; i < count; i++)
        flat = flat * tki_extent_of(x->in, indices[i]) + index[indices[i]];
    return flat;
}

/* -- Numbers --------------------------------------------------------------------------------------------------------- */

static void eval_read(exactly *x, const tki_def_node *n, int64_t index[], tki_interval *y)
{
    const tki_interpreter *in = x->in;
    const tki_def_tensor *t = &in->d->tensors[n->tensor];
    int64_t place[TK_MAX_RANK];
    const int64_t flat = tki_place_read(in, n, index, place);
    if (flat < 0) {
        if (n->operand[0] == TKI_NONE)
            set_whole_line(y);
        else
            eval(x, n->operand[0], index, y);
        x->kind = mpfr_zero_p(y->lo) && mpfr_zero_p(y->hi) && !t->integer ? ABSENT : NUMBER;
        return;
    }
    if (t->integer && !tki_is_given(in, n->tensor) && tki_chooses(in, n->tensor)) {
        tki_value value = tki_value_of_state(TKI_IS_UNKNOWN);
        x->status = tki_interpreter_values(in, n->tensor, flat, 1, &value);
        if (value.state == TKI_IS_FINITE)
            tki_interval_set_d(y, value.v);
        else
            set_whole_line(y);
        return;
    }
    if (tki_is_given(in, n->tensor)) {
        if (t->integer)
            tki_interval_set_d(y, (double)tki_input_integer(in, n->tensor, flat));
        else
            tki_interval_set_d(y, tki_input_value(in, n->tensor, flat));
        x->kind = mpfr_nan_p(y->lo) ? NO_NUMBER : NUMBER;
        return;
    }
    const tki_table *table = &in->kept_tensor[n->tensor];
    const memory *m = table->bytes ? recall(x, table, flat) : NULL;
    if (m) {
        take_kept(x, m, y);
        return;
    }
    int64_t inner[TKI_MOST_INDICES];
    for (int axis = 0; axis < t->rank; axis++)
        inner[t->own[axis]] = place[axis];
    eval(x, t->value, inner, y);
    if (table->bytes)
        remember(x, table, flat, y, y);
}

static void eval_power(const exactly *x, tki_interval *y, const tki_interval *a, const tki_interval *b)
{
    tki_interval base;
    if (mpfr_equal_p(b->lo, b->hi) && mpfr_integer_p(b->lo) && mpfr_cmp_si(b->lo, 0) >= 0 &&
        mpfr_cmp_si(b->lo, 16) <= 0) {
        const long factors = mpfr_get_si(b->lo, MPFR_RNDN);
        tki_interval_init(&base, x->precision);
        tki_interval_set(&base, a);
        tki_interval_set_d(y, 1);
        for (long i = 0; i < factors; i++)
            tki_interval_mul(y, y, &base);
        tki_interval_clear(&base);
    } else if (mpfr_sgn(a->lo) <= 0) {
        set_whole_line(y);
    } else {
        mpfr_log(y->lo, a->lo, MPFR_RNDD);
        mpfr_log(y->hi, a->hi, MPFR_RNDU);
        tki_interval_mul(y, y, b);
        tki_interval_exp(y, y);
    }
}

static void eval_function(tki_primitive primitive, tki_interval *y, tki_interval *a)
{
    const tki_function *f = tki_function_of(primitive);
    if (mpfr_cmp_d(a->hi, f->least) < 0) {
        set_whole_line(y);
        return;
    }
    if (mpfr_cmp_d(a->lo, f->least) < 0) /* outward by rounding */
        mpfr_set_d(a->lo, f->least, MPFR_RNDD);
    f->by_mpfr(y, a);
}

static void multiply(tki_interval *y, const tki_interval *a, const tki_interval *b, bool zero)
{
    if (zero)
        tki_interval_set_d(y, 0);
    else
        tki_interval_mul(y, a, b);
}

static void eval_primitive(exactly *x, const tki_def_node *n, int64_t index[], tki_interval *y)
{
    tki_interval a[3];
    nature kinds[3] = {NUMBER, NUMBER, NUMBER};
    bool known = true; /* the operands are one number each, an infinity or NaN */
    const int count = tki_primitive_operands(n->primitive);
    for (int i = 0; i < count; i++)
        tki_interval_init(&a[i], x->precision);
    for (int i = 0; i < count; i++) {
        /* Zero times what is finite: absent terms of attention are not looked at. */
        const bool nothing = i == 1 && n->primitive == TKI_MULTIPLY && mpfr_zero_p(a[0].lo) && mpfr_zero_p(a[0].hi) &&
                             !x->in->may_be_special[tki_resolved(x->in, n->operand[1])];
        x->kind = NUMBER;
        if (nothing)
            tki_interval_set_d(&a[1], 0);
        else
            eval(x, n->operand[i], index, &a[i]);
        kinds[i] = x->kind;
        known &= x->kind == NO_NUMBER || mpfr_equal_p(a[i].lo, a[i].hi);
    }
    const bool zero = (n->primitive == TKI_MULTIPLY || n->primitive == TKI_FMA) &&
                      (kinds[0] == ABSENT || kinds[1] == ABSENT);
    switch (n->primitive) {
    case TKI_ADD: tki_interval_add(y, &a[0], &a[1]); break;
    case TKI_SUBTRACT: tki_interval_sub(y, &a[0], &a[1]); break;
    case TKI_MULTIPLY: multiply(y, &a[0], &a[1], zero); break;
    case TKI_DIVIDE:
        if (holds_zero(&a[1]))
            set_whole_line(y);
        else
            tki_interval_div(y, &a[0], &a[1]);
        break;
    case TKI_NEGATE: tki_interval_neg(y, &a[0]); break;
    case TKI_FMA:
        multiply(y, &a[0], &a[1], zero);
        tki_interval_add(y, y, &a[2]);
        break;
    case TKI_SQUARE: tki_interval_mul(y, &a[0], &a[0]); break;
    case TKI_ABS:
        tki_interval_set(y, &a[0]);
        if (mpfr_sgn(a[0].hi) <= 0)
            tki_interval_neg(y, y);
        else if (mpfr_sgn(a[0].lo) < 0) {
            mpfr_neg(y->lo, y->lo, MPFR_RNDU);
            mpfr_max(y->hi, y->hi, y->lo, MPFR_RNDU);
            mpfr_set_zero(y->lo, 1);
        }
        break;
    case TKI_MIN:
        mpfr_min(y->lo, a[0].lo, a[1].lo, MPFR_RNDD);
        mpfr_min(y->hi, a[0].hi, a[1].hi, MPFR_RNDU);
        break;
    case TKI_MAX:
        mpfr_max(y->lo, a[0].lo, a[1].lo, MPFR_RNDD);
        mpfr_max(y->hi, a[0].hi, a[1].hi, MPFR_RNDU);
        break;
    case TKI_POW: eval_power(x, y, &a[0], &a[1]); break;
    default: eval_function(n->primitive, y, &a[0]);
    }
    const bool is_nan = known && mpfr_nan_p(y->lo) && mpfr_nan_p(y->hi);
    x->kind = NUMBER;
    for (int i = zero ? 2 : 0; i < count; i++) /* NaN of any operand */
        x->kind = is_nan || kinds[i] == NO_NUMBER ? NO_NUMBER : x->kind;
    if ((zero && n->primitive == TKI_MULTIPLY) || (n->primitive == TKI_NEGATE && kinds[0] == ABSENT))
        x->kind = ABSENT;
    for (int i = 0; i < count; i++)
        tki_interval_clear(&a[i]);
}

/* -- Truths ---------------------------------------------------------------------------------------------------------- */

/* 1 or 0; -1 where this precision does not decide. */
static int eval_truth(exactly *x, int node, int64_t index[])
{
    const tki_def_node *n = node_of(x, tki_resolved(x->in, node));
    if (n->kind == TKI_NODE_AND) {
        const int a = eval_truth(x, n->operand[0], index), b = eval_truth(x, n->operand[1], index);
        return a == 0 || b == 0 ? 0 : a < 0 || b < 0 ? -1 : 1;
    }
    const bool same_node = tki_resolved(x->in, n->operand[0]) == tki_resolved(x->in, n->operand[1]);
    tki_interval a, b;
    tki_interval_init(&a, x->precision);
    tki_interval_init(&b, x->precision);
    eval(x, n->operand[0], index, &a);
    bool none = x->kind == NO_NUMBER;
    eval(x, n->operand[1], index, &b);
    none |= x->kind == NO_NUMBER;
    const bool below = mpfr_less_p(a.hi, b.lo), above = mpfr_greater_p(a.lo, b.hi);
    const bool same = mpfr_equal_p(a.lo, a.hi) && mpfr_equal_p(b.lo, b.hi) && mpfr_equal_p(a.lo, b.lo);
    const bool touch_below = mpfr_lessequal_p(a.hi, b.lo), touch_above = mpfr_greaterequal_p(a.lo, b.hi);
    int truth = -1;
    switch (n->relation) {
    case TKI_IS_EQUAL: truth = same ? 1 : below || above ? 0 : -1; break;
    case TKI_IS_UNEQUAL: truth = same ? 0 : below || above ? 1 : -1; break;
    case TKI_IS_LESS: truth = below ? 1 : touch_above ? 0 : -1; break;
    case TKI_IS_LESS_EQUAL: truth = touch_below ? 1 : above ? 0 : -1; break;
    case TKI_IS_GREATER: truth = above ? 1 : touch_below ? 0 : -1; break;
    case TKI_IS_GREATER_EQUAL: truth = touch_above ? 1 : below ? 0 : -1; break;
    }
    if (none || same_node)
        truth = none ? n->relation == TKI_IS_UNEQUAL : tki_relation_holds(n->relation, 0, 0);
    tki_interval_clear(&a);
    tki_interval_clear(&b);
    return truth;
}

static void eval_select(exactly *x, const tki_def_node *n, int64_t index[], tki_interval *y)
{
    const int truth = eval_truth(x, n->operand[0], index);
    eval(x, n->operand[truth == 0 ? 2 : 1], index, y);
    if (truth < 0) {
        tki_interval other;
        tki_interval_init(&other, x->precision);
        eval(x, n->operand[2], index, &other);
        include(y, &other);
        tki_interval_clear(&other);
        x->kind = NUMBER;
    }
}

/* -- Reductions ------------------------------------------------------------------------------------------------------ */

/* The terms of a row, one after another. */
typedef struct terms {
    exactly *x;
    const tki_def_node *n;
    int64_t *index;
    int64_t place; /* of the term, among all of the row */
    int64_t count; /* of those that are there */
    bool begun;
} terms;

static bool has_terms(const terms *t)
{
    for (int k = 0; k < t->n->bound_count; k++)
        if (tki_extent_of(t->x->in, t->n->bound[k]) == 0)
            return false;
    return true;
}

/* To the next term that is there. */
static bool next_term(terms *t, int64_t upto)
{
    const tki_def_node *n = t->n;
    if (t->x->status != TK_OK || (!t->begun && !has_terms(t)))
        return false;
    for (;;) {
        if (!t->begun) {
            for (int k = 0; k < n->bound_count; k++)
                t->index[n->bound[k]] = 0;
            t->begun = true;
        } else {
            int k = n->bound_count - 1;
            while (k >= 0 && ++t->index[n->bound[k]] == tki_extent_of(t->x->in, n->bound[k]))
                t->index[n->bound[k--]] = 0;
            t->place++;
            if (k < 0)
                return false;
        }
        if (t->place > upto)
            return false;
        if (tki_tests_hold(t->x->in, n->tests, n->test_count, t->index) == 1) {
            t->count++;
            return true;
        }
    }
}

/* A read of real numbers that a wide accumulator takes; NULL if the node is none. */
static const tki_def_node *accumulated_read(const exactly *x, int node)
{
    const tki_def_node *n = node_of(x, tki_resolved(x->in, node));
    if (n->kind != TKI_NODE_READ || x->in->d->tensors[n->tensor].integer || !tki_is_given(x->in, n->tensor))
        return NULL;
    const tk_dtype dtype = tki_dtype_of(x->in, n->tensor);
    return dtype == TK_F32 || dtype == TK_F16 || dtype == TK_BF16 ? n : NULL;
}

/* A factor whose elements are read one after another along the innermost index of a sum. */
typedef struct walk {
    const tki_def_node *read;
    tk_dtype dtype;
    const void *data;
    bool even;           /* they rise evenly, and are all in range: */
    int64_t first, step; /* in elements */
} walk;

/* To where the innermost index is 0, of so many values. */
static void begin_walk(const exactly *x, walk *w, int inner, int64_t index[])
{
    const tki_def_tensor *t = &x->in->d->tensors[w->read->tensor];
    const int64_t extent = tki_extent_of(x->in, inner);
    int64_t place[TK_MAX_RANK];
    w->even = true;
    for (int axis = 0; axis < t->rank; axis++)
        for (int i = 0; i < w->read->subscripts[axis].linear.count; i++) {
            const tki_def_int *atom = &x->in->d->ints[w->read->subscripts[axis].linear.terms[i].atom];
            bool moves = false;
            for (int k = 0; k < atom->index_count; k++)
                moves |= atom->indices[k] == inner;
            w->even &= !moves || atom->kind == TKI_INT_INDEX;
        }
    index[inner] = extent - 1;
    const int64_t last = tki_place_read(x->in, w->read, index, place);
    index[inner] = 0;
    w->first = tki_place_read(x->in, w->read, index, place);
    w->even &= w->first >= 0 && last >= 0;
    w->step = w->even && extent > 1 ? (last - w->first) / (extent - 1) : 0;
}

/* The bits of the element, those of 0 where `else 0` stands for it; false where it is no number. */
static bool accumulated_bits(const exactly *x, const walk *w, int inner, const int64_t index[], uint32_t *bits)
{
    int64_t place[TK_MAX_RANK];
    const int64_t flat = w->even ? w->first + index[inner] * w->step : tki_place_read(x->in, w->read, index, place);
    *bits = flat < 0 ? 0 : tki_element_bits(w->dtype, w->data, flat);
    if (flat >= 0)
        return tki_is_finite(w->dtype, *bits);
    const int other = w->read->operand[0] == TKI_NONE ? TKI_NONE : tki_resolved(x->in, w->read->operand[0]);
    return other != TKI_NONE && tki_is_constant(x->in, other) && x->in->values[other].state == TKI_IS_FINITE &&
           tki_value_is_zero(&x->in->values[other]);
}

/* The sum of numbers of inputs, or of products of two, in a wide accumulator; false if it is no such sum. */
static bool sum_accumulated(exactly *x, const tki_def_node *n, int64_t index[], int64_t *count, tki_interval *y)
{
    const tki_def_node *body = node_of(x, tki_resolved(x->in, n->operand[0]));
    const int inner = n->bound[n->bound_count - 1];
    const bool product = body->kind == TKI_NODE_PRIMITIVE &&
                         (body->primitive == TKI_MULTIPLY || body->primitive == TKI_SQUARE);
    walk a = {.read = accumulated_read(x, product ? body->operand[0] : n->operand[0])}, b = a;
    if (product && body->primitive == TKI_MULTIPLY)
        b.read = accumulated_read(x, body->operand[1]);
    if (!a.read || !b.read || tki_dtype_of(x->in, a.read->tensor) != tki_dtype_of(x->in, b.read->tensor))
        return false;
    a.dtype = b.dtype = tki_dtype_of(x->in, a.read->tensor);
    a.data = tki_input_of(x->in, a.read->tensor);
    b.data = tki_input_of(x->in, b.read->tensor);
    terms t = {.x = x, .n = n, .index = index};
    tki_accumulator sum;
    tki_accumulator_clear(&sum);
    int64_t begun = -1; /* the places along the innermost index that are walked through */
    while (next_term(&t, INT64_MAX)) {
        uint32_t left, right;
        const int64_t at = index[inner], line = t.place - at;
        if (line != begun) {
            begin_walk(x, &a, inner, index);
            begin_walk(x, &b, inner, index);
            index[inner] = at;
            begun = line;
        }
        if (!accumulated_bits(x, &a, inner, index, &left) || !accumulated_bits(x, &b, inner, index, &right))
            return false;
        if (product)
            tki_accumulator_add_product(&sum, a.dtype, left, b.dtype, right);
        else
            tki_accumulator_add(&sum, a.dtype, left);
    }
    *count = t.count;
    mpfr_t exact;
    mpfr_init2(exact, TKI_ACCUMULATOR_BITS);
    tki_accumulator_get(&sum, exact);
    mpfr_set(y->lo, exact, MPFR_RNDD);
    mpfr_set(y->hi, exact, MPFR_RNDU);
    mpfr_clear(exact);
    return true;
}

static void sum_of(exactly *x, const tki_def_node *n, int64_t index[], int64_t *count, tki_interval *sum)
{
    if (sum_accumulated(x, n, index, count, sum))
        return;
    tki_interval term;
    terms t = {.x = x, .n = n, .index = index};
    tki_interval_init(&term, x->precision);
    tki_interval_set_d(sum, 0);
    while (next_term(&t, INT64_MAX)) {
        eval(x, n->operand[0], index, &term);
        tki_interval_add(sum, sum, &term);
    }
    *count = t.count;
    tki_interval_clear(&term);
}

static void mean_of(exactly *x, const tki_def_node *n, int64_t index[], int64_t *count, tki_interval *mean)
{
    tki_interval number;
    tki_interval_init(&number, x->precision);
    sum_of(x, n, index, count, mean);
    tki_interval_set_d(&number, (double)*count);
    if (*count > 0)
        tki_interval_div(mean, mean, &number);
    else
        set_whole_line(mean);
    tki_interval_clear(&number);
}

/* The sum of squares of what the terms are above `mean`, over their number less `correction`. */
static void variance_of(exactly *x, const tki_def_node *n, int64_t index[], const tki_interval *correction,
                        tki_interval *mean, tki_interval *variance)
{
    tki_interval term;
    int64_t count;
    mean_of(x, n, index, &count, mean);
    terms t = {.x = x, .n = n, .index = index};
    tki_interval_init(&term, x->precision);
    tki_interval_set_d(variance, 0);
    while (next_term(&t, INT64_MAX)) {
        eval(x, n->operand[0], index, &term);
        tki_interval_sub(&term, &term, mean);
        tki_interval_mul(&term, &term, &term);
        tki_interval_add(variance, variance, &term);
    }
    tki_interval_set_d(&term, (double)count);
    if (correction)
        tki_interval_sub(&term, &term, correction);
    if (holds_zero(&term))
        set_whole_line(variance);
    else
        tki_interval_div(variance, variance, &term);
    if (mpfr_sgn(variance->lo) < 0 && mpfr_sgn(term.lo) > 0)
        mpfr_set_zero(variance->lo, 1);
    tki_interval_clear(&term);
}

/* The largest term, near enough, and the sum of the exponentials of what the terms are above it; how many terms there are. */
static int64_t exponentials_of(exactly *x, const tki_def_node *n, int64_t index[], tki_interval *top,
                               tki_interval *sum)
{
    tki_interval term;
    tki_interval_init(&term, x->precision);
    set_infinity(top, -1);
    terms t = {.x = x, .n = n, .index = index};
    while (next_term(&t, INT64_MAX)) {
        eval(x, n->operand[0], index, &term);
        mpfr_max(top->hi, top->hi, term.hi, MPFR_RNDU);
    }
    mpfr_set(top->lo, top->hi, MPFR_RNDD);
    tki_interval_set_d(sum, 0);
    t = (terms){.x = x, .n = n, .index = index};
    while (mpfr_number_p(top->hi) && next_term(&t, INT64_MAX)) {
        eval(x, n->operand[0], index, &term);
        tki_interval_sub(&term, &term, top);
        tki_interval_exp(&term, &term);
        tki_interval_add(sum, sum, &term);
    }
    tki_interval_clear(&term);
    return t.count;
}

/* What stands for the sum of exponentials of a term that is alone in its row: no interval around the quotient of two exponentials is 1, which
 * differences of what follows may need. */
#define ALONE (-1.0)

static void eval_fold(exactly *x, const tki_def_node *n, int64_t index[], tki_interval *y)
{
    tki_interval term;
    tki_interval_init(&term, x->precision);
    terms t = {.x = x, .n = n, .index = index};
    const int64_t upto = tki_over_accumulates(n->over) ? index[n->at[0]] : INT64_MAX;
    switch (n->over) {
    case TKI_PROD:
    case TKI_CUMPROD: tki_interval_set_d(y, 1); break;
    case TKI_MAXIMUM:
    case TKI_CUMMAX: set_infinity(y, -1); break;
    case TKI_MINIMUM:
    case TKI_CUMMIN: set_infinity(y, 1); break;
    default: tki_interval_set_d(y, 0);
    }
    while (next_term(&t, upto)) {
        eval(x, n->operand[0], index, &term);
        switch (n->over) {
        case TKI_PROD:
        case TKI_CUMPROD: tki_interval_mul(y, y, &term); break;
        case TKI_MAXIMUM:
        case TKI_CUMMAX:
            mpfr_max(y->lo, y->lo, term.lo, MPFR_RNDD);
            mpfr_max(y->hi, y->hi, term.hi, MPFR_RNDU);
            break;
        case TKI_MINIMUM:
        case TKI_CUMMIN:
            mpfr_min(y->lo, y->lo, term.lo, MPFR_RNDD);
            mpfr_min(y->hi, y->hi, term.hi, MPFR_RNDU);
            break;
        default: tki_interval_add(y, y, &term);
        }
    }
    tki_interval_clear(&term);
}

/* The two values of a row, remembered where the plan keeps rows. */
static void row_of(exactly *x, int node, int64_t index[], tki_interval *first, tki_interval *second)
{
    const tki_interpreter *in = x->in;
    const tki_def_node *n = node_of(x, node);
    const tki_table *table = &in->rows[node];
    const int64_t place = table->bytes ? place_in(x, in->outer_count[node], in->outer[node], index) : 0;
    const memory *m = table->bytes ? recall(x, table, place) : NULL;
    if (m) {
        tki_interval_set(first, &m->first);
        tki_interval_set(second, &m->second);
        return;
    }
    if (n->over == TKI_STANDARDIZE) {
        tki_interval eps;
        tki_interval_init(&eps, x->precision);
        variance_of(x, n, index, NULL, first, second);
        eval(x, n->operand[1], index, &eps);
        tki_interval_add(second, second, &eps);
        eval_function(TKI_RSQRT, second, second);
        tki_interval_clear(&eps);
    } else if (exponentials_of(x, n, index, first, second) == 1 && mpfr_number_p(first->hi)) {
        tki_interval_set_d(second, ALONE);
    }
    if (table->bytes)
        remember(x, table, place, first, second);
}

/* Of what keeps its axes: the term at `at`, or half an extent away; false if its predicate does not hold there. */
static bool term_at(exactly *x, const tki_def_node *n, int64_t index[], tki_interval *y, bool *negative)
{
    *negative = false;
    for (int k = 0; k < n->bound_count; k++) {
        const int64_t at = index[n->at[k]], half = tki_extent_of(x->in, n->bound[k]) / 2;
        *negative = n->over == TKI_ROTATE_HALF && at < half;
        index[n->bound[k]] = n->over != TKI_ROTATE_HALF ? at : at < half ? at + half : at - half;
    }
    if (tki_tests_hold(x->in, n->tests, n->test_count, index) != 1)
        return false;
    eval(x, n->operand[0], index, y);
    return true;
}

static void eval_over(exactly *x, int node, int64_t index[], tki_interval *y)
{
    const tki_def_node *n = node_of(x, node);
    tki_interval a, b;
    int64_t count, saved[TK_MAX_DIMS];
    bool negative, present;
    nature kind = NUMBER;
    tki_interval_init(&a, x->precision);
    tki_interval_init(&b, x->precision);
    for (int k = 0; k < n->bound_count; k++)
        saved[k] = index[n->bound[k]];
    switch (n->over) {
    case TKI_SUM: sum_of(x, n, index, &count, y); break;
    case TKI_MEAN: mean_of(x, n, index, &count, y); break;
    case TKI_VAR:
        if (n->operand[1] != TKI_NONE)
            eval(x, n->operand[1], index, &b);
        else
            tki_interval_set_d(&b, 0);
        variance_of(x, n, index, &b, &a, y);
        break;
    case TKI_LOG_SUM_EXP:
        exponentials_of(x, n, index, &a, y);
        mpfr_log(y->lo, y->lo, MPFR_RNDD);
        mpfr_log(y->hi, y->hi, MPFR_RNDU);
        tki_interval_add(y, y, &a);
        break;
    case TKI_SOFTMAX:
    case TKI_LOG_SOFTMAX:
    case TKI_STANDARDIZE:
        row_of(x, node, index, &a, &b);
        present = term_at(x, n, index, y, &negative);
        if (!present) {
            if (n->over == TKI_LOG_SOFTMAX)
                set_infinity(y, -1);
            else
                tki_interval_set_d(y, 0);
            kind = n->over == TKI_LOG_SOFTMAX ? NUMBER : ABSENT;
            break;
        }
        tki_interval_sub(y, y, &a);
        if (n->over != TKI_STANDARDIZE && mpfr_cmp_d(b.hi, ALONE) == 0) {
            tki_interval_set_d(y, n->over == TKI_SOFTMAX ? 1 : 0);
        } else if (n->over == TKI_STANDARDIZE) {
            tki_interval_mul(y, y, &b);
        } else if (n->over == TKI_SOFTMAX) {
            tki_interval_exp(y, y);
            if (holds_zero(&b))
                set_whole_line(y);
            else
                tki_interval_div(y, y, &b);
        } else {
            mpfr_log(b.lo, b.lo, MPFR_RNDD);
            mpfr_log(b.hi, b.hi, MPFR_RNDU);
            tki_interval_sub(y, y, &b);
        }
        break;
    case TKI_ROTATE_HALF:
        (void)term_at(x, n, index, y, &negative);
        kind = x->kind;
        if (negative)
            tki_interval_neg(y, y);
        break;
    case TKI_ARGMAX:
    case TKI_ARGMIN:
    case TKI_TOPK: set_whole_line(y); break; /* eval_read() asks for these */
    default: eval_fold(x, n, index, y);
    }
    for (int k = 0; k < n->bound_count; k++)
        index[n->bound[k]] = saved[k];
    x->kind = kind;
    tki_interval_clear(&a);
    tki_interval_clear(&b);
}

static void eval_kept_over(exactly *x, int node, int64_t index[], tki_interval *y)
{
    const tki_table *table = &x->in->kept[node];
    const int64_t place = table->bytes ? place_in(x, table->index_count, table->indices, index) : 0;
    const memory *m = table->bytes ? recall(x, table, place) : NULL;
    if (m) {
        take_kept(x, m, y);
        return;
    }
    eval_over(x, node, index, y);
    if (table->bytes)
        remember(x, table, place, y, y);
}

/* -- Nodes ----------------------------------------------------------------------------------------------------------- */

static void eval_literal(const tki_def_node *n, tki_interval *y)
{
    if (n->exact) {
        tki_interval_set_d(y, n->nearest);
        return;
    }
    mpfr_set_str(y->lo, n->text, 0, MPFR_RNDD);
    mpfr_set_str(y->hi, n->text, 0, MPFR_RNDU);
}

static void eval_integer(const exactly *x, const tki_def_node *n, const int64_t index[], tki_interval *y)
{
    const int64_t value = tki_integer_of(x->in, n->integer, index);
    mpfr_set_si(y->lo, value, MPFR_RNDD);
    mpfr_set_si(y->hi, value, MPFR_RNDU);
    if (value == TKI_NO_INTEGER)
        set_whole_line(y);
}

static void eval_cast(exactly *x, const tki_def_node *n, int64_t index[], tki_interval *y)
{
    eval(x, n->operand[0], index, y);
    if (mpfr_nan_p(y->lo) || mpfr_nan_p(y->hi))
        return;
    mpfr_set_d(y->lo, tki_decode_end(n->dtype, tki_round_mpfr(n->dtype, y->lo)), MPFR_RNDD);
    mpfr_set_d(y->hi, tki_decode_end(n->dtype, tki_round_mpfr(n->dtype, y->hi)), MPFR_RNDU);
}

static void eval_pieces(exactly *x, const tki_def_node *n, int64_t index[], tki_interval *y)
{
    const int64_t *constants = x->in->constants, at = index[n->which];
    set_whole_line(y);
    for (int i = 0; i < n->piece_count; i++)
        if (at >= constants[n->pieces[i].start] && at - constants[n->pieces[i].start] < constants[n->pieces[i].size])
            eval(x, n->pieces[i].read, index, y);
}

static void eval(exactly *x, int node, int64_t index[], tki_interval *y)
{
    node = tki_resolved(x->in, node);
    const tki_def_node *n = node_of(x, node);
    x->kind = NUMBER;
    switch (n->kind) {
    case TKI_NODE_LITERAL: eval_literal(n, y); break;
    case TKI_NODE_ATTRIBUTE: tki_interval_set_d(y, x->in->c->attributes[n->which].real); break;
    case TKI_NODE_INTEGER: eval_integer(x, n, index, y); break;
    case TKI_NODE_READ: eval_read(x, n, index, y); break;
    case TKI_NODE_PRIMITIVE: eval_primitive(x, n, index, y); break;
    case TKI_NODE_CAST: eval_cast(x, n, index, y); break;
    case TKI_NODE_SELECT: eval_select(x, n, index, y); break;
    case TKI_NODE_OVER: eval_kept_over(x, node, index, y); break;
    case TKI_NODE_PIECES: eval_pieces(x, n, index, y); break;
    default: x->status = TK_INTERNAL; /* truths are no numbers, and choices are resolved */
    }
    if (mpfr_nan_p(y->lo) || mpfr_nan_p(y->hi))
        set_whole_line(y);
}

/* -- From outside ---------------------------------------------------------------------------------------------------- */

tk_status tki_interpreter_exactly(const tki_interpreter *in, int tensor, int64_t element, int precision, mpfr_ptr lo,
                                  mpfr_ptr hi)
{
    const tki_floats floats = tki_floats_begin();
    const tki_def_tensor *t = &in->d->tensors[tensor];
    exactly x = {.in = in, .precision = precision};
    int64_t index[TKI_MOST_INDICES] = {0};
    tki_interval y;
    for (int axis = t->rank - 1; axis >= 0; axis--) {
        const int64_t extent = in->constants[t->extent[axis]];
        index[t->own[axis]] = element % extent;
        element /= extent;
    }
    tki_interval_init(&y, precision);
    eval(&x, t->value, index, &y);
    tki_interval_get(&y, precision, lo, hi);
    tki_interval_clear(&y);
    forget_all(&x);
    tki_floats_end(&floats);
    return x.status;
}

static bool is_constant(const tki_interpreter *in, const tki_def_node *n)
{
    if (!n->constant || (n->kind != TKI_NODE_LITERAL && n->kind != TKI_NODE_ATTRIBUTE &&
                         n->kind != TKI_NODE_INTEGER && n->kind != TKI_NODE_PRIMITIVE))
        return false;
    for (int i = 0; i < 3; i++)
        if (n->operand[i] != TKI_NONE &&
            (tki_resolved(in, n->operand[i]) == TKI_NONE || !in->is_constant[tki_resolved(in, n->operand[i])]))
            return false;
    return true;
}

/* In the order of the nodes: what a constant is made of comes before it. */
tk_status tki_make_constants(tki_interpreter *in)
{
    exactly x = {.in = in, .precision = CONSTANT_BITS};
    int64_t index[TKI_MOST_INDICES] = {0};
    tki_interval y;
    tki_interval_init(&y, CONSTANT_BITS);
    for (int n = 0; n < in->d->node_count; n++) {
        in->is_constant[n] = is_constant(in, &in->d->nodes[n]);
        if (!in->is_constant[n])
            continue;
        eval(&x, n, index, &y);
        const double lo = tki_interval_low(&y), hi = tki_interval_high(&y);
        /* Of two neighbours the exact value is within their distance of either. */
        in->values[n] = lo == hi                       ? tki_constant_of(lo, 0)
                        : isfinite(lo) && isfinite(hi) ? tki_constant_of(lo, (hi - lo) * TKI_DOUBLE_SLACK)
                                                       : tki_value_of_state(TKI_IS_UNKNOWN);
    }
    tki_interval_clear(&y);
    forget_all(&x);
    return x.status;
}
