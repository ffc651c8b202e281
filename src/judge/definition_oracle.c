/* DECIDES. From what the interpreter knows of an element to what is admitted: A times the error of a careful evaluation, A = 2, so that other
 * algebraic forms fit; and what infinities and NaN in the inputs make of it. */
#include "judge/definition_oracle.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "exact/domain.h"
#include "exact/round.h"
#include "interpret/program.h"
#include "judge/judge.h"
#include "model/case.h"
#include "model/op.h"

enum { BOX = 1 << 13, PATTERNS = 1 << 16, WORTH_PATTERNS = 4 * PATTERNS };
#define OTHER_FORMS 2.0    /* A */
#define MOST_OF_ALL 0x1p30 /* values that are computed for all elements of a case: more take minutes */

typedef struct prepared {
    tki_interpreter *in; /* NULL: the case is not evaluated, and nothing is known */
    int clause[TKI_DEFINED_COUNT];
    const void *buffers[TK_MAX_PARAMS];
    const uint16_t *patterns; /* of the one input of an elementwise op in 16 bits, where that is worth it */
    tki_enclosure *by_pattern[TK_MAX_PARAMS]; /* then, [PATTERNS] of each output */
} prepared;

static void release(void *memory)
{
    prepared *p = memory;
    if (p)
        tki_interpreter_free(p->in);
    for (int i = 0; p && i < TK_MAX_PARAMS; i++)
        free(p->by_pattern[i]);
    free(p);
}

/* The inputs, and the integers among the outputs: those that a kernel was free to choose are what the other lines read. */
static void set_buffers(const tki_definition *d, const tki_oracle_job *job, const void *buffers[])
{
    for (int p = 0; p < d->param_count; p++) {
        const tki_def_tensor *t = &d->tensors[d->params[p]];
        int value = t->value;
        while (value != TKI_NONE && d->nodes[value].kind == TKI_NODE_CHOICE)
            value = d->nodes[value].operand[tki_condition_holds(&d->nodes[value].condition, job->c) ? 0 : 1];
        const bool chosen = value != TKI_NONE && t->integer && d->nodes[value].kind == TKI_NODE_OVER;
        buffers[p] = chosen && job->written ? job->written[p] : job->buffers[p];
    }
}

static tk_status enclose_stretch(const tki_oracle_job *job, int64_t first, int64_t count, tki_enclosure *out);
static tk_status fill_patterns(const tki_oracle_job *job, prepared *p);

static tk_status prepare(const tki_oracle_job *job, void **made)
{
    const tki_definition *d = tki_definition_of(job->c->contract);
    prepared *p = malloc(sizeof *p);
    if (!p)
        return TK_NO_MEMORY;
    *p = (prepared){.in = NULL};
    for (tki_defined_clause which = 0; which < TKI_DEFINED_COUNT; which++)
        p->clause[which] = tki_definition_clause(d, which);
    set_buffers(d, job, p->buffers);
    const double asked = job->sampled ? (double)TKI_MOST_SAMPLED * BOX : INFINITY;
    tk_status status = tki_interpreter_make_for(d, job->c, p->buffers, asked, &p->in);
    if (status == TK_OK)
        status = fill_patterns(job, p);
    if (status != TK_OK && status != TK_BAD_ARGUMENT) {
        release(p);
        return status;
    }
    *made = p;
    return TK_OK;
}

/* -- By pattern ------------------------------------------------------------------------------------------------------- */

/* Does each element of its outputs depend on 16 bits alone, and are there many? Sizes do not stand in values of what is elementwise. */
static bool goes_by_pattern(const tk_case *c)
{
    const tki_definition *d = tki_definition_of(c->contract);
    return d->input_count == 1 && c->contract->elementwise && tk_case_elements(c, 0) >= WORTH_PATTERNS &&
           !d->tensors[d->params[0]].ranged && tki_format_of(tk_case_param_dtype(c, 0)).number == TKI_FLOATING &&
           tki_format_of(tk_case_param_dtype(c, 0)).bits == 16;
}

/* The same op on every pattern once. A case of that size may be refused: then elements are computed one by one. */
static tk_status fill_patterns(const tki_oracle_job *job, prepared *p)
{
    tk_case c = *job->c;
    if (!goes_by_pattern(&c))
        return TK_OK;
    for (int i = 0; i < c.contract->dim_count; i++)
        c.dims[i] = 1;
    c.dims[c.contract->params[0].dim[c.contract->params[0].rank - 1]] = PATTERNS;
    if (!tki_case_is_settled(&c))
        return TK_OK;
    uint16_t *all = malloc(PATTERNS * sizeof *all);
    const void *buffers[TK_MAX_PARAMS] = {all};
    tki_oracle_job sub = {.c = &c, .buffers = buffers};
    void *made = NULL;
    tk_status status = all ? TK_OK : TK_NO_MEMORY;
    for (int i = 0; i < PATTERNS && all; i++)
        all[i] = (uint16_t)i;
    if (status == TK_OK)
        status = prepare(&sub, &made);
    sub.prepared = made;
    for (int i = 1; i < c.contract->param_count && status == TK_OK && ((prepared *)made)->in; i++) {
        sub.output = i;
        p->by_pattern[i] = malloc(PATTERNS * sizeof *p->by_pattern[i]);
        status = p->by_pattern[i] ? enclose_stretch(&sub, 0, PATTERNS, p->by_pattern[i]) : TK_NO_MEMORY;
    }
    p->patterns = job->buffers[0];
    release(made);
    free(all);
    return status;
}

bool tki_definition_samples(const tk_case *c)
{
    tki_interpreter *in = NULL;
    const tki_definition *d = tki_definition_of(c->contract);
    if (!d)
        return false;
    const tk_status status = tki_interpreter_make(d, c, NULL, &in);
    const bool large = status == TK_BAD_ARGUMENT || (status == TK_OK && in->work > MOST_OF_ALL);
    tki_interpreter_free(in);
    return large;
}

static void box_size(const tk_case *c, int output, int64_t *rows, int64_t *cols)
{
    tki_box_of_elements(c, output, BOX, rows, cols);
}

/* -- Special values ------------------------------------------------------------------------------------------------- */

static unsigned values_of(double x)
{
    return isnan(x)         ? TKI_SPECIAL_NAN
           : x == 0         ? TKI_SPECIAL_ZERO
           : x == INFINITY  ? TKI_SPECIAL_PLUS_INF
           : x == -INFINITY ? TKI_SPECIAL_MINUS_INF
                            : 0;
}

/* Do all inputs of the line have its values, at the place of the element? */
static bool applies(const prepared *p, const tki_special *line, const int64_t place[])
{
    for (int i = 0; i < line->when_count; i++) {
        const tki_def_tensor *t = &p->in->d->tensors[line->when[i].tensor];
        int64_t flat = 0;
        for (int axis = 0; axis < t->rank; axis++)
            flat = flat * p->in->constants[t->extent[axis]] + place[line->when[i].output_axis[axis]];
        if (!(values_of(tki_input_value(p->in, line->when[i].tensor, flat)) & line->when[i].values))
            return false;
    }
    return true;
}

/* What a `special` line says of the element; 0: none does. */
static unsigned admitted_by_line(const prepared *p, int tensor, int64_t element)
{
    const tki_definition *d = p->in->d;
    const tki_def_tensor *t = &d->tensors[tensor];
    int64_t place[TK_MAX_RANK];
    for (int axis = t->rank - 1; axis >= 0; axis--) {
        place[axis] = element % p->in->constants[t->extent[axis]];
        element /= p->in->constants[t->extent[axis]];
    }
    for (int i = 0; i < d->special_count; i++)
        if (d->specials[i].output == tensor && applies(p, &d->specials[i], place)) {
            const unsigned says = d->specials[i].admits;
            return (says & TKI_SPECIAL_NAN ? TKI_ADMIT_NAN : 0u) | (says & TKI_SPECIAL_ZERO ? TKI_ADMIT_ZERO : 0u) |
                   (says & TKI_SPECIAL_PLUS_INF ? TKI_ADMIT_PLUS_INF : 0u) |
                   (says & TKI_SPECIAL_MINUS_INF ? TKI_ADMIT_MINUS_INF : 0u);
        }
    return 0;
}

/* -- Elements --------------------------------------------------------------------------------------------------------- */

static tki_enclosure unknown(const prepared *p, tki_defined_clause which)
{
    return (tki_enclosure){.admits = TKI_UNDEFINED, .clause = (uint8_t)p->clause[which]};
}

static tki_enclosure integer_of(const prepared *p, int64_t value)
{
    return (tki_enclosure){
        .bits = (uint64_t)value, .admits = TKI_ADMIT_BITS, .clause = (uint8_t)p->clause[TKI_DEFINED_INTEGER]};
}

/* What stands there, where a kernel may choose it; else one that it may. */
static tk_status enclose_choices(const prepared *p, int tensor, int64_t first, int64_t count, tki_enclosure *out)
{
    int64_t *indices = malloc((size_t)count * sizeof *indices);
    tk_status status = indices ? tki_interpreter_choices(p->in, tensor, OTHER_FORMS, first, count, indices)
                               : TK_NO_MEMORY;
    for (int64_t i = 0; i < count && status == TK_OK; i++)
        out[i] = indices[i] == TKI_NO_INTEGER ? unknown(p, TKI_DEFINED_INTEGER) : integer_of(p, indices[i]);
    free(indices);
    return status;
}

static tki_enclosure integer_element(const prepared *p, const tki_value *y)
{
    if (y->state != TKI_IS_FINITE || y->d != 0 || y->v != floor(y->v) || !(fabs(y->v) < 0x1p53))
        return unknown(p, TKI_DEFINED_INTEGER);
    return integer_of(p, (int64_t)y->v);
}

/* `stated`: the bound, if the definition has one; else -1. */
static tki_enclosure real_element(const prepared *p, const tki_value *y, double stated)
{
    /* Where there is no finite value there is nothing to bound. */
    if ((y->state & TKI_IS_UNKNOWN) || ((y->state & TKI_IS_FINITE) && !isfinite(stated)))
        return unknown(p, TKI_DEFINED_ERR);
    const bool finite = y->state & TKI_IS_FINITE, special = y->state & TKI_IS_ANY;
    const tki_defined_clause which = finite && special            ? TKI_DEFINED_OVERFLOW
                                     : finite                     ? TKI_DEFINED_ERR
                                     : y->state & TKI_IS_INFINITE ? TKI_DEFINED_INF
                                                                  : TKI_DEFINED_NAN;
    tki_enclosure e = {.clause = (uint8_t)p->clause[which]};
    if (finite) {
        e.lo = y->d > 0 ? tki_down(y->v - y->d) : y->v;
        e.hi = y->d > 0 ? tki_up(y->v + y->d) : y->v;
        e.bound = stated >= 0 ? stated : y->e * OTHER_FORMS;
    }
    e.admits = (uint16_t)((finite ? TKI_ADMIT_INTERVAL : 0) | (y->state & TKI_IS_NAN ? TKI_ADMIT_NAN : 0) |
                          (y->state & TKI_IS_PLUS_INF ? TKI_ADMIT_PLUS_INF : 0) |
                          (y->state & TKI_IS_MINUS_INF ? TKI_ADMIT_MINUS_INF : 0));
    return e;
}

static tk_status enclose_stretch(const tki_oracle_job *job, int64_t first, int64_t count, tki_enclosure *out)
{
    const prepared *p = job->prepared;
    const bool integers = job->c->contract->params[job->output].judged == TK_BY_INTEGER;
    if (!p->in) {
        for (int64_t i = 0; i < count; i++)
            out[i] = unknown(p, integers ? TKI_DEFINED_INTEGER : TKI_DEFINED_ERR);
        return TK_OK;
    }
    if (p->by_pattern[job->output]) {
        for (int64_t i = 0; i < count; i++)
            out[i] = p->by_pattern[job->output][p->patterns[first + i]];
        return TK_OK;
    }
    const tki_definition *d = p->in->d;
    const int tensor = d->params[job->output];
    if (tki_chooses(p->in, tensor))
        return enclose_choices(p, tensor, first, count, out);
    const bool is_stated = d->tensors[tensor].stated_bound != TKI_NONE;
    tki_value *values = malloc((size_t)count * sizeof *values);
    tki_value *stated = is_stated ? malloc((size_t)count * sizeof *stated) : NULL;
    tk_status status = values && (stated || !is_stated) ? TK_OK : TK_NO_MEMORY;
    if (status == TK_OK)
        status = tki_interpreter_values(p->in, tensor, first, count, values);
    if (status == TK_OK && stated)
        status = tki_interpreter_stated(p->in, tensor, first, count, stated);
    for (int64_t i = 0; i < count && status == TK_OK; i++) {
        /* The largest that the stated bound may be; NaN if that is not known, and of one below zero. */
        const double most = !stated ? -1 : stated[i].state == TKI_IS_FINITE ? tki_up(stated[i].v + stated[i].d) : NAN;
        out[i] = integers ? integer_element(p, &values[i])
                          : real_element(p, &values[i], stated && most < 0 ? NAN : most);
        const unsigned line = d->special_count > 0 ? admitted_by_line(p, tensor, first + i) : 0;
        if (line)
            out[i] = (tki_enclosure){.admits = (uint16_t)line, .clause = (uint8_t)p->clause[TKI_DEFINED_SPECIAL]};
    }
    free(values);
    free(stated);
    return status;
}

static tk_status enclose(const tki_oracle_job *job, const tki_box *box, tki_enclosure *out)
{
    return tki_enclose_by_stretches(job, box, enclose_stretch, out);
}

static tk_status refine(const tki_oracle_job *job, int64_t row, int64_t col, int precision, mpfr_ptr lo, mpfr_ptr hi)
{
    const prepared *p = job->prepared;
    int64_t rows, cols;
    tki_output_matrix(job->c, job->output, &rows, &cols);
    return tki_interpreter_exactly(p->in, p->in->d->params[job->output], row * cols + col, precision, lo, hi);
}

/* -- What nothing is known of --------------------------------------------------------------------------------------- */

static void look(void *context, int node, int count, const tki_operand operands[3], const tki_value values[])
{
    int *first = context;
    (void)operands;
    for (int i = 0; i < count && *first < 0; i++)
        *first = values[i].state & TKI_IS_UNKNOWN ? node : -1;
}

/* Values are met in the order in which they are computed: operands first. */
static int origin(const tki_oracle_job *job, int64_t index)
{
    enum { MOST_VALUES = 1 << 22 }; /* that this is worth */
    const prepared *p = job->prepared;
    const tki_definition *d = tki_definition_of(job->c->contract);
    const int tensor = d->params[job->output];
    int first = -1;
    const tki_watch watch = {.see = look, .context = &first};
    tki_interpreter *in = NULL;
    tki_value y;
    if (!p->in || d->tensors[tensor].integer || p->in->of_tensor[tensor].cost > MOST_VALUES)
        return first;
    if (tki_interpreter_make_watched(d, job->c, p->buffers, &watch, &in) == TK_OK &&
        in->of_tensor[tensor].cost <= MOST_VALUES && tki_interpreter_values(in, tensor, index, 1, &y) != TK_OK)
        first = -1; /* no memory: then none is named */
    tki_interpreter_free(in);
    return first;
}

/* The first tensor whose lines have the value; NULL: there is none. */
static const char *line_with(const tki_definition *d, int node)
{
    bool below[TKI_MOST_NODES];
    for (int t = 0; t < d->tensor_count; t++) {
        memset(below, 0, sizeof below);
        if (d->tensors[t].value < 0)
            continue;
        below[d->tensors[t].value] = true;
        for (int i = d->tensors[t].value; i >= 0; i--)
            for (int k = 0; k < 3 && below[i]; k++)
                if (d->nodes[i].operand[k] >= 0)
                    below[d->nodes[i].operand[k]] = true;
        if (below[node])
            return d->tensors[t].name;
    }
    return NULL;
}

bool tki_definition_names(const tk_contract *contract, int64_t node, const char **value, const char **line)
{
    const tki_definition *d = tki_definition_of(contract);
    if (!d || node < 0 || node >= d->node_count)
        return false;
    *value = tki_node_name(&d->nodes[node]);
    *line = line_with(d, (int)node);
    return *line != NULL;
}

const tki_oracle tki_definition_oracle = {.prepare = prepare,
                                          .release = release,
                                          .box_size = box_size,
                                          .enclose = enclose,
                                          .refine = refine,
                                          .origin = origin};
