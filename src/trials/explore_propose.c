/* CHOOSES. Candidates for calls. Three sources of ideas: a comparison that has not yet come out in one of its ways, and
 * whose operand follows a quantity of the call, which is then set so that it does; the same for operands that follow
 * nothing, which may be elements; and the constants of the source, as sizes and so on, since of `k % 96 == 0` a
 * comparison shows neither k nor 96. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "exact/round.h"
#include "judge/guard.h"
#include "model/case.h"
#include "trials/explorer.h"
#include "trials/families.h"

enum {
    MOST_TRIES = 6, /* to make a comparison come out in one way */
    PAGE = 4096
};

/* ------------------------------------------------------------------------------------------------------------
 * Candidates
 * ------------------------------------------------------------------------------------------------------------ */

static bool same_case(const tki_trial *a, const tki_trial *b)
{
    return !memcmp(a->c.dims, b->c.dims, sizeof a->c.dims) && a->threads == b->threads &&
           a->alignment == b->alignment && !memcmp(a->c.attributes, b->c.attributes, sizeof a->c.attributes) &&
           a->planted_count == b->planted_count &&
           !memcmp(a->planted, b->planted, (size_t)a->planted_count * sizeof *a->planted);
}

bool tki_explorer_knows(const tki_explorer *e, const tki_trial *trial)
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

static bool enqueue(tki_explorer *e, tki_trial trial)
{
    if (e->queue_count == e->queue_room) {
        int room = e->queue_room ? 2 * e->queue_room : 256;
        tki_trial *more = realloc(e->queue, (size_t)room * sizeof *more);
        if (!more)
            return false;
        e->queue = more;
        e->queue_room = room;
    }
    trial.found = true;
    trial.sampled = tki_explorer_samples(&trial.c);
    trial.family = tki_family_find("normal");
    trial.chunk = 0;
    trial.seed = e->options->seed + 1000000 + (uint64_t)e->queue_count;
    e->queue[e->queue_count++] = trial;
    return true;
}

/* Puts it in the queue unless it was tried, is no case that the op takes, or has nothing to judge. `but` is the size that matters, or -1:
 * others shrink where the whole would be too large. */
static bool propose(tki_explorer *e, tki_trial trial, int but)
{
    for (int64_t most = 5; but >= 0 && most >= 1 && tki_explorer_work(&trial.c) > e->most_work; most -= 2)
        make_small(&trial, but, most);
    for (int d = 0; d < e->contract->dim_count; d++)
        if (trial.c.dims[d] < 0)
            return true;
    if (!tki_case_settle(&trial.c))
        return true;
    if (tki_explorer_work(&trial.c) > e->most_work || !tki_has_valid_indices(&trial.c) ||
        !tki_explorer_has_elements(&trial.c) || tki_explorer_knows(e, &trial))
        return true;
    return enqueue(e, trial);
}

/* One size more of a case whose other sizes were asked for, too, or one large size: it may be the one that a path is for. Few, and of their
 * results a sample is judged. */
static bool propose_large(tki_explorer *e, const tki_trial *base, tki_quantity q, int64_t value)
{
    enum { LARGER = 16 };
    tki_trial trial = *base;
    const bool alone = value > (int64_t)e->most_work; /* too large whatever the others are */
    if ((!base->found && !alone) || q >= TKI_PRODUCT_01 || value < 1 || !e->large_left)
        return true;
    if (alone)
        make_small(&trial, (int)q, 3);
    trial.c.dims[q] = value;
    if (!tki_case_settle(&trial.c) || tki_explorer_work(&trial.c) <= e->most_work ||
        tki_explorer_work(&trial.c) > LARGER * e->most_work || !tki_has_valid_indices(&trial.c) ||
        tki_explorer_knows(e, &trial))
        return true;
    e->large_left--;
    return enqueue(e, trial);
}

static bool propose_attribute(tki_explorer *e, tki_trial trial, int attribute, tk_value value)
{
    if (!tki_attribute_allows(&e->contract->attributes[attribute], value))
        return true;
    trial.c.attributes[attribute] = value;
    return propose(e, trial, -1);
}

/* The trial with that quantity set, where the value is one that it can have. */
static bool propose_with(tki_explorer *e, const tki_trial *base, tki_quantity q, int64_t value)
{
    tki_trial trial = *base;
    const int dims = e->contract->dim_count;
    static const int pairs[][2] = {{0, 1}, {1, 2}, {0, 2}};
    if (q < TKI_PRODUCT_01) {
        if (value < 0 || value > (int64_t)e->most_work)
            return true;
        trial.c.dims[q] = value;
        return propose(e, trial, (int)q);
    }
    if (q <= TKI_PRODUCT_ALL) {
        int a = q == TKI_PRODUCT_ALL ? 0 : pairs[q - TKI_PRODUCT_01][0],
            b = q == TKI_PRODUCT_ALL ? 1 : pairs[q - TKI_PRODUCT_01][1];
        if (value < 1 || value > (int64_t)e->most_work)
            return true;
        if (q == TKI_PRODUCT_ALL && dims > 2)
            trial.c.dims[2] = 1;
        /* As it is in the one size, if that divides; else all of it in the other. */
        if (trial.c.dims[a] <= 0 || value % trial.c.dims[a])
            trial.c.dims[a] = 1;
        trial.c.dims[b] = value / trial.c.dims[a];
        return propose(e, trial, b);
    }
    if (q == TKI_THREADS) {
        if (value < 1 || value > TKI_MOST_THREADS || e->options->call_threads)
            return true;
        trial.threads = (int)value;
        return propose(e, trial, -1);
    }
    if (q >= TKI_ATTRIBUTE_0 && q < TKI_PLACE_0)
        return propose_attribute(e, trial, (int)(q - TKI_ATTRIBUTE_0), (tk_value){.integer = value});
    if (e->options->alignment)
        return true;
    int64_t place = value & (PAGE - 1);
    trial.alignment = place ? (int)(place & -place) : TKI_MOST_ALIGNMENT;
    if (trial.alignment > TKI_MOST_ALIGNMENT)
        trial.alignment = TKI_MOST_ALIGNMENT;
    return propose(e, trial, -1);
}

/* With these elements, or indices. */
static bool propose_planted(tki_explorer *e, const tki_trial *base, const int64_t *values, int count)
{
    tki_trial trial = *base;
    int indexed = -1;
    int64_t most = -1;
    trial.planted_count = count < TK_MAX_PLANTED ? count : TK_MAX_PLANTED;
    memcpy(trial.planted, values, (size_t)trial.planted_count * sizeof *values);
    for (int i = 0; i < trial.planted_count; i++)
        most = values[i] > most ? values[i] : most;
    /* So that it can be an index, of each input of them. */
    for (int p = -1; (p = tki_next_index_param(e->contract, p)) >= 0;) {
        indexed = e->contract->params[p].indexed_dim;
        if (trial.c.dims[indexed] <= most && (double)most < e->most_work)
            trial.c.dims[indexed] = most + 1;
    }
    return propose(e, trial, indexed);
}

/* ------------------------------------------------------------------------------------------------------------
 * What an operand follows
 * ------------------------------------------------------------------------------------------------------------ */

/* An end of an operand's range in each sample of a comparison. */
typedef struct series {
    const tki_explorer *e;
    const tki_history *h;
    int side;
    bool high;
    int64_t less; /* than what was seen */
} series;

static int64_t value_at(const series *s, int i)
{
    const tki_sample *x = &s->h->samples[i];
    return (s->high ? x->high[s->side] : x->low[s->side]) - s->less;
}

static bool quantity_at(const series *s, int i, tki_quantity q, int64_t *value)
{
    const tki_observation *o = &s->e->observations[s->h->samples[i].observation];
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
static bool follows(const series *s, tki_quantity q, relation r, int64_t by)
{
    int64_t first_q = 0, first_v = 0, largest = 0, value;
    bool varies = false;
    for (int i = 0; i < s->h->count; i++) {
        if (!quantity_at(s, i, q, &value) || (value < 0 && r != PLUS) || relate(r, value, by) != value_at(s, i))
            return false;
        if (i == 0) {
            first_q = value;
            first_v = value_at(s, i);
        }
        varies |= value != first_q && (r == MODULO || value_at(s, i) != first_v);
        largest = value > largest ? value : largest;
    }
    if (r == PLUS && by == 0 && !varies)
        return s->h->count > 0 && (first_q > 3 || first_q < 0); /* seen once, or never changed: taken at its word */
    return varies && (r != MODULO || largest >= by);
}

/* Or what is left of it, and a small constant? */
static bool follows_rest(const series *s, tki_quantity q, int64_t by, int64_t *constant)
{
    enum { MOST = 2 };
    int64_t first;
    if (!s->h->count || !quantity_at(s, 0, q, &first) || first < 0)
        return false;
    series less = *s;
    less.less = value_at(s, 0) - first % by;
    *constant = less.less;
    return less.less >= -MOST && less.less <= MOST && follows(&less, q, MODULO, by);
}

enum { MOST_SOLUTIONS = 4 };

/* Values of the quantity that make the operand `target`, as far as what was seen tells. */
static int solve(const series *s, tki_quantity q, int64_t target, int64_t solutions[MOST_SOLUTIONS])
{
    int64_t first;
    if (!s->h->count || !quantity_at(s, 0, q, &first))
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
        int64_t rest;
        if (follows_rest(s, q, by, &rest) && target - rest >= 0 && target - rest < by) {
            const int64_t base = s->e->observations[s->h->base].value[q], least = target - rest;
            solutions[0] = least + by;
            solutions[1] = least + 3 * by;
            solutions[2] = least;
            /* What led to the comparison may have been that it is no less. */
            solutions[3] = base - base % by + least + (base % by > least ? by : 0);
            return 4;
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

/* A size beyond a limit that has the base's rests by the source's constants, since a comparison of one of them may have led here. */
static bool propose_of_same_rests(tki_explorer *e, const tki_trial *base, tki_quantity q, int64_t value)
{
    enum { LEAST = 8, MOST = 1024, MOST_CONSTANTS = 6 };
    const tki_dictionary *d = e->dictionary;
    const int64_t from = base->c.dims[q], way = value > from ? 1 : -1;
    for (int i = 0, used = 0; i < d->integer_count && used < MOST_CONSTANTS; i++) {
        const int64_t by = d->integers[i], steps = by > 0 ? ((value - from) * way + by - 1) / by : 0;
        if (by < LEAST || by > MOST || value == from)
            continue;
        used++;
        if (!propose_with(e, base, q, from + way * steps * by))
            return false;
    }
    return true;
}

/* Sets quantities that the operands follow. *followed: there was one. */
static bool propose_outcome(tki_explorer *e, const tki_history *h, const tki_sample *seen, uint32_t outcome,
                            bool *followed)
{
    const tki_trial *base = &e->observations[h->base].trial;
    for (int i = 0; i < 4; i++) {
        series s = {e, h, i / 2, i % 2 == 1, 0};
        int other_side = 1 - s.side;
        if (s.high && seen->low[s.side] == seen->high[s.side])
            continue;
        if (h->kind == TKI_SITE_CONSTANT && s.side == 0)
            continue;
        int64_t ends[2] = {seen->low[other_side], seen->high[other_side]};
        for (int q = 0; q < TKI_QUANTITIES; q++)
            for (int end = 0; end < (ends[0] == ends[1] ? 1 : 2); end++) {
                int64_t solutions[MOST_SOLUTIONS];
                int count = solve(&s, (tki_quantity)q, wanted(outcome, s.side, ends[end]), solutions);
                *followed |= count > 0;
                for (int k = 0; k < count; k++)
                    if (!propose_with(e, base, (tki_quantity)q, solutions[k]) ||
                        (outcome == TKI_EQUAL && !propose_large(e, base, (tki_quantity)q, solutions[k])) ||
                        (base->found && q < TKI_PRODUCT_01 && outcome != TKI_EQUAL &&
                         !propose_of_same_rests(e, base, (tki_quantity)q, solutions[k])))
                        return false;
            }
    }
    return true;
}

/* An attribute of the case in a comparison of floats. */
static bool propose_real(tki_explorer *e, const tki_history *h, const tki_sample *seen, bool *followed)
{
    const tki_trial *base = &e->observations[h->base].trial;
    for (int side = 0; side < 2; side++) {
        if (seen->low[side] != seen->high[side] || seen->low[1 - side] != seen->high[1 - side])
            continue;
        double value = tki_site_float(seen->low[side]);
        float other = (float)tki_site_float(seen->low[1 - side]);
        for (int i = 0; i < 3; i++) {
            const float set = i == 0 ? other : nextafterf(other, i == 1 ? INFINITY : -INFINITY);
            const tk_value wanted_value = {.real = (double)set};
            for (int a = e->contract->attribute_count - 1; a >= 0; a--) {
                if (!tki_is_seen(e->contract, a, TK_ATTRIBUTE_REAL) || value != base->c.attributes[a].real ||
                    !tki_attribute_allows(&e->contract->attributes[a], wanted_value))
                    continue;
                *followed = true;
                if (!propose_attribute(e, *base, a, wanted_value))
                    return false;
            }
        }
    }
    return true;
}

/* Beside other elements; those that led to the comparison, say. Two of them meet in as many places as there are rows. */
static bool propose_beside(tki_explorer *e, const tki_trial *base, const int64_t *others, int count, int64_t value)
{
    enum { ROWS = 301 };
    int64_t values[TK_MAX_PLANTED];
    tki_trial trial = *base;
    if (count >= TK_MAX_PLANTED)
        return true;
    memcpy(values, others, (size_t)count * sizeof *values);
    values[count] = value;
    if (trial.c.dims[0] < ROWS)
        trial.c.dims[0] = ROWS;
    return propose_planted(e, tki_explorer_work(&trial.c) <= e->most_work ? &trial : base, values, count + 1);
}

/* Each of the constants that came last may be what stands before this one in a condition. */
static bool propose_pairs(tki_explorer *e, const tki_trial *base, int64_t value, bool reached)
{
    const int count = e->constant_count < TKI_LAST_CONSTANTS ? e->constant_count : TKI_LAST_CONSTANTS;
    for (int i = 0; i < count; i++)
        if (e->constants[i] == value)
            return true;
    for (int i = 0; i < count && !reached && e->pairs_left; i++, e->pairs_left--)
        if (!propose_beside(e, base, &e->constants[i], 1, value))
            return false;
    e->constants[e->constant_count++ % TKI_LAST_CONSTANTS] = value;
    return true;
}

/* An operand that follows nothing may be an element: the other one is planted, and its neighbours, unless every outcome
 * has been reached. */
static bool propose_element(tki_explorer *e, tki_history *h, const tki_sample *seen)
{
    const tki_trial *base = &e->observations[h->base].trial;
    const tk_dtype dtype = tki_kind_dtype(&base->c, TK_KIND_VALUE);
    const bool reached = (h->outcomes & 7) == 7;
    h->planted = true;
    for (int side = 0; side < 2; side++) {
        if (seen->low[side] != seen->high[side] || (h->kind == TKI_SITE_CONSTANT && side == 1))
            continue;
        int64_t value = seen->low[side];
        if (h->kind == TKI_SITE_FLOATS)
            value = (int64_t)tki_round_double(dtype, tki_site_float(value));
        else if (h->bytes <= tk_dtype_size(dtype))
            value &= tki_last_pattern(dtype);
        if (value < 0 || value > tki_last_pattern(dtype))
            continue;
        const bool with_neighbours = base->planted_count == 3 && base->planted[1] == base->planted[0] + 1;
        if (!propose_pairs(e, base, value, reached))
            return false;
        if (reached)
            continue;
        if (!propose_planted(e, base, (int64_t[]){value, value + 1, value > 0 ? value - 1 : 2}, 3) ||
            (base->planted_count &&
             !propose_beside(e, base, base->planted, with_neighbours ? 1 : base->planted_count, value)))
            return false;
    }
    return true;
}

bool tki_explorer_propose_all(tki_explorer *e)
{
    static const uint32_t outcomes[] = {TKI_EQUAL, TKI_LESS, TKI_GREATER};
    for (int i = 0; i < e->history_count; i++) {
        tki_history *h = &e->histories[i];
        const tki_sample *seen = NULL;
        bool followed = false;
        for (int k = 0; k < h->count; k++)
            if (h->samples[k].observation == h->base)
                seen = &h->samples[k];
        for (int k = 0; k < 3 && seen; k++) {
            if (h->outcomes & outcomes[k] || h->tries[outcomes[k]] == MOST_TRIES)
                continue;
            h->tries[outcomes[k]]++;
            bool good = h->kind == TKI_SITE_FLOATS ? propose_real(e, h, seen, &followed)
                                                   : propose_outcome(e, h, seen, outcomes[k], &followed);
            if (!good)
                return false;
        }
        if (seen && !followed && !h->planted && !propose_element(e, h, seen))
            return false;
    }
    return true;
}

/* ------------------------------------------------------------------------------------------------------------
 * The source's constants
 * ------------------------------------------------------------------------------------------------------------ */

/* Small and plain, with sizes that are nobody's multiple. */
static tki_trial plain_trial(const tki_explorer *e)
{
    tki_trial trial = e->observations[0].trial;
    static const int64_t sizes[] = {7, 11, 13};
    trial.planted_count = 0;
    trial.threads = e->options->call_threads;
    trial.alignment = e->options->alignment;
    for (int d = 0; d < e->contract->dim_count; d++)
        trial.c.dims[d] = e->contract->dim_count == 1 ? 77 : d < 3 ? sizes[d] : 2;
    for (int i = 0; i < e->contract->attribute_count; i++)
        if (e->contract->attributes[i].seen_by_kernel)
            trial.c.attributes[i] = e->contract->attributes[i].initial;
    return trial;
}

bool tki_explorer_propose_plain(tki_explorer *e)
{
    return propose(e, plain_trial(e), -1);
}

/* Elements, options and threads: all of one kind in few calls. */
bool tki_explorer_propose_values(tki_explorer *e)
{
    const tki_dictionary *d = e->dictionary;
    const tki_trial plain = plain_trial(e);
    const tk_dtype dtype = tki_kind_dtype(&plain.c, TK_KIND_VALUE);
    int64_t values[TKI_MOST_INTEGERS + TKI_MOST_FLOATS];
    int count = 0;
    bool good = true;
    for (int i = 0; i < d->float_count; i++)
        values[count++] = (int64_t)tki_round_double(dtype, d->floats[i]);
    for (int i = 0; i < d->integer_count; i++)
        if (d->integers[i] > 2 && d->integers[i] <= tki_last_pattern(dtype))
            values[count++] = d->integers[i];
    for (int i = 0; i < count && good; i += TK_MAX_PLANTED)
        good = propose_planted(e, &plain, values + i, count - i < TK_MAX_PLANTED ? count - i : TK_MAX_PLANTED);
    for (int i = 0; i < d->integer_count && good; i++) {
        int64_t value = d->integers[i];
        for (int a = 0; a < e->contract->attribute_count && good && (value < 0 || value > 1); a++)
            if (tki_is_seen(e->contract, a, TK_ATTRIBUTE_INTEGER))
                good = propose_attribute(e, plain, a, (tk_value){.integer = value}) &&
                       propose_attribute(e, plain, a, (tk_value){.integer = -value});
        if (good && value > 1 && value <= 16)
            good = propose_with(e, &plain, TKI_THREADS, value);
    }
    for (int i = 0; i < d->float_count && good; i++)
        for (int a = e->contract->attribute_count - 1; a >= 0 && good; a--)
            if (tki_is_seen(e->contract, a, TK_ATTRIBUTE_REAL))
                good = propose_attribute(e, plain, a, (tk_value){.real = (double)(float)d->floats[i]});
    for (int alignment = TKI_MOST_ALIGNMENT; alignment >= 2 && good; alignment /= 4) {
        tki_trial trial = plain;
        trial.alignment = alignment;
        good = propose(e, trial, -1);
    }
    return good;
}

/* Each constant as each size, then as all sizes, then its neighbours and multiples. */
bool tki_explorer_propose_sizes(tki_explorer *e, int variant)
{
    static const struct {
        int64_t times, plus;
    } variants[TKI_SIZE_VARIANTS] = {{1, 0}, {1, 1}, {1, -1}, {2, 0}, {3, 0}, {5, 0}, {2, 1}};
    const tki_trial plain = plain_trial(e);
    const tki_dictionary *d = e->dictionary;
    bool good = true;
    for (int i = 0; i < d->integer_count && good; i++) {
        int64_t value = d->integers[i];
        if (value < 2 || value > (int64_t)e->most_work)
            continue;
        value = value * variants[variant].times + variants[variant].plus;
        for (int size = 0; size < e->contract->dim_count && good; size++)
            good = propose_with(e, &plain, TKI_SIZE_0 + (tki_quantity)size, value);
        tki_trial all = plain;
        for (int size = 0; size < e->contract->dim_count; size++)
            all.c.dims[size] = value;
        if (good && e->contract->dim_count > 1)
            good = propose(e, all, -1);
    }
    return good;
}
