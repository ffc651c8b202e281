/* CHOOSES. The check of gradients. Forward op and gradient are evaluated on the same inputs: the op with its derivatives in drawn directions d, the
 * gradient as it is. An input of the gradient that is named like an output of the op takes the op's value; one that is named like a cotangent is w, and
 * 0 where the op has a kink or no derivative; an output of the op without a cotangent has 0.
 *
 * 200 bits decide what agrees. What does not is computed again with 800: there a difference stays, and what cancelled is gone. */
#include "trials/gradient_check.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/context.h"
#include "core/random.h"
#include "exact/floats.h"
#include "judge/trial_inputs.h"
#include "model/case.h"
#include "model/op.h"
#include "trials/families.h"
#include "trials/forward_mode.h"
#include "trials/levels.h"

enum { CASES = 18, DRAWS = 400, MOST_ELEMENTS = 128, BITS = 200, MORE_BITS = 800, AGREEING_BITS = 150 };
enum {
    DIRECTIONS = 3,
    MOST_DIRECTIONS = DIRECTIONS * TK_MAX_PARAMS
}; /* of each input one that moves all, and two elements */
#define SEED 31

/* Both ops at one point. `pair` has the tensors of the op by those of the gradient. */
typedef struct checking {
    tk_ctx *ctx;
    tki_gradient_check *check;
    const tki_definition *g, *f;
    tk_case of_g, of_f;
    tki_inputs g_inputs, f_inputs;
    tki_interpreter *g_in, *f_in;
    tki_random random;
    int directions;
    double *d[MOST_DIRECTIONS]; /* each over the elements of the input that it moves */
} checking;

/* What becomes of a tensor of the gradient in the op. */
typedef enum role { NOTHING, SAME_INPUT, OUTPUT_VALUE, COTANGENT, GRADIENT } role;

static int tensor_named(const tki_definition *d, const char *name, tki_tensor_role wanted)
{
    for (int i = 0; i < d->tensor_count; i++)
        if (d->tensors[i].role == wanted && !strcmp(d->tensors[i].name, name))
            return i;
    return TKI_NONE;
}

static bool is_named(const char *name, int count, const char *const names[])
{
    for (int i = 0; i < count; i++)
        if (!strcmp(name, names[i]))
            return true;
    return false;
}

static role role_of(const checking *c, int tensor, int *other)
{
    const tki_def_tensor *t = &c->g->tensors[tensor];
    const tki_gradient *line = &c->g->gradient;
    const char *of = strncmp(t->name, "grad_", 5) ? NULL : t->name + 5;
    if (t->role == TKI_TENSOR_OUTPUT)
        *other = of && is_named(of, line->by_count, line->by) ? tensor_named(c->f, of, TKI_TENSOR_INPUT) : TKI_NONE;
    else if (of && is_named(of, line->of_count, line->of))
        *other = tensor_named(c->f, of, TKI_TENSOR_OUTPUT);
    else if ((*other = tensor_named(c->f, t->name, TKI_TENSOR_INPUT)) != TKI_NONE)
        return SAME_INPUT;
    else if ((*other = tensor_named(c->f, t->name, TKI_TENSOR_OUTPUT)) != TKI_NONE)
        return OUTPUT_VALUE;
    if (*other == TKI_NONE)
        return NOTHING;
    return t->role == TKI_TENSOR_OUTPUT ? GRADIENT : COTANGENT;
}

__attribute__((format(printf, 2, 3))) static bool misfit(checking *c, const char *format, ...)
{
    va_list values;
    va_start(values, format);
    vsnprintf(c->check->misfit, sizeof c->check->misfit, format, values);
    va_end(values);
    return false;
}

/* -- What has to fit --------------------------------------------------------------------------------------------------- */

static bool names_fit(checking *c)
{
    const tki_gradient *line = &c->g->gradient;
    for (int i = 0; i < line->of_count; i++) {
        const int y = tensor_named(c->f, line->of[i], TKI_TENSOR_OUTPUT);
        if (y == TKI_NONE || c->f->tensors[y].integer)
            return misfit(c, "%s has no output %s of real numbers", c->f->name, line->of[i]);
    }
    for (int i = 0; i < line->by_count; i++) {
        const int x = tensor_named(c->f, line->by[i], TKI_TENSOR_INPUT);
        if (x == TKI_NONE || c->f->tensors[x].integer)
            return misfit(c, "%s has no input %s of real numbers", c->f->name, line->by[i]);
    }
    for (int p = 0; p < c->g->param_count; p++) {
        const int tensor = c->g->params[p];
        const tki_def_tensor *t = &c->g->tensors[tensor];
        int other;
        const role r = role_of(c, tensor, &other);
        if (r == NOTHING && p < c->g->input_count)
            return misfit(c, "%s is no input of %s, and no output", t->name, c->f->name);
        if (r != NOTHING && (t->rank != c->f->tensors[other].rank || t->integer != c->f->tensors[other].integer))
            return misfit(c, "%s and %s of %s are not alike", t->name, c->f->tensors[other].name, c->f->name);
    }
    return true;
}

static bool shapes_fit(checking *c)
{
    for (int p = 0; p < c->g->param_count; p++) {
        int other;
        const int tensor = c->g->params[p];
        const role r = role_of(c, tensor, &other);
        if (r == NOTHING || !tk_case_has(&c->of_g, p))
            continue;
        const tki_def_tensor *a = &c->g->tensors[tensor], *b = &c->f->tensors[other];
        if (!tk_case_has(&c->of_f, b->param))
            return misfit(c, "%s is there, and %s of %s is not", a->name, b->name, c->f->name);
        if (r == SAME_INPUT && tk_case_param_dtype(&c->of_g, p) != tk_case_param_dtype(&c->of_f, b->param))
            return misfit(c, "%s has another type than that of %s", a->name, c->f->name);
        for (int axis = 0; axis < a->rank; axis++)
            if (c->of_g.dims[a->size[axis]] != c->of_f.dims[b->size[axis]])
                return misfit(c, "%s has not the shape of %s of %s", a->name, b->name, c->f->name);
    }
    return true;
}

/* -- Cases ----------------------------------------------------------------------------------------------------------- */

static uint64_t below(checking *c, uint64_t n)
{
    return tki_random_below(&c->random, n);
}

static void draw_attributes(checking *c)
{
    const tk_contract *contract = c->of_g.contract;
    for (int i = 0; i < contract->attribute_count; i++) {
        const tk_attribute *a = &contract->attributes[i];
        if (!a->seen_by_kernel) /* no value depends on it */
            continue;
        if (a->choice_count > 0)
            c->of_g.attributes[i].integer = (int64_t)below(c, (uint64_t)a->choice_count);
        else if (a->tried_count > 0 && below(c, 2))
            c->of_g.attributes[i] = a->tried[below(c, (uint64_t)a->tried_count)];
    }
}

/* Those of the gradient by their names; where it has none of that name, the default. */
static void hand_on_attributes(checking *c)
{
    char text[64];
    for (int i = 0; i < c->of_f.contract->attribute_count; i++) {
        const tk_attribute *a = &c->of_f.contract->attributes[i];
        const int from = tk_attribute_find(c->of_g.contract, a->name);
        if (from < 0)
            continue;
        tk_attribute_print(&c->of_g.contract->attributes[from], c->of_g.attributes[from], text, sizeof text);
        if (!tk_attribute_parse(a, text, &c->of_f.attributes[i]))
            misfit(c, "%s of %s cannot be %s", a->name, c->f->name, text);
    }
}

static void hand_on_sizes(checking *c)
{
    for (int i = 0; i < c->f->size_count; i++) {
        c->of_f.dims[i] = 1 + (int64_t)below(c, 4);
        for (int k = 0; k < c->g->size_count; k++)
            if (!strcmp(c->f->sizes[i].name, c->g->sizes[k].name))
                c->of_f.dims[i] = c->of_g.dims[k];
    }
    for (int p = 0; p < c->g->param_count; p++) {
        int other;
        const int tensor = c->g->params[p];
        if (role_of(c, tensor, &other) == NOTHING)
            continue;
        for (int axis = 0; axis < c->g->tensors[tensor].rank; axis++)
            c->of_f.dims[c->f->tensors[other].size[axis]] = c->of_g.dims[c->g->tensors[tensor].size[axis]];
    }
    if (c->of_f.contract->derive)
        c->of_f.contract->derive(&c->of_f);
}

static bool is_small(const tk_case *c)
{
    for (int p = 0; p < c->contract->param_count; p++) {
        const int64_t elements = tk_case_has(c, p) ? tk_case_elements(c, p) : 1;
        if (elements < 1 || elements > MOST_ELEMENTS)
            return false;
    }
    return true;
}

/* A small case that both ops take; false if none was drawn. */
static bool draw_case(checking *c)
{
    const tk_case g = tk_case_init(c->of_g.contract, c->of_g.contract->types[0].dtype);
    const tk_case f = tk_case_init(c->of_f.contract, c->of_f.contract->types[0].dtype);
    for (int i = 0; i < DRAWS; i++) {
        c->of_g = g;
        c->of_f = f;
        draw_attributes(c);
        for (int d = 0; d < c->g->size_count; d++)
            c->of_g.dims[d] = below(c, 8) ? 2 + (int64_t)below(c, 4) : 1;
        if (!tki_case_settle(&c->of_g) || !is_small(&c->of_g))
            continue;
        hand_on_attributes(c);
        hand_on_sizes(c);
        if (c->check->misfit[0] || !shapes_fit(c))
            return false;
        if (tki_case_is_settled(&c->of_f) && is_small(&c->of_f))
            return true;
    }
    return false;
}

/* Three kinds: as drawn, wider, and few whole numbers, which tie. */
static void shape_inputs(const tk_case *c, const tki_inputs *inputs, int kind)
{
    for (int p = 0; p < c->contract->param_count; p++) {
        const tk_param *param = &c->contract->params[p];
        if (param->output || !tk_case_has(c, p) || tk_case_param_dtype(c, p) != TK_F32 || param->least != 0 ||
            param->most != 0)
            continue;
        float *data = inputs->data[p];
        for (int64_t i = 0; i < tk_case_elements(c, p) && kind > 0; i++)
            data[i] = kind == 1 ? 4 * data[i] : rintf(fmaxf(-2, fminf(data[i], 2)));
    }
}

static tk_status make_inputs(checking *c, int number)
{
    const tk_certify_options options = TK_CERTIFY_DEFAULTS;
    const tki_trial g = {.c = c->of_g, .family = tki_family_find("normal"), .seed = SEED + (uint64_t)number};
    const tki_trial f = {.c = c->of_f, .family = g.family, .seed = g.seed + CASES};
    tk_status status = tki_inputs_make(c->ctx, &g, &options, &c->g_inputs);
    if (status == TK_OK)
        status = tki_inputs_make(c->ctx, &f, &options, &c->f_inputs);
    if (status != TK_OK)
        return status;
    shape_inputs(&c->of_g, &c->g_inputs, number % 3);
    shape_inputs(&c->of_f, &c->f_inputs, number % 3);
    for (int p = 0; p < c->g->input_count; p++) {
        int other;
        if (role_of(c, c->g->params[p], &other) != SAME_INPUT || !tk_case_has(&c->of_g, p))
            continue;
        memcpy(c->g_inputs.data[p], c->f_inputs.data[c->f->tensors[other].param], tki_param_bytes(&c->of_g, p));
    }
    return TK_OK;
}

/* -- Directions ------------------------------------------------------------------------------------------------------ */

static int moved_by(const checking *c, int direction)
{
    return tensor_named(c->f, c->g->gradient.by[direction / DIRECTIONS], TKI_TENSOR_INPUT);
}

static bool draw_directions(checking *c)
{
    c->directions = 0;
    for (int k = 0; k < DIRECTIONS * c->g->gradient.by_count; k++) {
        const int p = c->f->tensors[moved_by(c, k)].param;
        const int64_t count = tk_case_has(&c->of_f, p) ? tk_case_elements(&c->of_f, p) : 0;
        c->d[k] = calloc((size_t)count + 1, sizeof *c->d[k]);
        if (!c->d[k])
            return false;
        c->directions++;
        for (int64_t i = 0; i < count && k % DIRECTIONS == 0; i++)
            c->d[k][i] = tki_random_normal(&c->random);
        if (count > 0 && k % DIRECTIONS > 0)
            c->d[k][below(c, (uint64_t)count)] = 1;
    }
    return true;
}

static void forget(checking *c)
{
    for (int k = 0; k < c->directions; k++)
        free(c->d[k]);
    c->directions = 0;
    tki_interpreter_free(c->g_in);
    tki_interpreter_free(c->f_in);
    c->g_in = c->f_in = NULL;
    tki_inputs_free(&c->g_inputs);
    tki_inputs_free(&c->f_inputs);
}

/* -- At one precision ------------------------------------------------------------------------------------------------ */

typedef struct comparison {
    double left[MOST_DIRECTIONS], right[MOST_DIRECTIONS], off[MOST_DIRECTIONS]; /* off: relative to the magnitudes */
    mpfr_exp_t exponent[MOST_DIRECTIONS];                                       /* of these */
    enum { LEFT_OUT, ZERO, AGREES, DIFFERS } is[MOST_DIRECTIONS];
    int64_t kinks, undefined;
} comparison;

static tk_status run_op(const checking *c, tki_forward *f)
{
    for (int k = 0; k < c->directions; k++) {
        const int tensor = moved_by(c, k);
        if (!tk_case_has(&c->of_f, c->f->tensors[tensor].param))
            continue;
        tki_dual **x = f->tensor[tensor] ? f->tensor[tensor] : tki_forward_open(f, tensor);
        for (int64_t i = 0; x && i < f->count[tensor]; i++)
            mpfr_set_d(x[i]->t[k], c->d[k][i], MPFR_RNDN);
    }
    return f->status == TK_OK ? tki_forward_run(f) : f->status;
}

/* The op's value in a tensor of the gradient. Of integers in its buffer, where subscripts read them. */
static void take_value(const checking *c, const tki_forward *f, tki_forward *g, int tensor, int other)
{
    const int p = c->g->tensors[tensor].param;
    for (int64_t i = 0; c->g->tensors[tensor].integer && i < f->count[other]; i++)
        tki_inputs_set_index(tk_case_param_dtype(&c->of_g, p), c->g_inputs.data[p], i,
                             mpfr_get_si(f->tensor[other][i]->v, MPFR_RNDN));
    tki_dual **x = tki_forward_open(g, tensor);
    for (int64_t i = 0; x && i < f->count[other]; i++)
        mpfr_set(x[i]->v, f->tensor[other][i]->v, MPFR_RNDN);
}

static void take_cotangent(const tki_forward *f, tki_forward *g, int tensor, int other, comparison *found)
{
    tki_dual **w = tki_forward_open(g, tensor);
    for (int64_t i = 0; w && i < f->count[other]; i++) {
        const tki_dual *y = f->tensor[other][i];
        const bool undefined = !tki_dual_is_number(f, y);
        found->undefined += undefined;
        found->kinks += y->kink && !undefined;
        if (y->kink || undefined)
            mpfr_set_zero(w[i]->v, 1);
    }
}

static tk_status run_gradient(const checking *c, const tki_forward *f, tki_forward *g, comparison *found)
{
    for (int p = 0; p < c->g->input_count; p++) {
        int other;
        const int tensor = c->g->params[p];
        const role r = tk_case_has(&c->of_g, p) ? role_of(c, tensor, &other) : NOTHING;
        if (r == OUTPUT_VALUE)
            take_value(c, f, g, tensor, other);
        else if (r == COTANGENT)
            take_cotangent(f, g, tensor, other, found);
    }
    return g->status == TK_OK ? tki_forward_run(g) : g->status;
}

/* sum += a b, magnitudes += |a b| */
static void add_product(mpfr_ptr sum, mpfr_ptr magnitudes, mpfr_srcptr a, mpfr_srcptr b)
{
    mpfr_t product;
    mpfr_init2(product, mpfr_get_prec(sum));
    if (mpfr_zero_p(b))
        mpfr_set_zero(product, 1);
    else
        mpfr_mul(product, a, b, MPFR_RNDN);
    mpfr_add(sum, sum, product, MPFR_RNDN);
    mpfr_abs(product, product, MPFR_RNDN);
    mpfr_add(magnitudes, magnitudes, product, MPFR_RNDN);
    mpfr_clear(product);
}

/* <grad, d> and <w, J d> */
static void multiply_out(const checking *c, const tki_forward *f, const tki_forward *g, int k, mpfr_ptr left,
                         mpfr_ptr right, mpfr_ptr magnitudes)
{
    mpfr_t d;
    mpfr_init2(d, f->precision);
    for (int t = 0; t < c->g->tensor_count; t++) {
        int other;
        const role r = g->tensor[t] ? role_of(c, t, &other) : NOTHING;
        for (int64_t i = 0; r == COTANGENT && i < g->count[t]; i++)
            add_product(right, magnitudes, f->tensor[other][i]->t[k], g->tensor[t][i]->v);
        for (int64_t i = 0; r == GRADIENT && other == moved_by(c, k) && i < g->count[t]; i++) {
            mpfr_set_d(d, c->d[k][i], MPFR_RNDN);
            add_product(left, magnitudes, g->tensor[t][i]->v, d);
        }
    }
    mpfr_clear(d);
}

static void compare_direction(const checking *c, const tki_forward *f, const tki_forward *g, int k, comparison *found)
{
    mpfr_t left, right, magnitudes;
    mpfr_inits2(f->precision, left, right, magnitudes, (mpfr_ptr)0);
    mpfr_set_zero(left, 1);
    mpfr_set_zero(right, 1);
    mpfr_set_zero(magnitudes, 1);
    multiply_out(c, f, g, k, left, right, magnitudes);
    found->left[k] = mpfr_get_d(left, MPFR_RNDN);
    found->right[k] = mpfr_get_d(right, MPFR_RNDN);
    if (!mpfr_number_p(left)) {
        found->is[k] = found->kinks + found->undefined > 0 ? LEFT_OUT : DIFFERS;
        found->off[k] = NAN;
    } else if (mpfr_zero_p(magnitudes)) {
        found->is[k] = ZERO;
    } else {
        found->exponent[k] = mpfr_get_exp(magnitudes);
        mpfr_sub(left, left, right, MPFR_RNDN);
        mpfr_div(left, left, magnitudes, MPFR_RNDN);
        found->off[k] = fabs(mpfr_get_d(left, MPFR_RNDN));
        found->is[k] = found->off[k] <= ldexp(1, -AGREEING_BITS) ? AGREES : DIFFERS;
    }
    mpfr_clears(left, right, magnitudes, (mpfr_ptr)0);
}

static tk_status compare(const checking *c, int bits, comparison *found)
{
    tki_forward f, g;
    *found = (comparison){.kinks = 0};
    tk_status status = tki_forward_begin(&f, c->f_in, bits, c->directions);
    if (status != TK_OK)
        return status;
    status = tki_forward_begin(&g, c->g_in, bits, 0);
    if (status == TK_OK) {
        status = run_op(c, &f);
        if (status == TK_OK)
            status = run_gradient(c, &f, &g, found);
        for (int k = 0; k < c->directions && status == TK_OK; k++)
            compare_direction(c, &f, &g, k, found);
        tki_forward_end(&g);
    }
    tki_forward_end(&f);
    return status;
}

/* -- All ------------------------------------------------------------------------------------------------------------- */

static bool any_differs(const checking *c, const comparison *found)
{
    for (int k = 0; k < c->directions; k++)
        if (found->is[k] == DIFFERS)
            return true;
    return false;
}

/* With more bits. What is nothing but roundings on both sides, where all cancels, becomes smaller by these. */
static tk_status compare_again(const checking *c, comparison *found)
{
    const comparison before = *found;
    const tk_status status = compare(c, MORE_BITS, found);
    for (int k = 0; k < c->directions && status == TK_OK; k++)
        if (found->is[k] == DIFFERS && !isnan(found->off[k]) &&
            found->exponent[k] < before.exponent[k] - (MORE_BITS - BITS) / 2)
            found->is[k] = ZERO;
    return status;
}

static void count(checking *c, const comparison *found)
{
    c->check->kinks += found->kinks;
    c->check->undefined += found->undefined;
    for (int k = 0; k < c->directions; k++) {
        tki_gradient_found *of = &c->check->of[k / DIRECTIONS];
        const char *name = c->g->gradient.by[k / DIRECTIONS];
        of->agree += found->is[k] == AGREES;
        if (found->is[k] != DIFFERS)
            continue;
        if (of->differ++ > 0)
            continue;
        if (isnan(found->off[k]))
            snprintf(of->first, sizeof of->first, "grad_%s is no number where there are derivatives", name);
        else
            snprintf(of->first, sizeof of->first,
                     "along %s d <grad_%s, d> is %.9g, and <w, J d> %.9g, %.2g of the magnitudes off",
                     k % DIRECTIONS ? "one element" : "a drawn direction", name, found->left[k], found->right[k],
                     found->off[k]);
    }
}

static tk_status open_interpreters(checking *c)
{
    const tk_status status = tki_interpreter_make(c->f, &c->of_f, (const void *const *)c->f_inputs.data, &c->f_in);
    return status != TK_OK ? status
                           : tki_interpreter_make(c->g, &c->of_g, (const void *const *)c->g_inputs.data, &c->g_in);
}

/* TK_BAD_ARGUMENT of the interpreter, or of forward mode: the case is left out. */
static tk_status check_case(checking *c, int number)
{
    comparison found;
    tk_status status = make_inputs(c, number);
    if (status == TK_OK)
        status = open_interpreters(c);
    if (status == TK_OK && !draw_directions(c))
        status = TK_NO_MEMORY;
    if (status == TK_OK)
        status = compare(c, BITS, &found);
    if (status == TK_OK && any_differs(c, &found))
        status = compare_again(c, &found);
    if (status == TK_OK)
        count(c, &found);
    forget(c);
    return status == TK_BAD_ARGUMENT ? TK_OK : status;
}

/* In the same text, or an op of the context that is made of a definition. */
static const tki_definition *find_op(const tk_ctx *ctx, const tk_contract *contract, const char *name)
{
    const tki_made_op *made = tki_made_op_of(ctx, contract);
    const tki_definition *beside = made && made->definitions ? tki_definition_named(made->definitions, name) : NULL;
    const tk_contract *other = beside ? NULL : tk_ctx_contract_find(ctx, name);
    return beside ? beside : other ? tki_definition_of(other) : NULL;
}

tk_status tki_check_gradient(tk_ctx *ctx, const tk_contract *contract, tki_gradient_check *check)
{
    const tki_floats floats = tki_floats_begin();
    checking c = {.ctx = ctx, .check = check, .g = tki_definition_of(contract), .random = tki_random_stream(SEED, 0)};
    const tki_gradient *line = &c.g->gradient;
    tk_status status = TK_OK;
    *check = (tki_gradient_check){.count = line->op ? line->by_count : 0};
    c.f = line->op ? find_op(ctx, contract, line->op) : NULL;
    if (line->op && !c.f)
        misfit(&c, "no definition of %s is in the same text, and no op of this name is made of one", line->op);
    if (!c.f || !names_fit(&c)) {
        tki_floats_end(&floats);
        return TK_OK;
    }
    for (int i = 0; i < line->by_count; i++) {
        char name[TKI_MOST_NAME + 8];
        snprintf(name, sizeof name, "grad_%s", line->by[i]);
        check->of[i].output = tensor_named(c.g, name, TKI_TENSOR_OUTPUT);
    }
    c.of_g.contract = contract;
    status = tki_op_define_unnamed(ctx, c.f->text, c.f->name, &c.of_f.contract);
    for (int i = 0; i < CASES && status == TK_OK && !check->misfit[0]; i++)
        if (draw_case(&c))
            status = check_case(&c, i);
    tki_floats_end(&floats);
    return status;
}
