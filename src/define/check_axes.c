/* DECIDES. Indices of a definition: which names a line or a reduction binds, and over what they range. */
#include <string.h>

#include "define/check.h"

const char *tki_axis_name(const tki_checker *c, int tensor, int axis)
{
    const tki_def_tensor *t = &c->tensors[tensor];
    return t->role == TKI_TENSOR_BETWEEN ? c->indices[t->own[axis]].name : c->sizes[t->size[axis]].name;
}

int tki_scope_find(const tki_checker *c, const char *name)
{
    int i = c->scope_count - 1;
    while (i >= 0 && strcmp(c->scopes[i].name, name) != 0)
        i--;
    return i;
}

/* -- What a name subscripts alone ---------------------------------------------------------------------------------------- */

/* The extents of the axes that `name` subscripts alone, and two of those axes where they differ. Reads with `else`, and pieces, may have another
 * extent: they count where there is nothing else. */
typedef struct finding {
    const char *name;
    int extents[2]; /* ints[]; [1] of those that count less */
    int tensors[2], axes[2];
    bool differ[2];
    int other_tensor, other_axis;
} finding;

static void note(const tki_checker *c, finding *f, int tensor, int axis, bool counts_less)
{
    const int extent = c->tensors[tensor].extent[axis], k = counts_less;
    if (f->extents[k] < 0) {
        f->extents[k] = extent;
        f->tensors[k] = tensor;
        f->axes[k] = axis;
    } else if (f->extents[k] != extent && !f->differ[k]) {
        f->differ[k] = true;
        if (!counts_less) {
            f->other_tensor = tensor;
            f->other_axis = axis;
        }
    }
}

static bool binds(const tki_syntax *binders, const char *name)
{
    for (; binders; binders = binders->next)
        if (!strcmp(binders->text, name))
            return true;
    return false;
}

static void find_in(const tki_checker *c, finding *f, const tki_syntax *s, bool counts_less);

static void find_in_list(const tki_checker *c, finding *f, const tki_syntax *first, bool counts_less)
{
    for (; first; first = first->next)
        find_in(c, f, first, counts_less);
}

static void find_in_read(const tki_checker *c, finding *f, const tki_syntax *s, bool counts_less)
{
    const int tensor = tki_tensor_find(c, s->text);
    int axis = 0;
    for (const tki_syntax *e = s->a; e; e = e->next, axis++) {
        if (e->kind != TKI_SYNTAX_NAME)
            find_in(c, f, e, counts_less);
        else if (!strcmp(e->text, f->name) && tensor >= 0 && axis < c->tensors[tensor].rank)
            note(c, f, tensor, axis, counts_less || s->b);
    }
}

static void find_in_name(const tki_checker *c, finding *f, const tki_syntax *s, bool counts_less)
{
    const int tensor = tki_tensor_find(c, s->text);
    for (int axis = 0; tensor >= 0 && axis < c->tensors[tensor].rank; axis++)
        if (!strcmp(tki_axis_name(c, tensor, axis), f->name))
            note(c, f, tensor, axis, counts_less);
}

static void find_in_over(const tki_checker *c, finding *f, const tki_syntax *s, bool counts_less)
{
    for (const tki_syntax *b = s->a; b; b = b->next)
        if (b->a)
            find_in(c, f, b->a, counts_less);
    /* What keeps its axes is at the name outside, which has the range of that inside. */
    if (!binds(s->a, f->name) || tki_over_keeps_axes((tki_over)tki_over_find(s->text))) {
        find_in(c, f, s->c, counts_less);
        find_in_list(c, f, s->b, counts_less);
    }
    find_in_list(c, f, s->c->next, counts_less);
}

static void find_in(const tki_checker *c, finding *f, const tki_syntax *s, bool counts_less)
{
    switch (s->kind) {
    case TKI_SYNTAX_NAME: find_in_name(c, f, s, counts_less); break;
    case TKI_SYNTAX_READ: find_in_read(c, f, s, counts_less); break;
    case TKI_SYNTAX_OVER: find_in_over(c, f, s, counts_less); break;
    case TKI_SYNTAX_CALL: find_in_list(c, f, s->a, counts_less || !strcmp(s->text, "pieces")); break;
    default:
        find_in_list(c, f, s->a, counts_less);
        find_in_list(c, f, s->b, counts_less);
        find_in_list(c, f, s->c, counts_less);
        break;
    }
}

/* -- Scopes ---------------------------------------------------------------------------------------------------------- */

static void check_index_name(tki_checker *c, const tki_syntax *at, const char *name)
{
    if (tki_tensor_find(c, name) >= 0 || tki_output_head_find(c, name, NULL) >= 0 ||
        tki_attribute_named(c, name) >= 0)
        tki_wrong(c, at, TKI_WRONG_NO_INDEX_NAME, .names = {name});
}

static int index_of(tki_checker *c, const tki_syntax *at, const char *name, int extent)
{
    for (int i = 0; i < c->made->index_count; i++)
        if (c->levels[i] == c->level && c->indices[i].extent == extent && !strcmp(c->indices[i].name, name))
            return i;
    if (c->made->index_count == TKI_MOST_INDICES)
        tki_wrong(c, at, TKI_WRONG_TOO_MANY_INDICES, .numbers = {TKI_MOST_INDICES});
    c->levels[c->made->index_count] = c->level;
    c->indices[c->made->index_count] = (tki_def_index){name, extent};
    return c->made->index_count++;
}

void tki_bind(tki_checker *c, const tki_syntax *at, const char *name, int extent, bool written)
{
    check_index_name(c, at, name);
    if (c->scope_count == TKI_MOST_SCOPES)
        tki_wrong(c, at, TKI_WRONG_TOO_MANY_SCOPES, .numbers = {TKI_MOST_SCOPES});
    const int index = index_of(c, at, name, extent);
    c->scopes[c->scope_count].name = name;
    c->scopes[c->scope_count].index = index;
    c->scopes[c->scope_count++].written = written;
}

static int range_of(tki_checker *c, const tki_syntax *b, const tki_syntax *values, const tki_syntax *tests)
{
    finding f = {.name = b->text, .extents = {TKI_NONE, TKI_NONE}};
    if (values)
        find_in(c, &f, values, false);
    find_in_list(c, &f, tests, false);
    if (f.differ[0])
        tki_wrong(c, b, TKI_WRONG_TWO_RANGES,
                  .names = {b->text, tki_axis_name(c, f.tensors[0], f.axes[0]), c->tensors[f.tensors[0]].name,
                            tki_axis_name(c, f.other_tensor, f.other_axis), c->tensors[f.other_tensor].name});
    const int k = f.extents[0] < 0;
    if (f.extents[k] < 0 || f.differ[k])
        tki_wrong(c, b, TKI_WRONG_NO_RANGE, .names = {b->text});
    return f.extents[k];
}

static int written_range(tki_checker *c, const tki_syntax *b)
{
    const tki_value limit = tki_check_value(c, b->a);
    if (!limit.integer || !c->ints[limit.id].constant)
        tki_wrong(c, b->a, TKI_WRONG_RANGE_NO_CONSTANT, .names = {b->text});
    return limit.id;
}

void tki_open_scope(tki_checker *c, const tki_syntax *binders, const tki_syntax *values, const tki_syntax *tests)
{
    int extents[TK_MAX_RANK], count = 0;
    for (const tki_syntax *b = binders; b; b = b->next) {
        if (count == TK_MAX_RANK)
            tki_wrong(c, b, TKI_WRONG_TOO_MANY_BOUND, .numbers = {TK_MAX_RANK});
        check_index_name(c, b, b->text);
        for (const tki_syntax *before = binders; before != b; before = before->next)
            if (!strcmp(before->text, b->text))
                tki_wrong(c, b, TKI_WRONG_BOUND_TWICE, .names = {b->text});
        extents[count++] = b->a ? written_range(c, b) : range_of(c, b, values, tests);
    }
    c->level++;
    count = 0;
    for (const tki_syntax *b = binders; b; b = b->next)
        tki_bind(c, b, b->text, extents[count++], b->a);
}

void tki_close_scope(tki_checker *c, int scope_count)
{
    c->level--;
    c->scope_count = scope_count;
}

/* -- The axes of a line that states none ------------------------------------------------------------------------------------ */

typedef struct collecting {
    tki_checker *c;
    const tki_syntax *within[TKI_MOST_NESTING]; /* lists of binders around what is looked at */
    int within_count;
    tki_syntax *first, *last;
    int count;
} collecting;

static void collect(collecting *all, const tki_syntax *at, const char *name)
{
    for (int i = 0; i < all->within_count; i++)
        if (binds(all->within[i], name))
            return;
    if (binds(all->first, name))
        return;
    if (++all->count > TK_MAX_RANK)
        tki_wrong(all->c, at, TKI_WRONG_TOO_MANY_LINE_AXES, .numbers = {TK_MAX_RANK});
    tki_syntax *made = tki_reading_take(all->c->reading, sizeof *made);
    *made = (tki_syntax){.kind = TKI_SYNTAX_BINDER, .text = name, .position = at->position};
    if (all->last)
        all->last->next = made;
    else
        all->first = made;
    all->last = made;
}

static void collect_from(collecting *all, const tki_syntax *s, bool subscript);

static void collect_list(collecting *all, const tki_syntax *first, bool subscript)
{
    for (; first; first = first->next)
        collect_from(all, first, subscript);
}

static void collect_over(collecting *all, const tki_syntax *s)
{
    const bool keeps = tki_over_keeps_axes((tki_over)tki_over_find(s->text));
    if (!keeps)
        all->within[all->within_count++] = s->a;
    collect_from(all, s->c, false);
    collect_list(all, s->b, true);
    all->within_count -= !keeps;
    collect_list(all, s->c->next, false);
}

static void collect_from(collecting *all, const tki_syntax *s, bool subscript)
{
    const int tensor = tki_tensor_find(all->c, s->text ? s->text : "");
    switch (s->kind) {
    case TKI_SYNTAX_NAME:
        for (int axis = 0; tensor >= 0 && axis < all->c->tensors[tensor].rank; axis++)
            collect(all, s, tki_axis_name(all->c, tensor, axis));
        if (tensor < 0 && subscript && tki_attribute_named(all->c, s->text) < 0)
            collect(all, s, s->text);
        break;
    case TKI_SYNTAX_READ: collect_list(all, s->a, true); break;
    case TKI_SYNTAX_OVER: collect_over(all, s); break;
    default:
        collect_list(all, s->a, subscript);
        collect_list(all, s->b, subscript);
        collect_list(all, s->c, subscript);
        break;
    }
}

const tki_syntax *tki_own_axes(tki_checker *c, const tki_syntax *value)
{
    collecting all = {.c = c};
    collect_from(&all, value, false);
    return all.first;
}
