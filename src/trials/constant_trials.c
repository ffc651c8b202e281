/* CHOOSES. Each constant is each size of some case at least once. Sizes are tried together, as many constants in one case as it has sizes
 * and is small enough for: what depends on one of them does not ask for the others. */
#include "trials/constant_trials.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/context.h"
#include "exact/round.h"
#include "model/case.h"
#include "trials/explorer.h"
#include "trials/families.h"

enum { MOST_VALUES = 1024, MOST_SIZES = TKI_MOST_SIZES, MOST_PAIRED = 16, MOST_BEYOND_CALLS = TK_MAX_PARAMS + 64 };

typedef struct maker {
    const tki_trial *base;
    const tk_certify_options *options;
    const tk_contract *contract;
    const tki_dictionary *dictionary;
    tki_constant_trials *trials;
    int most;          /* calls */
    double price_left; /* of all of them */
    double most_work;  /* of one that has one size of interest */
    bool failed;       /* no memory */
} maker;

/* In steps of a plain kernel: an exact value takes more of them than an element, and a call has a price of its own. */
static double price_of(const tk_case *c)
{
    double outputs = 0;
    for (int p = 0; p < c->contract->param_count; p++)
        outputs += c->contract->params[p].output ? (double)tk_case_elements(c, p) : 0;
    return tki_explorer_work(c) + 16 * outputs + 0x1p13;
}

/* Beside others a size must leave the whole this cheap. */
static const double shared_price = 0x1p15, cheap_price = 0x1p17;

static bool is_known(const maker *m, const tki_trial *trial)
{
    for (int i = 0; i < m->trials->count; i++) {
        const tki_trial *t = &m->trials->list[i];
        if (!memcmp(t->c.dims, trial->c.dims, sizeof t->c.dims) && t->threads == trial->threads &&
            t->alignment == trial->alignment &&
            !memcmp(t->c.attributes, trial->c.attributes, sizeof t->c.attributes) &&
            t->planted_count == trial->planted_count &&
            !memcmp(t->planted, trial->planted, (size_t)t->planted_count * sizeof *t->planted))
            return true;
    }
    return false;
}

static bool is_spent(const maker *m)
{
    return m->failed || m->trials->count >= m->most || m->price_left <= 0;
}

static void add(maker *m, tki_trial trial)
{
    for (int d = 0; d < m->contract->dim_count; d++)
        if (trial.c.dims[d] < 0)
            return;
    if (is_spent(m) || !tki_case_settle(&trial.c) || !tki_has_valid_indices(&trial.c) ||
        !tki_explorer_has_elements(&trial.c) || is_known(m, &trial))
        return;
    if (tki_explorer_work(&trial.c) > m->most_work)
        return;
    tki_trial *more = realloc(m->trials->list, ((size_t)m->trials->count + 1) * sizeof *more);
    m->failed |= !more;
    if (!more)
        return;
    m->trials->list = more;
    trial.sampled = tki_explorer_samples(&trial.c);
    trial.seed = m->options->seed + 2000000 + (uint64_t)m->trials->count;
    more[m->trials->count++] = trial;
    m->price_left -= price_of(&trial.c);
}

static tki_trial plain_trial(const maker *m)
{
    static const int64_t sizes[] = {7, 11, 13};
    tki_trial trial = *m->base;
    trial.planted_count = 0;
    trial.chunk = 0;
    trial.found = true;
    trial.where_memory_allows = trial.sampled = false;
    trial.family = tki_family_find("normal");
    trial.threads = m->options->call_threads;
    trial.alignment = m->options->alignment;
    for (int d = 0; d < m->contract->dim_count; d++)
        trial.c.dims[d] = m->contract->dim_count == 1 ? 77 : d < 3 ? sizes[d] : 2;
    for (int i = 0; i < m->contract->attribute_count; i++)
        if (m->contract->attributes[i].seen_by_kernel)
            trial.c.attributes[i] = m->contract->attributes[i].initial;
    return trial;
}

/* ------------------------------------------------------------------------------------------------------------
 * Sizes
 * ------------------------------------------------------------------------------------------------------------ */

/* Values that each size is to have. */
typedef struct value_list {
    int count;
    int64_t values[MOST_VALUES];
    bool left[MOST_SIZES][MOST_VALUES]; /* that the size has not had yet */
} value_list;

static void want(const maker *m, value_list *list, int64_t value)
{
    if (value < 2 || value > (int64_t)m->most_work || list->count == MOST_VALUES)
        return;
    for (int i = 0; i < list->count; i++)
        if (list->values[i] == value)
            return;
    for (int d = 0; d < MOST_SIZES; d++)
        list->left[d][list->count] = true;
    list->values[list->count++] = value;
}

/* The largest value that the size has yet to have and that leaves the case small enough; -1: none. */
static int fitting(const value_list *list, const tki_trial *trial, int size, double most)
{
    int best = -1;
    for (int i = 0; i < list->count; i++) {
        if (!list->left[size][i] || (best >= 0 && list->values[i] < list->values[best]))
            continue;
        tki_trial with = *trial;
        with.c.dims[size] = list->values[i];
        if (price_of(&with.c) <= most)
            best = i;
    }
    return best;
}

/* The size has that value, and the others are as small as it makes them. */
static tki_trial with_size(const maker *m, int sizes, int size, int64_t value)
{
    tki_trial trial = plain_trial(m);
    trial.c.dims[size] = value;
    for (int64_t most = 5; most >= 1 && price_of(&trial.c) > shared_price; most -= 2)
        for (int d = 0; d < sizes; d++)
            if (d != size && trial.c.dims[d] > most)
                trial.c.dims[d] = most;
    return trial;
}

/* One size has the largest value that is left to it and costs no more than that, the others what fits beside it. */
static bool add_packed(maker *m, value_list *list, int sizes, double most)
{
    tki_trial trial = *m->base;
    int first = -1, value = -1;
    for (int d = 0; d < sizes; d++)
        for (int i = 0; i < list->count; i++) {
            if (!list->left[d][i] || (value >= 0 && list->values[i] <= list->values[value]))
                continue;
            const tki_trial with = with_size(m, sizes, d, list->values[i]);
            if (price_of(&with.c) > most)
                continue;
            trial = with;
            first = d;
            value = i;
        }
    if (value < 0)
        return false;
    list->left[first][value] = false;
    for (int d = 0; d < sizes; d++) {
        const int other = d == first ? -1 : fitting(list, &trial, d, shared_price);
        if (other < 0)
            continue;
        trial.c.dims[d] = list->values[other];
        list->left[d][other] = false;
    }
    add(m, trial);
    return true;
}

static void add_all(maker *m, value_list *list, double most)
{
    const int sizes = m->contract->dim_count < MOST_SIZES ? m->contract->dim_count : MOST_SIZES;
    while (!is_spent(m) && add_packed(m, list, sizes, most))
        ;
}

/* Constants that follow each other, as sizes that do; and each as all sizes. */
static void add_in_order(maker *m)
{
    const tki_dictionary *d = m->dictionary;
    const int sizes = m->contract->dim_count;
    for (int i = 0; i < d->own_integers && sizes > 1; i++) {
        for (int from = 0; from < sizes; from++) {
            tki_trial trial = plain_trial(m);
            for (int k = 0; from + k < sizes && i + k < d->own_integers; k++)
                trial.c.dims[from + k] = d->integers[i + k];
            if (price_of(&trial.c) <= shared_price)
                add(m, trial);
        }
        tki_trial square = plain_trial(m);
        for (int k = 0; k < sizes; k++)
            square.c.dims[k] = d->integers[i];
        if (d->integers[i] > 1 && price_of(&square.c) <= shared_price)
            add(m, square);
    }
}

/* All that cost little first; what costs more only as far as the rest allows. */
static void add_sizes(maker *m)
{
    const tki_dictionary *d = m->dictionary;
    value_list *list = malloc(sizeof *list);
    m->failed |= !list;
    if (!list)
        return;
    list->count = 0;
    for (int i = 0; i < d->own_integers; i++)
        want(m, list, d->integers[i]);
    add_all(m, list, cheap_price);
    for (int i = d->own_integers; i < d->integer_count; i++)
        want(m, list, d->integers[i]);
    add_all(m, list, cheap_price);
    add_all(m, list, m->price_left / 8);
    for (int i = 0; i < d->integer_count; i++) {
        want(m, list, d->integers[i] - 1);
        want(m, list, d->integers[i] + 1);
    }
    add_all(m, list, cheap_price);
    add_in_order(m);
    /* Ends of loops and rests beside tiles; tiles of tiles. */
    const int paired = d->own_integers < MOST_PAIRED ? d->own_integers : MOST_PAIRED;
    for (int i = 0; i < paired; i++)
        for (int k = 0; k <= i; k++) {
            int64_t value;
            if (!__builtin_add_overflow(d->integers[i], d->integers[k], &value))
                want(m, list, value);
            if (!__builtin_mul_overflow(d->integers[i], d->integers[k], &value))
                want(m, list, value);
        }
    add_all(m, list, cheap_price);
    for (int i = 0; i < d->integer_count; i++)
        for (int times = 2; times <= 3 && d->integers[i] < 1 << 24; times++)
            for (int plus = 0; plus < 2; plus++)
                want(m, list, times * d->integers[i] + plus);
    add_all(m, list, cheap_price);
    add_all(m, list, m->price_left / 4);
    free(list);
}

/* ------------------------------------------------------------------------------------------------------------
 * Places beyond what is cheap
 * ------------------------------------------------------------------------------------------------------------ */

enum { MOST_BEYOND = 1 << 26, COUNTS_IN_FP32 = 1 << 24 };

/* How many elements a tensor must have so that its last places lie beyond all large constants, and beyond the integers that fp32 holds where
 * the code may count in it; 0: it names nothing of the kind. */
static int64_t elements_beyond(const maker *m)
{
    const tki_dictionary *d = m->dictionary;
    int64_t beyond = tki_counts_in_fp32(d) ? COUNTS_IN_FP32 : 0;
    for (int i = 0; i < d->own_integers; i++)
        if (d->integers[i] > (int64_t)m->most_work && d->integers[i] <= MOST_BEYOND / 2 && d->integers[i] > beyond)
            beyond = d->integers[i];
    return beyond;
}

enum { RAGGED = 77 };

/* Whatever it costs; a sample of the outputs is judged. */
static void add_large(maker *m, tki_trial trial)
{
    const double most_work = m->most_work, price_left = m->price_left;
    for (int p = 0; p < m->contract->param_count; p++)
        if (tk_case_elements(&trial.c, p) > 2 * MOST_BEYOND)
            return;
    m->most_work = INFINITY;
    add(m, trial);
    m->most_work = most_work;
    m->price_left = price_left;
}

/* Groups of one size with so many places, whose last end is odd; or tables of so many rows of one element, of which some behind the last power
 * of two are looked up, neighbours and pairs that are each power of two apart. */
static void add_large_indexed(maker *m, int64_t elements)
{
    enum { QUERIES = 300 };
    const int index = tki_index_param(m->contract);
    if (index < 0)
        return;
    const tk_param *param = &m->contract->params[index];
    const bool groups = param->rule == TK_INDICES_ENDS;
    tki_trial trial = plain_trial(m);
    for (int d = 0; d < m->contract->dim_count; d++)
        trial.c.dims[d] = 1;
    trial.c.dims[param->dim[0]] = groups ? 1 : QUERIES;
    trial.c.dims[param->indexed_dim] = (elements + RAGGED) | 1;
    trial.family = groups ? TKI_FAMILY_INDEX_SORTED : TKI_FAMILY_INDEX_HIGH;
    add_large(m, trial);
    if (groups)
        return;
    trial.c.dims[param->indexed_dim] += 2;
    trial.family = TKI_FAMILY_INDEX_APART;
    add_large(m, trial);
}

static bool has_both(const tk_param *param, int a, int b)
{
    bool has_a = false, has_b = false;
    for (int axis = 0; axis < param->rank; axis++) {
        has_a |= param->dim[axis] == a;
        has_b |= param->dim[axis] == b;
    }
    return has_a && has_b;
}

/* So many rows that are looked up in a short table, of few elements each: fp32 gives many of them by their places, and not all. */
static void add_many_rows(maker *m)
{
    enum { VOCABULARY = 7, WIDTH = 3 };
    const int index = tki_index_param(m->contract);
    if (index < 0 || m->contract->params[index].rule == TK_INDICES_ENDS)
        return;
    const int rows = m->contract->params[index].dim[0], table = m->contract->params[index].indexed_dim;
    for (int p = 0; p < m->contract->param_count; p++)
        if (has_both(&m->contract->params[p], rows, table))
            return;
    tki_trial trial = plain_trial(m);
    for (int d = 0; d < m->contract->dim_count; d++)
        trial.c.dims[d] = d == rows ? COUNTS_IN_FP32 + 1 : d == table ? VOCABULARY : WIDTH;
    add_large(m, trial);
}

/* One line whose last place is the first that fp32 takes for another. */
static void add_one_line(maker *m)
{
    enum { TURNS = 4000 };
    int inner = 0;
    for (int p = 0; p < m->contract->param_count; p++)
        if (m->contract->params[p].inner_axis >= 0)
            inner = m->contract->params[p].dim[m->contract->params[p].inner_axis];
    if (tki_index_param(m->contract) >= 0)
        return;
    tki_trial trial = plain_trial(m);
    for (int d = 0; d < m->contract->dim_count; d++)
        trial.c.dims[d] = d == inner ? COUNTS_IN_FP32 + 1 : 1;
    if (tk_family_applies(TKI_FAMILY_LONE, m->contract))
        trial.family = TKI_FAMILY_LONE;
    const int before = m->trials->count;
    add_large(m, trial);
    /* Its turn is then that of ones beside the infinity. */
    if (m->trials->count > before)
        m->trials->list[before].seed -= m->trials->list[before].seed % TURNS;
}

/* The tensor has so many elements, and the sizes that it does not have are 1. Shares of four threads, computed in fp32, leave out the last. */
static void add_large_tensor(maker *m, const tk_param *param, int64_t elements)
{
    enum { THREADS = 4 };
    tki_trial trial = plain_trial(m);
    trial.threads = trial.threads ? trial.threads : THREADS;
    double first = param->rank > 1 ? floor(pow((double)elements, 1.0 / param->rank)) : (double)elements, rest = 1;
    for (int d = 0; d < m->contract->dim_count; d++)
        trial.c.dims[d] = 1;
    for (int axis = 1; axis < param->rank; axis++, rest *= first)
        trial.c.dims[param->dim[axis]] = (int64_t)first;
    trial.c.dims[param->dim[0]] = (int64_t)((double)elements / rest) + RAGGED;
    add_large(m, trial);
}

/* Each set of sizes that some tensor has, once. */
static void add_beyond(maker *m)
{
    const int64_t elements = elements_beyond(m);
    uint64_t known[TK_MAX_PARAMS];
    for (int p = 0; elements && p < m->contract->param_count; p++) {
        const tk_param *param = &m->contract->params[p];
        uint64_t sizes = 0;
        bool again = false;
        for (int axis = 0; axis < param->rank; axis++)
            sizes |= UINT64_C(1) << param->dim[axis] % 64;
        for (int other = 0; other < p; other++)
            again |= known[other] == sizes;
        known[p] = sizes;
        if (!again)
            add_large_tensor(m, param, elements);
    }
    const bool counts = tki_counts_in_fp32(m->dictionary), compares = tki_compares_in_fp32(m->dictionary);
    if (elements || compares)
        add_large_indexed(m, elements ? elements : COUNTS_IN_FP32);
    if (counts)
        add_many_rows(m);
    if (compares)
        add_one_line(m);
}

/* Each choice with each size beyond a large constant, whatever it costs: what goes by both at once. */
static void add_choices_beyond(maker *m)
{
    enum { LEAST = 1 << 12, MOST = 1 << 17, MOST_CONSTANTS = 2, BEYOND = 3 };
    const tki_dictionary *d = m->dictionary;
    for (int i = 0, used = 0; i < d->own_integers && used < MOST_CONSTANTS; i++) {
        if (d->integers[i] < LEAST || d->integers[i] > MOST)
            continue;
        used++;
        for (int a = 0; a < m->contract->attribute_count; a++)
            for (int choice = 0; choice < m->contract->attributes[a].choice_count; choice++)
                for (int size = 0; size < m->contract->dim_count && tki_is_seen(m->contract, a, TK_ATTRIBUTE_CHOICE);
                     size++) {
                    tki_trial trial = plain_trial(m);
                    for (int other = 0; other < m->contract->dim_count; other++)
                        trial.c.dims[other] = other == size ? d->integers[i] + BEYOND : 1;
                    trial.c.attributes[a].integer = choice;
                    m->price_left = 1;
                    add(m, trial);
                }
    }
}

/* ------------------------------------------------------------------------------------------------------------
 * Elements, indices, options, threads
 * ------------------------------------------------------------------------------------------------------------ */

static void add_planted(maker *m, const int64_t values[], int count)
{
    tki_trial trial = plain_trial(m);
    const int index = tki_index_param(m->contract);
    const int indexed = index >= 0 ? m->contract->params[index].indexed_dim : -1;
    trial.planted_count = count;
    memcpy(trial.planted, values, (size_t)count * sizeof *values);
    /* So that they can be indices. */
    for (int i = 0; i < count && indexed >= 0; i++)
        if (values[i] >= trial.c.dims[indexed] && (double)values[i] < m->most_work / 16)
            trial.c.dims[indexed] = values[i] + 1;
    add(m, trial);
}

static void add_elements(maker *m)
{
    const tki_dictionary *d = m->dictionary;
    const tk_dtype dtype = m->base->c.dtype;
    int64_t values[2 * TKI_MOST_INTEGERS + TKI_MOST_FLOATS];
    int count = 0;
    for (int i = 0; i < d->float_count; i++)
        values[count++] = (int64_t)tki_round_double(dtype, d->floats[i]);
    for (int i = 0; i < d->integer_count; i++) {
        if (d->integers[i] >= 0 && d->integers[i] <= tki_last_pattern(dtype))
            values[count++] = d->integers[i];
        if (i < d->own_integers)
            values[count++] = (int64_t)tki_round_double(dtype, (double)d->integers[i]);
    }
    for (int i = 0; i < count; i += TK_MAX_PLANTED)
        add_planted(m, values + i, count - i < TK_MAX_PLANTED ? count - i : TK_MAX_PLANTED);
}

static void add_attribute(maker *m, int attribute, tk_value value)
{
    tki_trial trial = plain_trial(m);
    if (!tki_attribute_allows(&m->contract->attributes[attribute], value))
        return;
    trial.c.attributes[attribute] = value;
    add(m, trial);
}

static void add_options(maker *m)
{
    const tki_dictionary *d = m->dictionary;
    for (int a = 0; a < m->contract->attribute_count; a++)
        for (int i = 0; i < d->own_integers; i++) {
            const int64_t value = d->integers[i];
            if (tki_is_seen(m->contract, a, TK_ATTRIBUTE_INTEGER)) {
                add_attribute(m, a, (tk_value){.integer = value});
                add_attribute(m, a, (tk_value){.integer = -value});
            } else if (tki_is_seen(m->contract, a, TK_ATTRIBUTE_REAL)) {
                add_attribute(m, a, (tk_value){.real = (double)value});
            }
        }
    for (int a = 0; a < m->contract->attribute_count; a++)
        for (int i = 0; i < d->float_count && tki_is_seen(m->contract, a, TK_ATTRIBUTE_REAL); i++)
            add_attribute(m, a, (tk_value){.real = (double)(float)d->floats[i]});
    for (int i = 0; i < d->own_integers && !m->options->call_threads; i++) {
        tki_trial trial = plain_trial(m);
        trial.threads = d->integers[i] > 1 && d->integers[i] <= 16 ? (int)d->integers[i] : 0;
        if (trial.threads)
            add(m, trial);
    }
}

static int own_most(tk_level level)
{
    return level == TK_QUICK ? 160 : 2048;
}

int64_t tki_constant_trials_most(tk_level level)
{
    return own_most(level) + MOST_BEYOND_CALLS;
}

tk_status tki_constant_trials_make(tk_ctx *ctx, const tki_trial *base, const tk_certify_options *options,
                                   const tki_dictionary *dictionary, tki_constant_trials *trials)
{
    const bool quick = options->level == TK_QUICK;
    *trials = (tki_constant_trials){0};
    maker m = {.base = base,
               .options = options,
               .contract = base->c.contract,
               .dictionary = dictionary,
               .trials = trials,
               .price_left = quick ? 0x1p22 : 0x1p28,
               .most_work = quick ? 0x1p18 : 0x1p21};
    const int all = own_most(options->level);
    m.most = all / 4;
    add_options(&m);
    m.most = all / 2;
    add_elements(&m);
    m.most = all;
    add_sizes(&m);
    m.most = all + MOST_BEYOND_CALLS;
    m.price_left = 1;
    add_beyond(&m);
    add_choices_beyond(&m);
    return m.failed ? tki_fail(ctx, TK_NO_MEMORY, "no memory for a list of trials") : TK_OK;
}
