/* CHOOSES. Families in which the elements of a tensor belong together: what a kernel may recognise and take a shorter way for, values that
 * follow from their place in memory alone, zeros that count, and terms all over a long line. */
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
    TWINS,
    LIKE_IDENTITY,
    ZERO_SUMS,
    BORDER_OF_IDENTITY,
    BORDER_SYMMETRIC,
    ZERO_SAMPLES,
    EQUAL_SAMPLES,
    STRUCTURES
} structure;
_Static_assert((int)STRUCTURES == (int)TKI_STRUCTURES, "as many as trials_together.c gives");

/* Where a cheap look at a line falls: its ends, its middle, each eighth place and those before. */
static bool is_looked_at(int64_t t, int64_t length)
{
    return t % 8 == 0 || t % 8 == 7 || t == length - 1 || t == length / 2;
}

static bool is_border(int64_t l, int64_t t, int64_t length)
{
    return l == 0 || t == 0 || l == length - 1 || t == length - 1;
}

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
    case BORDER_OF_IDENTITY: return t == l % length || !is_border(l, t, length);
    case ZERO_SAMPLES: return !is_looked_at(t, length);
    default: return true;
    }
}

/* The same number for the same place, whatever came before it. */
static double number_at(uint64_t stream, int64_t l, int64_t t)
{
    tki_random here = tki_random_stream(stream, (uint64_t)l << 32 ^ (uint64_t)t);
    return tki_random_normal(&here);
}

/* Each line has the others' numbers, shifted by a place, and the sum of each line and of each column is exactly 0. */
static double cancelling(uint64_t stream, int64_t l, int64_t t, int64_t length)
{
    const int64_t distance = ((t - l) % length + length) % length, back = length - distance;
    if (distance == 0 || distance == back)
        return 0;
    const int64_t near = distance < back ? distance : back;
    tki_random here = tki_random_stream(stream, (uint64_t)near);
    const double size = 0.25 * (double)(1 + tki_random_below(&here, 7));
    return distance < back ? size : -size;
}

/* Zero times an infinity is what a shorter way for these forgets. */
static bool has_zeros(structure kind)
{
    switch (kind) {
    case IDENTITY:
    case DIAGONAL:
    case PERMUTATION:
    case TRIANGULAR:
    case BANDED:
    case BLOCKS:
    case ONE_LINE:
    case BORDER_OF_IDENTITY:
    case ZERO_SAMPLES:
    case MASK: return true;
    default: return false;
    }
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
    case LIKE_IDENTITY: return l % length == t ? 1 : cancelling(stream, l, t, length);
    case ZERO_SUMS: return cancelling(stream, l, t, length);
    case BORDER_OF_IDENTITY: return l % length == t ? 1 : number_at(stream, l, t);
    case BORDER_SYMMETRIC: return structured(is_border(l, t, length) ? SYMMETRIC : DIAGONAL, stream, l, t, length);
    case EQUAL_SAMPLES: return is_looked_at(t, length) ? 1 : number_at(stream, l, t);
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

/* What stands beside it: plain numbers, or one in each third line that any product with zero shows. */
static void fill_beside(const tki_lines *v, bool special, tki_random *random)
{
    static const double values[] = {INFINITY, -INFINITY, NAN};
    tki_fill_normal(v, random);
    for (int64_t l = 0; l < v->count && special && v->length > 0; l += 3)
        tki_line_put(v, l, tki_any_place(v->length, random), values[tki_random_below(random, 3)]);
}

/* What stands in memory is the same in each input. */
static void fill_twin(const tki_lines *v)
{
    for (int64_t i = 0; i < v->count * v->length; i++)
        tki_put_bits(v->dtype, v->data, i, tki_round_double(v->dtype, number_at(v->turn, 0, i)));
}

/* Consecutive turns take the structures in turn, in the first input, in the second, and in all. Where nothing is summed there are runs and
 * twins alone. */
static void fill_structure(const tki_lines *v, tki_random *random)
{
    enum { FIRST, SECOND, ALL, WHO, EACH_TWIN = 4 };
    tki_random of_turn = tki_random_stream(v->turn, 0);
    const bool sums = (v->kind & TKI_SUMS) != 0;
    const structure kind = sums ? (structure)(v->turn % STRUCTURES) : v->turn % EACH_TWIN == 0 ? TWINS : RUNS;
    const uint64_t who = v->turn / STRUCTURES % WHO, beside = tki_random_below(&of_turn, 2);
    const uint64_t stream = tki_random_u64(random);
    const double background = v->low_background && tki_random_below(&of_turn, 2) ? -INFINITY : tki_background(v);
    const bool alone = v->first_input && v->last_input;
    if (kind == TWINS) {
        fill_twin(v);
        return;
    }
    if (!alone && who != ALL && v->input != (int)who) {
        fill_beside(v, beside || (has_zeros(kind) && !v->low_background), random);
        return;
    }
    if (kind == RUNS || v->count == 1) {
        fill_runs(v, random);
        return;
    }
    for (int64_t l = 0; l < v->count; l++)
        for (int64_t t = 0; t < v->length; t++)
            tki_line_put(v, l, t,
                         is_kept(kind, l, t, v->length) ? structured(kind, stream, l, t, v->length) : background);
}

/* What stands in memory is the same in each input, but for one element in each behind the first: the last one, one of the last few or of the
 * last quarter, or any. */
static void fill_nearly_alike(const tki_lines *v, tki_random *random)
{
    enum { FEW = 8, TURNS = 4 };
    const int64_t elements = v->count * v->length;
    const int64_t last[TURNS] = {1, FEW, (elements + 3) / 4, elements};
    const int64_t few = last[v->turn % TURNS] < elements ? last[v->turn % TURNS] : elements;
    const int64_t other = v->first_input ? -1 : elements - 1 - (int64_t)tki_random_below(random, (uint64_t)few);
    for (int64_t i = 0; i < elements; i++) {
        tki_random here = tki_random_stream(v->seed, (uint64_t)i);
        const double size = 0.25 * (double)(1 + tki_random_below(&here, 12));
        const double value = tki_with_sign(&here, i == other ? size + 1 : size);
        tki_put_bits(v->dtype, v->data, i, tki_round_double(v->dtype, value));
    }
}

/* -- Zeros -------------------------------------------------------------------------------------------------------- */

/* Tiles of zeros and of numbers in turn in one input; in the other, in lines of which results have tiles of both kinds, NaN or an infinity:
 * nothing that is zero may be left out. */
static void fill_zero_tiles(const tki_lines *v, tki_random *random)
{
    enum { LINES = 16, PLACES = 64, FACTORS = 2 };
    fill_beside(v, v->summed && v->turn % FACTORS != (uint64_t)v->input % FACTORS, random);
    for (int64_t l = 0; l < v->count && v->summed && v->turn % FACTORS == (uint64_t)v->input % FACTORS; l++)
        for (int64_t t = 0; t < v->length; t++)
            if ((l / LINES + t / PLACES) % 2 == 0)
                tki_line_put(v, l, t, tki_with_sign(random, 0.0));
}

/* A factor that changes nothing is no reason not to look at the other. */
static void fill_ones(const tki_lines *v, tki_random *random)
{
    if (v->turn % 2 != (uint64_t)v->input % 2) {
        tki_fill_values(TKI_FAMILY_ONE_SPECIAL, v, random);
        return;
    }
    for (int64_t i = 0; i < v->count * v->length; i++)
        tki_line_put(v, i / v->length, i % v->length, 1);
}

/* In three of four lines products cancel in pairs, exactly; what is added to them, or multiplied by them, may be anything. */
static void fill_zero_results(const tki_lines *v, tki_random *random)
{
    if (!v->summed) {
        tki_fill_values(TKI_FAMILY_SPECIAL, v, random);
        return;
    }
    for (int64_t l = 0; l < v->count; l++)
        for (int64_t t = 0; t < v->length; t++) {
            const double drawn = tki_with_sign(random, 0.25 * (double)(1 + tki_random_below(random, 12)));
            const double before = t % 2 ? tki_decode(v->dtype, tki_line_bits(v, l, t - 1)) : 0;
            const bool paired = t % 2 && (v->input || l % 4 != 3), last = t == v->length - 1 && t % 2 == 0;
            tki_line_put(v, l, t, paired ? v->input ? before : -before : last && !v->input ? 0 : drawn);
        }
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

/* The same number for the same place in the stream: sizes that move the split between two inputs leave the bytes. */
static void fill_stream(const tki_lines *v)
{
    for (int64_t i = 0; i < v->count * v->length; i++) {
        tki_random here = tki_random_stream(v->seed, (uint64_t)(v->before + i));
        const double size = 0.25 * (double)(1 + tki_random_below(&here, 12));
        tki_put_bits(v->dtype, v->data, i, tki_round_double(v->dtype, tki_with_sign(&here, size)));
    }
}

/* Consecutive turns have the infinities in each factor, first against ones and then against lines that choose one place. Nothing but the
 * infinity's own term may be special, and where a line chooses another place, zero times it is. */
static void fill_lone(const tki_lines *v)
{
    enum { PLACES = 64 };
    const uint64_t factors = v->factors > 0 ? (uint64_t)v->factors : 1;
    const bool here = v->summed && v->turn % factors == (uint64_t)v->input % factors;
    const bool chooses = v->summed && !here && v->turn / factors % 2;
    const int64_t places = v->length < PLACES ? v->length : PLACES;
    for (int64_t l = 0; l < v->count; l++) {
        for (int64_t t = 0; t < v->length; t++)
            tki_line_put(v, l, t, chooses ? t == l % v->length : 1);
        if (here)
            tki_line_put(v, l, v->length - 1 - l % places, l / places % 2 ? -INFINITY : INFINITY);
    }
}

/* Consecutive turns have it in each factor, as the last line and as another. What a buffer keeps of a line, and multiplies with its zeros,
 * shows in the others. */
static void fill_special_line(const tki_lines *v, tki_random *random)
{
    static const double values[] = {INFINITY, -INFINITY, NAN};
    const uint64_t factors = v->factors > 0 ? (uint64_t)v->factors : 1;
    tki_fill_normal(v, random);
    if (!v->summed || v->count == 0 || v->turn % factors != (uint64_t)v->input % factors)
        return;
    const bool last = v->turn / factors % 2 == 0 || v->count == 1;
    const int64_t line = last ? v->count - 1 : (int64_t)tki_random_below(random, (uint64_t)v->count - 1);
    for (int64_t t = 0; t < v->length; t++)
        tki_line_put(v, line, t, values[tki_random_below(random, 3)]);
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
    case TKI_FAMILY_STREAM:
    case TKI_FAMILY_MOVED: fill_stream(v); return true;
    case TKI_FAMILY_NEARLY_ALIKE: fill_nearly_alike(v, random); return true;
    case TKI_FAMILY_LONE: fill_lone(v); return true;
    case TKI_FAMILY_SPECIAL_LINE: fill_special_line(v, random); return true;
    case TKI_FAMILY_SPREAD: fill_spread(v, random); return true;
    case TKI_FAMILY_ZERO_TILES: fill_zero_tiles(v, random); return true;
    case TKI_FAMILY_ONES: fill_ones(v, random); return true;
    case TKI_FAMILY_ZERO_RESULTS: fill_zero_results(v, random); return true;
    default: return false;
    }
}
