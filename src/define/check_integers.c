/* DECIDES. Integers of a definition: each kept once, and as a sum of atoms with constant coefficients. */
#include <stdlib.h>
#include <string.h>

#include "define/check.h"
#include "model/format.h"

static bool is_literal(const tki_checker *c, int i, int64_t value)
{
    return c->ints[i].kind == TKI_INT_LITERAL && c->ints[i].literal == value;
}

/* -- Sets of indices ------------------------------------------------------------------------------------------------- */

void tki_merge_indices(tki_checker *c, int *count, const int **indices, int more_count, const int *more)
{
    int *all = tki_reading_take(c->reading, (size_t)(*count + more_count) * sizeof *all), n = 0;
    for (int a = 0, b = 0; a < *count || b < more_count;) {
        const int next = b == more_count || (a < *count && (*indices)[a] <= more[b]) ? (*indices)[a] : more[b];
        all[n++] = next;
        a += a < *count && (*indices)[a] == next;
        b += b < more_count && more[b] == next;
    }
    *count = n;
    *indices = all;
}

void tki_drop_indices(tki_checker *c, int *count, const int **indices, int drop_count, const int *drop)
{
    int *left = tki_reading_take(c->reading, (size_t)*count * sizeof *left), n = 0;
    for (int i = 0; i < *count; i++) {
        bool dropped = false;
        for (int k = 0; k < drop_count; k++)
            dropped |= drop[k] == (*indices)[i];
        if (!dropped)
            left[n++] = (*indices)[i];
    }
    *count = n;
    *indices = left;
}

/* -- Sums of atoms ---------------------------------------------------------------------------------------------------- */

static int pair(tki_checker *c, const tki_syntax *at, tki_int_kind kind, int a, int b);

static tki_linear atom(tki_checker *c, const tki_syntax *at, int i)
{
    struct tki_linear_term *term = tki_reading_take(c->reading, sizeof *term);
    const int one = tki_int_literal(c, at, 1), none = tki_int_literal(c, at, 0);
    *term = (struct tki_linear_term){i, one};
    return (tki_linear){none, 1, term};
}

/* a + factor * b, the factor being a constant. */
static tki_linear add_scaled(tki_checker *c, const tki_syntax *at, tki_linear a, int factor, tki_linear b)
{
    struct tki_linear_term *terms = tki_reading_take(c->reading, (size_t)(a.count + b.count) * sizeof *terms);
    int n = a.count;
    if (n > 0)
        memcpy(terms, a.terms, (size_t)n * sizeof *terms);
    for (int i = 0; i < b.count; i++) {
        int k = 0;
        while (k < n && terms[k].atom != b.terms[i].atom)
            k++;
        const int scaled = pair(c, at, TKI_INT_MULTIPLY, factor, b.terms[i].coefficient);
        terms[k] = (struct tki_linear_term){b.terms[i].atom,
                                            k < n ? pair(c, at, TKI_INT_ADD, terms[k].coefficient, scaled) : scaled};
        n += k == n;
    }
    int left = 0;
    for (int i = 0; i < n; i++)
        if (!is_literal(c, terms[i].coefficient, 0))
            terms[left++] = terms[i];
    const int offset = pair(c, at, TKI_INT_ADD, a.offset, pair(c, at, TKI_INT_MULTIPLY, factor, b.offset));
    return (tki_linear){offset, left, terms};
}

static tki_linear linear_of(tki_checker *c, const tki_syntax *at, int i)
{
    const tki_def_int n = c->ints[i];
    if (n.constant)
        return (tki_linear){i, 0, NULL};
    const bool a_is = n.kind >= TKI_INT_ADD && c->ints[n.a].constant,
               b_is = n.kind >= TKI_INT_ADD && c->ints[n.b].constant;
    if (n.kind == TKI_INT_ADD || n.kind == TKI_INT_SUBTRACT)
        return add_scaled(c, at, c->ints[n.a].linear, tki_int_literal(c, at, n.kind == TKI_INT_ADD ? 1 : -1),
                          c->ints[n.b].linear);
    if (n.kind == TKI_INT_MULTIPLY && (a_is || b_is)) {
        const tki_linear none = {tki_int_literal(c, at, 0), 0, NULL};
        return add_scaled(c, at, none, a_is ? n.a : n.b, c->ints[a_is ? n.b : n.a].linear);
    }
    return atom(c, at, i);
}

/* -- One of each ------------------------------------------------------------------------------------------------------- */

static bool same_subscripts(const tki_checker *c, const tki_def_int *a, const tki_def_int *b)
{
    for (int i = 0; a->kind == TKI_INT_ELEMENT && i < c->tensors[a->tensor].rank; i++)
        if (a->subscripts[i].value != b->subscripts[i].value)
            return false;
    return true;
}

static int intern(tki_checker *c, const tki_syntax *at, tki_def_int n)
{
    for (int i = 0; i < c->made->int_count; i++) {
        const tki_def_int *o = &c->ints[i];
        if (o->kind == n.kind && o->literal == n.literal && o->which == n.which && o->a == n.a && o->b == n.b &&
            o->tensor == n.tensor && same_subscripts(c, o, &n))
            return i;
    }
    if (c->made->int_count == TKI_MOST_NODES)
        tki_wrong(c, at, TKI_WRONG_TOO_MANY_INTEGERS, .numbers = {TKI_MOST_NODES});
    c->ints = tki_checker_grow(c, c->ints, c->made->int_count, &c->int_room, sizeof n);
    n.position = at->position;
    const int made = c->made->int_count++;
    c->ints[made] = n;
    const tki_linear linear = linear_of(c, at, made);
    c->ints[made].linear = linear;
    return made;
}

int tki_int_literal(tki_checker *c, const tki_syntax *at, int64_t value)
{
    return intern(c, at,
                  (tki_def_int){.kind = TKI_INT_LITERAL,
                                .constant = true,
                                .literal = value,
                                .which = TKI_NONE,
                                .a = TKI_NONE,
                                .b = TKI_NONE,
                                .tensor = TKI_NONE});
}

int tki_int_leaf(tki_checker *c, const tki_syntax *at, tki_int_kind kind, int which)
{
    tki_def_int n = {.kind = kind,
                     .constant = kind != TKI_INT_INDEX,
                     .which = which,
                     .a = TKI_NONE,
                     .b = TKI_NONE,
                     .tensor = TKI_NONE};
    if (kind == TKI_INT_INDEX) {
        n.index_count = 1;
        int *index = tki_reading_take(c->reading, sizeof *index);
        *index = which;
        n.indices = index;
    }
    return intern(c, at, n);
}

/* Of two literals, where it does not overflow; and what adding 0, or multiplying by 0 or 1, leaves. */
static bool folds(const tki_checker *c, tki_int_kind kind, int a, int b, int *same, int64_t *literal)
{
    const int64_t x = c->ints[a].literal, y = c->ints[b].literal;
    *same = TKI_NONE;
    if (c->ints[a].kind == TKI_INT_LITERAL && c->ints[b].kind == TKI_INT_LITERAL)
        switch (kind) {
        case TKI_INT_ADD: return !__builtin_add_overflow(x, y, literal);
        case TKI_INT_SUBTRACT: return !__builtin_sub_overflow(x, y, literal);
        case TKI_INT_MULTIPLY: return !__builtin_mul_overflow(x, y, literal);
        default: return false;
        }
    if ((kind == TKI_INT_ADD && is_literal(c, a, 0)) || (kind == TKI_INT_MULTIPLY && is_literal(c, a, 1)))
        *same = b;
    else if (((kind == TKI_INT_ADD || kind == TKI_INT_SUBTRACT) && is_literal(c, b, 0)) ||
             (kind == TKI_INT_MULTIPLY && is_literal(c, b, 1)))
        *same = a;
    *literal = 0;
    return *same >= 0 || (kind == TKI_INT_MULTIPLY && (is_literal(c, a, 0) || is_literal(c, b, 0)));
}

static int pair(tki_checker *c, const tki_syntax *at, tki_int_kind kind, int a, int b)
{
    int same;
    int64_t literal;
    if (folds(c, kind, a, b, &same, &literal))
        return same >= 0 ? same : tki_int_literal(c, at, literal);
    tki_def_int n = {.kind = kind,
                     .constant = c->ints[a].constant && c->ints[b].constant && kind != TKI_INT_PHILOX,
                     .which = TKI_NONE,
                     .a = a,
                     .b = b,
                     .tensor = TKI_NONE,
                     .index_count = c->ints[a].index_count,
                     .indices = c->ints[a].indices};
    tki_merge_indices(c, &n.index_count, &n.indices, c->ints[b].index_count, c->ints[b].indices);
    return intern(c, at, n);
}

int tki_int_pair(tki_checker *c, const tki_syntax *at, tki_int_kind kind, int a, int b)
{
    if ((kind == TKI_INT_DIVIDE || kind == TKI_INT_MODULO) && !c->ints[b].constant)
        tki_wrong(c, at, TKI_WRONG_DIVISOR_NO_CONSTANT, .names = {kind == TKI_INT_DIVIDE ? "//" : "%"});
    if ((kind == TKI_INT_DIVIDE || kind == TKI_INT_MODULO) && c->ints[b].kind == TKI_INT_LITERAL &&
        c->ints[b].literal <= 0)
        tki_wrong(c, at, TKI_WRONG_DIVISOR_NOT_POSITIVE, .names = {kind == TKI_INT_DIVIDE ? "//" : "%"},
                  .numbers = {c->ints[b].literal});
    return pair(c, at, kind, a, b);
}

int tki_int_element(tki_checker *c, const tki_syntax *at, int tensor, const tki_subscript *subscripts)
{
    tki_def_int n = {.kind = TKI_INT_ELEMENT,
                     .which = TKI_NONE,
                     .a = TKI_NONE,
                     .b = TKI_NONE,
                     .tensor = tensor,
                     .subscripts = subscripts};
    for (int i = 0; i < c->tensors[tensor].rank; i++) {
        const tki_def_int *s = &c->ints[subscripts[i].value];
        tki_merge_indices(c, &n.index_count, &n.indices, s->index_count, s->indices);
    }
    return intern(c, at, n);
}

/* -- Sizes ----------------------------------------------------------------------------------------------------------- */

int tki_int_size(tki_checker *c, const tki_syntax *at, int size)
{
    if (c->size_ints[size] >= 0)
        return c->size_ints[size];
    const tki_syntax *value = c->size_values[size];
    if (c->size_is_open[size])
        tki_wrong(c, at, TKI_WRONG_SIZE_OF_ITSELF, .names = {c->sizes[size].name});
    c->size_is_open[size] = true;
    if (value) {
        c->sizes[size].derived = tki_where_value(c, value);
        c->sizes[size].text = tki_print_value(c->reading, value);
        c->derivation[c->made->derived_count++] = size;
    }
    c->size_is_open[size] = false;
    return c->size_ints[size] = tki_int_leaf(c, at, TKI_INT_SIZE, size);
}

static int where_name(tki_checker *c, const tki_syntax *s)
{
    const int size = tki_size_find(c, s->text), attribute = tki_attribute_named(c, s->text);
    if (size >= 0)
        return tki_int_size(c, s, size);
    if (s->kind == TKI_SYNTAX_SIZE || attribute < 0)
        tki_wrong(c, s, s->kind == TKI_SYNTAX_SIZE ? TKI_WRONG_UNKNOWN_SIZE : TKI_WRONG_UNKNOWN_INTEGER,
                  .names = {s->text});
    if (c->attributes[attribute].type != TK_ATTRIBUTE_INTEGER)
        tki_wrong(c, s, TKI_WRONG_SIZE_OF_NO_INTEGER, .names = {s->text});
    return tki_int_leaf(c, s, TKI_INT_ATTRIBUTE, attribute);
}

static int where_number(tki_checker *c, const tki_syntax *s)
{
    char *end;
    const unsigned long long value = strtoull(s->text, &end, 10);
    if (*end || value > INT64_MAX)
        tki_wrong(c, s, TKI_WRONG_TOO_LARGE_FOR_INT64, .names = {s->text});
    return tki_int_literal(c, s, (int64_t)value);
}

int tki_where_value(tki_checker *c, const tki_syntax *s)
{
    static const struct {
        const char *sign;
        tki_int_kind kind;
    } signs[] = {{"+", TKI_INT_ADD},    {"-", TKI_INT_SUBTRACT}, {"*", TKI_INT_MULTIPLY}, {"//", TKI_INT_DIVIDE},
                 {"%", TKI_INT_MODULO}, {"min", TKI_INT_MIN},    {"max", TKI_INT_MAX}};
    if (s->kind == TKI_SYNTAX_NUMBER)
        return where_number(c, s);
    if (s->kind == TKI_SYNTAX_NAME || s->kind == TKI_SYNTAX_SIZE)
        return where_name(c, s);
    if (s->kind == TKI_SYNTAX_NEGATE)
        return pair(c, s, TKI_INT_SUBTRACT, tki_int_literal(c, s, 0), tki_where_value(c, s->a));
    const bool two = s->kind == TKI_SYNTAX_BINARY ||
                     (s->kind == TKI_SYNTAX_CALL && s->a && s->a->next && !s->a->next->next);
    for (size_t i = 0; two && i < sizeof signs / sizeof *signs; i++) {
        if (strcmp(s->text, signs[i].sign) != 0)
            continue;
        const int a = tki_where_value(c, s->a);
        return tki_int_pair(c, s, signs[i].kind, a,
                            tki_where_value(c, s->kind == TKI_SYNTAX_BINARY ? s->b : s->a->next));
    }
    tki_wrong(c, s, TKI_WRONG_NO_SIZE_VALUE);
}

/* -- Tests and ranges ------------------------------------------------------------------------------------------------- */

void tki_check_affine(tki_checker *c, const tki_syntax *at, int value, tki_phrase what)
{
    const tki_linear *l = &c->ints[value].linear;
    for (int i = 0; i < l->count; i++) {
        const tki_def_int *n = &c->ints[l->terms[i].atom];
        if (n->kind == TKI_INT_MULTIPLY)
            tki_wrong(c, at, TKI_WRONG_NOT_AFFINE, .phrase = what);
        if (n->kind >= TKI_INT_ADD) {
            tki_check_affine(c, at, n->a, what);
            tki_check_affine(c, at, n->b, what);
        }
    }
}

static bool element_range_is_known(const tki_checker *c, int tensor);

static bool node_range_is_known(const tki_checker *c, int node)
{
    const tki_def_node *n = &c->nodes[node];
    if (n->kind == TKI_NODE_CHOICE)
        return node_range_is_known(c, n->operand[0]) && (n->operand[1] < 0 || node_range_is_known(c, n->operand[1]));
    return n->kind == TKI_NODE_OVER || tki_range_is_known(c, n->integer);
}

static bool element_range_is_known(const tki_checker *c, int tensor)
{
    const tki_def_tensor *t = &c->tensors[tensor];
    if (t->role != TKI_TENSOR_INPUT)
        return node_range_is_known(c, t->value);
    return t->below >= 0 || t->dtype == TK_BOOL || t->dtype == TK_U8;
}

bool tki_range_is_known(const tki_checker *c, int value)
{
    const tki_linear *l = &c->ints[value].linear;
    for (int i = 0; i < l->count; i++) {
        const tki_def_int *n = &c->ints[l->terms[i].atom];
        if (n->kind == TKI_INT_ELEMENT && !element_range_is_known(c, n->tensor))
            return false;
        /* A remainder has a range, whatever is divided. */
        if (n->kind >= TKI_INT_ADD && n->kind != TKI_INT_MODULO &&
            !(tki_range_is_known(c, n->a) && tki_range_is_known(c, n->b)))
            return false;
    }
    return true;
}

tki_test tki_make_test(tki_checker *c, const tki_syntax *s, int a, int b)
{
    static const char *const relations[] = {"==", "!=", "<", "<=", ">", ">="};
    tki_test test = {.a = a, .b = b, .refusal = TKI_NONE, .position = s->position};
    while (strcmp(relations[test.relation], s->text) != 0)
        test.relation++;
    const int difference = pair(c, s, TKI_INT_SUBTRACT, a, b); /* which may move ints[] */
    test.difference = c->ints[difference].linear;
    return test;
}

int tki_add_refusal(tki_checker *c, const tki_syntax *at, tki_wrong_kind kind, const char *name, const char *of)
{
    c->refusals = tki_checker_grow(c, c->refusals, c->made->refusal_count, &c->refusal_room, sizeof *c->refusals);
    c->refusals[c->made->refusal_count] = (tki_complaint){
        .kind = kind, .names = {name, of}, .numbers = {at->position.line}};
    return c->made->refusal_count++;
}

void tki_add_constraint(tki_checker *c, const tki_syntax *at, tki_relation relation, int a, int b,
                        tki_wrong_kind refusal, const char *name)
{
    if (c->made->constraint_count == TKI_MOST_NODES)
        tki_wrong(c, at, TKI_WRONG_TOO_MANY_CONSTRAINTS, .numbers = {TKI_MOST_NODES});
    c->constraints = tki_checker_grow(c, c->constraints, c->made->constraint_count, &c->constraint_room,
                                      sizeof *c->constraints);
    const int difference = pair(c, at, TKI_INT_SUBTRACT, a, b), why = tki_add_refusal(c, at, refusal, name, NULL);
    c->constraints[c->made->constraint_count++] = (tki_test){relation, a,           b, c->ints[difference].linear,
                                                             why,      at->position};
}

void tki_add_check(tki_checker *c, const tki_syntax *at, int value, int limit, tki_wrong_kind refusal,
                   const char *name, const char *of)
{
    c->checks = tki_checker_grow(c, c->checks, c->made->check_count, &c->check_room, sizeof *c->checks);
    c->checks[c->made->check_count++] = (tki_range_check){value, limit, tki_add_refusal(c, at, refusal, name, of)};
}
