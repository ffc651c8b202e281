/* CHOOSES. What the author of a definition should look at: values that lose what their inputs have, that nothing is known of, or that nobody
 * uses. Nothing here changes a verdict. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/context.h"
#include "interpret/program.h"
#include "model/case.h"
#include "model/op.h"
#include "trials/gradient_check.h"
#include "trials/points.h"

/* A bound that is so many times what roundings of the inputs, and of the result, make of the result is that of a form that loses. Honest
 * forms of a few dozen terms stay below a quarter of it (tests/trials/test_lint.c). */
#define TOO_WIDE 256.0
/* And from this share of the bound on a node may be to blame. */
#define SHARE 0.25
#define LOSS 8.0      /* times as far off as its operands */
#define SMALL 0x1p-60 /* below, underflow may be what the bound is made of */
#define NUDGE 0x1p-10 /* relative change of an input, for the condition */

enum {
    MOST_EDGE = 192,      /* bytes of what is said of an end */
    ENOUGH_POINTS = 2,    /* at which these are looked at */
    MOST_PLACES = 1 << 16 /* in a sum, in which a factor is looked for that is outside its tensor */
};

typedef struct linting {
    tk_ctx *ctx;
    const tki_definition *d;
    tk_lint *found;
    int count;
    tk_status status;
} linting;

__attribute__((format(printf, 4, 5))) static void add(linting *l, tk_lint_kind kind, tki_position at,
                                                      const char *format, ...)
{
    for (int i = 0; i < l->count; i++)
        if (l->found[i].kind == kind && l->found[i].line == at.line && l->found[i].column == at.column)
            return;
    tk_lint *more = realloc(l->found, ((size_t)l->count + 1) * sizeof *more);
    if (!more) {
        l->status = TK_NO_MEMORY;
        return;
    }
    l->found = more;
    tk_lint *found = &more[l->count++];
    *found = (tk_lint){.kind = kind, .line = at.line, .column = at.column};
    va_list values;
    va_start(values, format);
    vsnprintf(found->text, sizeof found->text, format, values);
    va_end(values);
}

/* -- What is not used ------------------------------------------------------------------------------------------------ */

static bool reads(const tki_definition *d, int tensor)
{
    for (int i = 0; i < d->node_count; i++)
        if (d->nodes[i].kind == TKI_NODE_READ && d->nodes[i].tensor == tensor)
            return true;
    for (int i = 0; i < d->int_count; i++)
        if (d->ints[i].kind == TKI_INT_ELEMENT && d->ints[i].tensor == tensor)
            return true;
    for (int i = 0; i < d->special_count; i++)
        for (int k = 0; k < d->specials[i].when_count; k++)
            if (d->specials[i].when[k].tensor == tensor)
                return true;
    return false;
}

static bool decides(const tki_condition *condition, int attribute)
{
    for (int i = 0; i < condition->count; i++)
        if (condition->terms[i].attribute == attribute)
            return true;
    return false;
}

static bool has_attribute(const tki_definition *d, int attribute)
{
    for (int i = 0; i < d->int_count; i++)
        if (d->ints[i].kind == TKI_INT_ATTRIBUTE && d->ints[i].which == attribute)
            return true;
    for (int i = 0; i < d->node_count; i++)
        if ((d->nodes[i].kind == TKI_NODE_ATTRIBUTE && d->nodes[i].which == attribute) ||
            (d->nodes[i].kind == TKI_NODE_CHOICE && decides(&d->nodes[i].condition, attribute)))
            return true;
    for (int i = 0; i < d->tensor_count; i++)
        if (decides(&d->tensors[i].present, attribute))
            return true;
    return false;
}

/* Every read takes a place of that axis which is a constant of the case. */
static bool is_read_at_one_place(const tki_definition *d, int tensor, int axis)
{
    bool read = false;
    for (int i = 0; i < d->node_count; i++) {
        const tki_def_node *n = &d->nodes[i];
        if (n->kind != TKI_NODE_READ || n->tensor != tensor)
            continue;
        if (!d->ints[n->subscripts[axis].value].constant)
            return false;
        read = true;
    }
    for (int i = 0; i < d->int_count; i++)
        if (d->ints[i].kind == TKI_INT_ELEMENT && d->ints[i].tensor == tensor)
            return false;
    return read;
}

static bool among(int index, int count, const int *indices)
{
    for (int i = 0; i < count; i++)
        if (indices[i] == index)
            return true;
    return false;
}

static bool is_in_tests(const tki_definition *d, const tki_def_node *n, int index)
{
    for (int i = 0; i < n->test_count; i++) {
        const tki_def_int *a = &d->ints[n->tests[i].a], *b = &d->ints[n->tests[i].b];
        if (among(index, a->index_count, a->indices) || among(index, b->index_count, b->indices))
            return true;
    }
    return false;
}

static void find_unused(linting *l)
{
    const tki_definition *d = l->d;
    for (int i = 0; i < d->tensor_count; i++) {
        const tki_def_tensor *t = &d->tensors[i];
        if (t->role != TKI_TENSOR_OUTPUT && !reads(d, i))
            add(l, TK_LINT_UNUSED, t->position, "nothing reads %s", t->name);
        for (int axis = 0; axis < t->rank && t->role == TKI_TENSOR_INPUT; axis++)
            if (is_read_at_one_place(d, i, axis))
                add(l, TK_LINT_UNUSED, t->position, "%s is read at one place of its axis %s alone", t->name,
                    d->sizes[t->size[axis]].name);
    }
    for (int i = 0; i < d->attribute_count; i++)
        if (!has_attribute(d, i))
            add(l, TK_LINT_UNUSED, d->attributes[i].position, "nothing depends on %s", d->attributes[i].name);
    for (int i = 0; i < d->node_count; i++) {
        const tki_def_node *n = &d->nodes[i], *body = n->kind == TKI_NODE_OVER ? &d->nodes[n->operand[0]] : NULL;
        for (int k = 0; body && k < n->bound_count; k++)
            if (!among(n->bound[k], body->index_count, body->indices) && !is_in_tests(d, n, n->bound[k]))
                add(l, TK_LINT_UNUSED, n->position, "what %s takes over %s does not depend on it", tki_node_name(n),
                    d->indices[n->bound[k]].name);
    }
}

/* -- Names that mislead ---------------------------------------------------------------------------------------------- */

static bool is_a_size(const tki_definition *d, const char *name)
{
    for (int i = 0; i < d->size_count; i++)
        if (!strcmp(d->sizes[i].name, name))
            return true;
    return false;
}

/* An index that is computed with, under the name of a size. */
static void find_indices(linting *l)
{
    const tki_definition *d = l->d;
    for (int i = 0; i < d->node_count; i++)
        for (int k = 0; k < 3 && d->nodes[i].kind == TKI_NODE_PRIMITIVE; k++) {
            const int operand = d->nodes[i].operand[k];
            const tki_def_node *n = operand >= 0 ? &d->nodes[operand] : NULL;
            if (!n || n->kind != TKI_NODE_INTEGER || d->ints[n->integer].kind != TKI_INT_INDEX)
                continue;
            const char *name = d->indices[d->ints[n->integer].which].name;
            if (is_a_size(d, name))
                add(l, TK_LINT_INDEX, n->position,
                    "%s is the index here, 0 at the first element; the size is size(%s). An index that is meant as a "
                    "number is clearer under another name",
                    name, name);
        }
}

/* -- What loses, and what nothing is known of ------------------------------------------------------------------------ */

/* A node at one point: how far off it is beside its operands, and what became of finite ones. */
typedef struct seen {
    const tki_definition *d; /* of reductions that count as lost, whose terms are met before them; NULL: none are */
    double off, before;      /* the error relative to the value; the larger one of the operands */
    int64_t count, lost;
    bool finite; /* all of them */
} seen;

static double relative(const tki_value *y)
{
    return y->state != TKI_IS_FINITE ? INFINITY : y->e == 0 ? 0 : y->e / fmax(fabs(y->v), 0x1p-149);
}

/* A reduction of finite terms, or of none, that gives no number: a minimum of no terms is infinite, as everybody knows. */
static bool is_lost_over(const seen at[], int node, const tki_value *y)
{
    const tki_definition *d = at[node].d;
    if (!d || d->nodes[node].kind != TKI_NODE_OVER || !(y->state & (TKI_IS_NAN | TKI_IS_UNKNOWN)))
        return false;
    const int body = d->nodes[node].operand[0];
    return at[body].count == 0 || at[body].finite;
}

static void look(void *context, int node, int count, const tki_operand operands[3], const tki_value values[])
{
    seen *s = &((seen *)context)[node];
    for (int i = 0; i < count; i++) {
        bool finite = operands[0].at != NULL;
        /* The terms of a sum are not met as operands: beside their magnitudes. */
        double before = values[i].mass > 0 ? fmax(values[i].e / values[i].mass, TKI_U) : TKI_U;
        for (int k = 0; k < 3 && operands[k].at; k++) {
            const tki_value *operand = operands[k].at + (int64_t)i * operands[k].step;
            finite &= operand->state == TKI_IS_FINITE;
            before = fmax(before, relative(operand));
        }
        const bool known = (values[i].state & TKI_IS_FINITE) && !(values[i].state & TKI_IS_UNKNOWN);
        const bool lost = (finite && !known) || is_lost_over((seen *)context, node, &values[i]);
        s->finite = known && (s->count == 0 || s->finite);
        s->count++;
        s->lost += lost;
        if (s->count == 1 || relative(&values[i]) / before > s->off / s->before)
            s->off = relative(&values[i]), s->before = before;
    }
}

static bool is_integer_of_case(const tki_definition *d, int p)
{
    return d->tensors[d->params[p]].integer;
}

/* How much the elements move when each input moves by its rounding: sums over the inputs, in units of u. */
static tk_status conditions(const tki_point *point, int tensor, int64_t count, const tki_value base[], double of[])
{
    tk_status status = TK_OK;
    const tk_case *c = &point->trial.c;
    tki_value moved[TKI_MOST_AT_A_POINT];
    memset(of, 0, (size_t)count * sizeof *of);
    for (int p = 0; p < point->d->input_count; p++) {
        const tk_param *param = &c->contract->params[p];
        if (!tk_case_has(c, p) || is_integer_of_case(point->d, p) || tk_case_param_dtype(c, p) != TK_F32)
            continue;
        float *data = point->inputs.data[p];
        for (int64_t i = 0; i < tk_case_elements(c, p) && status == TK_OK; i++) {
            const float kept = data[i], other = kept * (1 - (float)NUDGE);
            const bool ranged = param->least != 0 || param->most != 0;
            if (other == kept || (ranged && !(other >= param->least && other <= param->most)))
                continue;
            data[i] = other;
            status = tki_point_values(point, NULL, tensor, 0, count, moved);
            data[i] = kept;
            for (int64_t k = 0; k < count && status == TK_OK; k++)
                if (base[k].state == TKI_IS_FINITE && moved[k].state == TKI_IS_FINITE)
                    of[k] += fabs(moved[k].v - base[k].v) / NUDGE;
        }
    }
    return status;
}

/* Differences, and sums as such: other values are as good as their rules, and there is no other form. */
static bool may_cancel(const tki_def_node *n)
{
    return n->kind == TKI_NODE_PRIMITIVE
               ? n->primitive == TKI_ADD || n->primitive == TKI_SUBTRACT || n->primitive == TKI_FMA
               : n->kind == TKI_NODE_OVER && (n->over == TKI_SUM || n->over == TKI_MEAN || n->over == TKI_CUMSUM);
}

/* The one that loses most beside its operands, of those through which much of the bound goes. */
static void blame(linting *l, const tki_point *point, int tensor, int64_t element, double times)
{
    const size_t nodes = (size_t)l->d->node_count + 1;
    tki_share *shares = calloc(nodes, sizeof *shares);
    seen *at = calloc(nodes, sizeof *at);
    const tki_watch watch = {.see = look, .context = at};
    tki_value y;
    int worst = TKI_NONE;
    l->status = shares && at ? tki_point_shares(point, tensor, element, shares) : TK_NO_MEMORY;
    if (l->status == TK_OK)
        l->status = tki_point_values(point, &watch, tensor, element, 1, &y);
    for (int i = 0; i < l->d->node_count && l->status == TK_OK; i++)
        if (at[i].count > 0 && shares[i].through >= SHARE && at[i].off < INFINITY && may_cancel(&l->d->nodes[i]) &&
            (worst == TKI_NONE || at[i].off / at[i].before > at[worst].off / at[worst].before))
            worst = i;
    if (worst != TKI_NONE && at[worst].off > LOSS * at[worst].before)
        add(l, TK_LINT_CANCELS, l->d->nodes[worst].position,
            "%s: its value is off by %.2g of itself, its operands by %.2g; the bound of %s is %.2g times what "
            "roundings of the inputs make of it",
            tki_node_name(&l->d->nodes[worst]), at[worst].off, at[worst].before, l->d->tensors[tensor].name, times);
    free(shares);
    free(at);
}

static void find_losses(linting *l, const tki_point *point, int tensor, int64_t count, const tki_value base[])
{
    double of[TKI_MOST_AT_A_POINT], most = TOO_WIDE;
    int64_t worst = -1;
    l->status = conditions(point, tensor, count, base, of);
    for (int64_t i = 0; i < count && l->status == TK_OK; i++) {
        const double usual = TKI_U * (of[i] + fabs(base[i].v));
        if (base[i].state == TKI_IS_FINITE && fabs(base[i].v) >= SMALL && base[i].e / usual > most) {
            most = base[i].e / usual;
            worst = i;
        }
    }
    if (worst >= 0)
        blame(l, point, tensor, worst, most);
}

static void find_unknown(linting *l, const seen at[])
{
    for (int i = 0; i < l->d->node_count; i++)
        if (at[i].lost > 0)
            add(l, TK_LINT_RANGE, l->d->nodes[i].position,
                "%s gives nothing that is known, or no number, at %lld of %lld finite operands: an input may need a "
                "range",
                tki_node_name(&l->d->nodes[i]), (long long)at[i].lost, (long long)at[i].count);
}

/* -- Where inputs, attributes and sizes end -------------------------------------------------------------------------- */

/* What a point is changed to, of which there may be one or two. */
typedef struct edge {
    int zeros; /* an input that is all zeros; -1 */
    int attribute;
    tk_value value; /* of the attribute, if that is not -1 */
    int size;       /* one that is 0; -1 */
} edge;

static void describe(const linting *l, const tk_contract *contract, const edge *e, char text[], size_t size)
{
    char number[32] = "", value[MOST_EDGE / 2] = "";
    if (e->size >= 0) {
        snprintf(text, size, "where %s is 0: `where %s > 0` refuses such cases", contract->dim_names[e->size],
                 contract->dim_names[e->size]);
        return;
    }
    if (e->attribute >= 0) {
        tk_attribute_print(&contract->attributes[e->attribute], e->value, number, sizeof number);
        snprintf(value, sizeof value, "%s is %s, an end of its range", l->d->attributes[e->attribute].name, number);
    }
    snprintf(text, size, "where %s%s%s%s", e->zeros >= 0 ? contract->params[e->zeros].name : "",
             e->zeros >= 0 ? " has lines of zeros" : "", e->zeros >= 0 && value[0] ? " and " : "", value);
}

static tk_status look_at_case(const tki_point *point, seen at[])
{
    tki_value values[TKI_MOST_AT_A_POINT];
    const tki_watch watch = {.see = look, .context = at};
    tk_status status = TK_OK;
    for (int i = 0; i < point->d->node_count; i++)
        at[i] = (seen){.d = point->d};
    for (int i = point->d->input_count; i < point->d->param_count && status == TK_OK; i++) {
        const int64_t count = tki_point_elements(point, point->d->params[i]);
        status = count > 0 ? tki_point_values(point, &watch, point->d->params[i], 0, count, values) : TK_OK;
    }
    return status;
}

static void look_at_edge(linting *l, const tki_point *like, const edge *e, seen at[])
{
    char text[MOST_EDGE];
    tki_point point;
    const tk_contract *contract = like->trial.c.contract;
    l->status = tki_point_change(l->ctx, like, e->attribute, e->value, e->size, e->zeros, &point);
    if (l->status == TK_BAD_ARGUMENT) { /* there is no such case, or none that is small */
        l->status = TK_OK;
        return;
    }
    if (l->status == TK_OK)
        l->status = look_at_case(&point, at);
    tki_inputs_free(&point.inputs);
    if (l->status == TK_BAD_ARGUMENT)
        l->status = TK_OK;
    describe(l, contract, e, text, sizeof text);
    for (int i = 0; i < l->d->node_count && l->status == TK_OK; i++)
        if (at[i].lost > 0)
            add(l, TK_LINT_RANGE, l->d->nodes[i].position, "%s gives nothing that is known, or no number, %s",
                tki_node_name(&l->d->nodes[i]), text);
}

/* Inputs along whose lines is summed may have lines of zeros, unless their range has none. */
static bool may_have_lines_of_zeros(const tk_case *c, int p)
{
    const tk_param *param = &c->contract->params[p];
    const bool ranged = param->least != 0 || param->most != 0;
    return !param->output && param->inner_axis >= 0 && tk_case_has(c, p) && tk_case_param_dtype(c, p) == TK_F32 &&
           !(ranged && (param->least > 0 || param->most < 0));
}

static bool is_an_end(const tki_def_attribute *a, tk_value value)
{
    return a->ranged &&
           (a->type == TK_ATTRIBUTE_REAL ? value.real == a->least.real || value.real == a->most.real
                                         : value.integer == a->least.integer || value.integer == a->most.integer);
}

static void look_at_edges(linting *l, const tki_point *point)
{
    const tk_contract *contract = point->trial.c.contract;
    seen *at = calloc((size_t)l->d->node_count + 1, sizeof *at);
    if (!at)
        l->status = TK_NO_MEMORY;
    /* The simpler ones first, since of what is found at one place the first stays. */
    for (int zeros = -1; zeros < contract->param_count && l->status == TK_OK; zeros++) {
        if (zeros >= 0 && !may_have_lines_of_zeros(&point->trial.c, zeros))
            continue;
        edge e = {.zeros = zeros, .attribute = -1, .size = -1};
        if (zeros >= 0)
            look_at_edge(l, point, &e, at);
        for (e.attribute = 0; e.attribute < contract->attribute_count; e.attribute++)
            for (int i = 0; i < contract->attributes[e.attribute].tried_count && l->status == TK_OK; i++) {
                e.value = contract->attributes[e.attribute].tried[i];
                if (is_an_end(&l->d->attributes[e.attribute], e.value))
                    look_at_edge(l, point, &e, at);
            }
    }
    for (int size = 0; size < contract->dim_count && l->status == TK_OK; size++)
        if (l->d->sizes[size].derived == TKI_NONE)
            look_at_edge(l, point, &(edge){.zeros = -1, .attribute = -1, .size = size}, at);
    free(at);
}

/* How often a bound admits values that are a quarter off. */
typedef struct blindness {
    int64_t blind, of;
} blindness;

static void look_at(linting *l, const tki_point *point, blindness blind[])
{
    seen *at = calloc((size_t)l->d->node_count + 1, sizeof *at);
    tki_value base[TKI_MOST_AT_A_POINT];
    const tki_watch watch = {.see = look, .context = at};
    if (!at)
        l->status = TK_NO_MEMORY;
    for (int i = l->d->input_count; i < l->d->param_count && l->status == TK_OK; i++) {
        const int tensor = l->d->params[i];
        const int64_t count = tki_point_elements(point, tensor);
        l->status = count > 0 ? tki_point_values(point, &watch, tensor, 0, count, base) : TK_OK;
        if (count > 0 && l->status == TK_OK)
            find_losses(l, point, tensor, count, base);
        for (int64_t k = 0; k < count && l->status == TK_OK && tki_point_is_normal(point); k++) {
            blind[tensor].of += base[k].state == TKI_IS_FINITE && base[k].v != 0;
            blind[tensor].blind += base[k].state == TKI_IS_FINITE && base[k].v != 0 &&
                                   2 * base[k].e > fabs(base[k].v) / 4;
        }
    }
    if (l->status == TK_OK && tki_point_is_normal(point))
        find_unknown(l, at);
    free(at);
}

static void look_everywhere(linting *l, const tki_points *points)
{
    blindness *blind = calloc((size_t)l->d->tensor_count + 1, sizeof *blind);
    if (!blind)
        l->status = TK_NO_MEMORY;
    for (int i = 0; i < points->count && l->status == TK_OK; i++)
        look_at(l, &points->list[i], blind);
    for (int i = 0, looked_at = 0; i < points->count && looked_at < ENOUGH_POINTS && l->status == TK_OK; i++)
        if (tki_point_is_normal(&points->list[i])) {
            look_at_edges(l, &points->list[i]);
            looked_at++;
        }
    for (int i = 0; i < l->d->tensor_count && l->status == TK_OK; i++)
        if (2 * blind[i].blind > blind[i].of)
            add(l, TK_LINT_BLIND, l->d->tensors[i].position,
                "the bound of %s admits what is a quarter off at %lld of %lld elements: a wrong kernel may pass",
                l->d->tensors[i].name, (long long)blind[i].blind, (long long)blind[i].of);
    free(blind);
}

/* -- Gradients ------------------------------------------------------------------------------------------------------- */

static void find_wrong_gradients(linting *l, const tk_contract *contract)
{
    tki_gradient_check check;
    l->status = tki_check_gradient(l->ctx, contract, &check);
    if (l->status == TK_OK && check.misfit[0])
        add(l, TK_LINT_GRADIENT, l->d->gradient.position, "%s", check.misfit);
    for (int i = 0; i < check.count && l->status == TK_OK && !check.misfit[0]; i++) {
        const tki_gradient_found *of = &check.of[i];
        const tki_def_tensor *t = &l->d->tensors[of->output];
        if (of->differ > 0)
            add(l, TK_LINT_GRADIENT, t->position, "%s at %lld of %lld comparisons", of->first, (long long)of->differ,
                (long long)(of->agree + of->differ));
        else if (of->agree == 0)
            add(l, TK_LINT_GRADIENT, t->position,
                "%s was compared nowhere: in no small case that was drawn is there a derivative", t->name);
    }
}

tk_status tk_op_gradient(tk_ctx *ctx, const tk_contract *contract, tk_gradient_counts *counts)
{
    tki_gradient_check check;
    if (!ctx)
        return TK_BAD_ARGUMENT;
    if (!contract || !counts)
        return tki_fail(ctx, TK_BAD_ARGUMENT, "no contract, or nowhere to put the counts");
    *counts = (tk_gradient_counts){0};
    if (!tki_contract_is_known(ctx, contract) || !tk_contract_definition(contract))
        return tki_fail(ctx, TK_BAD_ARGUMENT, "%s is not made from a definition in this context", contract->name);
    const tk_status status = tki_check_gradient(ctx, contract, &check);
    if (status != TK_OK)
        return tki_fail(ctx, status, "no memory for the gradient");
    if (check.misfit[0])
        return tki_fail(ctx, TK_BAD_ARGUMENT, "%s: %s", contract->name, check.misfit);
    *counts = (tk_gradient_counts){.kinks = check.kinks, .undefined = check.undefined};
    for (int i = 0; i < check.count; i++) {
        counts->agree += check.of[i].agree;
        counts->differ += check.of[i].differ;
    }
    return TK_OK;
}

static int by_position(const void *a, const void *b)
{
    const tk_lint *x = a, *y = b;
    return x->line != y->line       ? x->line - y->line
           : x->column != y->column ? x->column - y->column
                                    : (int)x->kind - (int)y->kind;
}

tk_status tk_op_lint(tk_ctx *ctx, const tk_contract *contract, tk_lint **found, int *count)
{
    tki_points points;
    if (!ctx)
        return TK_BAD_ARGUMENT;
    if (!contract || !found || !count)
        return tki_fail(ctx, TK_BAD_ARGUMENT, "no contract, or no pointer for what is found");
    *found = NULL;
    *count = 0;
    if (!tki_contract_is_known(ctx, contract) || !tk_contract_definition(contract))
        return tki_fail(ctx, TK_BAD_ARGUMENT, "%s is not made from a definition in this context", contract->name);
    linting l = {.ctx = ctx, .d = tki_definition_of(contract)};
    tk_status status = tki_points_make(ctx, contract, &points);
    if (status != TK_OK)
        return status;
    find_unused(&l);
    find_indices(&l);
    if (l.status == TK_OK)
        look_everywhere(&l, &points);
    tki_points_free(&points);
    if (l.status == TK_BAD_ARGUMENT) /* what is not evaluated has no bound */
        l.status = TK_OK;
    if (l.status == TK_OK)
        find_wrong_gradients(&l, contract);
    if (l.status != TK_OK) {
        free(l.found);
        return tki_fail(ctx, l.status, "no memory for lint");
    }
    if (l.count > 0)
        qsort(l.found, (size_t)l.count, sizeof *l.found, by_position);
    *found = l.found;
    *count = l.count;
    return TK_OK;
}
