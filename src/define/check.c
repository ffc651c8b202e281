/* DECIDES. The checker: a parsed definition gets its meaning, or is refused. */
#include <string.h>

#include "define/check_head.h"
#include "model/format.h"

/* -- Constraints ----------------------------------------------------------------------------------------------------- */

static void check_fact(tki_checker *c, const tki_syntax *fact)
{
    if (!strcmp(fact->text, "="))
        return;
    const int a = tki_where_value(c, fact->a), b = tki_where_value(c, fact->b);
    tki_add_constraint(c, fact, tki_make_test(c, fact, a, b).relation, a, b, TKI_REFUSED_FACT,
                       tki_print_value(c->reading, fact));
}

/* -- Lines that give a tensor its value ---------------------------------------------------------------------------------- */

static void intersect(tki_combinations *a, const tki_combinations *b)
{
    for (int i = 0; i < TKI_COMBINATION_WORDS; i++)
        a->bits[i] &= b->bits[i];
}

/* Is something in a? */
static bool holds_somewhere(const tki_combinations *a)
{
    for (int i = 0; i < TKI_COMBINATION_WORDS; i++)
        if (a->bits[i])
            return true;
    return false;
}

/* The axes of the line of an output: as its head states them, under the names that the line gives. */
static void bind_output(tki_checker *c, const tki_syntax *line, const tki_def_tensor *t, const tki_syntax *head)
{
    const tki_syntax *name = line->marked ? line->a : head->a;
    c->level++;
    int axis = 0;
    for (; name; name = name->next, axis++) {
        if (axis == t->rank || (line->marked && name->a))
            tki_wrong(c, name, axis == t->rank ? TKI_WRONG_FEWER_AXES : TKI_WRONG_SIZE_AGAIN, .names = {line->text});
        for (const tki_syntax *before = line->marked ? line->a : head->a; before != name; before = before->next)
            if (!strcmp(before->text, name->text))
                tki_wrong(c, line->marked ? name : line,
                          line->marked ? TKI_WRONG_BOUND_TWICE : TKI_WRONG_AXIS_TWICE_IN_HEAD, .names = {name->text});
        tki_bind(c, name, name->text, t->extent[axis], false);
    }
    if (axis < t->rank)
        tki_wrong(c, line, TKI_WRONG_OTHER_RANK, .names = {line->text}, .numbers = {t->rank, axis});
}

static void bind_between(tki_checker *c, const tki_syntax *line)
{
    const tki_syntax *axes = line->marked ? line->a : tki_own_axes(c, line->b);
    tki_open_scope(c, axes, line->b, NULL);
}

/* A further line of a tensor binds what its first one did. */
static void bind_again(tki_checker *c, const tki_syntax *line, const tki_def_tensor *t)
{
    int axis = 0;
    c->level++;
    for (const tki_syntax *name = line->a; name; name = name->next, axis++)
        if (axis == t->rank || name->a || strcmp(name->text, c->indices[t->own[axis]].name) != 0)
            tki_wrong(c, name, TKI_WRONG_OTHER_AXES, .names = {line->text});
    if (line->marked && axis < t->rank)
        tki_wrong(c, line, TKI_WRONG_OTHER_AXES, .names = {line->text});
    for (int i = 0; i < t->rank; i++)
        tki_bind(c, line, c->indices[t->own[i]].name, t->extent[i], false);
}

static tki_def_tensor between_tensor(const tki_syntax *line)
{
    return (tki_def_tensor){.name = line->text,
                            .role = TKI_TENSOR_BETWEEN,
                            .type = TKI_TYPE_REAL,
                            .value = TKI_NONE,
                            .below = TKI_NONE,
                            .limit = TKI_NONE,
                            .shares = TKI_NONE,
                            .stated_bound = TKI_NONE,
                            .param = TKI_NONE,
                            .position = line->position};
}

/* The value has the kind of numbers that the tensor holds. */
static int fit(tki_checker *c, const tki_syntax *line, const tki_def_tensor *t, int value)
{
    const bool integer = c->nodes[value].type == TKI_INTEGER;
    if (integer == t->integer)
        return value;
    if (t->integer)
        tki_wrong(c, line->b, TKI_WRONG_HOLDS_INTEGERS, .names = {line->text});
    if (c->nodes[value].kind != TKI_NODE_INTEGER)
        tki_wrong(c, line->b, TKI_WRONG_HOLDS_REALS, .names = {line->text});
    return tki_value_node(c, line->b, (tki_value){true, c->nodes[value].integer});
}

static void check_line_name(tki_checker *c, const tki_syntax *line, int tensor)
{
    const bool input = tensor >= 0 && c->tensors[tensor].role == TKI_TENSOR_INPUT;
    if (input || tki_attribute_named(c, line->text) >= 0 || tki_size_find(c, line->text) >= 0)
        tki_wrong(c, line,
                  input                               ? TKI_WRONG_VALUE_OF_INPUT
                  : tki_size_find(c, line->text) >= 0 ? TKI_WRONG_VALUE_OF_SIZE
                                                      : TKI_WRONG_VALUE_OF_ATTRIBUTE,
                  .names = {line->text});
    if (tki_scope_find(c, line->text) >= 0)
        tki_wrong(c, line, TKI_WRONG_BOUND, .names = {line->text});
    if (tensor >= 0 && tensor != c->made->tensor_count - 1)
        tki_wrong(c, line, TKI_WRONG_LINES_APART, .names = {line->text});
}

/* The first line of a tensor makes it; another one is for other choices. */
static void finish_tensor(tki_checker *c, const tki_syntax *line, tki_def_tensor t, const tki_syntax *head,
                          tki_condition condition, tki_combinations here)
{
    t.rank = c->scope_count;
    for (int i = 0; i < t.rank; i++) {
        t.own[i] = c->scopes[i].index;
        t.extent[i] = c->indices[t.own[i]].extent;
    }
    int value = tki_check_line_value(c, line->b);
    if (t.role == TKI_TENSOR_BETWEEN)
        t.integer = c->nodes[value].type == TKI_INTEGER;
    value = fit(c, line, &t, value);
    if (condition.count > 0)
        value = tki_make_choice(c, line, condition, value, TKI_NONE);
    t.value = value;
    if (t.role == TKI_TENSOR_BETWEEN)
        t.present = condition;
    const int made = tki_add_tensor(c, t, head);
    c->facts[made].present = here;
    c->facts[made].lines = 1;
}

static void add_alternative(tki_checker *c, const tki_syntax *line, int tensor, tki_condition condition,
                            tki_combinations here)
{
    tki_combinations both = here;
    intersect(&both, &c->facts[tensor].present);
    if (holds_somewhere(&both))
        tki_wrong(c, line, TKI_WRONG_TWO_VALUES, .names = {line->text});
    c->defining = tensor;
    const int value = fit(c, line, &c->tensors[tensor], tki_check_line_value(c, line->b));
    c->defining = TKI_NONE;
    c->tensors[tensor].value = tki_make_choice(c, line, condition, value, c->tensors[tensor].value);
    for (int i = 0; i < TKI_COMBINATION_WORDS; i++)
        c->facts[tensor].present.bits[i] |= here.bits[i];
    c->facts[tensor].lines++;
    if (c->tensors[tensor].role == TKI_TENSOR_BETWEEN)
        c->tensors[tensor].present = (tki_condition){0, NULL};
}

static void check_assignment(tki_checker *c, const tki_syntax *line)
{
    const int tensor = tki_tensor_find(c, line->text);
    const tki_syntax *head = NULL;
    check_line_name(c, line, tensor);
    const tki_condition condition = tki_check_condition(c, line->c);
    c->here = tki_combinations_of(c, &condition);
    tki_def_tensor t = between_tensor(line);
    if (tki_output_head_find(c, line->text, &head) >= 0) {
        t = tki_head_tensor(c, head);
        t.role = TKI_TENSOR_OUTPUT;
        const tki_combinations present = tki_combinations_of(c, &t.present);
        intersect(&c->here, &present);
        if (!holds_somewhere(&c->here))
            tki_wrong(c, line, TKI_WRONG_ABSENT_HERE, .names = {line->text});
    }
    const tki_combinations here = c->here;
    if (tensor >= 0)
        bind_again(c, line, &c->tensors[tensor]);
    else if (head)
        bind_output(c, line, &t, head);
    else
        bind_between(c, line);
    c->axes_unnamed = !line->marked;
    if (tensor >= 0)
        add_alternative(c, line, tensor, condition, here);
    else
        finish_tensor(c, line, t, head, condition, here);
    c->axes_unnamed = false;
    tki_close_scope(c, 0);
}

/* -- Outputs ------------------------------------------------------------------------------------------------------------- */

static void share(tki_checker *c, const tki_syntax *head, tki_def_tensor *t)
{
    t->shares = tki_tensor_find(c, head->c->text);
    if (t->shares < 0 || c->tensors[t->shares].role != TKI_TENSOR_INPUT)
        tki_wrong(c, head->c, TKI_WRONG_NO_MEMORY_OF, .names = {head->c->text, head->text});
    const tki_def_tensor *input = &c->tensors[t->shares];
    bool same = input->rank == t->rank && input->type == t->type &&
                (t->type != TKI_TYPE_FIXED || input->dtype == t->dtype);
    for (int i = 0; same && i < t->rank; i++)
        same = input->size[i] == t->size[i];
    if (!same)
        tki_wrong(c, head->c, TKI_WRONG_UNLIKE_MEMORY, .names = {head->text, head->c->text});
}

static void finish_outputs(tki_checker *c, const tki_syntax *outputs)
{
    int *params = tki_reading_take(c->reading, TK_MAX_PARAMS * sizeof *params);
    for (; c->made->param_count < c->made->input_count; c->made->param_count++)
        params[c->made->param_count] = c->made->param_count;
    bool always = false;
    for (const tki_syntax *head = outputs; head; head = head->next) {
        const int tensor = tki_tensor_find(c, head->text);
        if (tensor < 0)
            tki_wrong(c, head, TKI_WRONG_NO_VALUE, .names = {head->text});
        tki_def_tensor *t = &c->tensors[tensor];
        tki_combinations missing = tki_combinations_of(c, &t->present);
        for (int i = 0; i < TKI_COMBINATION_WORDS; i++)
            missing.bits[i] &= ~c->facts[tensor].present.bits[i];
        if (holds_somewhere(&missing))
            tki_wrong(c, head, TKI_WRONG_NO_VALUE_WITH, .names = {head->text});
        if (head->c)
            share(c, head, t);
        always |= t->present.count == 0;
        t->param = c->made->param_count;
        params[c->made->param_count++] = tensor;
        const int depth = c->nodes[t->value].depth;
        c->made->depth = depth > c->made->depth ? depth : c->made->depth;
    }
    if (!always)
        tki_wrong(c, outputs, TKI_WRONG_NO_OUTPUT);
    c->made->params = params;
}

/* -- Further lines --------------------------------------------------------------------------------------------------------- */

static unsigned special_bits(tki_checker *c, const tki_syntax *values)
{
    unsigned bits = 0;
    for (const tki_syntax *v = values; v; v = v->next) {
        const unsigned bit = v->kind == TKI_SYNTAX_NUMBER   ? TKI_SPECIAL_ZERO
                             : v->kind == TKI_SYNTAX_INF    ? TKI_SPECIAL_PLUS_INF
                             : v->kind == TKI_SYNTAX_NEGATE ? TKI_SPECIAL_MINUS_INF
                                                            : TKI_SPECIAL_NAN;
        if (bits & bit)
            tki_wrong(c, v, TKI_WRONG_VALUE_TWICE);
        bits |= bit;
    }
    return bits;
}

/* Which axis of the output each axis of the input is: by their names in the head. */
static const int *places_in(tki_checker *c, const tki_syntax *s, int input, int output)
{
    const tki_def_tensor *in = &c->tensors[input], *out = &c->tensors[output];
    int *places = tki_reading_take(c->reading, TK_MAX_RANK * sizeof *places);
    for (int i = 0; i < in->rank; i++) {
        int count = 0;
        for (int k = 0; k < out->rank; k++)
            if (out->size[k] == in->size[i]) {
                places[i] = k;
                count++;
            }
        if (count != 1)
            tki_wrong(c, s, count == 0 ? TKI_WRONG_SPECIAL_WITHOUT_AXIS : TKI_WRONG_SPECIAL_AXES,
                      .names = {out->name, c->sizes[in->size[i]].name, in->name});
    }
    return places;
}

static void check_special(tki_checker *c, const tki_syntax *line)
{
    tki_special special = {.output = tki_tensor_find(c, line->b->text), .position = line->position};
    if (special.output < 0 || c->tensors[special.output].role != TKI_TENSOR_OUTPUT ||
        c->tensors[special.output].integer)
        tki_wrong(c, line->b, TKI_WRONG_NO_REAL_OUTPUT, .names = {line->b->text});
    special.admits = special_bits(c, line->b->a);
    struct tki_special_when *when = tki_reading_take(c->reading, TK_MAX_PARAMS * sizeof *when);
    for (const tki_syntax *s = line->a; s; s = s->next) {
        const int input = tki_tensor_find(c, s->text);
        if (input < 0 || c->tensors[input].role != TKI_TENSOR_INPUT || c->tensors[input].integer)
            tki_wrong(c, s, TKI_WRONG_NO_REAL_INPUT, .names = {s->text});
        for (int i = 0; i < special.when_count; i++)
            if (when[i].tensor == input)
                tki_wrong(c, s, TKI_WRONG_NAMED_TWICE, .names = {s->text});
        when[special.when_count++] = (struct tki_special_when){input, special_bits(c, s->a),
                                                               places_in(c, s, input, special.output)};
    }
    special.when = when;
    tki_special *all = tki_reading_take(c->reading, (size_t)(c->made->special_count + 1) * sizeof *all);
    for (int i = 0; i < c->made->special_count; i++)
        all[i] = c->made->specials[i];
    all[c->made->special_count++] = special;
    c->made->specials = all;
}

static const char *const *gradient_names(tki_checker *c, const tki_syntax *first, int *count, bool outputs)
{
    const char **names = tki_reading_take(c->reading, TK_MAX_PARAMS * sizeof *names);
    for (const tki_syntax *s = first; s; s = s->next) {
        const char *name = tki_reading_print(c->reading, "grad_%s", s->text);
        const int tensor = tki_tensor_find(c, name);
        const bool is_input = tensor >= 0 && c->tensors[tensor].role == TKI_TENSOR_INPUT;
        if (outputs ? tki_output_head_find(c, name, NULL) < 0 : !is_input)
            tki_wrong(c, s, outputs ? TKI_WRONG_UNKNOWN_OUTPUT : TKI_WRONG_UNKNOWN_INPUT, .names = {name});
        for (int i = 0; i < *count; i++)
            if (!strcmp(names[i], s->text))
                tki_wrong(c, s, TKI_WRONG_NAMED_TWICE, .names = {s->text});
        names[(*count)++] = s->text;
    }
    return names;
}

static void check_gradient(tki_checker *c, const tki_syntax *line)
{
    tki_gradient *g = &c->made->gradient;
    if (g->op)
        tki_wrong(c, line, TKI_WRONG_GRADIENT_TWICE);
    *g = (tki_gradient){.op = line->text, .position = line->position};
    g->of = gradient_names(c, line->a, &g->of_count, false);
    g->by = gradient_names(c, line->b, &g->by_count, true);
}

static void check_bound(tki_checker *c, const tki_syntax *line)
{
    if (!line->text[0] && c->outputs->next)
        tki_wrong(c, line, TKI_WRONG_BOUND_OF_WHICH);
    const char *name = line->text[0] ? line->text : c->outputs->text;
    const int output = tki_tensor_find(c, name);
    if (output < 0 || c->tensors[output].role != TKI_TENSOR_OUTPUT || c->tensors[output].integer)
        tki_wrong(c, line, TKI_WRONG_NO_REAL_OUTPUT, .names = {name});
    if (c->tensors[output].stated_bound >= 0)
        tki_wrong(c, line, TKI_WRONG_BOUND_OF_TWICE, .names = {name});
    c->here = tki_combinations_of(c, &c->tensors[output].present);
    c->level++;
    for (int i = 0; i < c->tensors[output].rank; i++)
        tki_bind(c, line, c->indices[c->tensors[output].own[i]].name, c->tensors[output].extent[i], false);
    const int value = tki_value_node(c, line->a, tki_check_value(c, line->a));
    tki_close_scope(c, 0);
    c->tensors[output].stated_bound = value;
}

static void check_line(tki_checker *c, const tki_syntax *line)
{
    switch (line->kind) {
    case TKI_SYNTAX_WHERE:
        for (const tki_syntax *fact = line->a; fact; fact = fact->next)
            check_fact(c, fact);
        break;
    case TKI_SYNTAX_SPECIAL: check_special(c, line); break;
    case TKI_SYNTAX_GRADIENT: check_gradient(c, line); break;
    case TKI_SYNTAX_BOUND: check_bound(c, line); break;
    default: check_assignment(c, line); break;
    }
}

static void hand_over(tki_checker *c)
{
    tki_definition *d = c->made;
    d->sizes = c->sizes;
    d->attributes = c->attributes;
    d->tensors = c->tensors;
    d->indices = c->indices;
    d->ints = c->ints;
    d->nodes = c->nodes;
    d->derivation = c->derivation;
    d->constraints = c->constraints;
    d->checks = c->checks;
    d->refusals = c->refusals;
    d->refusal_texts = tki_reading_take(c->reading, (size_t)d->refusal_count * sizeof *d->refusal_texts);
}

void tki_check_definition(tki_reading *r, const tki_syntax *s, tki_definition *made)
{
    *made = (tki_definition){.name = s->text, .text = tki_print_definition(r, s), .position = s->position};
    const size_t normal = strlen(made->text);
    if (normal > TKI_MOST_TEXT) /* a certificate has it, and it is read again */
        tki_reading_fail(r, s->position, TKI_WRONG_TOO_LONG_PRINTED, .numbers = {(long long)normal, TKI_MOST_TEXT});
    tki_checker *c = tki_reading_take(r, sizeof *c);
    c->reading = r;
    c->made = made;
    c->combination_count = 1;
    c->defining = TKI_NONE;
    c->sizes = tki_reading_take(r, TK_MAX_DIMS * sizeof *c->sizes);
    c->size_values = tki_reading_take(r, TK_MAX_DIMS * sizeof *c->size_values);
    c->size_is_open = tki_reading_take(r, TK_MAX_DIMS * sizeof *c->size_is_open);
    c->size_ints = tki_reading_take(r, TK_MAX_DIMS * sizeof *c->size_ints);
    c->derivation = tki_reading_take(r, TK_MAX_DIMS * sizeof *c->derivation);
    c->attributes = tki_reading_take(r, TK_MAX_ATTRIBUTES * sizeof *c->attributes);
    c->indices = tki_reading_take(r, TKI_MOST_INDICES * sizeof *c->indices);
    c->levels = tki_reading_take(r, TKI_MOST_INDICES * sizeof *c->levels);
    for (tki_wrong_kind kind = TKI_REFUSED_INTEGER; kind <= TKI_REFUSED_TF32; kind++)
        tki_add_refusal(c, s, kind, NULL, NULL);
    tki_check_head(c, s);
    for (const tki_syntax *line = s->d; line; line = line->next)
        check_line(c, line);
    finish_outputs(c, s->c);
    hand_over(c);
}
