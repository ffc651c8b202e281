/* CHOOSES. Indices: which rows are hit, how often, in which order, and which targets are ignored. */
#include "trials/families_index.h"

#include <math.h>

#include "judge/trial_inputs.h"
#include "model/case.h"
#include "trials/shapes.h"

enum { COUNTED = 12 };

/* Beside multiples of the widths in which hits are gathered or counted. */
static const int64_t counts[COUNTED] = {64, 1, 128, 63, 2, 65, 127, 256, 129, 3, 255, 257};

/* What a family keeps from one draw to the next. */
typedef struct drawing {
    tki_family family;
    int64_t count, bound;
    int64_t fixed, other; /* two indices */
    int64_t step;         /* without a common divisor with the bound */
    int64_t left;         /* of a run */
    int64_t hits_left[COUNTED];
    int64_t groups;
    int cursor;
} drawing;

static int64_t common_divisor(int64_t a, int64_t b)
{
    while (b) {
        int64_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

/* Half of the plain draws fall on a few hot values, so that rows with many hits occur beside rows with none. */
static int64_t plain_index(int64_t bound, tki_random *random)
{
    bool hot = tki_random_u64(random) & 1;
    return tki_below(random, hot && bound > 4 ? 4 : bound);
}

/* The i-th of an order in which each index comes once before one comes again. */
static int64_t permuted(const drawing *d, int64_t i)
{
    unsigned __int128 place = (unsigned __int128)(uint64_t)i * (uint64_t)d->step + (uint64_t)d->fixed;
    return (int64_t)(place % (uint64_t)d->bound);
}

/* As many hits of each row as `counts` says, those of a row far apart. */
static int64_t counted_index(drawing *d)
{
    for (int tries = 0; tries < COUNTED; tries++) {
        d->cursor = (d->cursor + 1) % COUNTED;
        if (d->hits_left[d->cursor] > 0) {
            d->hits_left[d->cursor]--;
            return permuted(d, d->groups * COUNTED + d->cursor);
        }
    }
    d->groups++;
    for (int i = 0; i < COUNTED; i++)
        d->hits_left[i] = counts[i];
    return counted_index(d);
}

/* Where an index needs one bit more than a counter may have, and the ends. */
static int64_t high_index(int64_t bound, tki_random *random)
{
    static const int bits[] = {7, 8, 15, 16, 23, 24, 31, 32};
    for (int tries = 0; tries < 4; tries++) {
        const int64_t power = INT64_C(1) << bits[tki_below(random, 8)];
        const int64_t index = power + tki_below(random, 3) - 1;
        if (index < bound)
            return index;
    }
    return bound - 1 - tki_below(random, bound < 3 ? bound : 3);
}

static int64_t next_in_run(drawing *d, tki_random *random)
{
    if (d->left == 0) {
        d->left = tki_below(random, 2) ? counts[tki_below(random, COUNTED)] : 1 + tki_below(random, 9);
        d->fixed = tki_below(random, d->bound);
    }
    d->left--;
    return d->fixed;
}

/* Each index that is a power of two above another, and that one, twice in turn; the last of all comes first. */
static int64_t index_apart(int64_t i, int64_t bound)
{
    enum { TURNS = 4, STEP = 7 };
    int bits = 0;
    while (bits < 62 && INT64_C(1) << bits < bound)
        bits++;
    if (i == 0 || bits == 0)
        return bound - 1;
    const int64_t turn = i / TURNS, distance = INT64_C(1) << (bits - 1 - turn % bits);
    return turn * STEP % (bound - distance) + (i % 2 ? distance : 0);
}

/* All in order, or two of them swapped that are neither at an end nor in the middle. */
static int64_t index_in_order(const drawing *d, int64_t i)
{
    const int64_t one = d->count / 4, other = d->count - 1 - one;
    const bool swapped = d->family == TKI_FAMILY_MOVED;
    return (swapped && i == one ? other : swapped && i == other ? one : i) % d->bound;
}

static int64_t draw_index(drawing *d, int64_t i, tki_random *random)
{
    const int64_t bound = d->bound;
    switch (d->family) {
    /* Between -1/2 and bound - 1 before it is cut to an integer. */
    case TKI_FAMILY_INDEX_ZIPF:
        return (int64_t)fmin((double)bound - 1, 1 / (tki_random_unit(random) + 1 / (double)bound) - 1);
    /* Of the mixed exponents and the near ties, too: the terms of a line cancel or tie only where they meet. */
    case TKI_FAMILY_MIXED_EXPONENTS:
    case TKI_FAMILY_NEAR_TIE:
    case TKI_FAMILY_INDEX_EQUAL: return d->fixed;
    case TKI_FAMILY_INDEX_SORTED:
        return (int64_t)((unsigned __int128)(uint64_t)i * (uint64_t)bound / (uint64_t)d->count);
    case TKI_FAMILY_INDEX_EACH_ONCE: return (i + d->fixed) % bound;
    /* The first asks for the last row, and the last for the first. */
    case TKI_FAMILY_INDEX_ENDS:
        return i == 0 ? bound - 1 : i == d->count - 1 ? 0 : tki_random_u64(random) & 1 ? bound - 1 : 0;
    case TKI_FAMILY_SWEPT:
    case TKI_FAMILY_CONFIDENT: return tki_peak_place(i, bound);
    case TKI_FAMILY_PLATEAU: return tki_random_u64(random) % 4 ? tki_peak_place(i, bound) : tki_below(random, bound);
    case TKI_FAMILY_IN_ORDER: return i * 5 % (bound < 3 ? bound : 3); /* the same in tables of any length */
    case TKI_FAMILY_INDEX_RUNS: return next_in_run(d, random);
    case TKI_FAMILY_INDEX_TWO: return i & 1 ? d->other : d->fixed;
    case TKI_FAMILY_INDEX_PERMUTED: return permuted(d, i);
    case TKI_FAMILY_INDEX_LAST: return bound - 1 - (i == 0 ? 0 : tki_below(random, bound < 8 ? bound : 8));
    case TKI_FAMILY_INDEX_COUNTS: return counted_index(d);
    case TKI_FAMILY_INDEX_HIGH: return high_index(bound, random);
    case TKI_FAMILY_INDEX_APART: return index_apart(i, bound);
    case TKI_FAMILY_STREAM:
    case TKI_FAMILY_MOVED: return index_in_order(d, i);
    default: return plain_index(bound, random);
    }
}

/* Two indices that a narrow counter takes for one where the bound allows it. */
static void draw_two(drawing *d, tki_random *random)
{
    static const int64_t distances[] = {INT64_C(1) << 32, 1 << 24, 1 << 20, 1 << 16, 1 << 15, 256};
    enum { DISTANCES = sizeof distances / sizeof *distances, JUST_BEYOND = 512 };
    d->other = tki_below(random, d->bound);
    for (int i = 0; i < DISTANCES; i++)
        if (distances[i] < d->bound && (tki_below(random, 3) || d->bound - distances[i] < JUST_BEYOND)) {
            d->fixed = tki_below(random, d->bound - distances[i]);
            d->other = d->fixed + distances[i];
            return;
        }
}

static drawing begin_drawing(tki_family family, int64_t count, int64_t bound, tki_random *random)
{
    drawing d = {.family = family, .count = count, .bound = bound};
    if (bound <= 0)
        return d;
    d.fixed = tki_below(random, bound);
    d.step = 1 + tki_below(random, bound);
    while (common_divisor(d.step, bound) != 1)
        d.step = d.step % bound + 1;
    if (family == TKI_FAMILY_INDEX_TWO)
        draw_two(&d, random);
    d.cursor = (int)tki_below(random, COUNTED);
    for (int i = 0; i < COUNTED; i++)
        d.hits_left[i] = counts[i];
    return d;
}

/* Which targets are ignored. */
typedef enum ignoring { SOME, HALF, NONE, ALL, FIRST, LAST, BUT_FIRST, BUT_LAST } ignoring;

static bool is_ignored(ignoring how, int64_t i, int64_t count, tki_random *random)
{
    switch (how) {
    case SOME: return tki_random_u64(random) % 8 == 0;
    case HALF: return tki_random_u64(random) & 1;
    case NONE: return false;
    case ALL: return true;
    case FIRST: return i == 0;
    case LAST: return i == count - 1;
    case BUT_FIRST: return i != 0;
    case BUT_LAST: return i != count - 1;
    }
    return false;
}

static ignoring draw_ignoring(tki_random *random)
{
    static const ignoring often[] = {SOME, SOME, SOME,  SOME, HALF,      NONE,     NONE, NONE,
                                     NONE, ALL,  FIRST, LAST, BUT_FIRST, BUT_LAST, SOME, HALF};
    return often[tki_below(random, 16)];
}

void tki_family_fill_index(tki_family family, const tk_case *c, int param, void *data, tki_random *random)
{
    const tk_param *p = &c->contract->params[param];
    const tk_dtype dtype = tk_case_param_dtype(c, param);
    int64_t count = tk_case_elements(c, param);
    int64_t bound = c->dims[p->indexed_dim];
    drawing d = begin_drawing(family, count, bound, random);
    /* What an i32 cannot hold never matches one. */
    const int also = tki_index_attribute(c->contract, param);
    const int64_t ignored_index = also >= 0 ? c->attributes[also].integer : 0;
    const bool can_ignore = also >= 0 && tki_index_fits(dtype, ignored_index);
    ignoring how = family == TKI_FAMILY_SWEPT ? NONE : draw_ignoring(random);
    for (int64_t i = 0; i < count; i++) {
        /* With nothing to point at, an ignored target is the only valid one. */
        bool ignored = can_ignore && (bound == 0 || is_ignored(how, i, count, random));
        int64_t value = ignored ? ignored_index : bound > 0 ? draw_index(&d, i, random) : 0;
        tki_inputs_set_index(dtype, data, i, value);
    }
}
