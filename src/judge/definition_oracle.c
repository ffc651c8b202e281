/* DECIDES. From what the interpreter knows of an element to what is admitted: A times the error of a careful evaluation, A = 2, so that other
 * algebraic forms fit; and what infinities and NaN in the inputs make of it. */
#include "judge/definition_oracle.h"

#include <math.h>
#include <stdlib.h>

#include "exact/domain.h"
#include "exact/round.h"
#include "interpret/program.h"
#include "judge/judge.h"
#include "model/op.h"

enum { BOX = 1 << 13 };
#define OTHER_FORMS 2.0 /* A */

typedef struct prepared {
    tki_interpreter *in; /* NULL: the case is not evaluated, and nothing is known */
    int clause[TKI_DEFINED_COUNT];
} prepared;

static void release(void *memory)
{
    prepared *p = memory;
    if (p)
        tki_interpreter_free(p->in);
    free(p);
}

static tk_status prepare(const tki_oracle_job *job, void **made)
{
    const tki_definition *d = tki_definition_of(job->c->contract);
    prepared *p = malloc(sizeof *p);
    const char *refusal;
    if (!p)
        return TK_NO_MEMORY;
    *p = (prepared){.in = NULL};
    for (tki_defined_clause which = 0; which < TKI_DEFINED_COUNT; which++)
        p->clause[which] = tki_definition_clause(d, which);
    const tk_status status = tki_interpreter_make(d, job->c, job->buffers, &p->in, &refusal);
    if (status != TK_OK && status != TK_BAD_ARGUMENT) {
        release(p);
        return status;
    }
    *made = p;
    return TK_OK;
}

static void box_size(const tk_case *c, int output, int64_t *rows, int64_t *cols)
{
    int64_t all_rows, all_cols;
    tki_output_matrix(c, output, &all_rows, &all_cols);
    *cols = all_cols < BOX ? all_cols : BOX;
    *rows = *cols > 0 && BOX / *cols > 1 ? BOX / *cols : 1;
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

static tki_enclosure integer_element(const prepared *p, const tki_value *y)
{
    if (y->state != TKI_IS_FINITE || y->d != 0 || y->v != floor(y->v) || !(fabs(y->v) < 0x1p53))
        return unknown(p, TKI_DEFINED_INTEGER);
    return (tki_enclosure){
        .bits = (uint64_t)(int64_t)y->v, .admits = TKI_ADMIT_BITS, .clause = (uint8_t)p->clause[TKI_DEFINED_INTEGER]};
}

/* `stated`: the bound, if the definition has one; else -1. */
static tki_enclosure real_element(const prepared *p, const tki_value *y, double stated)
{
    if ((y->state & TKI_IS_UNKNOWN) || !isfinite(stated))
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
    const tki_definition *d = p->in->d;
    const int tensor = d->params[job->output];
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
    int64_t rows, cols;
    const int64_t count = box->col_end - box->col_begin;
    tk_status status = TK_OK;
    tki_output_matrix(job->c, job->output, &rows, &cols);
    if (count == cols) /* whole rows are one stretch */
        return enclose_stretch(job, box->row_begin * cols, (box->row_end - box->row_begin) * cols, out);
    for (int64_t row = box->row_begin; row < box->row_end && status == TK_OK; row++, out += count)
        status = enclose_stretch(job, row * cols + box->col_begin, count, out);
    return status;
}

static tk_status refine(const tki_oracle_job *job, int64_t row, int64_t col, int precision, mpfr_ptr lo, mpfr_ptr hi)
{
    const prepared *p = job->prepared;
    int64_t rows, cols;
    tki_output_matrix(job->c, job->output, &rows, &cols);
    return tki_interpreter_exactly(p->in, p->in->d->params[job->output], row * cols + col, precision, lo, hi);
}

const tki_oracle tki_definition_oracle = {
    .prepare = prepare, .release = release, .box_size = box_size, .enclose = enclose, .refine = refine};
