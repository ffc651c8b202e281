/* CHOOSES. The trials of each level: shapes that stand in a list, shapes that are drawn by a law (shapes.c), and a
 * tour through all families; where the list does not fit the op, small ones, and shapes that any op may stumble at. All of it follows
 * from seed, level, op and types. */
#include "trials/levels.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/context.h"
#include "core/random.h"
#include "exact/domain.h"
#include "judge/definition_oracle.h"
#include "model/case.h"
#include "trials/aimed_trials.h"
#include "trials/attribute_settings.h"
#include "trials/each_choice.h"
#include "trials/families.h"
#include "trials/families_index.h"
#include "trials/op_registry.h"
#include "trials/shapes.h"
#include "trials/trials_together.h"

enum {
    FIRST_TOUR = 1000,
    FIRST_DRAWN = 2000,
    FULL_OFFSET = 2000,
    FIRST_TOGETHER = 5000,
    FIRST_GENERAL = 6000,
    FIRST_OF_CHOICES = 10000,
    FIRST_AIMED = 40000
};

/* Families that take turns at the shapes of a list and have tours of their own. What came later has its shapes in
 * pairings[], so that the trials that certificates name stay what they are. */
enum { FAMILIES_IN_TURN = TKI_FAMILY_ONE_SIGN };

/* -- Drawn attributes --------------------------------------------------------------------------------------------- */

/* Any of the contract's values, or the default. */
static void draw_attributes(tk_case *c, tki_random *random)
{
    for (int i = 0; i < c->contract->attribute_count; i++) {
        const tk_attribute *attribute = &c->contract->attributes[i];
        if (attribute->seen_by_kernel)
            c->attributes[i] = tki_settings_value(attribute, tki_below(random, tki_settings_values(attribute)));
    }
}

/* -- What a trial may cost ---------------------------------------------------------------------------------------- */

/* What a trial may have: elements of all tensors together, and work. That is what the op says that its exact values cost, or the product
 * of all sizes: they seldom cost more than a step for each place in it. */
typedef struct limits {
    int64_t elements;
    double work;
} limits;

static bool fits(const tk_case *c, const limits *most)
{
    tk_case settled = *c;
    const tki_trial_hints *hints = tki_hints_of(c->contract);
    double work = 1;
    int64_t elements = 0;
    if (!tki_case_settle(&settled))
        return true;
    c = &settled;
    for (int d = 0; d < c->contract->dim_count; d++)
        work *= (double)c->dims[d];
    work = hints->work ? hints->work(c) : work;
    for (int p = 0; p < c->contract->param_count; p++) {
        const int64_t more = tk_case_elements(c, p);
        if (more < 0 || more > most->elements - elements)
            return false;
        elements += more;
    }
    return work <= most->work;
}

/* Halves the largest size, `kept` behind all others, until the case fits. */
static void make_fit(tk_case *c, int kept, const limits *most)
{
    while (!fits(c, most)) {
        int largest = kept;
        for (int d = 0; d < c->contract->dim_count; d++)
            if (d != kept && !tki_is_derived(c->contract, d) && c->dims[d] > 1 &&
                (largest == kept || c->dims[d] > c->dims[largest]))
                largest = d;
        if (largest < 0 || c->dims[largest] <= 1)
            return;
        c->dims[largest] = (c->dims[largest] + 1) / 2;
    }
}

static int largest_dim(const tk_case *c)
{
    int largest = -1;
    for (int d = 0; d < c->contract->dim_count; d++)
        if (!tki_is_derived(c->contract, d) && (largest < 0 || c->dims[d] > c->dims[largest]))
            largest = d;
    return largest;
}

/* -- The list ----------------------------------------------------------------------------------------------------- */

enum { CHUNK = 1 << 18, OPTION_STREAM = 64 };

/* What is being made, and from what. */
typedef struct making {
    const tk_contract *contract;
    const tk_certify_options *options;
    tki_trial trial; /* with the types set */
    tki_shape_class class;
    tki_trials *trials;
    int64_t capacity;
    bool good;
    bool draws; /* the attributes that kernels see; else they are given, or there are none */
    const tki_trial_hints *hints;
    const limits *most; /* of each trial; NULL: those of its list */
    bool sharp;         /* attributes that let a mistake show, rather than any */
    bool constrained;   /* some sizes of the list are not those that the contract takes */
    int turn;           /* of the families beside the main ones */
} making;

static bool add(making *m, const tki_trial *trial)
{
    tki_trials *trials = m->trials;
    tki_trial fitting = *trial;
    if (m->most)
        make_fit(&fitting.c, largest_dim(&fitting.c), m->most);
    const tk_case asked = fitting.c;
    const bool settled = tki_case_settle(&fitting.c);
    m->constrained |= !settled || memcmp(asked.dims, fitting.c.dims, sizeof asked.dims) != 0;
    if (!settled || (m->most && !fits(&fitting.c, m->most)) || !tki_has_valid_indices(&fitting.c))
        return true;
    if (trials->count == m->capacity) {
        m->capacity = m->capacity ? 2 * m->capacity : 256;
        tki_trial *larger = realloc(trials->list, (size_t)m->capacity * sizeof *larger);
        if (!larger) {
            m->good = false;
            return false;
        }
        trials->list = larger;
    }
    fitting.sampled |= fitting.family != TKI_GIVEN_INPUTS && tki_definition_samples(&fitting.c);
    trials->list[trials->count++] = fitting;
    return true;
}

/* How many sets of options each family is tried with at a shape that was asked for. */
enum { ASKED_FOR_OPTIONS = 4 };

static void add_family(making *m, int number, int family)
{
    /* The loss of a plateau is sharpest without smoothing, and so is the gradient of what is confident. */
    const bool sharp = m->sharp || (family == TKI_FAMILY_PLATEAU && number % 4 == 0) ||
                       (family == TKI_FAMILY_CONFIDENT && number % 3);
    const tk_certify_options *options = m->options;
    if (options->family && strcmp(options->family, tk_family_at(family, NULL)) != 0)
        return;
    tki_trial trial = m->trial;
    trial.family = family;
    trial.seed = options->dims ? options->seed : options->seed + (uint64_t)number * 1000;
    const bool drawn = m->draws;
    const int sets = drawn && options->dims ? ASKED_FOR_OPTIONS : 1;
    /* Nothing times an infinite distance. */
    const tk_draw how = {sharp, family == TKI_FAMILY_MINUS_INF && !sharp && number / FAMILIES_IN_TURN % 2};
    tki_random random = tki_random_stream(trial.seed, OPTION_STREAM + (uint64_t)family);
    for (int i = 0; i < sets; i++) {
        if (drawn && m->hints->draw)
            m->hints->draw(&trial.c, &how, &random);
        else if (drawn)
            draw_attributes(&trial.c, &random);
        if (drawn && options->dims && i == 0)
            memcpy(trial.c.attributes, m->trial.c.attributes, sizeof trial.c.attributes);
        if (!add(m, &trial))
            return;
    }
}

/* The next of the families in turn that is not `other`. */
static int family_in_turn(making *m, int other)
{
    int family = other;
    while (family == other || !tk_family_applies(family, m->contract))
        family = m->turn++ % FAMILIES_IN_TURN;
    return family;
}

static void add_shape(making *m, int number, tki_breadth families)
{
    const bool restricted = m->options->family != NULL;
    /* Not the one that comes beside it. */
    int first = tki_family_main(m->contract, families == TKI_HIGH ? 0 : number);
    if (restricted || families == TKI_EVERY) {
        for (int family = 0; family < TKI_FAMILY_COUNT; family++)
            if (tk_family_applies(family, m->contract))
                add_family(m, number, family);
        return;
    }
    if (families == TKI_PATTERN && tk_family_applies(TKI_FAMILY_EACH_PATTERN, m->contract))
        first = TKI_FAMILY_EACH_PATTERN;
    if (families == TKI_SPARSE)
        first = tki_family_main(m->contract, 0);
    if (families == TKI_BEYOND)
        first = TKI_FAMILY_NORMAL;
    add_family(m, number, first);
    for (int i = 0; i < (families == TKI_TWO ? 1 : families == TKI_SEVERAL ? 4 : 0); i++)
        add_family(m, number, family_in_turn(m, first));
    static const int values[] = {TKI_FAMILY_SPECIAL,     TKI_FAMILY_ONE_SPECIAL,     TKI_FAMILY_ZERO_INF,
                                 TKI_FAMILY_LOG_UNIFORM, TKI_FAMILY_MIXED_EXPONENTS, TKI_FAMILY_HUGE_VALUES};
    for (size_t i = 0; families == TKI_VALUES && i < sizeof values / sizeof *values; i++)
        if (tk_family_applies(values[i], m->contract))
            add_family(m, number, values[i]);
    if (families == TKI_SPARSE)
        add_family(m, number, TKI_FAMILY_FEW);
    if (families == TKI_HIGH)
        add_family(m, number, TKI_FAMILY_INDEX_HIGH);
}

static void add_listed(making *m, tk_level level, const tki_shape_list *list)
{
    for (int i = 0; i < list->count; i++) {
        if (list->shapes[i].level != level)
            continue;
        /* A restriction to one family is no reason to draw billions of it. */
        m->trial.where_memory_allows = list->shapes[i].families == TKI_BEYOND;
        if (m->trial.where_memory_allows && (m->options->family || m->most))
            continue;
        tki_shape_set(&m->trial.c, list->class, list->shapes[i].size);
        add_shape(m, list->shapes[i].number, list->shapes[i].families);
    }
    m->trial.where_memory_allows = false;
}

static void add_pairings(making *m, tk_level level)
{
    for (size_t i = 0; i < (size_t)tki_pairing_count; i++) {
        if (tki_pairings[i].class != m->class || tki_pairings[i].level != level ||
            !tk_family_applies(tki_pairings[i].family, m->contract))
            continue;
        tki_shape_set(&m->trial.c, m->class, tki_pairings[i].size);
        add_family(m, tki_pairings[i].number, tki_pairings[i].family);
    }
}

/* What the op itself asks for beside its families. */
static void add_further(making *m)
{
    enum { NUMBER = 350 };
    static const int of_sums[] = {TKI_FAMILY_ONE_SIGN, TKI_FAMILY_CANCEL};
    const bool adds = tk_family_applies(of_sums[0], m->contract);
    for (int i = 0; m->draws && i < m->hints->further_count; i++) {
        tki_trial trial = m->trial;
        tki_random random = tki_random_stream(m->options->seed, NUMBER + (uint64_t)i);
        trial.family = adds                                      ? of_sums[i % 2]
                       : m->hints->swept && i >= m->hints->swept ? TKI_FAMILY_SWEPT
                                                                 : TKI_FAMILY_CONFIDENT;
        trial.seed = m->options->seed + (uint64_t)(NUMBER + i) * 1000;
        if (m->options->family && strcmp(m->options->family, tk_family_at(trial.family, NULL)) != 0)
            continue;
        m->hints->further(&trial.c, i, &random);
        if (!add(m, &trial))
            return;
    }
}

/* How much of each kind a level draws. */
typedef struct amounts {
    int number; /* added to those of its shapes */
    int tours;  /* shapes for each family */
    int64_t larger;
    int residue_runs, by_law;
    int bits;
    double most_work;
} amounts;

static const amounts drawn_at[] = {
    [TK_QUICK] = {0, 2, 1, 1, 28, 11, 0x1p13},
    [TK_FULL] = {FULL_OFFSET, 4, 3, 3, 96, 14, 0x1p19},
};

/* Every family on shapes of its own, and with both kinds of options where there are any. */
static void add_tour(making *m, const amounts *a, tki_random *random)
{
    const int tours = tki_seen_attributes(m->contract) ? 2 * a->tours : a->tours;
    for (int i = 0; i < tours; i++)
        for (int family = 0; family < FAMILIES_IN_TURN; family++) {
            int64_t size[TKI_CLASS_SIZES] = {0};
            tki_shape_for_family(random, m->class, i % 2 == 0, a->larger, size);
            /* Many short rows, since each has but one. */
            if (family == TKI_FAMILY_ONE_SPECIAL && m->class == TKI_ROWS) {
                size[0] = 48;
                size[1] = 1 + size[1] % 130;
            }
            tki_shape_set(&m->trial.c, m->class, size);
            m->sharp = i < a->tours;
            if (tk_family_applies(family, m->contract))
                add_family(m, FIRST_TOUR + a->number + i * FAMILIES_IN_TURN + family, family);
        }
    m->sharp = false;
}

static void add_drawn(making *m, const amounts *a, tki_random *random)
{
    int number = FIRST_DRAWN + a->number;
    const int vector_bits = m->class == TKI_VECTOR ? 5 : 0;
    for (int run = 0; run < a->residue_runs; run++) {
        int64_t step[TKI_CLASS_SIZES];
        int64_t first[TKI_CLASS_SIZES];
        /* Three for all other classes: more would give them other shapes. */
        for (int d = 0; d < (m->class == TKI_GROUPED ? 4 : 3); d++) {
            step[d] = 2 * tki_below(random, 16) + 1;
            first[d] = tki_below(random, 32);
        }
        for (int i = 0; i < 32; i++) {
            int64_t size[TKI_CLASS_SIZES] = {0};
            tki_shape_residues(random, m->class, step, first, i, a->bits - 6 + vector_bits, a->most_work, size);
            tki_shape_set(&m->trial.c, m->class, size);
            add_shape(m, number++, TKI_MAIN);
        }
    }
    for (int i = 0; i < a->by_law; i++) {
        int64_t size[TKI_CLASS_SIZES] = {0};
        tki_shape_within(random, m->class, a->bits + vector_bits, a->most_work, size);
        tki_shape_set(&m->trial.c, m->class, size);
        add_shape(m, number++, TKI_MAIN);
    }
}

/* -- What goes together ------------------------------------------------------------------------------------------- */

static void draw_any(void *context, tk_case *c, tki_random *random)
{
    const making *m = context;
    const tk_draw how = {false, false};
    if (m->hints->draw)
        m->hints->draw(c, &how, random);
    else
        draw_attributes(c, random);
}

static void take_together(void *context, const tk_case *c, int family, int number, const tki_together_how *how)
{
    making *m = context;
    tki_trial trial = m->trial;
    trial.c = *c;
    trial.family = family;
    trial.seed = m->options->seed + (uint64_t)number * 1000;
    trial.sampled = how->sampled;
    trial.brief = how->brief;
    trial.alignment = how->alignment;
    if (tk_family_applies(family, m->contract) &&
        (!m->options->family || !strcmp(m->options->family, tk_family_at(family, NULL))))
        add(m, &trial);
}

static tki_together together_of(making *m, tk_level level, int first_number)
{
    return (tki_together){.class = m->class,
                          .level = level,
                          .seed = m->options->seed,
                          .first_number = first_number,
                          .draw = m->draws ? draw_any : NULL,
                          .take = take_together,
                          .context = m};
}

static void add_together(making *m, tk_level level)
{
    const tki_together what = together_of(m, level, FIRST_TOGETHER + drawn_at[level].number);
    tki_together_give(&what, &m->trial.c);
}

/* Last of all that a level has, so that each other trial keeps its number. */
static void add_aimed(making *m, tk_level level)
{
    const tki_together what = together_of(m, level, FIRST_AIMED + drawn_at[level].number);
    tki_aimed_give(&what, &m->trial.c);
}

/* Another sequence for each op and type: what one misses, another may meet. */
static uint64_t drawn_stream(const tki_trial *trial, tk_level level)
{
    uint64_t hash = 0xcbf29ce484222325u;
    for (const char *name = trial->c.contract->name; *name; name++)
        hash = (hash ^ (unsigned char)*name) * 0x100000001b3u;
    const uint64_t mixed = trial->c.result_dtype != trial->c.dtype ? 256 * (1 + (uint64_t)trial->c.result_dtype) : 0;
    return hash + mixed + 16 * (uint64_t)trial->c.dtype + 4 * (uint64_t)trial->c.index_dtype + (uint64_t)level;
}

/* All that a level has beyond the one below. */
static void add_level(making *m, tk_level level, const tki_shape_list *list)
{
    tki_random random = tki_random_stream(m->options->seed, drawn_stream(&m->trial, level));
    m->turn = (int)tki_below(&random, FAMILIES_IN_TURN);
    add_listed(m, level, list);
    add_tour(m, &drawn_at[level], &random);
    add_drawn(m, &drawn_at[level], &random);
    add_pairings(m, level);
    if (level == TK_QUICK)
        add_further(m);
    add_together(m, level);
}

/* -- Ops that the list does not fit ------------------------------------------------------------------------------- */

/* What a level has of each kind: as large as the first sizes may be together, and those at one larger size. */
static const struct {
    int drawn;
    limits small;
    int edges;
    limits large;
} general_at[] = {
    [TK_QUICK] = {64, {1 << 16, INFINITY}, 24, {1 << 19, 0x1p17}},
    [TK_FULL] = {256, {1 << 20, INFINITY}, 48, {1 << 22, 0x1p21}},
};

/* The work of a trial, where the op says what that is. */
static const double stated_work[] = {[TK_QUICK] = 0x1p24, [TK_FULL] = 0x1p30};

static limits limits_of(const making *m, tk_level level, limits of_sizes)
{
    return (limits){of_sizes.elements, m->hints->work ? stated_work[level] : of_sizes.work};
}

/* So many elements of outputs make one wrong in a million show, with 99 chances in a hundred. */
enum { JUDGED_AT_FULL = 5000000, MOST_LARGE = 64 };

static int64_t any_of(const int64_t *sizes, size_t count, tki_random *random)
{
    return sizes[tki_below(random, (int64_t)count)];
}

/* One size where blocks, tables and 16-bit counters end, few of the others: each size in turn, each end in turn. */
static void add_edges(making *m, tk_level level, int *number, tki_random *random)
{
    static const int64_t ends[] = {511, 512, 513, 1023, 1024, 1025, 4095, 4096, 4097, 65535, 65536, 65537};
    static const int64_t beside[] = {1, 2, 3, 4, 5, 8, 16, 17, 33};
    enum { ENDS = sizeof ends / sizeof *ends, STEP = 5 /* no divisor of ENDS */ };
    const int dims = m->contract->dim_count;
    const limits most = limits_of(m, level, general_at[level].large);
    const int enough = general_at[level].edges > dims ? general_at[level].edges : dims;
    for (int i = 0; i < ENDS * dims && i < enough; i++) {
        const int kept = i % dims;
        for (int d = 0; d < dims; d++)
            m->trial.c.dims[d] = any_of(beside, sizeof beside / sizeof *beside, random);
        m->trial.c.dims[kept] = ends[(i / dims * STEP + kept) % ENDS];
        make_fit(&m->trial.c, kept, &most);
        add_shape(m, (*number)++, level == TK_QUICK ? TKI_MAIN : TKI_TWO);
    }
}

static bool gives_shape_to_an_output(const tk_contract *contract, int dim)
{
    for (int p = 0; p < contract->param_count; p++)
        for (int axis = 0; contract->params[p].output && axis < contract->params[p].rank; axis++)
            if (contract->params[p].dim[axis] == dim)
                return true;
    return false;
}

/* Doubles drawn sizes, about, as long as the case fits; in three of four shapes only sizes of outputs. */
static void grow(tk_case *c, bool any, const limits *most, tki_random *random)
{
    enum { MOST_TRIES = 4096 };
    for (int i = 0; i < MOST_TRIES; i++) {
        const int d = (int)tki_below(random, c->contract->dim_count);
        const int64_t size = c->dims[d];
        if (tki_is_derived(c->contract, d) || (!any && !gives_shape_to_an_output(c->contract, d)))
            continue;
        c->dims[d] = 2 * size + tki_below(random, 2);
        if (!fits(c, most)) {
            c->dims[d] = size;
            return;
        }
    }
}

/* Large ones, until enough elements are judged. */
static void add_large(making *m, int *number, tki_random *random)
{
    enum { FEW_DIMS = 4 };
    const tk_contract *contract = m->contract;
    const limits most = limits_of(m, TK_FULL, general_at[TK_FULL].large);
    int64_t judged = 0;
    for (int i = 0; i < MOST_LARGE && judged < JUDGED_AT_FULL; i++) {
        for (int d = 0; d < contract->dim_count; d++)
            m->trial.c.dims[d] = contract->dim_count > FEW_DIMS ? 1 : 1 + tki_below(random, 4);
        grow(&m->trial.c, i % 4 == 3, &most, random);
        if (!tki_case_settle(&m->trial.c) || !fits(&m->trial.c, &most))
            continue;
        for (int p = 0; p < contract->param_count; p++)
            judged += contract->params[p].output ? tk_case_elements(&m->trial.c, p) : 0;
        add_shape(m, (*number)++, TKI_MAIN);
    }
}

/* Sizes at which vectors, tiles and blocks begin and end, and
 * each size once zero. */
static void add_general(making *m, tk_level level)
{
    static const int64_t sizes[] = {1,  2,  3,  4,  5,  7,   8,   9,   15,  16,  17,  31,
                                    32, 33, 63, 64, 65, 100, 127, 128, 129, 255, 256, 257};
    const int dims = m->contract->dim_count;
    const limits most = limits_of(m, level, general_at[level].small);
    tki_random random = tki_random_stream(m->options->seed, drawn_stream(&m->trial, level));
    int number = FIRST_GENERAL + drawn_at[level].number;
    for (int i = 0; i < dims + general_at[level].drawn; i++) {
        for (int d = 0; d < dims; d++)
            m->trial.c.dims[d] = i == d ? 0 : i < dims ? 3 : any_of(sizes, sizeof sizes / sizeof *sizes, &random);
        make_fit(&m->trial.c, -1, &most);
        if (tki_indices_point_somewhere(&m->trial.c))
            add_shape(m, number++, i % 4 ? TKI_MAIN : TKI_SEVERAL);
    }
    add_edges(m, level, &number, &random);
    if (level == TK_FULL)
        add_large(m, &number, &random);
}

/* -- Beyond what 16 bits count ------------------------------------------------------------------------------------- */

/* Does the last trial write anything, and is there one behind the first so many? */
static bool has_output_behind(const making *m, int64_t before)
{
    int64_t elements = 0;
    for (int p = 0; m->trials->count > before && p < m->contract->param_count; p++)
        elements += m->contract->params[p].output ? tk_case_elements(&m->trials->list[m->trials->count - 1].c, p) : 0;
    return elements > 0;
}

/* Are places an output? Among few numbers, as most main families draw them, those chosen are the first of many equal ones. */
static bool chooses(const making *m)
{
    bool chooses = false;
    for (int p = 0; p < m->contract->param_count; p++)
        chooses |= m->contract->params[p].output &&
                   tki_format_of(tk_case_param_dtype(&m->trial.c, p)).number != TKI_FLOATING;
    return chooses;
}

/* So much of the sizes that are kept, one of the others two if that may be, the last one first, and all others one. */
static void add_beyond_of(making *m, const bool kept[], int64_t size, int *number)
{
    enum { MOST_TRIES = 32 };
    const int dims = m->contract->dim_count;
    for (int two = dims - 1; two >= -1; two--) {
        double work = 1;
        bool stays = two < 0 || (!kept[two] && !tki_is_derived(m->contract, two));
        for (int d = 0; d < dims; d++) {
            m->trial.c.dims[d] = kept[d] ? size : d == two ? 2 : 1;
            work *= tki_is_derived(m->contract, d) ? 1 : (double)m->trial.c.dims[d];
        }
        tk_case settled = m->trial.c;
        stays = stays && work <= 0x1p18 && fits(&settled, m->most) && tki_case_settle(&settled);
        for (int d = 0; d < dims; d++)
            stays &= !kept[d] || settled.dims[d] == size;
        if (!stays)
            continue;
        /* Attributes are drawn, of which some do not go with such sizes, or leave nothing to write. */
        const int64_t before = m->trials->count;
        for (int tries = 0; tries < MOST_TRIES && !has_output_behind(m, before); tries++, ++*number)
            if (chooses(m))
                add_family(m, *number, TKI_FAMILY_NORMAL);
            else
                add_shape(m, *number, TKI_MAIN);
        return;
    }
}

/* Each size by itself, and each two axes of one tensor that lie side by side. What is chosen of a line is in the third of it behind 2^16 in
 * some of a few lines. */
static void add_beyond_16_bits(making *m, tk_level level)
{
    enum { SIZE = (1 << 16) + 67, LONG = SIZE + (1 << 15), SIDE = 257, FIRST = 50000 };
    const limits most = {5 << 17, m->hints->work ? stated_work[level] : INFINITY}, *before = m->most;
    bool together[TK_MAX_DIMS][TK_MAX_DIMS] = {0};
    int number = FIRST;
    m->most = &most;
    m->trial.sampled = true;
    for (int p = 0; p < m->contract->param_count; p++)
        for (int axis = 1; axis < m->contract->params[p].rank; axis++)
            together[m->contract->params[p].dim[axis - 1]][m->contract->params[p].dim[axis]] = true;
    for (int a = 0; a < m->contract->dim_count; a++)
        for (int b = 0; b < m->contract->dim_count; b++) {
            bool kept[TK_MAX_DIMS] = {0};
            kept[a] = kept[b] = true;
            if ((a == b || together[a][b]) && !tki_is_derived(m->contract, a) && !tki_is_derived(m->contract, b))
                add_beyond_of(m, kept, a != b ? SIDE : chooses(m) ? LONG : SIZE, &number);
        }
    m->trial.sampled = false;
    m->most = before;
}

/* -- Every choice ------------------------------------------------------------------------------------------------- */

typedef struct taking {
    making *m;
    int number;
} taking;

static void take_choice(void *context, const tk_case *c, int family)
{
    taking *t = context;
    const tk_certify_options *options = t->m->options;
    tki_trial trial = t->m->trial;
    trial.c = *c;
    trial.family = family;
    trial.seed = options->seed + (uint64_t)t->number++ * 1000;
    if (!options->family || !strcmp(options->family, tk_family_at(family, NULL)))
        add(t->m, &trial);
}

/* Every set of attributes at every kind of size and value; the one that is given, if one is. */
static void add_choices(making *m, tk_level level)
{
    taking t = {m, FIRST_OF_CHOICES * (1 + (int)level)};
    if (m->draws || tki_settings_give_seen(m->contract, m->options))
        tki_each_choice(&m->trial.c, m->hints, !m->draws, level, m->options->seed, take_choice, &t);
}

/* -- Every input -------------------------------------------------------------------------------------------------- */

/* The next set of choices that kernels see; false behind the last. */
static bool next_choices(tk_case *c)
{
    for (int i = 0; i < c->contract->attribute_count; i++) {
        const tk_attribute *attribute = &c->contract->attributes[i];
        if (!attribute->seen_by_kernel || attribute->type != TK_ATTRIBUTE_CHOICE)
            continue;
        if (++c->attributes[i].integer < attribute->choice_count)
            return true;
        c->attributes[i].integer = 0;
    }
    return false;
}

/* Every pattern of every value input, in chunks, with every set of choices. */
static void add_all_patterns(making *m)
{
    tki_trial trial = {.c = m->trial.c, .family = TKI_ALL_PATTERNS, .seed = m->options->seed};
    const tk_param *first = &m->contract->params[0];
    int64_t domain = 1;
    for (int p = 0; p < m->contract->param_count; p++)
        domain <<= m->contract->params[p].output ? 0 : tki_pattern_bits(tk_case_param_dtype(&trial.c, p));
    int64_t chunk = domain < CHUNK ? domain : CHUNK;
    for (int d = 0; d < m->contract->dim_count; d++)
        trial.c.dims[d] = 1;
    trial.c.dims[first->dim[first->rank - 1]] = chunk;
    for (int i = 0; m->draws && i < m->contract->attribute_count; i++)
        if (m->contract->attributes[i].seen_by_kernel)
            trial.c.attributes[i].integer = 0; /* all are choices, or the case would not be finite */
    do
        for (trial.chunk = 0; trial.chunk < domain / chunk; trial.chunk++)
            if (!add(m, &trial))
                return;
    while (m->draws && next_choices(&trial.c));
}

/* The shape that the options ask for, or the one trial whose inputs they give. */
static void add_asked_for(making *m)
{
    const tk_certify_options *options = m->options;
    memcpy(m->trial.c.dims, options->dims, (size_t)m->contract->dim_count * sizeof *options->dims);
    if (!options->input_count) {
        add_shape(m, 0, TKI_EVERY);
        return;
    }
    m->trial.family = TKI_GIVEN_INPUTS;
    m->trial.seed = options->seed;
    add(m, &m->trial);
}

/* Are tensors as large as those for which the list was made? What sizes that follow from others come to, it cannot know. */
static bool list_suits(const tk_contract *contract, tki_shape_class class)
{
    const int most_rank = class == TKI_VECTOR ? 1 : class == TKI_GROUPED ? 3 : 2;
    bool suits = !contract->derive;
    for (int p = 0; p < contract->param_count; p++) {
        const tk_param *param = &contract->params[p];
        suits &= param->rank <= most_rank;
        for (int axis = 0; axis < param->rank; axis++)
            for (int other = 0; other < axis; other++)
                suits &= param->dim[axis] != param->dim[other];
    }
    return suits;
}

tk_status tki_trials_make(tk_ctx *ctx, const tk_contract *contract, tk_dtype dtype, tk_dtype index_dtype,
                          const tk_certify_options *options, tki_trials *trials)
{
    *trials = (tki_trials){0};
    tki_shape_list list = tki_shapes_of(contract);
    making m = {.contract = contract,
                .options = options,
                .trial = {.c = tk_case_init(contract, dtype)},
                .class = list.class,
                .trials = trials,
                .good = true};
    m.trial.c.index_dtype = index_dtype;
    m.trial.c.result_dtype = tki_result_dtype(dtype, options);
    m.hints = tki_hints_of(contract);
    m.draws = tki_seen_attributes(contract) && !tki_settings_give_seen(contract, options);
    tk_status settings = tki_settings_read(ctx, contract, options, m.trial.c.attributes);
    if (settings != TK_OK)
        return settings;
    if (options->dims)
        add_asked_for(&m);
    for (tk_level level = TK_QUICK; !options->dims && level <= TK_FULL && level <= options->level; level++) {
        const bool listed = list.count && list_suits(contract, list.class);
        const limits most = limits_of(&m, level, listed ? (limits){INT64_MAX, INFINITY} : general_at[level].large);
        m.most = listed && !m.hints->work ? NULL : &most;
        if (list.count)
            add_level(&m, level, &list);
        if (!listed || m.constrained)
            add_general(&m, level);
        add_choices(&m, level);
        if (list.count)
            add_aimed(&m, level);
        /* Rows with an index are dear in the list, whose trials are judged whole. */
        const bool rows_apart = m.class == TKI_ROWS && tki_index_param(contract) >= 0 &&
                                tk_contract_definition(contract);
        if ((!listed || m.constrained || rows_apart) && level == TK_QUICK)
            add_beyond_16_bits(&m, level);
        m.most = NULL;
    }
    if (!options->dims && options->level == TK_EXHAUSTIVE && tk_case_is_finite(&m.trial.c) && !options->family)
        add_all_patterns(&m);
    if (!m.good) {
        free(trials->list);
        *trials = (tki_trials){0};
        return tki_fail(ctx, TK_NO_MEMORY, "no memory for the list of trials");
    }
    for (int64_t i = 0; i < trials->count; i++) {
        trials->list[i].threads = options->call_threads;
        if (options->alignment)
            trials->list[i].alignment = options->alignment;
        trials->list[i].planted_count = options->planted_count;
        if (options->planted_count)
            memcpy(trials->list[i].planted, options->planted, (size_t)options->planted_count * sizeof(int64_t));
    }
    if (trials->count == 0 && !options->family)
        return tki_fail(ctx, TK_BAD_ARGUMENT, "%s: no trial has sizes that it takes", contract->name);
    if (trials->count == 0)
        return tki_fail(ctx, TK_BAD_ARGUMENT, "%s: input family '%s' does not apply to this op", contract->name,
                        options->family);
    return TK_OK;
}

const char *tki_trial_family_name(const tki_trial *trial)
{
    if (trial->family == TKI_GIVEN_INPUTS)
        return "given";
    return trial->family == TKI_ALL_PATTERNS ? "all_patterns" : tk_family_at(trial->family, NULL);
}

bool tki_trial_same(const tki_trial *a, const tki_trial *b)
{
    return a->family == b->family && a->seed == b->seed && a->chunk == b->chunk && a->found == b->found &&
           a->threads == b->threads && a->alignment == b->alignment && a->planted_count == b->planted_count &&
           !memcmp(a->planted, b->planted, (size_t)a->planted_count * sizeof *a->planted) &&
           !memcmp(a->c.dims, b->c.dims, sizeof a->c.dims) &&
           !memcmp(a->c.attributes, b->c.attributes, sizeof a->c.attributes);
}

/* About a quarter of the elements, the first and the last among them, and some stretches of 16 in full. */
static void plant(const tki_trial *trial, int param, void *data)
{
    const tk_case *c = &trial->c;
    const tk_param *p = &c->contract->params[param];
    const tk_dtype dtype = tk_case_param_dtype(c, param);
    const int64_t count = tk_case_elements(c, param);
    tki_random random = tki_random_stream(trial->seed, 4096 + (uint64_t)param);
    for (int64_t i = 0; i < count; i++) {
        uint64_t draw = tki_random_u64(&random);
        bool stretch = (uint64_t)(i / 16) % 8 == trial->seed % 8;
        if (draw % 4 && !stretch && i != 0 && i != count - 1)
            continue;
        int64_t value = trial->planted[i == 0 || stretch ? (i / 16) % trial->planted_count
                                                         : (int64_t)(draw >> 8) % trial->planted_count];
        bool index = p->kind == TK_KIND_INDEX;
        if (value < 0 || value > (index ? tki_index_values(c, param) - 1 : tki_last_pattern(dtype)))
            continue;
        if (!index)
            tki_put_bits(dtype, data, i, (uint32_t)value);
        else
            tki_inputs_set_index(dtype, data, i, value);
    }
    if (p->rule == TK_INDICES_ENDS)
        tki_ends_raise(dtype, data, count);
}

void tki_trial_fill(const tki_trial *trial, void *const data[])
{
    if (trial->family != TKI_ALL_PATTERNS) {
        tki_family_fill(trial->family, &trial->c, trial->seed, data);
        for (int p = 0; p < trial->c.contract->param_count && trial->planted_count; p++)
            if (!trial->c.contract->params[p].output)
                plant(trial, p, data[p]);
        tki_domain_apply(&trial->c, data);
        return;
    }
    /* The last value input runs fastest. */
    const tk_contract *contract = trial->c.contract;
    int shift = 0;
    for (int p = contract->param_count - 1; p >= 0; p--) {
        if (contract->params[p].output)
            continue;
        const tk_dtype dtype = tk_case_param_dtype(&trial->c, p);
        const int64_t count = tk_case_elements(&trial->c, p);
        for (int64_t i = 0; i < count; i++)
            tki_put_bits(
                dtype, data[p], i,
                (uint32_t)((trial->chunk * count + i) >> shift & ((INT64_C(1) << tki_pattern_bits(dtype)) - 1)));
        shift += tki_pattern_bits(dtype);
    }
    tki_domain_apply(&trial->c, data);
}
