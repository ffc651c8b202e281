/* TRUSTED. The loop from comparisons to trials. Three sources of ideas: a comparison that has not yet come out in one of its ways, and whose
 * operand follows a quantity of the call, which is then set so that it does; the same for operands that follow nothing, which may be
 * elements; and the constants of the source, as sizes and so on, since of `k % 96 == 0` a comparison shows neither k nor 96. */
#include "verify/explore.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/case.h"
#include "core/context.h"
#include "exact/round.h"
#include "verify/families.h"
#include "verify/guard.h"
#include "verify/instrumented.h"
#include "verify/kernel_file.h"
#include "verify/trial.h"

enum {
    MOST_OBSERVATIONS = 320,
    MOST_SAMPLES = 64, /* of one comparison */
    MOST_TRIES = 6,    /* to make a comparison come out in one way */
    PAGE = 4096
};

/* Of a trial, in steps of a plain kernel: up to the first all its calls are watched, beyond that its first one; beyond the second for its
 * lines alone. */
static const double all_calls_work = 0x1p13, lines_only_work = 0x1p18;

/* What can be set, and may be what a kernel compares. */
typedef enum quantity {
    SIZE_0,
    SIZE_1,
    SIZE_2,
    PRODUCT_01,
    PRODUCT_12,
    PRODUCT_02,
    PRODUCT_ALL,
    THREADS,
    IGNORE_INDEX,
    PLACE_0,                             /* of an array in its page */
    PLACE_ALL = PLACE_0 + TK_MAX_PARAMS, /* all of them, or'ed together */
    QUANTITIES
} quantity;

/* One call of the instrumented build. */
typedef struct observation {
    tki_trial trial;
    bool has[QUANTITIES];
    int64_t value[QUANTITIES];
} observation;

typedef struct sample {
    int observation;
    int64_t low[2], high[2];
} sample;

/* What is known of a comparison. */
typedef struct history {
    uint64_t key;
    uint32_t kind, bytes, outcomes;
    int base; /* the observation with the least work that met it */
    int count;
    sample *samples;
    unsigned char tries[TKI_OUTCOMES + 1];
    bool planted; /* its constant has been among the elements */
} history;

typedef struct explorer {
    tk_ctx *ctx;
    const tk_contract *contract;
    const tk_certify_options *options;
    const tki_dictionary *dictionary;
    tki_subject subject; /* of the instrumented build */
    tki_coverage coverage;
    tki_explore_judge judge;
    void *judge_data;
    tki_exploration *result;
    tki_coverage_report *report;
    uint32_t blocks, edges, outcomes; /* at the end of the last call */
    observation *observations;
    int observation_count;
    history *histories; /* by key */
    int history_count;
    tki_trial *queue;
    int queue_count, queue_next, queue_room;
    int64_t calls_left;
    double steps_left; /* callbacks that may yet be made for the judged trials */
    double rate;       /* callbacks for each step of work, in the largest call that was looked at */
    double rate_work;
    int most_found;
    double most_work;
    bool stop;   /* there is a verdict */
    bool broken; /* the instrumented build crashed, or the like */
} explorer;

void tki_exploration_free(tki_exploration *exploration)
{
    tki_lines_free(&exploration->lines);
}

/* ------------------------------------------------------------------------------------------------------------
 * Calls of the instrumented build
 * ------------------------------------------------------------------------------------------------------------ */

/* About how many steps a plain kernel takes: over all elements, or over all that is multiplied or looked through. */
static double work_of(const tk_case *c)
{
    const bool lookup = tk_contract_takes_index(c->contract);
    double work = 1, product = 1;
    for (int p = 0; p < c->contract->param_count; p++)
        work = fmax(work, (double)tk_case_elements(c, p));
    for (int d = 0; d < c->contract->dim_count; d++)
        product *= lookup && d == 1 ? 1 : (double)c->dims[d];
    return c->contract->dim_count == 3 ? fmax(work, product) : work;
}

static void give_up(explorer *e, const char *what)
{
    e->broken = true;
    snprintf(e->result->why, sizeof e->result->why, "the instrumented build %.400s", what);
}

/* A kernel that fails here has not failed: the real build alone is judged. */
static void look_at(explorer *e, const tki_trial_result *r)
{
    if (r->faulted || r->could_not_run)
        give_up(e, r->reason);
}

/* Did the calls since the last question lead anywhere new? */
static bool went_further(explorer *e)
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

/* The calls that the trial makes when it is judged, as far as their size allows. */
static tk_status repeat_judged(explorer *e, const tki_trial *trial, const tki_inputs *inputs)
{
    enum { CALLS = 8 };
    tki_trial_result r;
    const double work = work_of(&trial->c);
    const bool all = work <= all_calls_work;
    const bool quiet = work > lines_only_work;
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
        look_at(e, &r);
    return status;
}

static int64_t product(const tk_case *c, int a, int b)
{
    int64_t value;
    return __builtin_mul_overflow(c->dims[a], c->dims[b], &value) ? -1 : value;
}

static void set_value(observation *o, quantity q, int64_t value)
{
    o->has[q] = true;
    o->value[q] = value;
}

static void note_quantities(observation *o, int threads, const int64_t places[])
{
    const tk_case *c = &o->trial.c;
    const int dims = c->contract->dim_count;
    for (int d = 0; d < dims; d++)
        set_value(o, SIZE_0 + (quantity)d, c->dims[d]);
    if (dims > 1)
        set_value(o, PRODUCT_01, product(c, 0, 1));
    if (dims > 2) {
        set_value(o, PRODUCT_12, product(c, 1, 2));
        set_value(o, PRODUCT_02, product(c, 0, 2));
        set_value(o, PRODUCT_ALL, product(c, 0, 1) * c->dims[2]);
    }
    set_value(o, THREADS, threads);
    if (c->contract->takes_xent_options)
        set_value(o, IGNORE_INDEX, c->xent.ignore_index);
    set_value(o, PLACE_ALL, 0);
    for (int p = 0; p < c->contract->param_count; p++) {
        set_value(o, PLACE_0 + (quantity)p, places[p]);
        o->value[PLACE_ALL] |= places[p];
    }
}

static history *find_history(explorer *e, const tki_site *site)
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
    e->histories[low] = (history){.key = site->key, .base = -1};
    return &e->histories[low];
}

static bool note_site(explorer *e, const tki_site *site, int number)
{
    history *h = find_history(e, site);
    if (!h)
        return true;
    h->kind = site->kind;
    h->bytes = site->bytes;
    h->outcomes = site->outcomes;
    if (h->base < 0 || work_of(&e->observations[number].trial.c) < work_of(&e->observations[h->base].trial.c))
        h->base = number;
    if (h->count == MOST_SAMPLES)
        return true;
    if (h->count % 8 == 0) {
        sample *more = realloc(h->samples, (size_t)(h->count + 8) * sizeof *more);
        if (!more)
            return false;
        h->samples = more;
    }
    sample *s = &h->samples[h->count++];
    s->observation = number;
    memcpy(s->low, site->low, sizeof s->low);
    memcpy(s->high, site->high, sizeof s->high);
    return true;
}

/* One call with the trial's inputs, and what it compared. *further: it went where no call has been. */
static tk_status observe(explorer *e, const tki_trial *trial, const tki_inputs *inputs, bool *further)
{
    tki_trial_result r;
    int64_t places[TK_MAX_PARAMS] = {0};
    int threads = trial->threads ? trial->threads : 1;
    tk_status status = tki_trial_observe(&e->subject, trial, inputs, threads, places, &r);
    *further = false;
    if (status != TK_OK)
        return status;
    look_at(e, &r);
    *further = went_further(e);
    const double work = work_of(&trial->c);
    if (threads == 1 && work >= e->rate_work) {
        e->rate = (double)e->report->steps / work;
        e->rate_work = work;
    }
    if (e->broken || e->observation_count == MOST_OBSERVATIONS)
        return TK_OK;
    observation *o = &e->observations[e->observation_count++];
    *o = (observation){.trial = *trial};
    note_quantities(o, threads, places);
    for (int i = 0; i < e->report->site_count; i++)
        if (!note_site(e, &e->report->sites[i], e->observation_count - 1))
            return tki_fail(e->ctx, TK_NO_MEMORY, "no memory for coverage");
    return TK_OK;
}

/* ------------------------------------------------------------------------------------------------------------
 * Candidates
 * ------------------------------------------------------------------------------------------------------------ */

static bool same_case(const tki_trial *a, const tki_trial *b)
{
    return !memcmp(a->c.dims, b->c.dims, sizeof a->c.dims) && a->threads == b->threads &&
           a->alignment == b->alignment && !memcmp(&a->c.xent, &b->c.xent, sizeof a->c.xent) &&
           a->planted_count == b->planted_count &&
           !memcmp(a->planted, b->planted, (size_t)a->planted_count * sizeof *a->planted);
}

static bool is_known(const explorer *e, const tki_trial *trial)
{
    for (int i = 0; i < e->queue_count; i++)
        if (same_case(&e->queue[i], trial))
            return true;
    for (int i = 0; i < e->observation_count; i++)
        if (same_case(&e->observations[i].trial, trial))
            return true;
    return false;
}

static void make_small(tki_trial *trial, int but, int64_t most)
{
    for (int d = 0; d < trial->c.contract->dim_count; d++)
        if (d != but && trial->c.dims[d] > most)
            trial->c.dims[d] = most;
}

/* Indices must have something to point at, or be ignored. */
static bool has_valid_indices(const tk_case *c)
{
    for (int p = 0; p < c->contract->param_count; p++) {
        const tk_param *param = &c->contract->params[p];
        if (param->kind != TK_KIND_INDEX || tk_case_elements(c, p) == 0 || c->dims[param->indexed_dim] > 0)
            continue;
        bool fits = c->index_dtype == TK_I64 || c->xent.ignore_index == (int32_t)c->xent.ignore_index;
        if (!c->contract->takes_xent_options || !fits)
            return false;
    }
    return true;
}

/* Puts it in the queue unless it was tried, or is no case that the op takes. `but` is the size that matters, or -1: others shrink where the
 * whole would be too large. */
static bool propose(explorer *e, tki_trial trial, int but)
{
    for (int64_t most = 5; but >= 0 && most >= 1 && work_of(&trial.c) > e->most_work; most -= 2)
        make_small(&trial, but, most);
    for (int d = 0; d < e->contract->dim_count; d++)
        if (trial.c.dims[d] < 0)
            return true;
    if (work_of(&trial.c) > e->most_work || !has_valid_indices(&trial.c) || is_known(e, &trial))
        return true;
    if (e->queue_count == e->queue_room) {
        int room = e->queue_room ? 2 * e->queue_room : 256;
        tki_trial *more = realloc(e->queue, (size_t)room * sizeof *more);
        if (!more)
            return false;
        e->queue = more;
        e->queue_room = room;
    }
    trial.found = true;
    trial.family = tki_family_find("normal");
    trial.chunk = 0;
    trial.seed = e->options->seed + 1000000 + (uint64_t)e->queue_count;
    e->queue[e->queue_count++] = trial;
    return true;
}

/* The trial with that quantity set, where the value is one that it can have. */
static bool propose_with(explorer *e, const tki_trial *base, quantity q, int64_t value)
{
    tki_trial trial = *base;
    const int dims = e->contract->dim_count;
    static const int pairs[][2] = {{0, 1}, {1, 2}, {0, 2}};
    if (q <= SIZE_2) {
        if (value < 0 || value > (int64_t)e->most_work)
            return true;
        trial.c.dims[q] = value;
        return propose(e, trial, (int)q);
    }
    if (q <= PRODUCT_ALL) {
        int a = q == PRODUCT_ALL ? 0 : pairs[q - PRODUCT_01][0], b = q == PRODUCT_ALL ? 1 : pairs[q - PRODUCT_01][1];
        if (value < 1 || value > (int64_t)e->most_work)
            return true;
        if (q == PRODUCT_ALL && dims > 2)
            trial.c.dims[2] = 1;
        /* As it is in the one size, if that divides; else all of it in the other. */
        if (trial.c.dims[a] <= 0 || value % trial.c.dims[a])
            trial.c.dims[a] = 1;
        trial.c.dims[b] = value / trial.c.dims[a];
        return propose(e, trial, b);
    }
    if (q == THREADS) {
        if (value < 1 || value > TKI_MOST_THREADS || e->options->call_threads)
            return true;
        trial.threads = (int)value;
        return propose(e, trial, -1);
    }
    if (q == IGNORE_INDEX) {
        trial.c.xent.ignore_index = value;
        return propose(e, trial, -1);
    }
    if (e->options->alignment)
        return true;
    int64_t place = value & (PAGE - 1);
    trial.alignment = place ? (int)(place & -place) : TKI_MOST_ALIGNMENT;
    if (trial.alignment > TKI_MOST_ALIGNMENT)
        trial.alignment = TKI_MOST_ALIGNMENT;
    return propose(e, trial, -1);
}

/* With these elements, or indices. */
static bool propose_planted(explorer *e, const tki_trial *base, const int64_t *values, int count)
{
    tki_trial trial = *base;
    int indexed = -1;
    int64_t most = -1;
    trial.planted_count = count < TK_MAX_PLANTED ? count : TK_MAX_PLANTED;
    memcpy(trial.planted, values, (size_t)trial.planted_count * sizeof *values);
    for (int i = 0; i < trial.planted_count; i++)
        most = values[i] > most ? values[i] : most;
    const int index = tki_index_param(e->contract);
    if (index >= 0)
        indexed = e->contract->params[index].indexed_dim;
    /* So that it can be an index. */
    if (indexed >= 0 && trial.c.dims[indexed] <= most && (double)most < e->most_work)
        trial.c.dims[indexed] = most + 1;
    return propose(e, trial, indexed);
}

/* ------------------------------------------------------------------------------------------------------------
 * What an operand follows
 * ------------------------------------------------------------------------------------------------------------ */

/* An end of an operand's range in each sample of a comparison. */
typedef struct series {
    const explorer *e;
    const history *h;
    int side;
    bool high;
} series;

static int64_t value_at(const series *s, int i)
{
    const sample *x = &s->h->samples[i];
    return s->high ? x->high[s->side] : x->low[s->side];
}

static bool quantity_at(const series *s, int i, quantity q, int64_t *value)
{
    const observation *o = &s->e->observations[s->h->samples[i].observation];
    *value = o->value[q];
    return o->has[q];
}

typedef enum relation { PLUS, MODULO, OVER, OVER_UP, TIMES } relation;

static int64_t relate(relation r, int64_t q, int64_t by)
{
    switch (r) {
    case PLUS: return q + by;
    case MODULO: return q % by;
    case OVER: return q / by;
    case OVER_UP: return (q + by - 1) / by;
    case TIMES: return q * by;
    }
    return 0;
}

/* Is the operand that function of the quantity wherever it was seen, and more than a constant? */
static bool follows(const series *s, quantity q, relation r, int64_t by)
{
    int64_t first_q = 0, first_v = 0, largest = 0, value;
    bool varies = false;
    for (int i = 0; i < s->h->count; i++) {
        if (!quantity_at(s, i, q, &value) || value < 0 || relate(r, value, by) != value_at(s, i))
            return false;
        if (i == 0) {
            first_q = value;
            first_v = value_at(s, i);
        }
        varies |= value != first_q && (r == MODULO || value_at(s, i) != first_v);
        largest = value > largest ? value : largest;
    }
    if (r == PLUS && by == 0 && !varies)
        return s->h->count > 0 && first_q > 3; /* seen once, or never changed: taken at its word */
    return varies && (r != MODULO || largest >= by);
}

enum { MOST_SOLUTIONS = 4 };

/* Values of the quantity that make the operand `target`, as far as what was seen tells. */
static int solve(const series *s, quantity q, int64_t target, int64_t solutions[MOST_SOLUTIONS])
{
    int64_t first;
    if (!s->h->count || !quantity_at(s, 0, q, &first) || first < 0)
        return 0;
    int64_t offset = value_at(s, 0) - first;
    if (offset > -PAGE && offset < PAGE && follows(s, q, PLUS, offset)) {
        solutions[0] = target - offset;
        return 1;
    }
    const tki_dictionary *d = s->e->dictionary;
    for (int i = 0; i < d->integer_count + 12; i++) {
        int64_t by = i < 12 ? 2 << i : d->integers[i - 12];
        if (by < 2 || by > 1 << 20 || target < 0)
            continue;
        if (target < by && follows(s, q, MODULO, by)) {
            solutions[0] = target + by;
            solutions[1] = target + 3 * by;
            solutions[2] = target;
            return 3;
        }
        for (relation r = OVER; r <= TIMES; r++) {
            if (!follows(s, q, r, by))
                continue;
            solutions[0] = r == TIMES ? target / by : target * by;
            solutions[1] = r == OVER ? target * by + by - 1 : r == OVER_UP ? (target - 1) * by + 1 : target / by;
            return 2;
        }
    }
    return 0;
}

/* What the operand must be beside `other` so that the comparison comes out that way. */
static int64_t wanted(uint32_t outcome, int side, int64_t other)
{
    int64_t up = outcome == TKI_EQUAL ? 0 : (outcome == TKI_GREATER) == (side == 0) ? 1 : -1;
    return other + up;
}

/* Sets quantities that the operands follow. *followed: there was one. */
static bool propose_outcome(explorer *e, const history *h, const sample *seen, uint32_t outcome, bool *followed)
{
    const tki_trial *base = &e->observations[h->base].trial;
    for (int i = 0; i < 4; i++) {
        series s = {e, h, i / 2, i % 2 == 1};
        int other_side = 1 - s.side;
        if (s.high && seen->low[s.side] == seen->high[s.side])
            continue;
        if (h->kind == TKI_SITE_CONSTANT && s.side == 0)
            continue;
        int64_t ends[2] = {seen->low[other_side], seen->high[other_side]};
        for (int q = 0; q < QUANTITIES; q++)
            for (int end = 0; end < (ends[0] == ends[1] ? 1 : 2); end++) {
                int64_t solutions[MOST_SOLUTIONS];
                int count = solve(&s, (quantity)q, wanted(outcome, s.side, ends[end]), solutions);
                *followed |= count > 0;
                for (int k = 0; k < count; k++)
                    if (!propose_with(e, base, (quantity)q, solutions[k]))
                        return false;
            }
    }
    return true;
}

/* An attribute of the case in a comparison of floats. */
static bool propose_attribute(explorer *e, const history *h, const sample *seen, bool *followed)
{
    const tki_trial *base = &e->observations[h->base].trial;
    for (int side = 0; side < 2 && e->contract->takes_xent_options; side++) {
        if (seen->low[side] != seen->high[side] || seen->low[1 - side] != seen->high[1 - side])
            continue;
        double value = tki_site_float(seen->low[side]);
        float other = (float)tki_site_float(seen->low[1 - side]);
        for (int i = 0; i < 3; i++) {
            tki_trial trial = *base;
            float set = i == 0 ? other : nextafterf(other, i == 1 ? INFINITY : -INFINITY);
            if (value == (double)base->c.xent.scale && isfinite(set)) {
                trial.c.xent.scale = set;
                *followed = true;
                if (!propose(e, trial, -1))
                    return false;
            }
            trial = *base;
            if (value == (double)base->c.xent.label_smoothing && set >= 0 && set <= 1) {
                trial.c.xent.label_smoothing = set;
                *followed = true;
                if (!propose(e, trial, -1))
                    return false;
            }
        }
    }
    return true;
}

/* An operand that follows nothing may be an element: the other one is planted, and its neighbours. */
static bool propose_element(explorer *e, history *h, const sample *seen)
{
    const tki_trial *base = &e->observations[h->base].trial;
    h->planted = true;
    for (int side = 0; side < 2; side++) {
        if (seen->low[side] != seen->high[side] || (h->kind == TKI_SITE_CONSTANT && side == 1))
            continue;
        int64_t value = seen->low[side];
        if (h->kind == TKI_SITE_FLOATS)
            value = (int64_t)tki_round_double(base->c.dtype, tki_site_float(value));
        else if (h->bytes <= 2)
            value &= 0xffff;
        if (value >= 0 && value <= 0xffff &&
            !propose_planted(e, base, (int64_t[]){value, value + 1, value > 0 ? value - 1 : 2}, 3))
            return false;
    }
    return true;
}

/* One round over all comparisons. False when memory ran out. */
static bool propose_all(explorer *e)
{
    static const uint32_t outcomes[] = {TKI_EQUAL, TKI_LESS, TKI_GREATER};
    for (int i = 0; i < e->history_count; i++) {
        history *h = &e->histories[i];
        const sample *seen = NULL;
        bool followed = false;
        for (int k = 0; k < h->count; k++)
            if (h->samples[k].observation == h->base)
                seen = &h->samples[k];
        for (int k = 0; k < 3 && seen; k++) {
            if (h->outcomes & outcomes[k] || h->tries[outcomes[k]] == MOST_TRIES)
                continue;
            h->tries[outcomes[k]]++;
            bool good = h->kind == TKI_SITE_FLOATS ? propose_attribute(e, h, seen, &followed)
                                                   : propose_outcome(e, h, seen, outcomes[k], &followed);
            if (!good)
                return false;
        }
        if (seen && !followed && !h->planted && (h->outcomes & 7) != 7 && !propose_element(e, h, seen))
            return false;
    }
    return true;
}

/* ------------------------------------------------------------------------------------------------------------
 * The source's constants
 * ------------------------------------------------------------------------------------------------------------ */

/* Small and plain, with sizes that are nobody's multiple. */
static tki_trial plain_trial(const explorer *e)
{
    tki_trial trial = e->observations[0].trial;
    static const int64_t sizes[] = {7, 11, 13};
    trial.planted_count = 0;
    trial.threads = e->options->call_threads;
    trial.alignment = e->options->alignment;
    for (int d = 0; d < e->contract->dim_count; d++)
        trial.c.dims[d] = e->contract->dim_count == 1 ? 77 : sizes[d];
    if (e->contract->takes_xent_options)
        trial.c.xent = TK_XENT_DEFAULTS;
    return trial;
}

/* Elements, options and threads: all of one kind in few calls. */
static bool propose_values(explorer *e)
{
    const tki_dictionary *d = e->dictionary;
    const tki_trial plain = plain_trial(e);
    int64_t values[TKI_MOST_INTEGERS + TKI_MOST_FLOATS];
    int count = 0;
    bool good = true;
    for (int i = 0; i < d->float_count; i++)
        values[count++] = (int64_t)tki_round_double(plain.c.dtype, d->floats[i]);
    for (int i = 0; i < d->integer_count; i++)
        if (d->integers[i] > 2 && d->integers[i] <= 0xffff)
            values[count++] = d->integers[i];
    for (int i = 0; i < count && good; i += TK_MAX_PLANTED)
        good = propose_planted(e, &plain, values + i, count - i < TK_MAX_PLANTED ? count - i : TK_MAX_PLANTED);
    for (int i = 0; i < d->integer_count && good; i++) {
        int64_t value = d->integers[i];
        if (e->contract->takes_xent_options && (value < 0 || value > 1))
            good = propose_with(e, &plain, IGNORE_INDEX, value) && propose_with(e, &plain, IGNORE_INDEX, -value);
        if (good && value > 1 && value <= 16)
            good = propose_with(e, &plain, THREADS, value);
    }
    for (int i = 0; i < d->float_count && good && e->contract->takes_xent_options; i++) {
        tki_trial trial = plain;
        trial.c.xent.scale = (float)d->floats[i];
        if (isfinite(trial.c.xent.scale))
            good = propose(e, trial, -1);
        trial = plain;
        trial.c.xent.label_smoothing = (float)d->floats[i];
        if (good && d->floats[i] >= 0 && d->floats[i] <= 1)
            good = propose(e, trial, -1);
    }
    for (int alignment = TKI_MOST_ALIGNMENT; alignment >= 2 && good; alignment /= 4) {
        tki_trial trial = plain;
        trial.alignment = alignment;
        good = propose(e, trial, -1);
    }
    return good;
}

/* Each constant as each size, then as all sizes, then its neighbours and multiples. */
static bool propose_sizes(explorer *e, int variant)
{
    static const struct {
        int64_t times, plus;
    } variants[] = {{1, 0}, {1, 1}, {1, -1}, {2, 0}, {3, 0}, {5, 0}, {2, 1}};
    const tki_trial plain = plain_trial(e);
    const tki_dictionary *d = e->dictionary;
    bool good = true;
    for (int i = 0; i < d->integer_count && good; i++) {
        int64_t value = d->integers[i];
        if (value < 2 || value > (int64_t)e->most_work)
            continue;
        value = value * variants[variant].times + variants[variant].plus;
        for (int size = 0; size < e->contract->dim_count && good; size++)
            good = propose_with(e, &plain, SIZE_0 + (quantity)size, value);
        tki_trial all = plain;
        for (int size = 0; size < e->contract->dim_count; size++)
            all.c.dims[size] = value;
        if (good && e->contract->dim_count > 1)
            good = propose(e, all, -1);
    }
    return good;
}

/* ------------------------------------------------------------------------------------------------------------
 * The loop
 * ------------------------------------------------------------------------------------------------------------ */

static tk_status make_inputs(explorer *e, const tki_trial *trial, tki_inputs *inputs)
{
    tk_status status = tki_inputs_alloc(e->ctx, &trial->c, inputs);
    if (status == TK_OK)
        tki_trial_fill(trial, inputs->data);
    return status;
}

/* On the real build; then what else the trial calls is watched as well. */
static tk_status judge(explorer *e, const tki_trial *trial)
{
    tki_inputs inputs;
    tk_status status = e->judge(e->judge_data, trial, &e->stop);
    e->result->found++;
    if (status != TK_OK || e->stop || e->broken)
        return status;
    status = make_inputs(e, trial, &inputs);
    if (status != TK_OK)
        return status;
    status = repeat_judged(e, trial, &inputs);
    tki_inputs_free(&inputs);
    (void)went_further(e);
    return status;
}

/* New places are judged with plain numbers and, since a path may be wrong for few inputs only, with another family in turn. */
static tk_status judge_found(explorer *e, const tki_trial *trial)
{
    static const char *const others[] = {"bits", "few", "special", "finite_bits"};
    tk_status status = judge(e, trial);
    tki_trial other = *trial;
    other.family = tki_family_find(others[e->result->found / 2 % 4]);
    if (status == TK_OK && !e->stop && !trial->planted_count && other.family >= 0 &&
        tki_family_applies(other.family, e->contract))
        status = judge(e, &other);
    return status;
}

/* Tries what is in the queue, and judges what leads further. */
static tk_status run_queue(explorer *e)
{
    while (e->queue_next < e->queue_count && !e->stop && !e->broken) {
        if (!e->calls_left || e->result->found + 2 > e->most_found) {
            e->result->spent = true;
            return TK_OK;
        }
        const tki_trial trial = e->queue[e->queue_next++];
        tki_inputs inputs;
        bool further;
        e->calls_left--;
        e->result->calls++;
        tk_status status = make_inputs(e, &trial, &inputs);
        if (status != TK_OK)
            return status;
        status = observe(e, &trial, &inputs, &further);
        tki_inputs_free(&inputs);
        /* One that breaks the instrumented build may break the real one. */
        if (status == TK_OK && (further || e->broken))
            status = judge_found(e, &trial);
        if (status != TK_OK)
            return status;
    }
    return TK_OK;
}

/* What the comparisons suggest, until they suggest nothing new. */
static tk_status follow_comparisons(explorer *e)
{
    for (int before = -1; before < e->queue_count && !e->stop && !e->broken && !e->result->spent;) {
        before = e->queue_count;
        if (!propose_all(e))
            return tki_fail(e->ctx, TK_NO_MEMORY, "no memory for coverage");
        if (e->queue_count == before)
            return TK_OK;
        tk_status status = run_queue(e);
        if (status != TK_OK)
            return status;
    }
    return TK_OK;
}

static tk_status explore(explorer *e)
{
    enum { SIZE_VARIANTS = 7 };
    tk_status status = e->observation_count ? follow_comparisons(e) : TK_OK;
    for (int stage = -1; stage < SIZE_VARIANTS && status == TK_OK && e->observation_count; stage++) {
        if (e->stop || e->broken || e->result->spent)
            break;
        if (stage < 0 ? !propose_values(e) : !propose_sizes(e, stage))
            return tki_fail(e->ctx, TK_NO_MEMORY, "no memory for coverage");
        status = run_queue(e);
        if (status == TK_OK)
            status = follow_comparisons(e);
    }
    return status;
}

/* The trials of the list again, as they were judged, and one call of each case that is small to look at. */
static tk_status watch_judged(explorer *e, const tki_trials *trials)
{
    enum { EVERY_CHUNK = 256 }; /* of all patterns of a large domain */
    tk_status status = TK_OK;
    for (int64_t i = 0; i < trials->count && status == TK_OK && !e->broken; i++) {
        const tki_trial *trial = &trials->list[i];
        tki_inputs inputs;
        bool further;
        if (trial->found || trial->family == TKI_GIVEN_INPUTS || trial->chunk % EVERY_CHUNK)
            continue;
        status = make_inputs(e, trial, &inputs);
        if (status != TK_OK)
            return status;
        if (work_of(&trial->c) <= e->most_work && !is_known(e, trial))
            status = observe(e, trial, &inputs, &further);
        if (status == TK_OK && !e->broken)
            status = repeat_judged(e, trial, &inputs);
        tki_inputs_free(&inputs);
    }
    (void)went_further(e);
    return status;
}

static void conclude(explorer *e, const tk_kernel_file *kernel)
{
    tki_exploration *result = e->result;
    if (e->broken)
        return;
    result->known = true;
    result->blocks = e->blocks;
    result->edges = e->edges;
    if (tki_worker_end_coverage(e->subject.executor.executable.worker) != TK_OK)
        snprintf(result->no_lines, sizeof result->no_lines, "%.400s", tk_ctx_message(e->ctx));
    else
        result->lines_known = tki_instrumented_lines(e->ctx, kernel, &e->coverage, &result->lines, result->no_lines,
                                                     sizeof result->no_lines);
}

static tk_status run(explorer *e, const tk_kernel_file *kernel, const tki_trials *trials)
{
    tki_worker *worker;
    tk_status status = tki_instrumented_start(e->ctx, kernel, e->contract, &e->coverage, &worker);
    if (status == TK_NO_MEMORY)
        return status;
    if (status != TK_OK) {
        give_up(e, "could not be started: ");
        strncat(e->result->why, tk_ctx_message(e->ctx), sizeof e->result->why - strlen(e->result->why) - 1);
        return TK_OK;
    }
    status = tki_executor_open(e->ctx, &(tki_executable){.worker = worker}, &e->subject.executor);
    if (status == TK_OK)
        status = watch_judged(e, trials);
    if (status == TK_OK && !e->broken)
        status = explore(e);
    if (status == TK_OK)
        conclude(e, kernel);
    tki_executor_close(&e->subject.executor);
    tki_worker_close(worker);
    return status;
}

tk_status tki_explore(tk_ctx *ctx, const tk_contract *contract, const tk_certify_options *options,
                      const tki_trials *trials, int suspicion, tki_explore_judge judge_trial, void *data,
                      tki_exploration *exploration)
{
    const bool quick = options->level == TK_QUICK;
    const tk_kernel_file *kernel = options->kernel_file;
    *exploration = (tki_exploration){0};
    const char *problem = tki_instrumented_build(ctx, kernel);
    if (problem[0]) {
        snprintf(exploration->why, sizeof exploration->why, "%.500s", problem);
        return TK_OK;
    }
    explorer e = {.ctx = ctx,
                  .contract = contract,
                  .options = options,
                  .dictionary = &kernel->instrumented->dictionary,
                  .subject = {.ctx = ctx, .contract = contract, .suspicion = suspicion},
                  .judge = judge_trial,
                  .judge_data = data,
                  .result = exploration,
                  .calls_left = quick ? 200 : 1000,
                  .most_found = quick ? TKI_FOUND_QUICK : TKI_FOUND_MORE,
                  .steps_left = quick ? 0x1p26 : 0x1p32,
                  .most_work = quick ? 0x1p19 : 0x1p21};
    e.report = malloc(sizeof *e.report);
    e.observations = calloc(MOST_OBSERVATIONS, sizeof *e.observations);
    e.histories = calloc(TKI_COVERAGE_SITES + 1, sizeof *e.histories);
    tk_status status = e.report && e.observations && e.histories && tki_coverage_open(&e.coverage)
                           ? run(&e, kernel, trials)
                           : tki_fail(ctx, TK_NO_MEMORY, "no memory for coverage");
    for (int i = 0; e.histories && i < e.history_count; i++)
        free(e.histories[i].samples);
    free(e.report);
    free(e.observations);
    free(e.histories);
    free(e.queue);
    tki_coverage_close(&e.coverage);
    return status;
}
