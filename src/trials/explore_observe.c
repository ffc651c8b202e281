/* CHOOSES. Calls of the instrumented build. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/context.h"
#include "model/case.h"
#include "trials/explorer.h"

enum { MOST_SAMPLES = 64 }; /* of one comparison */

/* Of a trial, in steps of a plain kernel: up to the first all its calls are watched, beyond that its first one; beyond
 * the second for its lines alone. */
static const double all_calls_work = 0x1p13, lines_only_work = 0x1p18;

double tki_explorer_work(const tk_case *c)
{
    const bool lookup = tki_index_param(c->contract) >= 0;
    double work = 1, product = 1;
    for (int p = 0; p < c->contract->param_count; p++)
        work = fmax(work, (double)tk_case_elements(c, p));
    for (int d = 0; d < c->contract->dim_count; d++)
        product *= lookup && d == 1 ? 1 : (double)c->dims[d];
    return c->contract->dim_count == 3 ? fmax(work, product) : work;
}

bool tki_explorer_has_elements(const tk_case *c)
{
    for (int p = 0; p < c->contract->param_count; p++)
        if (c->contract->params[p].output && tk_case_elements(c, p) > 0)
            return true;
    return false;
}

void tki_explorer_give_up(tki_explorer *e, const char *what)
{
    e->broken = true;
    snprintf(e->result->why, sizeof e->result->why, "the instrumented build %.400s", what);
}

/* A kernel that fails here has not failed: the real build alone is judged. */
static void look_at(tki_explorer *e, const tki_trial *trial, const tki_trial_result *r)
{
    char reason[512];
    tki_trial_reason(r, &trial->c, reason, sizeof reason);
    if (r->faulted || r->could_not_run)
        tki_explorer_give_up(e, reason);
}

bool tki_explorer_went_further(tki_explorer *e)
{
    if (e->broken || !tki_coverage_read(e->coverage.memory, sizeof *e->coverage.memory, e->report))
        return false;
    bool further = e->report->block_count > e->blocks || e->report->edge_count > e->edges ||
                   e->report->outcome_count > e->outcomes;
    e->blocks = e->report->block_count;
    e->edges = e->report->edge_count;
    e->outcomes = e->report->outcome_count;
    return further;
}

tk_status tki_explorer_repeat_judged(tki_explorer *e, const tki_trial *trial, const tki_inputs *inputs,
                                     bool lines_only)
{
    enum { CALLS = 8 };
    tki_trial_result r;
    const double work = tki_explorer_work(&trial->c);
    const bool all = work <= all_calls_work;
    const bool quiet = lines_only || work > lines_only_work;
    /* A callback that says nothing costs a fraction. */
    const double steps = e->rate * work * (all ? CALLS : quiet ? 0.25 : 1);
    if (steps > e->steps_left) {
        e->result->unwatched++;
        return TK_OK;
    }
    e->steps_left -= steps;
    e->coverage.memory->quiet = quiet;
    e->subject.observing = all ? TKI_OBSERVE_ALL : TKI_OBSERVE_FIRST;
    tk_status status = tki_trial_run(&e->subject, trial, inputs, &r);
    e->coverage.memory->quiet = 0;
    if (status == TK_OK)
        look_at(e, trial, &r);
    return status;
}

static int64_t product(const tk_case *c, int a, int b)
{
    int64_t value;
    return __builtin_mul_overflow(c->dims[a], c->dims[b], &value) ? -1 : value;
}

static void set_value(tki_observation *o, tki_quantity q, int64_t value)
{
    o->has[q] = true;
    o->value[q] = value;
}

static void note_quantities(tki_observation *o, int threads, const int64_t places[])
{
    const tk_case *c = &o->trial.c;
    const int dims = c->contract->dim_count;
    for (int d = 0; d < dims && d < TKI_MOST_SIZES; d++)
        set_value(o, TKI_SIZE_0 + (tki_quantity)d, c->dims[d]);
    if (dims > 1)
        set_value(o, TKI_PRODUCT_01, product(c, 0, 1));
    if (dims > 2) {
        set_value(o, TKI_PRODUCT_12, product(c, 1, 2));
        set_value(o, TKI_PRODUCT_02, product(c, 0, 2));
        set_value(o, TKI_PRODUCT_ALL, product(c, 0, 1) * c->dims[2]);
    }
    set_value(o, TKI_THREADS, threads);
    for (int i = 0; i < c->contract->attribute_count && i < TKI_MOST_ATTRIBUTES; i++)
        if (tki_is_seen(c->contract, i, TK_ATTRIBUTE_INTEGER) || tki_is_seen(c->contract, i, TK_ATTRIBUTE_CHOICE))
            set_value(o, TKI_ATTRIBUTE_0 + (tki_quantity)i, c->attributes[i].integer);
    set_value(o, TKI_PLACE_ALL, 0);
    for (int p = 0; p < c->contract->param_count && p < TKI_MOST_TENSORS; p++) {
        set_value(o, TKI_PLACE_0 + (tki_quantity)p, places[p]);
        o->value[TKI_PLACE_ALL] |= places[p];
    }
}

static tki_history *find_history(tki_explorer *e, const tki_site *site)
{
    int low = 0, high = e->history_count;
    while (low < high) {
        int middle = (low + high) / 2;
        if (e->histories[middle].key < site->key)
            low = middle + 1;
        else
            high = middle;
    }
    if (low < e->history_count && e->histories[low].key == site->key)
        return &e->histories[low];
    if (e->history_count == TKI_COVERAGE_SITES)
        return NULL;
    memmove(&e->histories[low + 1], &e->histories[low], (size_t)(e->history_count - low) * sizeof *e->histories);
    e->history_count++;
    e->histories[low] = (tki_history){.key = site->key, .base = -1};
    return &e->histories[low];
}

/* Of two cases the one to begin from: other cases differ from it in one thing, and are judged. A size of 3 or less makes
 * errors invisible (a softmax of one column) and cannot be told from a constant. */
static bool is_better_base(const tk_case *a, const tk_case *b)
{
    int small = 0;
    for (int d = 0; d < a->contract->dim_count; d++)
        small += (a->dims[d] <= 3) - (b->dims[d] <= 3);
    return small ? small < 0 : tki_explorer_work(a) < tki_explorer_work(b);
}

static bool note_site(tki_explorer *e, const tki_site *site, int number)
{
    tki_history *h = find_history(e, site);
    if (!h)
        return true;
    h->kind = site->kind;
    h->bytes = site->bytes;
    h->outcomes |= site->met;
    const bool better = h->base < 0 ||
                        is_better_base(&e->observations[number].trial.c, &e->observations[h->base].trial.c);
    if (better)
        h->base = number;
    if (h->count == MOST_SAMPLES && !better)
        return true;
    h->count -= h->count == MOST_SAMPLES; /* the base has a sample in any case */
    if (h->count % 8 == 0) {
        tki_sample *more = realloc(h->samples, (size_t)(h->count + 8) * sizeof *more);
        if (!more)
            return false;
        h->samples = more;
    }
    tki_sample *s = &h->samples[h->count++];
    s->observation = number;
    memcpy(s->low, site->low, sizeof s->low);
    memcpy(s->high, site->high, sizeof s->high);
    return true;
}

tk_status tki_explorer_observe(tki_explorer *e, const tki_trial *trial, const tki_inputs *inputs, bool *further)
{
    tki_trial_result r;
    int64_t places[TK_MAX_PARAMS] = {0};
    int threads = trial->threads ? trial->threads : 1;
    tk_status status = tki_trial_observe(&e->subject, trial, inputs, threads, places, &r);
    *further = false;
    if (status != TK_OK)
        return status;
    look_at(e, trial, &r);
    *further = tki_explorer_went_further(e);
    const double work = tki_explorer_work(&trial->c);
    if (threads == 1 && work >= e->rate_work) {
        e->rate = (double)e->report->steps / work;
        e->rate_work = work;
    }
    if (e->broken || e->observation_count == TKI_MOST_OBSERVATIONS)
        return TK_OK;
    tki_observation *o = &e->observations[e->observation_count++];
    *o = (tki_observation){.trial = *trial};
    note_quantities(o, threads, places);
    for (int i = 0; i < e->report->site_count; i++)
        if (!note_site(e, &e->report->sites[i], e->observation_count - 1))
            return tki_fail(e->ctx, TK_NO_MEMORY, "no memory for coverage");
    return TK_OK;
}
