/* CHOOSES. Small cases with drawn inputs, and what of the bound comes from which node. */
#include "trials/points.h"

#include <stdlib.h>
#include <string.h>

#include "core/context.h"
#include "exact/floats.h"
#include "model/case.h"
#include "model/op.h"
#include "trials/levels.h"

/* Inputs; and a factor and an offset for those without a range: functions saturate at some units, and differences of means cancel beside
 * what all elements have in common. */
static const struct {
    const char *family;
    float factor, offset;
} kinds[] = {{"normal", 1, 0}, {"normal", 4, 0}, {"normal", 1, 100}, {"log_uniform", 1, 0}};

static int64_t elements_of(const tk_case *c, bool outputs)
{
    int64_t all = 0;
    for (int p = 0; p < c->contract->param_count; p++)
        if (c->contract->params[p].output == outputs && tk_case_has(c, p))
            all += tk_case_elements(c, p);
    return all;
}

static bool has_few_elements(const tk_case *c)
{
    for (int p = 0; p < c->contract->param_count; p++)
        if (tk_case_has(c, p) && tk_case_elements(c, p) > TKI_MOST_AT_A_POINT)
            return false;
    return elements_of(c, false) <= TKI_MOST_AT_A_POINT;
}

static bool is_small(const tk_case *c)
{
    return has_few_elements(c) && elements_of(c, false) > 0 && elements_of(c, true) > 0;
}

static void move(const tki_point *point)
{
    const tk_case *c = &point->trial.c;
    for (int p = 0; p < c->contract->param_count; p++) {
        const tk_param *param = &c->contract->params[p];
        if (param->output || !tk_case_has(c, p) || tk_case_param_dtype(c, p) != TK_F32 || param->least != 0 ||
            param->most != 0)
            continue;
        float *data = point->inputs.data[p];
        for (int64_t i = 0; i < tk_case_elements(c, p); i++)
            data[i] = data[i] * kinds[point->kind].factor + kinds[point->kind].offset;
    }
}

/* Those with the most elements of the trials that are small enough. */
static tk_status add_kind(tk_ctx *ctx, const tk_contract *contract, int kind, tki_points *points)
{
    tki_trials trials;
    tk_certify_options options = TK_CERTIFY_DEFAULTS;
    const tk_dtype dtype = contract->types[0].dtype;
    const int end = points->count + TKI_MOST_POINTS / (int)(sizeof kinds / sizeof *kinds);
    options.family = kinds[kind].family;
    tk_status status = tki_trials_make(ctx, contract, dtype, TK_I32, &options, &trials);
    if (status == TK_BAD_ARGUMENT)
        return TK_OK; /* the op has no such inputs */
    for (int64_t i = trials.count - 1; status == TK_OK && i >= 0 && points->count < end; i--) {
        tki_point *point = &points->list[points->count];
        if (trials.list[i].planted_count > 0 || !is_small(&trials.list[i].c))
            continue;
        *point = (tki_point){.d = tki_definition_of(contract), .kind = kind, .trial = trials.list[i]};
        status = tki_inputs_make(ctx, &point->trial, &options, &point->inputs);
        if (status == TK_OK) {
            move(point);
            points->count++;
        }
    }
    free(trials.list);
    return status;
}

tk_status tki_points_make(tk_ctx *ctx, const tk_contract *contract, tki_points *points)
{
    tk_status status = TK_OK;
    points->count = 0;
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds && status == TK_OK; i++)
        status = add_kind(ctx, contract, (int)i, points);
    if (status != TK_OK)
        tki_points_free(points);
    return status;
}

void tki_points_free(tki_points *points)
{
    for (int i = 0; i < points->count; i++)
        tki_inputs_free(&points->list[i].inputs);
    points->count = 0;
}

tk_status tki_point_change(tk_ctx *ctx, const tki_point *like, int attribute, tk_value value, int size, int zeros,
                           tki_point *point)
{
    const tk_certify_options options = TK_CERTIFY_DEFAULTS;
    *point = *like;
    point->inputs = (tki_inputs){0};
    tk_case *c = &point->trial.c;
    if (attribute >= 0)
        c->attributes[attribute] = value;
    if (size >= 0)
        c->dims[size] = 0;
    if (c->contract->derive)
        c->contract->derive(c);
    if (!tki_case_is_settled(c) || !has_few_elements(c) || !tki_indices_point_somewhere(c))
        return TK_BAD_ARGUMENT;
    const tk_status status = tki_inputs_make(ctx, &point->trial, &options, &point->inputs);
    if (status == TK_OK && zeros >= 0)
        memset(point->inputs.data[zeros], 0, tki_param_bytes(c, zeros));
    return status;
}

bool tki_point_is_normal(const tki_point *point)
{
    return point->kind == 0;
}

int64_t tki_point_elements(const tki_point *point, int tensor)
{
    const tki_def_tensor *t = &point->d->tensors[tensor];
    const bool judged = t->role == TKI_TENSOR_OUTPUT && !t->integer && tk_case_has(&point->trial.c, t->param);
    return judged ? tk_case_elements(&point->trial.c, t->param) : 0;
}

tk_status tki_point_values(const tki_point *point, const tki_watch *watch, int tensor, int64_t first, int64_t count,
                           tki_value values[])
{
    static const tki_watch nobody;
    const tki_floats floats = tki_floats_begin();
    tki_interpreter *in;
    tk_status status = tki_interpreter_make_watched(
        point->d, &point->trial.c, (const void *const *)point->inputs.data, watch ? watch : &nobody, &in);
    if (status == TK_OK)
        status = tki_interpreter_values(in, tensor, first, count, values);
    tki_interpreter_free(in);
    tki_floats_end(&floats);
    return status;
}

static void mark(void *context, int node, int count, const tki_operand operands[3], const tki_value values[])
{
    (void)count, (void)operands, (void)values;
    ((tki_share *)context)[node].met = true;
}

/* 0 to 1: what is left of an error of `all`. */
static double gone(double all, double left)
{
    return all > 0 && left < all ? (all - left) / all : 0;
}

tk_status tki_point_shares(const tki_point *point, int tensor, int64_t element, tki_share shares[])
{
    const int nodes = point->d->node_count;
    bool *exact = calloc((size_t)nodes + 1, sizeof *exact);
    const tki_watch marks = {.see = mark, .context = shares}, without = {.exact = exact};
    tki_value all, left, own;
    if (!exact)
        return TK_NO_MEMORY;
    memset(shares, 0, (size_t)nodes * sizeof *shares);
    tk_status status = tki_point_values(point, &marks, tensor, element, 1, &all);
    for (int i = 0; i < nodes && status == TK_OK && all.state == TKI_IS_FINITE; i++) {
        if (!shares[i].met)
            continue;
        const tki_def_node *n = &point->d->nodes[i];
        exact[i] = true;
        status = tki_point_values(point, &without, tensor, element, 1, &left);
        exact[i] = false;
        for (int k = 0; k < 3; k++)
            if (n->operand[k] != TKI_NONE)
                exact[n->operand[k]] = true;
        if (status == TK_OK)
            status = tki_point_values(point, &without, tensor, element, 1, &own);
        memset(exact, 0, (size_t)nodes * sizeof *exact);
        shares[i].through = gone(all.e, left.e);
        shares[i].own = n->kind == TKI_NODE_READ ? 0 : fmax(shares[i].through - gone(all.e, own.e), 0);
    }
    free(exact);
    return status;
}
