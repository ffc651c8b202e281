/* DECIDES. The head of a definition: sizes, attributes, inputs, and what a size or a range may be. */
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "define/check_head.h"
#include "model/format.h"

void *tki_checker_grow(tki_checker *c, void *array, int count, int *room, size_t bytes)
{
    if (count < *room)
        return array;
    *room = *room ? 2 * *room : 32;
    void *larger = tki_reading_take(c->reading, (size_t)*room * bytes);
    if (count > 0)
        memcpy(larger, array, (size_t)count * bytes);
    return larger;
}

int tki_size_find(const tki_checker *c, const char *name)
{
    int i = c->made->size_count - 1;
    while (i >= 0 && strcmp(c->sizes[i].name, name) != 0)
        i--;
    return i;
}

int tki_tensor_find(const tki_checker *c, const char *name)
{
    int i = c->made->tensor_count - 1;
    while (i >= 0 && strcmp(c->tensors[i].name, name) != 0)
        i--;
    return i;
}

int tki_attribute_named(const tki_checker *c, const char *name)
{
    int i = c->made->attribute_count - 1;
    while (i >= 0 && strcmp(c->attributes[i].name, name) != 0)
        i--;
    return i;
}

int tki_output_head_find(const tki_checker *c, const char *name, const tki_syntax **head)
{
    int i = 0;
    for (const tki_syntax *s = c->outputs; s; s = s->next, i++)
        if (!strcmp(s->text, name)) {
            if (head)
                *head = s;
            return i;
        }
    return TKI_NONE;
}

bool tki_type_named(const char *name, tk_dtype *dtype)
{
    static const struct {
        const char *name;
        tk_dtype dtype;
    } types[] = {{"f16", TK_F16}, {"bf16", TK_BF16}, {"f32", TK_F32}, {"e4m3", TK_F8_E4M3}, {"e5m2", TK_F8_E5M2},
                 {"int", TK_I64}, {"i32", TK_I32},   {"i64", TK_I64}, {"u8", TK_U8},        {"bool", TK_BOOL}};
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (!strcmp(types[i].name, name)) {
            *dtype = types[i].dtype;
            return true;
        }
    return false;
}

/* -- Sizes ----------------------------------------------------------------------------------------------------------- */

static void add_size(tki_checker *c, const tki_syntax *s)
{
    if (tki_size_find(c, s->text) >= 0)
        return;
    if (c->made->size_count == TK_MAX_DIMS)
        tki_wrong(c, s, TKI_WRONG_TOO_MANY_SIZES, .numbers = {TK_MAX_DIMS});
    const int i = c->made->size_count++;
    c->sizes[i] = (tki_def_size){s->text, TKI_NONE, NULL, s->position};
    c->size_ints[i] = TKI_NONE;
}

/* A line of `where` says what the size is. */
static void give_size(tki_checker *c, const tki_syntax *fact)
{
    if (fact->a->kind != TKI_SYNTAX_NAME)
        tki_wrong(c, fact->a, TKI_WRONG_NO_SIZE_LEFT);
    add_size(c, fact->a);
    const int i = tki_size_find(c, fact->a->text);
    if (c->size_values[i])
        tki_wrong(c, fact->a, TKI_WRONG_SIZE_TWICE, .names = {fact->a->text});
    c->size_values[i] = fact->b;
}

static void check_follows(tki_checker *c, const tki_syntax *outputs)
{
    for (const tki_syntax *o = outputs; o; o = o->next)
        for (const tki_syntax *axis = o->a; axis; axis = axis->next)
            if (tki_size_find(c, axis->text) < 0)
                tki_wrong(c, axis, TKI_WRONG_SIZE_OF_NOTHING, .names = {axis->text});
}

static void name_sizes(tki_checker *c, const tki_syntax *s)
{
    for (const tki_syntax *i = s->a; i; i = i->next) {
        for (const tki_syntax *axis = i->a; axis; axis = axis->next)
            add_size(c, axis);
        /* index[q]: int in [0, v): a size that no tensor need have. */
        if (i->b && i->c && !strcmp(i->b->text, "int") && i->c->b->kind == TKI_SYNTAX_NAME)
            add_size(c, i->c->b);
    }
    for (const tki_syntax *line = s->d; line; line = line->next)
        for (const tki_syntax *fact = line->kind == TKI_SYNTAX_WHERE ? line->a : NULL; fact; fact = fact->next)
            if (!strcmp(fact->text, "="))
                give_size(c, fact);
    check_follows(c, s->c);
}

/* -- Names ------------------------------------------------------------------------------------------------------------- */

/* Sizes, tensors and attributes have different names. */
static void check_new(tki_checker *c, const tki_syntax *s)
{
    if (tki_size_find(c, s->text) >= 0)
        tki_wrong(c, s, TKI_WRONG_SIZE_NAME_TAKEN, .names = {s->text});
    if (tki_attribute_named(c, s->text) >= 0)
        tki_wrong(c, s, TKI_WRONG_ATTRIBUTE_NAME_TAKEN, .names = {s->text});
    if (tki_tensor_find(c, s->text) >= 0)
        tki_wrong(c, s, TKI_WRONG_TENSOR_NAME_TAKEN, .names = {s->text});
}

/* -- Attributes -------------------------------------------------------------------------------------------------------- */

static double range_number(tki_checker *c, const tki_syntax *s)
{
    switch (s->kind) {
    case TKI_SYNTAX_NEGATE: return -range_number(c, s->a);
    case TKI_SYNTAX_INF: return HUGE_VAL;
    case TKI_SYNTAX_NUMBER: return strtod_l(s->text, NULL, c->reading->locale);
    default: tki_wrong(c, s, TKI_WRONG_NO_NUMBER, .names = {s->text});
    }
}

static int64_t integer_number(tki_checker *c, const tki_syntax *s)
{
    const tki_syntax *digits = s;
    bool negative = false;
    for (; digits->kind == TKI_SYNTAX_NEGATE; digits = digits->a)
        negative = !negative;
    char *end = NULL;
    const unsigned long long size = digits->kind == TKI_SYNTAX_NUMBER ? strtoull(digits->text, &end, 10) : 0;
    if (!end || *end || strlen(digits->text) > 19 || size > INT64_MAX)
        tki_wrong(c, digits, TKI_WRONG_NO_INT64, .names = {digits->text});
    return negative ? -(int64_t)size : (int64_t)size;
}

static void integer_attribute(tki_checker *c, const tki_syntax *s, tki_def_attribute *a)
{
    bool empty = false;
    a->least.integer = INT64_MIN;
    a->most.integer = INT64_MAX;
    if (s->c && s->c->a->kind != TKI_SYNTAX_NEGATE && s->c->a->kind != TKI_SYNTAX_NUMBER)
        tki_wrong(c, s->c->a, TKI_WRONG_NO_INTEGER, .names = {s->c->a->text});
    if (s->c) {
        empty = __builtin_add_overflow(integer_number(c, s->c->a), s->c->text[0] == '(', &a->least.integer);
        if (s->c->b->kind != TKI_SYNTAX_INF)
            a->most.integer = integer_number(c, s->c->b) - (s->c->text[1] == ')');
    }
    if (empty || a->least.integer > a->most.integer)
        tki_wrong(c, s->c, TKI_WRONG_EMPTY_RANGE_OF, .names = {s->text});
    a->initial.integer = a->least.integer > 1 ? a->least.integer : a->most.integer < 1 ? a->most.integer : 1;
    if (s->d)
        a->initial.integer = integer_number(c, s->d);
    if (a->initial.integer < a->least.integer || a->initial.integer > a->most.integer)
        tki_wrong(c, s->d, TKI_WRONG_DEFAULT_OUTSIDE, .names = {s->text});
}

/* The doubles of an open end are the next ones. */
static void read_range(tki_checker *c, const tki_syntax *range, double *least, double *most)
{
    *least = range_number(c, range->a);
    *most = range_number(c, range->b);
    if (range->text[0] == '(')
        *least = nextafter(*least, HUGE_VAL);
    if (range->text[1] == ')')
        *most = nextafter(*most, -HUGE_VAL);
    *least = *least < -DBL_MAX ? -DBL_MAX : *least;
    *most = *most > DBL_MAX ? DBL_MAX : *most;
    if (!(*least <= *most))
        tki_wrong(c, range, TKI_WRONG_EMPTY_RANGE);
}

static void real_attribute(tki_checker *c, const tki_syntax *s, tki_def_attribute *a)
{
    a->least.real = -DBL_MAX;
    a->most.real = DBL_MAX;
    if (s->c)
        read_range(c, s->c, &a->least.real, &a->most.real);
    a->initial.real = fmin(fmax(1, a->least.real), a->most.real);
    if (s->d)
        a->initial.real = range_number(c, s->d);
    if (a->initial.real < a->least.real || a->initial.real > a->most.real)
        tki_wrong(c, s->d, TKI_WRONG_DEFAULT_OUTSIDE, .names = {s->text});
}

static void choice_attribute(tki_checker *c, const tki_syntax *s, tki_def_attribute *a)
{
    const char **names = tki_reading_take(c->reading, TK_MAX_CHOICES * sizeof *names);
    for (const tki_syntax *choice = s->a; choice; choice = choice->next) {
        for (int i = 0; i < a->choice_count; i++)
            if (!strcmp(names[i], choice->text))
                tki_wrong(c, choice, TKI_WRONG_CHOICE_TWICE, .names = {s->text, choice->text});
        if (a->choice_count == TK_MAX_CHOICES)
            tki_wrong(c, choice, TKI_WRONG_TOO_MANY_CHOICES, .names = {s->text}, .numbers = {TK_MAX_CHOICES});
        names[a->choice_count++] = choice->text;
    }
    a->choices = names;
    while (s->d && a->initial.integer < a->choice_count && strcmp(names[a->initial.integer], s->d->text) != 0)
        a->initial.integer++;
    if (a->initial.integer == a->choice_count)
        tki_wrong(c, s->d, TKI_WRONG_NO_CHOICE, .names = {s->text, s->d->text});
    c->combination_count *= a->choice_count;
    if (c->combination_count > TKI_MOST_COMBINATIONS)
        tki_wrong(c, s, TKI_WRONG_TOO_MANY_COMBINATIONS, .numbers = {TKI_MOST_COMBINATIONS});
}

static void add_attribute(tki_checker *c, const tki_syntax *s)
{
    static const char *const taken[] = {"domain", "numerics", "matrix_unit", "overflow"};
    for (size_t i = 0; i < sizeof taken / sizeof *taken; i++)
        if (!strcmp(taken[i], s->text))
            tki_wrong(c, s, TKI_WRONG_JUDGES_ATTRIBUTE, .names = {s->text});
    check_new(c, s);
    if (c->made->attribute_count == TK_MAX_ATTRIBUTES)
        tki_wrong(c, s, TKI_WRONG_TOO_MANY_ATTRIBUTES, .numbers = {TK_MAX_ATTRIBUTES});
    tki_def_attribute a = {.name = s->text, .ranged = s->c, .position = s->position};
    if (s->a) {
        a.type = TK_ATTRIBUTE_CHOICE;
        choice_attribute(c, s, &a);
    } else if (!strcmp(s->b->text, "int")) {
        a.type = TK_ATTRIBUTE_INTEGER;
        integer_attribute(c, s, &a);
    } else {
        a.type = TK_ATTRIBUTE_REAL;
        real_attribute(c, s, &a);
    }
    c->attributes[c->made->attribute_count++] = a;
}

/* -- Conditions ---------------------------------------------------------------------------------------------------------- */

static uint64_t choices_of(tki_checker *c, const tki_syntax *s, const tki_def_attribute *a)
{
    const char *name = s->a ? s->a->text : "yes";
    int choice = 0;
    while (choice < a->choice_count && strcmp(a->choices[choice], name) != 0)
        choice++;
    if (choice == a->choice_count)
        tki_wrong(c, s->a ? s->a : s, s->a ? TKI_WRONG_NO_CHOICE : TKI_WRONG_NO_CHOICE_YES, .names = {s->text, name});
    const uint64_t one = UINT64_C(1) << choice;
    return s->marked ? (UINT64_MAX >> (64 - a->choice_count)) & ~one : one;
}

tki_condition tki_check_condition(tki_checker *c, const tki_syntax *first)
{
    struct tki_condition_term *terms = tki_reading_take(c->reading, TK_MAX_ATTRIBUTES * sizeof *terms);
    int count = 0;
    for (const tki_syntax *s = first; s; s = s->next) {
        const int attribute = tki_attribute_named(c, s->text);
        if (attribute < 0 || c->attributes[attribute].type != TK_ATTRIBUTE_CHOICE)
            tki_wrong(c, s, TKI_WRONG_CONDITION_OF_NO_CHOICE, .names = {s->text});
        int i = 0;
        while (i < count && terms[i].attribute != attribute)
            i++;
        if (i == count)
            terms[count++] = (struct tki_condition_term){attribute, UINT64_MAX};
        terms[i].choices &= choices_of(c, s, &c->attributes[attribute]);
        if (!terms[i].choices)
            tki_wrong(c, s, TKI_WRONG_CONDITION_NEVER);
    }
    return (tki_condition){count, terms};
}

tki_combinations tki_combinations_of(const tki_checker *c, const tki_condition *condition)
{
    tki_combinations made = {{0}};
    for (int i = 0; i < c->combination_count; i++) {
        bool holds = true;
        int rest = i;
        for (int a = 0; a < c->made->attribute_count; a++) {
            const int choices = c->attributes[a].choice_count;
            for (int t = 0; choices > 0 && t < condition->count; t++)
                holds &= condition->terms[t].attribute != a || (condition->terms[t].choices >> rest % choices & 1);
            rest = choices > 0 ? rest / choices : rest;
        }
        if (holds)
            made.bits[i / 64] |= UINT64_C(1) << i % 64;
    }
    return made;
}

/* -- Tensors ----------------------------------------------------------------------------------------------------------- */

int tki_add_tensor(tki_checker *c, tki_def_tensor t, const tki_syntax *head)
{
    c->facts = tki_checker_grow(c, c->facts, c->made->tensor_count, &(int){c->tensor_room}, sizeof *c->facts);
    c->tensors = tki_checker_grow(c, c->tensors, c->made->tensor_count, &c->tensor_room, sizeof t);
    c->facts[c->made->tensor_count] = (tki_tensor_facts){.head = head};
    c->tensors[c->made->tensor_count] = t;
    return c->made->tensor_count++;
}

/* What the head says of inputs and outputs alike. */
tki_def_tensor tki_head_tensor(tki_checker *c, const tki_syntax *s)
{
    tki_def_tensor t = {.name = s->text,
                        .value = TKI_NONE,
                        .below = TKI_NONE,
                        .limit = TKI_NONE,
                        .shares = TKI_NONE,
                        .stated_bound = TKI_NONE,
                        .param = TKI_NONE,
                        .position = s->position};
    for (const tki_syntax *axis = s->a; axis; axis = axis->next, t.rank++) {
        if (t.rank == TK_MAX_RANK)
            tki_wrong(c, axis, TKI_WRONG_TOO_MANY_AXES, .names = {s->text}, .numbers = {TK_MAX_RANK});
        t.size[t.rank] = tki_size_find(c, axis->text);
        t.extent[t.rank] = tki_int_size(c, axis, t.size[t.rank]);
    }
    if (s->b && !tki_type_named(s->b->text, &t.dtype))
        tki_wrong(c, s->b, TKI_WRONG_NO_TYPE, .names = {s->b->text});
    t.type = s->b ? TKI_TYPE_FIXED : TKI_TYPE_CASE;
    t.integer = s->b && tki_format_of(t.dtype).number != TKI_FLOATING;
    t.present = tki_check_condition(c, s->d);
    if (t.present.count > 1)
        tki_wrong(c, s->d, TKI_WRONG_PRESENT_BY_SEVERAL, .names = {s->text});
    return t;
}

static void integer_range(tki_checker *c, const tki_syntax *s, tki_def_tensor *t)
{
    const tki_syntax *r = s->c;
    if (strcmp(s->b->text, "int") != 0)
        tki_wrong(c, r, TKI_WRONG_RANGE_OF_NO_INT);
    if (strcmp(r->text, "[)") != 0 || r->a->kind != TKI_SYNTAX_NUMBER || strcmp(r->a->text, "0") != 0 ||
        r->b->kind != TKI_SYNTAX_NAME)
        tki_wrong(c, r, TKI_WRONG_INT_RANGE);
    t->below = tki_size_find(c, r->b->text);
    t->limit = tki_int_size(c, r->b, t->below);
    t->type = TKI_TYPE_INT;
    t->ranged = true;
}

static void real_range(tki_checker *c, const tki_syntax *r, tki_def_tensor *t)
{
    t->least = range_number(c, r->a);
    t->most = range_number(c, r->b);
    t->open_below = r->text[0] == '(';
    t->open_above = r->text[1] == ')';
    if (!isfinite(t->most - t->least))
        tki_wrong(c, r, TKI_WRONG_RANGE_INFINITE);
    if (!(t->least < t->most))
        tki_wrong(c, r, TKI_WRONG_RANGE_OF_ONE);
    t->ranged = true;
}

static void add_input(tki_checker *c, const tki_syntax *s)
{
    check_new(c, s);
    tki_def_tensor t = tki_head_tensor(c, s);
    t.role = TKI_TENSOR_INPUT;
    t.param = c->made->input_count++;
    if (s->c && t.integer)
        integer_range(c, s, &t);
    else if (s->c)
        real_range(c, s->c, &t);
    const int made = tki_add_tensor(c, t, s);
    c->facts[made].present = tki_combinations_of(c, &t.present);
}

static void check_output(tki_checker *c, const tki_syntax *s)
{
    check_new(c, s);
    const tki_syntax *first = NULL;
    tki_output_head_find(c, s->text, &first);
    if (first != s)
        tki_wrong(c, s, TKI_WRONG_TENSOR_NAME_TAKEN, .names = {s->text});
}

void tki_check_head(tki_checker *c, const tki_syntax *s)
{
    c->outputs = s->c;
    name_sizes(c, s);
    for (const tki_syntax *a = s->b; a; a = a->next)
        add_attribute(c, a);
    int params = 0;
    for (const tki_syntax *i = s->a; i; i = i->next) {
        if (++params > TK_MAX_PARAMS)
            tki_wrong(c, i, TKI_WRONG_TOO_MANY_TENSORS, .numbers = {TK_MAX_PARAMS});
        add_input(c, i);
    }
    for (const tki_syntax *o = s->c; o; o = o->next) {
        if (++params > TK_MAX_PARAMS)
            tki_wrong(c, o, TKI_WRONG_TOO_MANY_TENSORS, .numbers = {TK_MAX_PARAMS});
        check_output(c, o);
    }
    /* Those that no tensor has. */
    for (int i = 0; i < c->made->size_count; i++)
        if (c->size_values[i])
            tki_int_size(c, c->size_values[i], i);
}
