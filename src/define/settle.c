/* DECIDES. A definition for a case: its constants, its sizes, and what it refuses. */
#include <math.h>
#include <string.h>

#include "define/definition.h"
#include "model/format.h"

bool tki_relation_holds(tki_relation relation, int64_t a, int64_t b)
{
    switch (relation) {
    case TKI_IS_EQUAL: return a == b;
    case TKI_IS_UNEQUAL: return a != b;
    case TKI_IS_LESS: return a < b;
    case TKI_IS_LESS_EQUAL: return a <= b;
    case TKI_IS_GREATER: return a > b;
    case TKI_IS_GREATER_EQUAL: break;
    }
    return a >= b;
}

bool tki_condition_holds(const tki_condition *condition, const tk_case *c)
{
    for (int i = 0; i < condition->count; i++)
        if (!(condition->terms[i].choices >> c->attributes[condition->terms[i].attribute].integer & 1))
            return false;
    return true;
}

static int64_t floor_quotient(int64_t a, int64_t b)
{
    return a / b - (a % b < 0);
}

bool tki_int_compute(tki_int_kind kind, int64_t a, int64_t b, int64_t *result)
{
    switch (kind) {
    case TKI_INT_ADD: return !__builtin_add_overflow(a, b, result);
    case TKI_INT_SUBTRACT: return !__builtin_sub_overflow(a, b, result);
    case TKI_INT_MULTIPLY: return !__builtin_mul_overflow(a, b, result);
    case TKI_INT_MIN: *result = a < b ? a : b; return true;
    case TKI_INT_MAX: *result = a > b ? a : b; return true;
    default: break;
    }
    if (b <= 0)
        return false;
    *result = kind == TKI_INT_DIVIDE ? floor_quotient(a, b) : a % b < 0 ? a % b + b : a % b;
    return true;
}

/* -- Constants ------------------------------------------------------------------------------------------------------- */

typedef struct settling {
    const tki_definition *d;
    const tk_case *c;
    int64_t *values;
    bool failed[TKI_MOST_NODES]; /* by integer: overflow, or a divisor that is not positive */
    /* What an integer can be, over all values of its indices. */
    int64_t least[TKI_MOST_NODES], most[TKI_MOST_NODES];
    enum range { UNKNOWN, KNOWN, NOTHING } range[TKI_MOST_NODES];
} settling;

/* A constant of reals, which floor is taken of, where doubles hold it and every number on the way; else NaN. */
static double exact_real(const settling *s, int node)
{
    const tki_def_node *n = &s->d->nodes[node];
    if (n->kind == TKI_NODE_LITERAL)
        return n->exact ? n->nearest : NAN;
    if (n->kind == TKI_NODE_ATTRIBUTE)
        return s->c->attributes[n->which].real;
    if (n->kind == TKI_NODE_INTEGER) {
        const double number = (double)s->values[n->integer];
        return !s->failed[n->integer] && fabs(number) <= 0x1p53 ? number : NAN;
    }
    const double a = exact_real(s, n->operand[0]), b = n->operand[1] >= 0 ? exact_real(s, n->operand[1]) : 0;
    double result = NAN;
    switch (n->primitive) {
    case TKI_NEGATE: return -a;
    case TKI_ADD:
    case TKI_SUBTRACT: {
        const double other = n->primitive == TKI_ADD ? b : -b, part = (result = a + other) - a;
        return (a - (result - part)) + (other - part) == 0 ? result : NAN;
    }
    case TKI_MULTIPLY:
        result = a * b;
        return fma(a, b, -result) == 0 && (a == 0 || b == 0 || fabs(result) > 0x1p-900) ? result : NAN;
    default: /* the checker leaves the quotient */
        result = a / b;
        return fma(-result, b, a) == 0 && (a == 0 || fabs(a) > 0x1p-900) ? result : NAN;
    }
}

static bool floor_of(const settling *s, int node, int64_t *result)
{
    const double number = floor(exact_real(s, node));
    const bool fits = number >= -0x1p62 && number <= 0x1p62;
    *result = fits ? (int64_t)number : 0;
    return fits;
}

static bool constant(settling *s, const tki_def_int *n, int64_t *value)
{
    switch (n->kind) {
    case TKI_INT_LITERAL: *value = n->literal; return true;
    case TKI_INT_ATTRIBUTE: *value = s->c->attributes[n->which].integer; return true;
    case TKI_INT_FLOOR: return floor_of(s, n->which, value);
    case TKI_INT_SIZE: {
        const int derived = s->d->sizes[n->which].derived;
        *value = derived >= 0 ? s->values[derived] : s->c->dims[n->which];
        return derived < 0 || !s->failed[derived];
    }
    default:
        return !s->failed[n->a] && !s->failed[n->b] &&
               tki_int_compute(n->kind, s->values[n->a], s->values[n->b], value);
    }
}

static void compute_constants(settling *s)
{
    for (int i = 0; i < s->d->int_count; i++) {
        if (!s->d->ints[i].constant)
            continue;
        s->failed[i] = !constant(s, &s->d->ints[i], &s->values[i]);
        if (s->failed[i])
            s->values[i] = -1;
    }
}

void tki_definition_derive(const tki_definition *definition, tk_case *c)
{
    int64_t values[TKI_MOST_NODES];
    settling s;
    s.d = definition;
    s.c = c;
    s.values = values;
    compute_constants(&s);
    for (int i = 0; i < definition->derived_count; i++) {
        const int size = definition->derivation[i];
        c->dims[size] = values[definition->sizes[size].derived];
    }
}

/* -- Ranges ---------------------------------------------------------------------------------------------------------- */

static void set_range(settling *s, int i, enum range range, int64_t least, int64_t most)
{
    s->range[i] = range == KNOWN && least > most ? NOTHING : range;
    s->least[i] = least;
    s->most[i] = most;
}

static void range_of_values(settling *s, int i, int node)
{
    const tki_def_node *n = &s->d->nodes[node];
    if (n->kind == TKI_NODE_OVER) {
        set_range(s, i, KNOWN, 0, s->values[s->d->indices[n->bound[0]].extent] - 1);
    } else if (n->kind == TKI_NODE_INTEGER && s->d->ints[n->integer].constant) {
        set_range(s, i, KNOWN, s->values[n->integer], s->values[n->integer]);
    } else if (n->kind == TKI_NODE_INTEGER) {
        set_range(s, i, s->range[n->integer], s->least[n->integer], s->most[n->integer]);
    } else { /* of the choice that is taken */
        const int taken = n->operand[tki_condition_holds(&n->condition, s->c) ? 0 : 1];
        if (taken >= 0)
            range_of_values(s, i, taken);
        else
            set_range(s, i, NOTHING, 0, 0);
    }
}

static void range_of_element(settling *s, int i, const tki_def_tensor *t)
{
    if (t->role != TKI_TENSOR_INPUT)
        range_of_values(s, i, t->value);
    else if (t->below >= 0)
        set_range(s, i, KNOWN, 0, s->values[t->limit] - 1);
    else if (t->dtype == TK_BOOL || t->dtype == TK_U8)
        set_range(s, i, KNOWN, 0, t->dtype == TK_BOOL ? 1 : UINT8_MAX);
    else
        set_range(s, i, UNKNOWN, 0, 0);
}

/* Of a + b x, with x from its range and b a constant. False if it leaves 64 bits. */
static bool add_term(int64_t *least, int64_t *most, int64_t factor, int64_t from, int64_t to)
{
    int64_t ends[2];
    if (__builtin_mul_overflow(factor, from, &ends[factor < 0]) ||
        __builtin_mul_overflow(factor, to, &ends[factor >= 0]))
        return false;
    return !__builtin_add_overflow(*least, ends[0], least) && !__builtin_add_overflow(*most, ends[1], most);
}

static void range_of_linear(settling *s, int i, const tki_linear *l)
{
    int64_t least = s->values[l->offset], most = least;
    enum range range = KNOWN;
    for (int t = 0; t < l->count; t++) {
        const int atom = l->terms[t].atom;
        if (s->range[atom] == NOTHING) {
            set_range(s, i, NOTHING, 0, 0);
            return;
        }
        if (s->range[atom] == UNKNOWN ||
            !add_term(&least, &most, s->values[l->terms[t].coefficient], s->least[atom], s->most[atom]))
            range = UNKNOWN;
    }
    set_range(s, i, range, least, most);
}

static int64_t least_of(const settling *s, int i)
{
    return s->d->ints[i].constant ? s->values[i] : s->least[i];
}

static int64_t most_of(const settling *s, int i)
{
    return s->d->ints[i].constant ? s->values[i] : s->most[i];
}

/* DIVIDE, MODULO, MIN, MAX, or a product of two that depend on indices. */
static void range_of_operation(settling *s, int i, const tki_def_int *n)
{
    const enum range a = s->d->ints[n->a].constant ? KNOWN : s->range[n->a];
    const enum range b = s->d->ints[n->b].constant ? KNOWN : s->range[n->b];
    const int64_t low = least_of(s, n->a), high = most_of(s, n->a), by = least_of(s, n->b);
    if (a == NOTHING || b == NOTHING)
        set_range(s, i, NOTHING, 0, 0);
    else if (n->kind == TKI_INT_MODULO && (a == UNKNOWN || low < 0 || high >= by))
        set_range(s, i, KNOWN, 0, by - 1);
    else if (n->kind == TKI_INT_MULTIPLY || a == UNKNOWN || b == UNKNOWN)
        set_range(s, i, UNKNOWN, 0, 0);
    else if (n->kind == TKI_INT_MODULO)
        set_range(s, i, KNOWN, low, high);
    else if (n->kind == TKI_INT_DIVIDE)
        set_range(s, i, KNOWN, floor_quotient(low, by), floor_quotient(high, by));
    else if (n->kind == TKI_INT_MIN)
        set_range(s, i, KNOWN, low < by ? low : by, high < most_of(s, n->b) ? high : most_of(s, n->b));
    else
        set_range(s, i, KNOWN, low > by ? low : by, high > most_of(s, n->b) ? high : most_of(s, n->b));
}

static void compute_ranges(settling *s)
{
    for (int i = 0; i < s->d->int_count; i++) {
        const tki_def_int *n = &s->d->ints[i];
        if (n->constant)
            continue;
        const bool atom = n->linear.count == 1 && n->linear.terms[0].atom == i;
        if (n->kind == TKI_INT_INDEX)
            set_range(s, i, KNOWN, 0, s->values[s->d->indices[n->which].extent] - 1);
        else if (n->kind == TKI_INT_ELEMENT)
            range_of_element(s, i, &s->d->tensors[n->tensor]);
        else if (n->kind == TKI_INT_PHILOX)
            set_range(s, i, KNOWN, 0, UINT32_MAX);
        else if (atom)
            range_of_operation(s, i, n);
        else
            range_of_linear(s, i, &n->linear);
    }
}

/* -- What is refused --------------------------------------------------------------------------------------------------- */

/* What is divided depends on indices, and what by does not. */
static bool divides_wrongly(const settling *s, const tki_def_int *n)
{
    return (n->kind == TKI_INT_DIVIDE || n->kind == TKI_INT_MODULO) && s->values[n->b] <= 0;
}

static int refusal_of_constants(const settling *s)
{
    for (int i = 0; i < s->d->int_count; i++)
        if (s->d->ints[i].constant ? s->failed[i] : divides_wrongly(s, &s->d->ints[i]))
            return tki_refusal_of_all(TKI_REFUSED_INTEGER);
    for (int i = 0; i < s->d->derived_count; i++)
        if (s->values[s->d->sizes[s->d->derivation[i]].derived] < 0)
            return tki_refusal_of_all(TKI_REFUSED_SIZE);
    for (int i = 0; i < s->d->index_count; i++)
        if (s->values[s->d->indices[i].extent] < 0)
            return tki_refusal_of_all(TKI_REFUSED_EXTENT);
    for (int i = 0; i < s->d->constraint_count; i++) {
        const tki_test *t = &s->d->constraints[i];
        if (!tki_relation_holds(t->relation, s->values[t->a], s->values[t->b]))
            return t->refusal;
    }
    return TKI_NONE;
}

static int refusal_of_subscripts(const settling *s)
{
    for (int i = 0; i < s->d->check_count; i++) {
        const tki_range_check *check = &s->d->checks[i];
        const enum range range = s->d->ints[check->value].constant ? KNOWN : s->range[check->value];
        if (range != NOTHING && (range == UNKNOWN || least_of(s, check->value) < 0 ||
                                 most_of(s, check->value) >= s->values[check->limit]))
            return check->refusal;
    }
    return TKI_NONE;
}

int tki_definition_settle(const tki_definition *definition, const tk_case *c, int64_t values[])
{
    settling s;
    s.d = definition;
    s.c = c;
    s.values = values;
    compute_constants(&s);
    const int refusal = refusal_of_constants(&s);
    if (refusal != TKI_NONE)
        return refusal;
    compute_ranges(&s);
    return refusal_of_subscripts(&s);
}
