/* CHOOSES. Trials in which each set of an op's attributes meets each kind of size and of value. A kernel often has a path for one choice at
 * some sizes only, such as a sum over nothing, or one so long that it is split. Drawn attributes meet such a size by chance; these meet it
 * whatever the seed. The trials are small, so that there can be many. */
#include "trials/each_choice.h"

#include <limits.h>

#include "model/case.h"
#include "trials/attribute_settings.h"
#include "trials/families.h"

/* What is being given, and to whom. */
typedef struct giving {
    tk_case c;
    int64_t sets;  /* of attributes */
    uint64_t turn; /* of what not every set has */
    tki_each_choice_take *take;
    void *context;
} giving;

/* -- Sets of attributes ------------------------------------------------------------------------------------------- */

enum { MOST_SETS = 12 };

static int64_t values_of(const tk_attribute *attribute)
{
    return attribute->seen_by_kernel ? tki_settings_values(attribute) : 1;
}

/* Every combination, or, where these are too many, as many sets as give each attribute each of its values. */
static int64_t set_count(const tk_contract *contract, bool *every)
{
    int64_t combinations = 1;
    int64_t most = 1;
    for (int i = 0; i < contract->attribute_count; i++) {
        const int64_t values = values_of(&contract->attributes[i]);
        combinations = combinations > MOST_SETS ? combinations : combinations * values;
        most = values > most ? values : most;
    }
    *every = combinations <= MOST_SETS;
    return *every ? combinations : most;
}

static void set_attributes(tk_case *c, int64_t set, bool every)
{
    int64_t rest = set;
    for (int i = 0; i < c->contract->attribute_count; i++) {
        const tk_attribute *attribute = &c->contract->attributes[i];
        const int64_t values = values_of(attribute);
        const int64_t value = rest % values;
        rest = every ? rest / values : rest;
        if (attribute->seen_by_kernel)
            c->attributes[i] = tki_settings_value(attribute, value);
    }
}

/* -- Sizes and values --------------------------------------------------------------------------------------------- */

static void give(giving *g, int family)
{
    if (tk_family_applies(family, g->c.contract) && tki_indices_point_somewhere(&g->c))
        g->take(g->context, &g->c, family);
}

static void give_main(giving *g)
{
    give(g, tki_family_main(g->c.contract, 0));
}

/* One size, and others beside it. */
static void set_sizes(giving *g, int kept, int64_t size, const int64_t beside[4])
{
    for (int d = 0; d < g->c.contract->dim_count; d++)
        g->c.dims[d] = d == kept ? size : beside[d % 4];
}

/* How many sizes of a contract have their turn in each set, and the i-th of them. */
enum { MOST_DIMS = 6 };

static int dims_in_turn(const giving *g)
{
    return g->c.contract->dim_count < MOST_DIMS ? g->c.contract->dim_count : MOST_DIMS;
}

static int dim_in_turn(const giving *g, int i)
{
    const int dims = g->c.contract->dim_count;
    return dims <= MOST_DIMS ? i : (int)((g->turn * MOST_DIMS + (uint64_t)i) % (uint64_t)dims);
}

static bool is_summed_over(const tk_contract *contract, int dim)
{
    for (int p = 0; p < contract->param_count; p++)
        if (contract->params[p].inner_axis >= 0 && contract->params[p].dim[contract->params[p].inner_axis] == dim)
            return true;
    return false;
}

/* None of a size and one of it: what an op does with its further terms is all that is left, or a path for vectors is taken. */
static void give_least(giving *g, int dim)
{
    set_sizes(g, dim, 0, (const int64_t[]){3, 4, 5, 2});
    give_main(g);
    set_sizes(g, dim, 0, (const int64_t[]){9, 11, 13, 3});
    if (is_summed_over(g->c.contract, dim)) {
        give(g, TKI_FAMILY_SPECIAL);
        give(g, TKI_FAMILY_SMALL_AMONG);
    }
    set_sizes(g, dim, 1, (const int64_t[]){17, 9, 24, 3});
    give_main(g);
    give(g, TKI_FAMILY_SPECIAL);
    set_sizes(g, dim, 1, (const int64_t[]){3, 3, 3, 3});
    give_main(g);
}

/* One size where blocks and counters end, few of the others. */
static void set_large(giving *g, int dim, int64_t size)
{
    const tk_contract *contract = g->c.contract;
    for (int d = 0; d < contract->dim_count; d++)
        g->c.dims[d] = is_summed_over(contract, d) ? 3 : is_summed_over(contract, dim) ? 2 : 1;
    g->c.dims[dim] = size;
}

static void give_large(giving *g, int dim, int64_t size)
{
    set_large(g, dim, size);
    give_main(g);
}

/* A long sum of few terms: its result is of the size of one of them, where what follows it is neither 0 nor that result. */
static void give_few_of_many(giving *g, int dim, int64_t size)
{
    set_sizes(g, dim, size, (const int64_t[]){3, 5, 4, 2});
    if (is_summed_over(g->c.contract, dim))
        give(g, TKI_FAMILY_FEW);
}

/* Some in any case, of outputs one beyond what 12 bits count and yet of whole tiles, and others in turn, more of them if there are few
 * sets. Beyond 2^16 a size of outputs costs as much as forty small trials: one set has that, and the others wait for full. */
static void give_larger_at_quick(giving *g)
{
    enum { FEW_SETS = 2, MORE = 5 };
    static const int64_t others[] = {2048, 512, 8192, 1000, 4099, 65536 + 19};
    for (int j = 0; j < dims_in_turn(g); j++) {
        const int d = dim_in_turn(g, j);
        const uint64_t count = sizeof others / sizeof *others - !is_summed_over(g->c.contract, d);
        give_large(g, d, 1024);
        give_large(g, d, 4096);
        if (!is_summed_over(g->c.contract, d))
            give_large(g, d, 4096 + 1024);
        give_few_of_many(g, d, 4096);
        for (uint64_t i = 0; i < (g->sets <= FEW_SETS ? MORE : 1); i++)
            give_large(g, d, others[(g->turn + (uint64_t)d + i) % count]);
    }
}

static void give_larger_at_full(giving *g)
{
    static const int64_t sizes[] = {64,   128,  256,  512,   768,   1000,  1536,  2048,
                                    3072, 4099, 8192, 16384, 32768, 65535, 65536, 65536 + 19};
    for (int j = 0; j < dims_in_turn(g); j++)
        for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
            give_large(g, dim_in_turn(g, j), sizes[i]);
            give_few_of_many(g, dim_in_turn(g, j), sizes[i]);
        }
}

/* Each pair of inputs, one of zeros and one with special values: consecutive seeds take them in turn. */
static void give_zero_inputs(giving *g)
{
    int inputs = 0;
    for (int p = 0; p < g->c.contract->param_count; p++)
        inputs += !g->c.contract->params[p].output && g->c.contract->params[p].kind != TK_KIND_INDEX &&
                  tk_case_elements(&g->c, p) > 0;
    for (int i = 0; i < inputs * (inputs - 1); i++)
        give(g, TKI_FAMILY_ZERO_INPUT);
}

static void give_values_at_quick(giving *g)
{
    static const int families[] = {TKI_FAMILY_SPECIAL, TKI_FAMILY_ZERO_NAN, TKI_FAMILY_ZERO_INF, TKI_FAMILY_SUBNORMAL,
                                   TKI_FAMILY_ZERO_RESULTS};
    give_main(g);
    for (size_t i = 0; i < sizeof families / sizeof *families; i++)
        give(g, families[i]);
}

/* Those behind have their trials in aimed_trials.c: the numbers of these go on. */
static void give_every_family(giving *g)
{
    for (int family = 0; family <= TKI_FAMILY_ONES; family++)
        give(g, family);
}

static void give_at_quick(giving *g)
{
    for (int j = 0; j < dims_in_turn(g); j++)
        give_least(g, dim_in_turn(g, j));
    give_larger_at_quick(g);
    set_sizes(g, -1, 0, (const int64_t[]){16, 32, 32, 4});
    give_values_at_quick(g);
    set_sizes(g, -1, 0, (const int64_t[]){9, 7, 13, 3});
    give_values_at_quick(g);
    give_zero_inputs(g);
}

static void give_at_full(giving *g)
{
    give_larger_at_full(g);
    set_sizes(g, -1, 0, (const int64_t[]){32, 64, 64, 4});
    give_every_family(g);
    set_sizes(g, -1, 0, (const int64_t[]){37, 29, 75, 5});
    give_every_family(g);
}

/* -- All of it ---------------------------------------------------------------------------------------------------- */

/* Inputs that are there with these attributes. */
static int inputs_of(const tk_case *like)
{
    tk_case c = *like;
    int inputs = 0;
    for (int d = 0; d < c.contract->dim_count; d++)
        c.dims[d] = 1;
    for (int p = 0; p < c.contract->param_count; p++)
        inputs += !c.contract->params[p].output && tk_case_elements(&c, p) > 0;
    return inputs;
}

void tki_each_choice(const tk_case *like, const tki_trial_hints *hints, bool given, tk_level level, uint64_t turn,
                     tki_each_choice_take *take, void *context)
{
    giving g = {.c = *like, .take = take, .context = context};
    tk_case fullest = *like;
    int most = 0, least = INT_MAX;
    bool every = true;
    g.sets = hints->set ? hints->set_count : hints->set_count < 0 ? 0 : set_count(like->contract, &every);
    g.sets = given && g.sets > 1 ? 1 : g.sets;
    for (int64_t set = 0; set < g.sets; set++) {
        g.turn = turn + (uint64_t)set;
        if (hints->set && !given)
            hints->set(&g.c, (int)set);
        else if (!given)
            set_attributes(&g.c, set, every);
        const int inputs = inputs_of(&g.c);
        fullest = inputs > most ? g.c : fullest;
        most = inputs > most ? inputs : most;
        least = inputs < least ? inputs : least;
        if (level == TK_QUICK)
            give_at_quick(&g);
        else
            give_at_full(&g);
    }
    /* Where sets differ in their inputs, that with the most of them meets each size of outputs beyond what 16 bits count. Beside few
     * products each input shows. */
    g.c = fullest;
    for (int d = 0; d < like->contract->dim_count && level == TK_QUICK && most > least; d++)
        if (!is_summed_over(like->contract, d)) {
            set_large(&g, d, 65536 + 19);
            give(&g, tk_family_applies(TKI_FAMILY_FEW, like->contract) ? (int)TKI_FAMILY_FEW
                                                                       : tki_family_main(like->contract, 0));
        }
}
