/* CHOOSES. Greedy shrinking: cut each size to a part that still fails, first to the failing element's own place, then
 * by steps from either end, half of it and ever smaller, until no size can lose its first or its last place or MOST_ATTEMPTS runs, or
 * MOST_ELEMENTS of them together, are used up. */
#include "trials/shrink.h"

enum { MOST_ATTEMPTS = 400, MOST_ELEMENTS = 1 << 23 };

typedef struct search {
    tki_subject *subject;
    tki_trial *trial;
    tki_inputs *inputs;
    tki_trial_result *result;
    int attempts;
    int64_t elements;
} search;

static int64_t elements_of(const tk_case *c)
{
    int64_t elements = 0;
    for (int p = 0; p < c->contract->param_count; p++)
        elements += tk_case_elements(c, p);
    return elements;
}

/* Keeps the part [begin, end) of one size if it still fails. */
static tk_status try_part(search *s, int dim, int64_t begin, int64_t end, bool *kept)
{
    *kept = false;
    if (s->attempts >= MOST_ATTEMPTS || begin >= end || end - begin >= s->trial->c.dims[dim])
        return TK_OK;
    s->attempts++;
    s->elements += elements_of(&s->trial->c);
    if (s->elements > MOST_ELEMENTS)
        s->attempts = MOST_ATTEMPTS;
    tki_trial part = *s->trial;
    tki_inputs part_inputs;
    tki_trial_result part_result;
    tk_status status;
    tki_trial_give_inputs(&part);
    if (!tki_inputs_slice(s->subject->ctx, &s->trial->c, s->inputs, dim, begin, end, &part.c, &part_inputs, &status))
        return status;
    status = tki_trial_run(s->subject, &part, &part_inputs, &part_result);
    if (status == TK_OK && part_result.only_changed)
        status = tki_trial_adopt_change(s->subject, &part, &part_inputs, &part_result);
    if (status == TK_OK && part_result.failed_clause >= 0 && !part_result.could_not_run) {
        tki_inputs_free(s->inputs);
        *s->trial = part;
        *s->inputs = part_inputs;
        *s->result = part_result;
        *kept = true;
    } else {
        tki_inputs_free(&part_inputs);
        /* One that did not end in time would not do so the next time. */
        if (status == TK_OK && part_result.timed_out)
            s->attempts = MOST_ATTEMPTS;
    }
    return status;
}

/* Where the element that failed lies along that size; -1: nowhere. */
static int64_t failing_place(const search *s, int dim)
{
    const tki_element *e = &s->result->judgement.failure;
    if (!e->present)
        return -1;
    const tk_param *param = &s->trial->c.contract->params[e->output];
    for (int axis = 0; axis < param->rank; axis++) {
        if (param->dim[axis] != dim)
            continue;
        int64_t stride = 1;
        for (int inner = axis + 1; inner < param->rank; inner++)
            stride *= s->trial->c.dims[param->dim[inner]];
        return e->index / stride % s->trial->c.dims[dim];
    }
    return -1;
}

/* The place of the element that failed, along each size. */
static tk_status try_failing_element(search *s)
{
    tk_status status = TK_OK;
    for (int dim = 0; dim < s->trial->c.contract->dim_count && status == TK_OK; dim++) {
        bool kept;
        int64_t place = failing_place(s, dim);
        if (place >= 0)
            status = try_part(s, dim, place, place + 1, &kept);
    }
    return status;
}

static tk_status shrink_dim(search *s, int dim, bool *any)
{
    bool kept;
    /* Up to the failing element at once: if its place is what matters, steps would go a long way. */
    tk_status status = try_part(s, dim, 0, failing_place(s, dim) + 1, &kept);
    *any |= kept;
    /* Each step as often as it can be taken: where a failure needs a certain size, a few runs for each halving find it. */
    for (int64_t step = s->trial->c.dims[dim] / 2; step > 0 && status == TK_OK; step /= kept ? 1 : 2) {
        status = try_part(s, dim, 0, s->trial->c.dims[dim] - step, &kept);
        if (status == TK_OK && !kept)
            status = try_part(s, dim, step, s->trial->c.dims[dim], &kept);
        *any |= kept;
    }
    return status;
}

tk_status tki_shrink(tki_subject *subject, tki_trial *trial, tki_inputs *inputs, tki_trial_result *result)
{
    search s = {.subject = subject, .trial = trial, .inputs = inputs, .result = result};
    tk_status status = try_failing_element(&s);
    for (bool any = true; any && status == TK_OK && s.attempts < MOST_ATTEMPTS;) {
        any = false;
        for (int dim = 0; dim < trial->c.contract->dim_count && status == TK_OK; dim++)
            status = shrink_dim(&s, dim, &any);
    }
    return status;
}
