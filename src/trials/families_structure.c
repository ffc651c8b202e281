/* CHOOSES. Families in which the elements of a tensor belong together: what a kernel may recognise and take a shorter way for, values that
 * follow from their place in memory alone, and terms all over a long line. */
#include "trials/families_lines.h"

/* -- Structure ---------------------------------------------------------------------------------------------------- */

typedef enum structure {
    IDENTITY,
    DIAGONAL,
    PERMUTATION,
    SYMMETRIC,
    ANTISYMMETRIC,
    TRIANGULAR,
    BANDED,
    BLOCKS,
    LINES_ALIKE,
    PLACES_ALIKE,
    RISING,
    MASK,
    ONE_LINE,
    RUNS,
    STRUCTURES
} structure;

static bool is_kept(structure kind, int64_t l, int64_t t, int64_t length)
{
    enum { BLOCK = 8 };
    switch (kind) {
    case IDENTITY:
    case DIAGONAL: return t == l % length;
    case PERMUTATION: return t == (l * 5 + 3) % length;
    case TRIANGULAR: return t <= l;
    case BANDED: return t - l <= 1 && l - t <= 1;
    case BLOCKS: return t / BLOCK == l / BLOCK;
    case ONE_LINE: return l == 2;
    default: return true;
    }
}

/* The same number for the same place, whatever came before it. */
static double number_at(uint64_t stream, int64_t l, int64_t t)
{
    tki_random here = tki_random_stream(stream, (uint64_t)l << 32 ^ (uint64_t)t);
    return tki_random_normal(&here);
}

static double structured(structure kind, uint64_t stream, int64_t l, int64_t t, int64_t length)
{
    switch (kind) {
    case IDENTITY:
    case PERMUTATION: return 1;
    case SYMMETRIC: return l < t ? number_at(stream, l, t) : number_at(stream, t, l);
    case ANTISYMMETRIC: return l < t ? number_at(stream, l, t) : l > t ? -number_at(stream, t, l) : 0;
    case LINES_ALIKE: return number_at(stream, 0, t);
    case PLACES_ALIKE: return number_at(stream, l, 0);
    case RISING: return floor(16 * (double)(l % 2 ? length - t : t) / (double)length) / 4 - 2;
    case MASK: return number_at(stream, l, t) > 0;
    default: return number_at(stream, l, t);
    }
}

/* Whole vectors of one kind of number, some with another one among them. */
static void fill_runs(const tki_lines *v, tki_random *random)
{
    enum { KINDS = 8 };
    const double normal = tki_smallest_normal_of(v->dtype), largest = tki_largest_of(v->dtype);
    for (int64_t i = 0, left = 0, kind = 0, odd = -1; i < v->count * v->length; i++, left--) {
        if (left == 0) {
            left = INT64_C(8) << tki_random_below(random, 4);
            kind = (int64_t)tki_random_below(random, KINDS);
            odd = tki_random_below(random, 2) ? (int64_t)tki_random_below(random, (uint64_t)left) : -1;
        }
        const double drawn = tki_random_normal(random);
        const double values[KINDS] = {copysign(0, drawn), fabs(drawn), -fabs(drawn),    1,
                                      drawn * normal / 4, drawn + 20,  -largest / 1024, largest / 4};
        const double others[] = {NAN, INFINITY, -INFINITY, -values[kind], 3};
        tki_line_put(v, i / v->length, i % v->length,
                     left - 1 == odd ? others[tki_random_below(random, 5)] : values[kind]);
    }
}

/* What stands beside it: plain numbers, or one in each line that any product with zero shows. */
static void fill_beside(const tki_lines *v, bool special, tki_random *random)
{
    static const double values[] = {INFINITY, -INFINITY, NAN};
    tki_fill_normal(v, random);
    for (int64_t l = 0; l < v->count && special && v->length > 0; l += 3)
        tki_line_put(v, l, tki_any_place(v->length, random), values[tki_random_below(random, 3)]);
}

/* Consecutive turns take the structures in turn. Of several inputs one has it, or all. */
static void fill_structure(const tki_lines *v, tki_random *random)
{
    tki_random of_turn = tki_random_stream(v->turn, 0);
    const structure kind = (structure)(v->turn % STRUCTURES);
    const uint64_t who = tki_random_below(&of_turn, 3), beside = tki_random_below(&of_turn, 2);
    const uint64_t stream = tki_random_u64(random);
    const double background = v->low_background && tki_random_below(&of_turn, 2) ? -INFINITY : tki_background(v);
    const bool alone = v->first_input && v->last_input;
    if (!alone && ((who == 0 && !v->first_input) || (who == 1 && !v->last_input))) {
        fill_beside(v, beside, random);
        return;
    }
    if (kind == RUNS || !(v->kind & TKI_SUMS) || v->count == 1) {
        fill_runs(v, random);
        return;
    }
    for (int64_t l = 0; l < v->count; l++)
        for (int64_t t = 0; t < v->length; t++)
            tki_line_put(v, l, t,
                         is_kept(kind, l, t, v->length) ? structured(kind, stream, l, t, v->length) : background);
}

/* -- Order of memory ---------------------------------------------------------------------------------------------- */

/* Element after element as they lie, small integers and so of exact sums, whatever lines they belong to. */
static void fill_in_order(const tki_lines *v, tki_random *random)
{
    const int64_t elements = v->count * v->length;
    for (int64_t i = 0; i < elements; i++)
        tki_put_bits(
            v->dtype, v->data, i,
            tki_round_double(v->dtype, tki_with_sign(random, 0.25 * (double)(1 + tki_random_below(random, 12)))));
}

/* -- Long lines --------------------------------------------------------------------------------------------------- */

/* Few enough that each of them shows in a sum, one in each part of the line: every second at a place where blocks of some size begin or end. */
static void fill_spread(const tki_lines *v, tki_random *random)
{
    enum { TERMS = 40 };
    if (!v->first_input) {
        for (int64_t i = 0; i < v->count * v->length; i++)
            tki_line_put(v, i / v->length, i % v->length, tki_with_sign(random, 1 + tki_random_unit(random)));
        return;
    }
    const int64_t terms = v->length < TERMS ? v->length : TERMS;
    for (int64_t l = 0; l < v->count && terms > 0; l++) {
        for (int64_t t = 0; t < v->length; t++)
            tki_line_put(v, l, t, tki_background(v));
        for (int64_t i = 0; i < terms; i++) {
            const int64_t begin = v->length * i / terms, end = v->length * (i + 1) / terms;
            const int64_t step = INT64_C(1) << (6 + tki_random_below(random, 11));
            const int64_t edge = end / step * step + (int64_t)tki_random_below(random, 3) - 1;
            const int64_t any = begin + (int64_t)tki_random_below(random, (uint64_t)(end - begin));
            const double size = v->low_background ? 0 : 1 + tki_random_unit(random) / 2;
            tki_line_put(v, l, i % 2 && edge >= begin && edge < end ? edge : any, size);
        }
    }
}

bool tki_fill_structure(tki_family family, const tki_lines *v, tki_random *random)
{
    switch (family) {
    case TKI_FAMILY_STRUCTURE: fill_structure(v, random); return true;
    case TKI_FAMILY_IN_ORDER: fill_in_order(v, random); return true;
    case TKI_FAMILY_SPREAD: fill_spread(v, random); return true;
    default: return false;
    }
}
