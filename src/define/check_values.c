/* DECIDES. Values of a definition: expressions become nodes, each kept once. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "define/check.h"
#include "model/format.h"

/* -- Nodes --------------------------------------------------------------------------------------------------------------- */

static bool same_text(const char *a, const char *b)
{
    return a == b || (a && b && !strcmp(a, b));
}

static bool same_condition(const tki_condition *a, const tki_condition *b)
{
    bool same = a->count == b->count;
    for (int i = 0; same && i < a->count; i++)
        same = a->terms[i].attribute == b->terms[i].attribute && a->terms[i].choices == b->terms[i].choices;
    return same;
}

static bool same_lists(const tki_checker *c, const tki_def_node *a, const tki_def_node *b)
{
    bool same = a->bound_count == b->bound_count && a->test_count == b->test_count &&
                a->piece_count == b->piece_count;
    for (int i = 0; same && a->kind == TKI_NODE_READ && i < c->tensors[a->tensor].rank; i++)
        same = a->subscripts[i].value == b->subscripts[i].value;
    for (int i = 0; same && i < a->bound_count; i++)
        same = a->bound[i] == b->bound[i] && (!a->at || a->at[i] == b->at[i]);
    for (int i = 0; same && i < a->test_count; i++)
        same = a->tests[i].relation == b->tests[i].relation && a->tests[i].a == b->tests[i].a &&
               a->tests[i].b == b->tests[i].b;
    for (int i = 0; same && i < a->piece_count; i++)
        same = a->pieces[i].read == b->pieces[i].read;
    return same;
}

static bool same_node(const tki_checker *c, const tki_def_node *a, const tki_def_node *b)
{
    return a->kind == b->kind && a->operand[0] == b->operand[0] && a->operand[1] == b->operand[1] &&
           a->operand[2] == b->operand[2] && a->type == b->type && a->which == b->which && a->integer == b->integer &&
           a->tensor == b->tensor && a->primitive == b->primitive && a->dtype == b->dtype &&
           a->relation == b->relation && a->over == b->over && a->ties_lower == b->ties_lower &&
           same_text(a->text, b->text) && same_condition(&a->condition, &b->condition) && same_lists(c, a, b);
}

static tki_def_node blank(tki_node_kind kind)
{
    return (tki_def_node){.kind = kind,
                          .operand = {TKI_NONE, TKI_NONE, TKI_NONE},
                          .which = TKI_NONE,
                          .integer = TKI_NONE,
                          .tensor = TKI_NONE};
}

static int intern(tki_checker *c, const tki_syntax *at, tki_def_node n)
{
    for (int i = 0; i < 3; i++) {
        if (n.operand[i] < 0)
            continue;
        const tki_def_node *o = &c->nodes[n.operand[i]];
        n.depth = o->depth > n.depth ? o->depth : n.depth;
        tki_merge_indices(c, &n.index_count, &n.indices, o->index_count, o->indices);
    }
    n.depth += n.kind == TKI_NODE_OVER;
    for (int i = 0; i < c->made->node_count; i++)
        if (same_node(c, &c->nodes[i], &n))
            return i;
    if (c->made->node_count == TKI_MOST_NODES)
        tki_wrong(c, at, TKI_WRONG_TOO_MANY_VALUES, .numbers = {TKI_MOST_NODES});
    c->nodes = tki_checker_grow(c, c->nodes, c->made->node_count, &c->node_room, sizeof n);
    n.position = at->position;
    c->nodes[c->made->node_count] = n;
    return c->made->node_count++;
}

static bool is_constant(const tki_checker *c, int node)
{
    return node < 0 || c->nodes[node].constant;
}

/* Of reals; constant if all operands are. */
static int make(tki_checker *c, const tki_syntax *at, tki_def_node n)
{
    n.constant = is_constant(c, n.operand[0]) && is_constant(c, n.operand[1]) && is_constant(c, n.operand[2]);
    return intern(c, at, n);
}

static int primitive(tki_checker *c, const tki_syntax *at, tki_primitive which, int a, int b, int third)
{
    tki_def_node n = blank(TKI_NODE_PRIMITIVE);
    n.primitive = which;
    n.operand[0] = a;
    n.operand[1] = b;
    n.operand[2] = third;
    return make(c, at, n);
}

/* The digits of a number without those that are 0 at its ends, and the exponent of the point before them; of text in decimal. */
static void digits_of(const char *text, char *digits, size_t room, long *exponent)
{
    size_t n = 0;
    bool point = false;
    *exponent = 0;
    for (; *text && *text != 'e'; text++) {
        if (*text < '0' || *text > '9') {
            point = true; /* of any locale */
            continue;
        }
        *exponent += !point;
        if ((n > 0 || *text != '0') && n + 1 < room)
            digits[n++] = *text;
        else if (n == 0)
            --*exponent;
    }
    while (n > 0 && digits[n - 1] == '0')
        n--;
    digits[n] = 0;
    *exponent += *text == 'e' ? strtol(text + 1, NULL, 10) : 0;
}

/* Is the double the very number of the text? */
static bool is_exact(const char *text, double nearest)
{
    char spelled[800], kept[800], number[800];
    long spelled_exponent, kept_exponent;
    if (text[0] == '0' && text[1] == 'x')
        return true;                                    /* 13 digits and no subnormal number, as the lexer checks */
    snprintf(number, sizeof number, "%.770e", nearest); /* a double has at most 767 digits */
    digits_of(text, spelled, sizeof spelled, &spelled_exponent);
    digits_of(number, kept, sizeof kept, &kept_exponent);
    return !strcmp(spelled, kept) && (spelled_exponent == kept_exponent || !spelled[0]);
}

static int literal(tki_checker *c, const tki_syntax *at, const char *text)
{
    tki_def_node n = blank(TKI_NODE_LITERAL);
    n.text = text;
    n.nearest = strtod_l(text, NULL, c->reading->locale);
    n.exact = isinf(n.nearest) || is_exact(text, n.nearest);
    return make(c, at, n);
}

int tki_value_integer_node(tki_checker *c, const tki_syntax *at, tki_value value)
{
    const tki_def_int *i = &c->ints[value.id];
    tki_def_node n = blank(TKI_NODE_INTEGER);
    n.type = TKI_INTEGER;
    n.integer = value.id;
    n.constant = i->constant;
    n.index_count = i->index_count;
    n.indices = i->indices;
    return intern(c, at, n);
}

/* A name of an axis that stands for the size in one's mind is the index of the element: who means that names the axes of the line. */
static void check_named(tki_checker *c, const tki_syntax *at, const tki_def_int *i)
{
    if (i->kind == TKI_INT_INDEX && c->levels[i->which] == 1)
        tki_wrong(c, at, TKI_WRONG_INDEX_AS_NUMBER, .names = {c->indices[i->which].name});
    if (i->kind >= TKI_INT_ADD) {
        check_named(c, at, &c->ints[i->a]);
        check_named(c, at, &c->ints[i->b]);
    }
}

int tki_value_node(tki_checker *c, const tki_syntax *at, tki_value value)
{
    if (!value.integer)
        return value.id;
    const int64_t spelled = c->ints[value.id].literal;
    if (c->axes_unnamed)
        check_named(c, at, &c->ints[value.id]);
    if (c->ints[value.id].kind != TKI_INT_LITERAL || spelled == INT64_MIN)
        return tki_value_integer_node(c, at, value);
    const int size = literal(c, at,
                             tki_reading_print(c->reading, "%lld", (long long)(spelled < 0 ? -spelled : spelled)));
    return spelled < 0 ? primitive(c, at, TKI_NEGATE, size, TKI_NONE, TKI_NONE) : size;
}

static int real_of(tki_checker *c, const tki_syntax *s)
{
    return tki_value_node(c, s, tki_check_value(c, s));
}

static int integer_of(tki_checker *c, const tki_syntax *s, tki_phrase what)
{
    const tki_value value = tki_check_value(c, s);
    if (!value.integer)
        tki_wrong(c, s, TKI_WRONG_IS_REAL, .phrase = what);
    return value.id;
}

static tki_value real(int node)
{
    return (tki_value){false, node};
}

static tki_value integer(int id)
{
    return (tki_value){true, id};
}

/* -- Absent tensors ------------------------------------------------------------------------------------------------------- */

static bool is_within(const tki_combinations *a, const tki_combinations *b)
{
    for (int i = 0; i < TKI_COMBINATION_WORDS; i++)
        if (a->bits[i] & ~b->bits[i])
            return false;
    return true;
}

static bool meet(const tki_combinations *a, const tki_combinations *b)
{
    for (int i = 0; i < TKI_COMBINATION_WORDS; i++)
        if (a->bits[i] & b->bits[i])
            return true;
    return false;
}

int tki_make_choice(tki_checker *c, const tki_syntax *at, tki_condition condition, int yes, int no)
{
    tki_def_node n = blank(TKI_NODE_CHOICE);
    n.condition = condition;
    n.operand[0] = yes;
    n.operand[1] = no;
    n.type = c->nodes[yes].type;
    return make(c, at, n);
}

/* The tensor that an operand of + - * is, if it is absent in some cases and so drops out there; TKI_NONE. */
static int dropping(const tki_checker *c, const tki_syntax *s)
{
    const int tensor = s->kind == TKI_SYNTAX_NAME || s->kind == TKI_SYNTAX_READ ? tki_tensor_find(c, s->text)
                                                                                : TKI_NONE;
    return tensor >= 0 && !c->tensors[tensor].integer && c->tensors[tensor].present.count > 0 &&
                   !is_within(&c->here, &c->facts[tensor].present) && meet(&c->here, &c->facts[tensor].present)
               ? tensor
               : TKI_NONE;
}

static tki_value operand(tki_checker *c, const tki_syntax *s, int drops)
{
    const tki_combinations here = c->here;
    for (int i = 0; drops >= 0 && i < TKI_COMBINATION_WORDS; i++)
        c->here.bits[i] &= c->facts[drops].present.bits[i];
    const tki_value made = tki_check_value(c, s);
    c->here = here;
    return made;
}

/* -- Reads --------------------------------------------------------------------------------------------------------------- */

static void check_presence(tki_checker *c, const tki_syntax *s, int tensor)
{
    if (tensor == c->defining)
        tki_wrong(c, s, TKI_WRONG_READS_ITSELF, .names = {s->text});
    if (!is_within(&c->here, &c->facts[tensor].present))
        tki_wrong(c, s, TKI_WRONG_ABSENT_SOMEWHERE, .names = {s->text});
}

/* A name that stands alone ranges over the axis, unless its range is written. */
static void check_extent(tki_checker *c, const tki_syntax *s, int scope, int tensor, int axis)
{
    const int index = c->scopes[scope].index, extent = c->tensors[tensor].extent[axis];
    if (c->indices[index].extent != extent && !c->scopes[scope].written)
        tki_wrong(c, s, TKI_WRONG_OTHER_RANGE,
                  .names = {c->indices[index].name, tki_axis_name(c, tensor, axis), c->tensors[tensor].name});
}

static tki_subscript subscript(tki_checker *c, const tki_syntax *s, int tensor, int axis, bool free)
{
    const int value = integer_of(c, s, TKI_PHRASE_SUBSCRIPT);
    const int scope = s->kind == TKI_SYNTAX_NAME ? tki_scope_find(c, s->text) : TKI_NONE;
    tki_check_affine(c, s, value, TKI_PHRASE_SUBSCRIPT);
    if (scope >= 0 && !free)
        check_extent(c, s, scope, tensor, axis);
    return (tki_subscript){value, c->ints[value].linear};
}

static tki_subscript own_subscript(tki_checker *c, const tki_syntax *s, int tensor, int axis)
{
    const char *name = tki_axis_name(c, tensor, axis);
    for (int other = 0; other < axis; other++)
        if (!strcmp(tki_axis_name(c, tensor, other), name))
            tki_wrong(c, s, TKI_WRONG_AXIS_TWICE, .names = {s->text, name});
    const int scope = tki_scope_find(c, name);
    if (scope < 0)
        tki_wrong(c, s, TKI_WRONG_AXIS_UNBOUND, .names = {s->text, name});
    check_extent(c, s, scope, tensor, axis);
    const int value = tki_int_leaf(c, s, TKI_INT_INDEX, c->scopes[scope].index);
    return (tki_subscript){value, c->ints[value].linear};
}

/* Without `else` a subscript has to stay inside; what an index does that ranges over the axis. */
static void check_inside(tki_checker *c, const tki_syntax *s, int tensor, int axis, tki_subscript subscript)
{
    const tki_def_int *value = &c->ints[subscript.value];
    const int extent = c->tensors[tensor].extent[axis];
    if (value->kind == TKI_INT_INDEX && c->indices[value->which].extent == extent)
        return;
    if (!tki_range_is_known(c, subscript.value))
        tki_wrong(c, s, TKI_WRONG_SUBSCRIPT_UNKNOWN);
    tki_add_check(c, s, subscript.value, extent, TKI_REFUSED_SUBSCRIPT, tki_print_value(c->reading, s),
                  c->tensors[tensor].name);
}

static const tki_subscript *subscripts_of(tki_checker *c, const tki_syntax *s, int tensor, bool free)
{
    const int rank = c->tensors[tensor].rank;
    tki_subscript *made = tki_reading_take(c->reading, (size_t)rank * sizeof *made);
    int count = 0;
    for (const tki_syntax *e = s->a; e; e = e->next, count++)
        if (count < rank)
            made[count] = subscript(c, e, tensor, count, free);
    if (s->kind == TKI_SYNTAX_READ && count != rank)
        tki_wrong(c, s, rank == 1 ? TKI_WRONG_ONE_AXIS : TKI_WRONG_AXES, .names = {s->text},
                  .numbers = {rank, count});
    for (; count < rank; count++)
        made[count] = own_subscript(c, s, tensor, count);
    return made;
}

static int read_node(tki_checker *c, const tki_syntax *s, int tensor, const tki_subscript *subscripts, int otherwise)
{
    tki_def_node n = blank(TKI_NODE_READ);
    n.tensor = tensor;
    n.subscripts = subscripts;
    n.operand[0] = otherwise;
    for (int i = 0; i < c->tensors[tensor].rank; i++) {
        const tki_def_int *value = &c->ints[subscripts[i].value];
        tki_merge_indices(c, &n.index_count, &n.indices, value->index_count, value->indices);
    }
    n.depth = c->tensors[tensor].value >= 0 ? c->nodes[c->tensors[tensor].value].depth : 0;
    return intern(c, s, n);
}

static tki_value read_tensor(tki_checker *c, const tki_syntax *s, int tensor)
{
    check_presence(c, s, tensor);
    const tki_subscript *subscripts = subscripts_of(c, s, tensor, s->b);
    if (s->b && c->tensors[tensor].integer)
        tki_wrong(c, s->b, TKI_WRONG_ELSE_OF_INTEGERS, .names = {s->text});
    const int otherwise = s->b ? real_of(c, s->b) : TKI_NONE;
    if (s->b && !c->nodes[otherwise].constant)
        tki_wrong(c, s->b, TKI_WRONG_ELSE_NO_CONSTANT);
    int axis = 0;
    for (const tki_syntax *e = s->a; e && !s->b; e = e->next, axis++)
        check_inside(c, e, tensor, axis, subscripts[axis]);
    return c->tensors[tensor].integer ? integer(tki_int_element(c, s, tensor, subscripts))
                                      : real(read_node(c, s, tensor, subscripts, otherwise));
}

/* -- Names and numbers -------------------------------------------------------------------------------------------------- */

static tki_value attribute_value(tki_checker *c, const tki_syntax *s, int attribute)
{
    if (c->attributes[attribute].type == TK_ATTRIBUTE_CHOICE)
        tki_wrong(c, s, TKI_WRONG_CHOICE_HAS_NO_VALUE, .names = {s->text});
    if (c->attributes[attribute].type == TK_ATTRIBUTE_INTEGER)
        return integer(tki_int_leaf(c, s, TKI_INT_ATTRIBUTE, attribute));
    tki_def_node n = blank(TKI_NODE_ATTRIBUTE);
    n.which = attribute;
    return real(make(c, s, n));
}

static tki_value name_value(tki_checker *c, const tki_syntax *s)
{
    const int scope = tki_scope_find(c, s->text), attribute = tki_attribute_named(c, s->text);
    const int tensor = tki_tensor_find(c, s->text);
    if (scope >= 0)
        return integer(tki_int_leaf(c, s, TKI_INT_INDEX, c->scopes[scope].index));
    if (attribute >= 0)
        return attribute_value(c, s, attribute);
    if (tensor >= 0)
        return read_tensor(c, s, tensor);
    if (tki_size_find(c, s->text) >= 0)
        tki_wrong(c, s, TKI_WRONG_SIZE_UNBOUND, .names = {s->text});
    if (tki_output_head_find(c, s->text, NULL) >= 0)
        tki_wrong(c, s, TKI_WRONG_OUTPUT_READ_EARLY, .names = {s->text});
    tki_wrong(c, s, TKI_WRONG_UNKNOWN_NAME, .names = {s->text});
}

static tki_value read_value(tki_checker *c, const tki_syntax *s)
{
    const int tensor = tki_tensor_find(c, s->text);
    if (tensor < 0)
        tki_wrong(c, s,
                  tki_output_head_find(c, s->text, NULL) >= 0 ? TKI_WRONG_OUTPUT_READ_EARLY
                                                              : TKI_WRONG_UNKNOWN_TENSOR,
                  .names = {s->text});
    return read_tensor(c, s, tensor);
}

static tki_value number_value(tki_checker *c, const tki_syntax *s)
{
    if (s->text[strspn(s->text, "0123456789")])
        return real(literal(c, s, s->text));
    const unsigned long long value = strtoull(s->text, NULL, 10);
    return strlen(s->text) < 20 && value <= INT64_MAX ? integer(tki_int_literal(c, s, (int64_t)value))
                                                      : real(literal(c, s, s->text));
}

static tki_value size_value(tki_checker *c, const tki_syntax *s)
{
    const int size = tki_size_find(c, s->text), tensor = tki_tensor_find(c, s->text);
    if (size >= 0)
        return integer(tki_int_size(c, s, size));
    if (tensor < 0)
        tki_wrong(c, s, TKI_WRONG_UNKNOWN_SIZE, .names = {s->text});
    if (c->tensors[tensor].rank != 1)
        tki_wrong(c, s, TKI_WRONG_SIZE_OF_WHICH_AXIS, .names = {s->text}, .numbers = {c->tensors[tensor].rank});
    return integer(c->tensors[tensor].extent[0]);
}

/* -- Operators ------------------------------------------------------------------------------------------------------------ */

static tki_value with_absent(tki_checker *c, const tki_syntax *s, tki_primitive which, int a, int b, int drops,
                             bool left)
{
    const int full = primitive(c, s, which, a, b, TKI_NONE);
    int rest = left ? b : a;
    if (left && which == TKI_SUBTRACT)
        rest = primitive(c, s, TKI_NEGATE, b, TKI_NONE, TKI_NONE);
    return real(tki_make_choice(c, s, c->tensors[drops].present, full, rest));
}

static tki_value integer_pair(tki_checker *c, const tki_syntax *s, int a, int b)
{
    static const tki_int_kind kinds[] = {['+'] = TKI_INT_ADD,
                                         ['-'] = TKI_INT_SUBTRACT,
                                         ['*'] = TKI_INT_MULTIPLY,
                                         ['/'] = TKI_INT_DIVIDE,
                                         ['%'] = TKI_INT_MODULO};
    return integer(tki_int_pair(c, s, kinds[(unsigned char)s->text[0]], a, b));
}

static tki_value binary_value(tki_checker *c, const tki_syntax *s)
{
    static const tki_primitive primitives[] = {
        ['+'] = TKI_ADD, ['-'] = TKI_SUBTRACT, ['*'] = TKI_MULTIPLY, ['/'] = TKI_DIVIDE};
    const bool divides = !strcmp(s->text, "/"), of_integers = !strcmp(s->text, "//") || !strcmp(s->text, "%");
    const int drops_left = divides || of_integers ? TKI_NONE : dropping(c, s->a);
    const int drops_right = divides || of_integers ? TKI_NONE : dropping(c, s->b);
    if (drops_left >= 0 && drops_right >= 0)
        tki_wrong(c, s, TKI_WRONG_BOTH_ABSENT, .names = {s->a->text, s->b->text});
    const tki_value a = operand(c, s->a, drops_left), b = operand(c, s->b, drops_right);
    if (of_integers && !(a.integer && b.integer))
        tki_wrong(c, s, TKI_WRONG_OPERAND_IS_REAL, .names = {s->text});
    if (a.integer && b.integer && !divides && drops_left < 0 && drops_right < 0)
        return integer_pair(c, s, a.id, b.id);
    const tki_primitive which = primitives[(unsigned char)s->text[0]];
    const int x = tki_value_node(c, s->a, a), y = tki_value_node(c, s->b, b);
    if (drops_left >= 0 || drops_right >= 0)
        return with_absent(c, s, which, x, y, drops_left >= 0 ? drops_left : drops_right, drops_left >= 0);
    return real(primitive(c, s, which, x, y, TKI_NONE));
}

static tki_value negative_value(tki_checker *c, const tki_syntax *s)
{
    const tki_value a = tki_check_value(c, s->a);
    if (a.integer)
        return integer(tki_int_pair(c, s, TKI_INT_SUBTRACT, tki_int_literal(c, s, 0), a.id));
    return real(primitive(c, s, TKI_NEGATE, a.id, TKI_NONE, TKI_NONE));
}

static int compare(tki_checker *c, const tki_syntax *s)
{
    const tki_value a = tki_check_value(c, s->a), b = tki_check_value(c, s->b);
    const bool exact = a.integer && b.integer;
    tki_def_node n = blank(TKI_NODE_COMPARE);
    n.type = TKI_TRUTH;
    n.relation = tki_make_test(c, s, tki_int_literal(c, s, 0), tki_int_literal(c, s, 0)).relation;
    n.operand[0] = exact ? tki_value_integer_node(c, s->a, a) : tki_value_node(c, s->a, a);
    n.operand[1] = exact ? tki_value_integer_node(c, s->b, b) : tki_value_node(c, s->b, b);
    return make(c, s, n);
}

static tki_value select_value(tki_checker *c, const tki_syntax *s)
{
    int truth = compare(c, s->a);
    for (const tki_syntax *test = s->a->next; test; test = test->next) {
        tki_def_node n = blank(TKI_NODE_AND);
        n.type = TKI_TRUTH;
        n.operand[0] = truth;
        n.operand[1] = compare(c, test);
        truth = make(c, test, n);
    }
    tki_def_node n = blank(TKI_NODE_SELECT);
    n.operand[0] = truth;
    n.operand[1] = real_of(c, s->b);
    n.operand[2] = real_of(c, s->c);
    return real(make(c, s, n));
}

static tki_value cast_value(tki_checker *c, const tki_syntax *s)
{
    tki_def_node n = blank(TKI_NODE_CAST);
    if (!tki_type_named(s->text, &n.dtype) || tki_format_of(n.dtype).number != TKI_FLOATING)
        tki_wrong(c, s, TKI_WRONG_NO_FORMAT, .names = {s->text});
    n.operand[0] = real_of(c, s->a);
    return real(make(c, s, n));
}

/* -- Functions ------------------------------------------------------------------------------------------------------------ */

static int arguments(tki_checker *c, const tki_syntax *s, int count, const tki_syntax *of[])
{
    int n = 0;
    for (const tki_syntax *e = s->kind == TKI_SYNTAX_OVER ? s->c : s->a; e; e = e->next, n++)
        if (n < count)
            of[n] = e;
    if (n != count)
        tki_wrong(c, s, count == 1 ? TKI_WRONG_TAKES_ONE : TKI_WRONG_TAKES, .names = {s->text},
                  .numbers = {count, n});
    return n;
}

static tki_value primitive_value(tki_checker *c, const tki_syntax *s, tki_primitive which)
{
    const tki_syntax *of[3];
    const int count = arguments(c, s, tki_primitive_operands(which), of);
    tki_value values[3];
    int nodes[3] = {TKI_NONE, TKI_NONE, TKI_NONE};
    bool integers = which == TKI_MIN || which == TKI_MAX;
    for (int i = 0; i < count; i++) {
        values[i] = tki_check_value(c, of[i]);
        integers &= values[i].integer;
    }
    if (integers)
        return integer(tki_int_pair(c, s, which == TKI_MIN ? TKI_INT_MIN : TKI_INT_MAX, values[0].id, values[1].id));
    for (int i = 0; i < count; i++)
        nodes[i] = tki_value_node(c, of[i], values[i]);
    return real(primitive(c, s, which, nodes[0], nodes[1], nodes[2]));
}

static tki_value relu_value(tki_checker *c, const tki_syntax *s)
{
    const tki_syntax *of[1];
    arguments(c, s, 1, of);
    return real(primitive(c, s, TKI_MAX, real_of(c, of[0]), literal(c, s, "0"), TKI_NONE));
}

static tki_value clamp_value(tki_checker *c, const tki_syntax *s)
{
    const tki_syntax *of[3];
    arguments(c, s, 3, of);
    const int x = real_of(c, of[0]), low = real_of(c, of[1]), high = real_of(c, of[2]);
    return real(primitive(c, s, TKI_MIN, primitive(c, s, TKI_MAX, x, low, TKI_NONE), high, TKI_NONE));
}

/* What doubles can be asked for exactly. */
static bool is_arithmetic(const tki_checker *c, int node)
{
    const tki_def_node *n = &c->nodes[node];
    if (n->kind != TKI_NODE_PRIMITIVE)
        return n->kind == TKI_NODE_LITERAL || n->kind == TKI_NODE_ATTRIBUTE || n->kind == TKI_NODE_INTEGER;
    return n->primitive <= TKI_NEGATE && is_arithmetic(c, n->operand[0]) &&
           (n->operand[1] < 0 || is_arithmetic(c, n->operand[1]));
}

static tki_value floor_value(tki_checker *c, const tki_syntax *s)
{
    const tki_syntax *of[1];
    arguments(c, s, 1, of);
    const int node = real_of(c, of[0]);
    if (!c->nodes[node].constant || !is_arithmetic(c, node))
        tki_wrong(c, of[0], TKI_WRONG_FLOOR_NO_CONSTANT);
    return integer(tki_int_leaf(c, s, TKI_INT_FLOOR, node));
}

static tki_value philox_value(tki_checker *c, const tki_syntax *s)
{
    const tki_syntax *of[2];
    arguments(c, s, 2, of);
    const int seed = integer_of(c, of[0], TKI_PHRASE_SEED);
    return integer(tki_int_pair(c, s, TKI_INT_PHILOX, seed, integer_of(c, of[1], TKI_PHRASE_PHILOX_POSITION)));
}

/* -- Pieces -------------------------------------------------------------------------------------------------------------- */

/* Is a subscript an index less a constant? */
static bool is_moved(const tki_checker *c, const tki_subscript *s)
{
    const tki_linear *l = &s->linear;
    return l->count == 1 && c->ints[l->terms[0].atom].kind == TKI_INT_INDEX &&
           c->ints[l->terms[0].coefficient].kind == TKI_INT_LITERAL && c->ints[l->terms[0].coefficient].literal == 1;
}

/* The axis along which a piece moves with an index; TKI_NONE. */
static int moving_axis(const tki_checker *c, const tki_def_node *read, int index)
{
    for (int axis = 0; axis < c->tensors[read->tensor].rank; axis++)
        if (is_moved(c, &read->subscripts[axis]) &&
            c->ints[read->subscripts[axis].linear.terms[0].atom].which == index)
            return axis;
    return TKI_NONE;
}

/* The index that the last piece takes something from. */
static int moving_index(tki_checker *c, const tki_syntax *s, const tki_def_node *last)
{
    for (int axis = 0; axis < c->tensors[last->tensor].rank; axis++)
        if (is_moved(c, &last->subscripts[axis]) && c->ints[last->subscripts[axis].value].kind != TKI_INT_INDEX)
            return c->ints[last->subscripts[axis].linear.terms[0].atom].which;
    tki_wrong(c, s, TKI_WRONG_LAST_PIECE_UNMOVED);
}

/* The subscripts beside that along which the pieces lie. */
static void check_other_axes(tki_checker *c, const tki_syntax *piece, const tki_def_node *read, int along)
{
    int axis = 0;
    for (const tki_syntax *e = piece->a; e; e = e->next, axis++) {
        const int scope = e->kind == TKI_SYNTAX_NAME ? tki_scope_find(c, e->text) : TKI_NONE;
        if (axis != along && scope >= 0)
            check_extent(c, e, scope, read->tensor, axis);
        if (axis != along)
            check_inside(c, e, read->tensor, axis, read->subscripts[axis]);
    }
}

/* Where the piece begins, which has to be where the one before it ends; returns its end. */
static int place_piece(tki_checker *c, const tki_syntax *s, tki_piece *piece, int index, int end)
{
    const tki_def_node read = c->nodes[piece->read];
    const int along = moving_axis(c, &read, index);
    if (along < 0)
        tki_wrong(c, s, TKI_WRONG_PIECE_UNMOVED, .names = {c->indices[index].name});
    piece->start = tki_int_pair(c, s, TKI_INT_SUBTRACT, tki_int_literal(c, s, 0),
                                read.subscripts[along].linear.offset);
    piece->size = c->tensors[read.tensor].extent[along];
    tki_add_constraint(c, s, TKI_IS_EQUAL, piece->start, end, TKI_REFUSED_PIECE, s->text);
    check_other_axes(c, s, &read, along);
    return tki_int_pair(c, s, TKI_INT_ADD, end, piece->size);
}

static int read_piece(tki_checker *c, const tki_syntax *s)
{
    const int tensor = s->kind == TKI_SYNTAX_READ && !s->b ? tki_tensor_find(c, s->text) : TKI_NONE;
    if (tensor < 0 || c->tensors[tensor].integer)
        tki_wrong(c, s, TKI_WRONG_NO_PIECE);
    check_presence(c, s, tensor);
    return read_node(c, s, tensor, subscripts_of(c, s, tensor, true), TKI_NONE);
}

static tki_value pieces_value(tki_checker *c, const tki_syntax *s)
{
    tki_piece *pieces = tki_reading_take(c->reading, TKI_MOST_PIECES * sizeof *pieces);
    tki_def_node n = blank(TKI_NODE_PIECES);
    for (const tki_syntax *e = s->a; e; e = e->next) {
        if (n.piece_count == TKI_MOST_PIECES)
            tki_wrong(c, e, TKI_WRONG_TOO_MANY_PIECES, .numbers = {TKI_MOST_PIECES});
        pieces[n.piece_count].read = read_piece(c, e);
        const tki_def_node *read = &c->nodes[pieces[n.piece_count++].read];
        tki_merge_indices(c, &n.index_count, &n.indices, read->index_count, read->indices);
        n.depth = read->depth > n.depth ? read->depth : n.depth;
    }
    n.which = moving_index(c, s, &c->nodes[pieces[n.piece_count - 1].read]);
    n.pieces = pieces;
    int end = tki_int_literal(c, s, 0);
    for (const tki_syntax *e = s->a; e; e = e->next, pieces++)
        end = place_piece(c, e, pieces, n.which, end);
    tki_add_constraint(c, s, TKI_IS_EQUAL, end, c->indices[n.which].extent, TKI_REFUSED_PIECES_END,
                       c->indices[n.which].name);
    return real(intern(c, s, n));
}

/* -- Reductions ---------------------------------------------------------------------------------------------------------- */

static void check_binders(tki_checker *c, const tki_syntax *s, tki_over over)
{
    const bool one = over == TKI_ARGMAX || over == TKI_ARGMIN || over == TKI_TOPK || over >= TKI_CUMSUM;
    if (one && s->a->next)
        tki_wrong(c, s->a->next, TKI_WRONG_OVER_ONE_AXIS, .names = {s->text});
    if (over == TKI_ROTATE_HALF && s->b)
        tki_wrong(c, s->b, TKI_WRONG_ROTATE_WITH_PREDICATE);
    if (s->marked && over != TKI_ARGMAX && over != TKI_ARGMIN && over != TKI_TOPK)
        tki_wrong(c, s, TKI_WRONG_TIES_OF_OTHER);
}

static void read_tests(tki_checker *c, const tki_syntax *s, tki_def_node *n)
{
    for (const tki_syntax *t = s->b; t; t = t->next)
        n->test_count++;
    tki_test *tests = tki_reading_take(c->reading, (size_t)n->test_count * sizeof *tests);
    int i = 0;
    for (const tki_syntax *t = s->b; t; t = t->next) {
        const int a = integer_of(c, t->a, TKI_PHRASE_SIDE), b = integer_of(c, t->b, TKI_PHRASE_SIDE);
        tki_check_affine(c, t->a, a, TKI_PHRASE_SIDE);
        tki_check_affine(c, t->b, b, TKI_PHRASE_SIDE);
        tests[i] = tki_make_test(c, t, a, b);
        tki_merge_indices(c, &n->index_count, &n->indices, c->ints[a].index_count, c->ints[a].indices);
        tki_merge_indices(c, &n->index_count, &n->indices, c->ints[b].index_count, c->ints[b].indices);
        i++;
    }
    n->tests = tests;
}

/* What keeps its axes is at the indices of the same names outside. */
static void find_places(tki_checker *c, const tki_syntax *s, tki_def_node *n)
{
    int *at = tki_reading_take(c->reading, (size_t)n->bound_count * sizeof *at);
    int i = 0;
    for (const tki_syntax *b = s->a; b; b = b->next, i++) {
        const int scope = tki_scope_find(c, b->text);
        if (scope < 0)
            tki_wrong(c, b, TKI_WRONG_KEEPS_UNBOUND, .names = {s->text, b->text});
        at[i] = c->scopes[scope].index;
        if (c->indices[at[i]].extent != c->indices[n->bound[i]].extent)
            tki_wrong(c, b, TKI_WRONG_KEEPS_OTHER, .names = {s->text, b->text});
        tki_merge_indices(c, &n->index_count, &n->indices, 1, &at[i]);
    }
    n->at = at;
}

static void bind_over(tki_checker *c, const tki_syntax *s, tki_def_node *n)
{
    const int scopes = c->scope_count;
    tki_open_scope(c, s->a, s->c, s->b);
    int *bound = tki_reading_take(c->reading, (size_t)(c->scope_count - scopes) * sizeof *bound);
    for (int i = scopes; i < c->scope_count; i++)
        bound[n->bound_count++] = c->scopes[i].index;
    n->bound = bound;
    n->operand[0] = real_of(c, s->c);
    read_tests(c, s, n);
    tki_close_scope(c, scopes);
    const tki_def_node *body = &c->nodes[n->operand[0]];
    tki_merge_indices(c, &n->index_count, &n->indices, body->index_count, body->indices);
    tki_drop_indices(c, &n->index_count, &n->indices, n->bound_count, n->bound);
}

/* What the reduction needs of sizes. */
static void constrain(tki_checker *c, const tki_syntax *s, const tki_def_node *n)
{
    const int extent = c->indices[n->bound[0]].extent, none = tki_int_literal(c, s, 0);
    if (n->over == TKI_ROTATE_HALF)
        tki_add_constraint(c, s, TKI_IS_EQUAL, tki_int_pair(c, s, TKI_INT_MODULO, extent, tki_int_literal(c, s, 2)),
                           none, TKI_REFUSED_ODD, s->text);
    if (n->over == TKI_ARGMAX || n->over == TKI_ARGMIN)
        tki_add_constraint(c, s, TKI_IS_GREATER, extent, none, TKI_REFUSED_NOTHING, s->text);
    if (n->over == TKI_TOPK)
        tki_add_check(c, s, n->integer, extent, TKI_REFUSED_TOPK, s->text, NULL);
}

static void second_operand(tki_checker *c, const tki_syntax *s, tki_def_node *n)
{
    const tki_syntax *second = s->c->next;
    const bool needs = n->over == TKI_STANDARDIZE || n->over == TKI_TOPK;
    if ((needs && (!second || second->next)) || (!needs && second && (n->over != TKI_VAR || second->next)))
        tki_wrong(c, s,
                  n->over == TKI_STANDARDIZE ? TKI_WRONG_STANDARDIZE_TAKES
                  : n->over == TKI_TOPK      ? TKI_WRONG_TOPK_TAKES
                  : n->over == TKI_VAR       ? TKI_WRONG_VAR_TAKES
                                             : TKI_WRONG_OVER_TAKES,
                  .names = {s->text});
    if (!second)
        return;
    if (n->over == TKI_TOPK) {
        n->integer = integer_of(c, second, TKI_PHRASE_TOPK_POSITION);
        tki_check_affine(c, second, n->integer, TKI_PHRASE_TOPK_POSITION);
        if (!tki_range_is_known(c, n->integer))
            tki_wrong(c, second, TKI_WRONG_POSITION_UNKNOWN);
        tki_merge_indices(c, &n->index_count, &n->indices, c->ints[n->integer].index_count,
                          c->ints[n->integer].indices);
        return;
    }
    n->operand[1] = real_of(c, second);
    if (!c->nodes[n->operand[1]].constant)
        tki_wrong(c, second, TKI_WRONG_SECOND_NO_CONSTANT, .names = {s->text});
}

static int over_node(tki_checker *c, const tki_syntax *s)
{
    tki_def_node n = blank(TKI_NODE_OVER);
    n.over = (tki_over)tki_over_find(s->text);
    n.ties_lower = s->marked;
    n.type = n.over == TKI_ARGMAX || n.over == TKI_ARGMIN || n.over == TKI_TOPK ? TKI_INTEGER : TKI_REAL;
    check_binders(c, s, n.over);
    second_operand(c, s, &n);
    bind_over(c, s, &n);
    if (tki_over_keeps_axes(n.over))
        find_places(c, s, &n);
    constrain(c, s, &n);
    /* The operands' own indices are bound here: what is left is in n already. */
    const int *left = n.indices, count = n.index_count;
    const int made = intern(c, s, n);
    c->nodes[made].index_count = count;
    c->nodes[made].indices = left;
    return made;
}

static tki_value over_value(tki_checker *c, const tki_syntax *s)
{
    const int node = over_node(c, s);
    if (c->nodes[node].type == TKI_INTEGER)
        tki_wrong(c, s, TKI_WRONG_OWN_LINE, .names = {s->text});
    return real(node);
}

static tki_value call_value(tki_checker *c, const tki_syntax *s)
{
    static const struct {
        const char *name;
        tki_value (*check)(tki_checker *c, const tki_syntax *s);
    } calls[] = {{"relu", relu_value},
                 {"clamp", clamp_value},
                 {"floor", floor_value},
                 {"philox", philox_value},
                 {"pieces", pieces_value}};
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++)
        if (!strcmp(calls[i].name, s->text))
            return calls[i].check(c, s);
    return primitive_value(c, s, (tki_primitive)tki_primitive_find(s->text));
}

tki_value tki_check_value(tki_checker *c, const tki_syntax *s)
{
    switch (s->kind) {
    case TKI_SYNTAX_NUMBER: return number_value(c, s);
    case TKI_SYNTAX_INF: return real(literal(c, s, "inf"));
    case TKI_SYNTAX_NAME: return name_value(c, s);
    case TKI_SYNTAX_READ: return read_value(c, s);
    case TKI_SYNTAX_SIZE: return size_value(c, s);
    case TKI_SYNTAX_CALL: return call_value(c, s);
    case TKI_SYNTAX_OVER: return over_value(c, s);
    case TKI_SYNTAX_CAST: return cast_value(c, s);
    case TKI_SYNTAX_SELECT: return select_value(c, s);
    case TKI_SYNTAX_NEGATE: return negative_value(c, s);
    default: return binary_value(c, s);
    }
}

int tki_check_line_value(tki_checker *c, const tki_syntax *s)
{
    if (s->kind == TKI_SYNTAX_OVER)
        return over_node(c, s);
    const tki_value value = tki_check_value(c, s);
    return value.integer ? tki_value_integer_node(c, s, value) : value.id;
}
