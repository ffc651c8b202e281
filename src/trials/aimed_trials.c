/* CHOOSES. Trials that each aim at one condition, which the laws of sizes and of values meet by chance or not at all. Most come at quick
 * whatever the seed, are as small as the condition lets them be, and sampled where it needs a size. A new one goes to the end, with numbers
 * behind those of all others. */
#include "trials/aimed_trials.h"

#include <string.h>

#include "model/case.h"
#include "trials/attribute_settings.h"
#include "trials/families.h"

typedef struct giving {
    const tki_together *what;
    const tk_case *like;
    tk_case c;
    int number;
} giving;

static void give(giving *g, int family, bool sampled)
{
    const tki_together_how how = {.sampled = sampled};
    if (tki_case_settle(&g->c) && tki_indices_point_somewhere(&g->c))
        g->what->take(g->what->context, &g->c, family, g->number, &how);
}

/* -- The list ----------------------------------------------------------------------------------------------------- */

typedef enum choosing { DRAWN, EACH_CHOICE } choosing;

enum { MAIN_FAMILY = -1 };

typedef struct aim {
    tki_shape_class class;
    tk_level level;
    int family;
    int64_t size[TKI_CLASS_SIZES];
    int times; /* consecutive numbers */
    bool sampled;
    choosing choosing;
} aim;

#define Q TK_QUICK
#define F TK_FULL

static const aim aims[] = {
    /* Ragged by every width; each factor in turn, against ones and against lines that choose a place. */
    {TKI_ROWS, Q, TKI_FAMILY_LONE, {128, 67}, 4, false, DRAWN},
    {TKI_PRODUCT, Q, TKI_FAMILY_LONE, {64, 3, 67}, 4, false, DRAWN},
    {TKI_PRODUCT, Q, TKI_FAMILY_LONE, {3, 64, 67}, 4, false, DRAWN},
    {TKI_LOOKUP, Q, TKI_FAMILY_LONE, {67, 64, 2}, 1, false, DRAWN},
    {TKI_GROUPED, Q, TKI_FAMILY_LONE, {64, 3, 67, 1}, 4, false, DRAWN},
    {TKI_GROUPED, Q, TKI_FAMILY_LONE, {3, 64, 67, 1}, 4, false, DRAWN},
    {TKI_VECTOR, Q, TKI_FAMILY_STREAM, {96}, 1, false, DRAWN},
    {TKI_ROWS, Q, TKI_FAMILY_STREAM, {24, 24}, 1, false, DRAWN},
    {TKI_ROWS, Q, TKI_FAMILY_MOVED, {24, 24}, 1, false, DRAWN},
    {TKI_ROWS, Q, TKI_FAMILY_INDEX_APART, {40, 300}, 1, false, DRAWN},
    {TKI_ROWS, Q, TKI_FAMILY_DISTANCES, {128, 2}, 2, false, DRAWN},
    {TKI_ROWS, Q, TKI_FAMILY_DISTANCES, {128, 19}, 2, false, DRAWN},
    {TKI_ROWS, Q, TKI_FAMILY_LARGE_SUMS, {40, 2}, 2, false, DRAWN},
    {TKI_ROWS, Q, TKI_FAMILY_LARGE_SUMS, {40, 37}, 2, false, DRAWN},
    {TKI_PRODUCT, Q, TKI_FAMILY_LARGE_SUMS, {9, 10, 2}, 2, false, DRAWN},
    {TKI_PRODUCT, Q, TKI_FAMILY_LARGE_SUMS, {9, 10, 37}, 2, false, DRAWN},
    {TKI_LOOKUP, Q, TKI_FAMILY_LARGE_SUMS, {37, 9, 3}, 1, false, DRAWN},
    {TKI_GROUPED, Q, TKI_FAMILY_LARGE_SUMS, {9, 10, 37, 2}, 2, false, DRAWN},
    /* One more row than 16 bits count groups of four of. */
    {TKI_ROWS, Q, TKI_FAMILY_CONFIDENT, {(1 << 18) + 1, 2}, 1, true, DRAWN},
    /* As many queries as rows, in a run longer than 8 bits count; as many as 16 bits count; tables of as many rows, and of more than 18
     * bits do. */
    {TKI_LOOKUP, Q, TKI_FAMILY_STREAM, {600, 3, 600}, 1, false, DRAWN},
    {TKI_LOOKUP, Q, TKI_FAMILY_MOVED, {600, 3, 600}, 1, false, DRAWN},
    {TKI_LOOKUP, Q, TKI_FAMILY_STREAM, {65536, 1, 3}, 1, false, DRAWN},
    {TKI_LOOKUP, Q, TKI_FAMILY_INDEX_APART, {200, 2, 65536}, 1, false, DRAWN},
    {TKI_LOOKUP, Q, TKI_FAMILY_INDEX_APART, {300, 1, (1 << 18) + 300}, 1, false, DRAWN},
    /* Few rows, whose additions meet if threads share them out. */
    {TKI_LOOKUP, Q, TKI_FAMILY_STREAM, {120001, 3, 2}, 2, false, DRAWN},
    /* Tiles of 32 in rows of 41, and so of 8 and 16 in rows of multiples: the quotient of 41 by the nearest fp32 number below 41 is less
     * than one. 1024 tiles of 16, whose sums have a block more. Rows of a tile and a half, more than 12 bits count. */
    {TKI_PRODUCT, Q, MAIN_FAMILY, {33, 41 * 32, 2}, 1, false, DRAWN},
    {TKI_PRODUCT, Q, MAIN_FAMILY, {2, 1024 * 16, 33}, 1, true, DRAWN},
    {TKI_PRODUCT, Q, MAIN_FAMILY, {4100, 48, 2}, 1, true, EACH_CHOICE},
    /* Many terms of one column, in as many rows as fill a tile. */
    {TKI_PRODUCT, Q, TKI_FAMILY_SPREAD, {32, 1, 4100}, 1, false, DRAWN},
    /* A line that a buffer keeps, longer than blocks of 128, 256 and 512 and ragged by eights. */
    {TKI_ROWS, Q, TKI_FAMILY_SPECIAL_LINE, {5, 3 * 512 + 131}, 2, false, DRAWN},
    {TKI_PRODUCT, Q, TKI_FAMILY_SPECIAL_LINE, {5, 4, 3 * 512 + 131}, 4, false, DRAWN},
    {TKI_GROUPED, Q, TKI_FAMILY_SPECIAL_LINE, {5, 4, 3 * 512 + 131, 2}, 4, false, DRAWN},
    {TKI_LOOKUP, Q, TKI_FAMILY_SPECIAL_LINE, {131, 4, 9}, 2, false, DRAWN},
    /* As large as sums of products below 16 become, beyond what 63 bits hold of them in units of 2^-48. */
    {TKI_PRODUCT, Q, TKI_FAMILY_ONE_SIGN, {2, 3, 14700}, 1, false, DRAWN},
    {TKI_ROWS, Q, TKI_FAMILY_SWEPT, {96, 3}, 1, false, DRAWN},
    /* The quotient of 49, 98, 103 or 107 by the nearest double is less than one; and 2^32 / 65537, rounded up, gives the next row at the end
     * of one. */
    {TKI_LOOKUP, Q, MAIN_FAMILY, {9, 49, 40}, 1, false, DRAWN},
    {TKI_LOOKUP, Q, MAIN_FAMILY, {9, 98, 40}, 1, false, DRAWN},
    {TKI_LOOKUP, Q, MAIN_FAMILY, {9, 103, 40}, 1, false, DRAWN},
    {TKI_LOOKUP, Q, MAIN_FAMILY, {9, 107, 40}, 1, false, DRAWN},
    {TKI_LOOKUP, Q, MAIN_FAMILY, {2, 65537, 5}, 1, true, DRAWN},
    /* What a stack does not hold. */
    {TKI_PRODUCT, F, TKI_FAMILY_FEW, {1, 2100003, 1}, 1, true, DRAWN},
    /* As many products as 32 bits do not count. */
    {TKI_PRODUCT, F, MAIN_FAMILY, {4096, 1024, 1024}, 1, true, DRAWN},
    /* Each share of the last half step, with both signs, in few terms. */
    {TKI_ROWS, Q, TKI_FAMILY_OVERFLOW_EDGE, {20, 2}, 1, false, DRAWN},
    {TKI_ROWS, Q, TKI_FAMILY_OVERFLOW_EDGE, {20, 5}, 1, false, DRAWN},
    {TKI_PRODUCT, Q, TKI_FAMILY_OVERFLOW_EDGE, {20, 20, 2}, 4, false, DRAWN},
    {TKI_PRODUCT, Q, TKI_FAMILY_OVERFLOW_EDGE, {20, 20, 5}, 2, false, DRAWN},
    {TKI_LOOKUP, Q, TKI_FAMILY_OVERFLOW_EDGE, {2, 20, 1}, 1, false, DRAWN},
    {TKI_LOOKUP, Q, TKI_FAMILY_OVERFLOW_EDGE, {5, 20, 1}, 1, false, DRAWN},
    {TKI_GROUPED, Q, TKI_FAMILY_OVERFLOW_EDGE, {20, 20, 2, 1}, 4, false, DRAWN},
    {TKI_GROUPED, Q, TKI_FAMILY_OVERFLOW_EDGE, {20, 20, 5, 2}, 2, false, DRAWN},
    /* Inputs of one shape, of which a look at the first tile takes the one for the other. */
    {TKI_VECTOR, Q, TKI_FAMILY_NEARLY_ALIKE, {333}, 1, false, DRAWN},
    {TKI_ROWS, Q, TKI_FAMILY_NEARLY_ALIKE, {65, 65}, 1, false, DRAWN},
    {TKI_PRODUCT, Q, TKI_FAMILY_NEARLY_ALIKE, {65, 65, 1}, 1, false, DRAWN},
    {TKI_PRODUCT, Q, TKI_FAMILY_NEARLY_ALIKE, {67, 67, 3}, 4, false, DRAWN},
    {TKI_PRODUCT, Q, TKI_FAMILY_NEARLY_ALIKE, {33, 33, 33}, 2, false, DRAWN},
    {TKI_LOOKUP, Q, TKI_FAMILY_NEARLY_ALIKE, {40, 9, 40}, 1, false, DRAWN},
    {TKI_GROUPED, Q, TKI_FAMILY_NEARLY_ALIKE, {67, 67, 3, 1}, 4, false, DRAWN},
    /* More rows in one group than 16 bits count, on each side of the sum; a line so long that a third of its places lie behind 2^16. */
    {TKI_GROUPED, Q, TKI_FAMILY_INDEX_SORTED, {70001, 2, 2, 1}, 1, true, DRAWN},
    {TKI_GROUPED, Q, TKI_FAMILY_INDEX_SORTED, {2, 3, 70001, 1}, 1, false, DRAWN},
};

#undef Q
#undef F

static void set_attributes(giving *g, choosing how, int64_t set, tki_random *random)
{
    memcpy(g->c.attributes, g->like->attributes, sizeof g->c.attributes);
    if (g->what->draw)
        g->what->draw(g->what->context, &g->c, random);
    for (int a = 0; a < g->c.contract->attribute_count && how == EACH_CHOICE && g->what->draw; a++) {
        const tk_attribute *attribute = &g->c.contract->attributes[a];
        if (attribute->seen_by_kernel && attribute->type == TK_ATTRIBUTE_CHOICE)
            g->c.attributes[a].integer = set % attribute->choice_count;
    }
}

static int64_t most_choices(const tk_contract *contract)
{
    int64_t most = 1;
    for (int a = 0; a < contract->attribute_count; a++) {
        const tk_attribute *attribute = &contract->attributes[a];
        if (attribute->seen_by_kernel && attribute->type == TK_ATTRIBUTE_CHOICE && attribute->choice_count > most)
            most = attribute->choice_count;
    }
    return most;
}

static void give_listed(giving *g, tki_random *random)
{
    for (size_t i = 0; i < sizeof aims / sizeof *aims; i++) {
        const aim *one = &aims[i];
        /* What is made of each row before any is judged costs more than the rest of quick. */
        const bool dear = one->class == TKI_ROWS && one->sampled && tki_index_param(g->like->contract) >= 0;
        if (one->class != g->what->class || one->level != g->what->level || dear)
            continue;
        const int family = one->family == MAIN_FAMILY ? tki_family_main(g->like->contract, 0) : one->family;
        const int64_t choices = g->what->draw ? most_choices(g->like->contract) : 1;
        const int64_t times = one->choosing == DRAWN ? one->times : choices > 1 ? choices : 0;
        /* The same numbers as those of the entry before it. */
        g->number -= one->family == TKI_FAMILY_MOVED;
        for (int64_t time = 0; time < times; time++, g->number++) {
            tki_shape_set(&g->c, one->class, one->size);
            set_attributes(g, one->choosing, time, random);
            give(g, family, one->sampled);
        }
    }
}

/* -- The same bytes ----------------------------------------------------------------------------------------------- */

static const int64_t few_of_each[TKI_CLASS_SIZES] = {6, 10, 14, 3};

static int64_t elements_of(const tk_case *c, bool output)
{
    int64_t elements = 0;
    for (int p = 0; p < c->contract->param_count; p++)
        if (c->contract->params[p].output == output && c->contract->params[p].kind != TK_KIND_INDEX)
            elements += tk_case_elements(c, p);
    return elements;
}

/* A kernel may be asked for another type in between, one small trial in eight: what must come right after another comes so often. */
enum { ROUNDS = 3 };

static bool has_same_split(const tk_case *a, const tk_case *b)
{
    return elements_of(a, false) == elements_of(b, false) && elements_of(a, true) == elements_of(b, true);
}

/* Two sizes trade places, so that the inputs together have the bytes they had and only the split between them moves. */
static void give_split(giving *g, int a, int b)
{
    tk_case other = g->c;
    other.dims[a] = g->c.dims[b];
    other.dims[b] = g->c.dims[a];
    if (!tki_case_settle(&g->c) || !tki_case_settle(&other) || !has_same_split(&g->c, &other))
        return;
    give(g, TKI_FAMILY_STREAM, false);
    g->c = other;
    give(g, TKI_FAMILY_STREAM, false);
}

static void give_splits(giving *g, tki_random *random)
{
    const int dims = g->like->contract->dim_count;
    for (int round = 0; round < ROUNDS; round++)
        for (int a = 0; a < dims; a++)
            for (int b = a + 1; b < dims; b++, g->number++)
                for (int64_t set = 0; set < most_choices(g->like->contract); set++) {
                    for (int d = 0; d < dims; d++)
                        g->c.dims[d] = few_of_each[d % TKI_CLASS_SIZES];
                    set_attributes(g, EACH_CHOICE, set, random);
                    give_split(g, a, b);
                }
}

/* The i-th of an order in which, over all starts and both directions, each of `count` comes right after each other one: 0, 1, -1, 2, ... */
static int64_t zigzag(int64_t count, int64_t start, int64_t i)
{
    const int64_t step = i % 2 ? (i + 1) / 2 : -(i / 2);
    return ((start + step) % count + count) % count;
}

/* Each choice of an attribute right after each other one, with the same inputs. */
static void give_successions(giving *g, tki_random *random)
{
    const tk_contract *contract = g->like->contract;
    for (int a = 0; a < contract->attribute_count && g->what->draw; a++) {
        const tk_attribute *attribute = &contract->attributes[a];
        const int64_t count = attribute->choice_count;
        if (!attribute->seen_by_kernel || attribute->type != TK_ATTRIBUTE_CHOICE)
            continue;
        tki_shape_set(&g->c, g->what->class, few_of_each);
        set_attributes(g, DRAWN, 0, random);
        /* An even number of choices needs one direction. */
        for (int64_t start = 0; start < (count % 2 ? 2 : 1) * count; start++, g->number++)
            for (int64_t i = 0; i < count; i++) {
                g->c.attributes[a].integer = zigzag(count, start % count, start < count ? i : count - 1 - i);
                give(g, TKI_FAMILY_STREAM, false);
            }
    }
}

/* -- Groups ------------------------------------------------------------------------------------------------------- */

/* So many places in so many groups, and few of the rest. */
static void give_groups(giving *g, int family, int64_t places, int64_t groups, int64_t rest, int times,
                        tki_random *random)
{
    const int ends = tki_index_param(g->like->contract);
    const tk_param *param = &g->like->contract->params[ends];
    for (int d = 0; d < g->c.contract->dim_count; d++)
        g->c.dims[d] = rest;
    g->c.dims[param->indexed_dim] = places;
    g->c.dims[param->dim[0]] = groups;
    for (int i = 0; i < times; i++, g->number++) {
        set_attributes(g, DRAWN, 0, random);
        give(g, family, false);
    }
}

static bool sums_over(const tk_contract *contract, int dim)
{
    for (int p = 0; p < contract->param_count; p++)
        if (contract->params[p].inner_axis >= 0 && contract->params[p].dim[contract->params[p].inner_axis] == dim)
            return true;
    return false;
}

static void give_all_groups(giving *g, tki_random *random)
{
    const int index = tki_index_param(g->like->contract);
    if (index < 0 || g->like->contract->params[index].rule != TK_INDICES_ENDS)
        return;
    /* Equal shares and the same data with two ends moved, one right after the other; no number changes but those. */
    for (int round = 0; round < ROUNDS; round++) {
        give_groups(g, TKI_FAMILY_STREAM, 64 * 8, 8, 3, 1, random);
        g->number--;
        give_groups(g, TKI_FAMILY_MOVED, 64 * 8, 8, 3, 1, random);
    }
    give_groups(g, TKI_FAMILY_INDEX_APART, 77, 5, 3, 1, random);
    /* Groups of one place, more than a table has places. */
    give_groups(g, TKI_FAMILY_STREAM, 400, 400, 3, 1, random);
    /* More groups than 16, one of them with all places, which threads share out. */
    if (sums_over(g->like->contract, g->like->contract->params[index].indexed_dim))
        give_groups(g, TKI_FAMILY_INDEX_EQUAL, 40001, 18, 3, 2, random);
}

void tki_aimed_give(const tki_together *what, const tk_case *like)
{
    giving g = {.what = what, .like = like, .c = *like, .number = what->first_number};
    tki_random random = tki_random_stream(what->seed, (uint64_t)what->first_number);
    give_listed(&g, &random);
    if (what->level != TK_QUICK)
        return;
    give_splits(&g, &random);
    give_successions(&g, &random);
    give_all_groups(&g, &random);
}
