/* CHOOSES. Families for ops that add exponentials: plateaus, offsets, peaks, crowds far below a peak. */
#include "trials/families_lines.h"

#include "trials/families_index.h"

static void fill_confident(const tki_lines *v, tki_random *random)
{
    tki_fill_normal(v, random);
    for (int64_t l = 0; l < v->count && v->length > 0; l++) {
        int64_t anywhere = (int64_t)tki_random_below(random, (uint64_t)v->length);
        tki_line_put(v, l, l & 1 ? anywhere : tki_peak_place(l, v->length), 12 + 20 * tki_random_unit(random));
    }
}

/* One over it, rounded, is another number than one over each of its neighbours. */
static bool shows_its_count(tk_dtype dtype, int64_t count)
{
    uint32_t bits = tki_round_double(dtype, 1 / (double)count);
    return bits != tki_round_double(dtype, 1 / (double)(count + 1)) &&
           (count == 1 || bits != tki_round_double(dtype, 1 / (double)(count - 1)));
}

/* How many are highest: all, a number that the quotient shows, or any, which the fp32 loss of a row shows. */
static int64_t plateau_count(tk_dtype dtype, int64_t length, tki_random *random)
{
    /* Sums of more have no useful bound. */
    const int64_t most = length < 1 << 20 ? length : 1 << 20;
    uint64_t kind = tki_random_below(random, 4);
    uint64_t bits = tki_random_below(random, 21);
    uint64_t rest = tki_random_below(random, UINT64_C(1) << bits);
    if (kind == 0 && length == most)
        return length;
    int64_t count = (INT64_C(1) << bits) + (int64_t)rest;
    if (kind > 1)
        count %= tki_scales_of(dtype).plateau_counts;
    count = count % most + 1;
    while (kind > 1 && !shows_its_count(dtype, count))
        count--;
    return count;
}

/* In a softmax an element 104 below the maximum is nothing. */
static double too_far_below(const tki_lines *v, double highest, tki_random *random)
{
    switch (tki_random_below(random, 3)) {
    case 0: return tki_background(v);
    case 1: return -INFINITY;
    default: return highest - 106 - (double)tki_random_below(random, 90);
    }
}

/* 1 to 300, either sign; of four one is larger, where logits of no difference lose what fp32 adds to them. */
static double draw_offset(const tki_lines *v, tki_random *random)
{
    int order = (int)tki_random_below(random, 9);
    double offset = ldexp(1 + tki_random_unit(random) / (order == 8 ? 6 : 1), order);
    int larger = 1 + (int)tki_random_below(random, (uint64_t)tki_smaller(tki_exponent_max_of(v->dtype) - 9, 24));
    return tki_with_sign(random, tki_random_below(random, 4) ? offset : ldexp(offset, 14 - order - 6 + larger));
}

enum { WANTED = 4 };

/* Places that are to be among the highest: the target of an even line, often the last place, sometimes the first or
 * one at a chunk's edge. How many, at most `most`. */
static int draw_wanted(const tki_lines *v, int64_t l, int64_t most, int64_t wanted[WANTED], tki_random *random)
{
    const uint64_t which = tki_random_u64(random);
    const int64_t candidates[WANTED] = {tki_peak_place(l, v->length), v->length - 1, 0,
                                        tki_any_place(v->length, random)};
    const bool here[WANTED] = {!(l & 1), which & 1, (which & 6) == 0, (which & 24) == 0};
    int count = 0;
    for (int i = 0; i < WANTED; i++) {
        bool again = false;
        for (int k = 0; k < count; k++)
            again |= wanted[k] == candidates[i];
        if (here[i] && !again && count < most)
            wanted[count++] = candidates[i];
    }
    return count;
}

static bool is_among(int64_t place, const int64_t *places, int count)
{
    for (int i = 0; i < count; i++)
        if (places[i] == place)
            return true;
    return false;
}

/* How far a place lies behind `begin`, around the end. */
static int64_t distance_behind(int64_t begin, int64_t place, int64_t length)
{
    return place >= begin ? place - begin : place - begin + length;
}

static void fill_plateau_line(const tki_lines *v, int64_t l, tki_random *random)
{
    double highest = 0;
    uint64_t level = tki_random_below(random, 8);
    if (level == 4)
        highest = tki_random_normal(random) * 4;
    else if (level > 4)
        highest = draw_offset(v, random);
    highest = tki_decode(v->dtype, tki_round_double(v->dtype, highest));
    const double low = too_far_below(v, highest, random);
    const int64_t count = plateau_count(v->result, v->length, random);
    const int64_t begin = tki_any_place(v->length, random);
    const bool scattered = tki_random_u64(random) & 1;
    int64_t wanted[WANTED];
    const int wanted_count = draw_wanted(v, l, count, wanted, random);
    /* In one block: as many as leave room for those that are wanted elsewhere. */
    int64_t block = count;
    int outside = 0;
    do {
        block = count - outside;
        outside = 0;
        for (int i = 0; i < wanted_count; i++)
            outside += distance_behind(begin, wanted[i], v->length) >= block;
    } while (block + outside > count);
    /* Scattered: so many of the places that are not wanted. */
    int64_t left = count - wanted_count;
    int64_t places = v->length - wanted_count;
    for (int64_t t = 0; t < v->length; t++) {
        bool high = is_among(t, wanted, wanted_count);
        if (!high && scattered) {
            high = (int64_t)tki_random_below(random, (uint64_t)places) < left;
            places--;
            left -= high;
        } else if (!high) {
            high = distance_behind(begin, t, v->length) < block;
        }
        tki_line_put(v, l, t, high ? highest : low);
    }
}

static void fill_plateau(const tki_lines *v, tki_random *random)
{
    if (!v->low_background) {
        tki_fill_normal(v, random);
        return;
    }
    for (int64_t l = 0; l < v->count && v->length > 0; l++)
        fill_plateau_line(v, l, random);
}

static void fill_offset(const tki_lines *v, tki_random *random)
{
    for (int64_t l = 0; l < v->count; l++) {
        double offset = draw_offset(v, random);
        double spread = tki_random_u64(random) & 1 ? 1 : 8;
        for (int64_t t = 0; t < v->length; t++)
            tki_line_put(v, l, t, offset + spread * tki_random_normal(random));
    }
}

/* Where a series in the distances from the maximum is near enough depends on how small they are. It shows in an element that is farther
 * from the maximum than most. */
static void fill_narrow(const tki_lines *v, tki_random *random)
{
    enum { OCTAVES = 7, FEW = 8 };
    for (int64_t l = 0; l < v->count; l++) {
        const double highest = l % 3 ? 0 : tki_random_normal(random);
        const double distance = ldexp(1 + tki_random_unit(random), -2 - (int)(l % OCTAVES));
        for (int64_t t = 0; t < v->length; t++) {
            const double part = tki_random_unit(random) / 16;
            tki_line_put(v, l, t, highest - distance * (tki_random_below(random, FEW) ? part : 1 - part));
        }
    }
}

static void fill_peaks(const tki_lines *v, tki_random *random)
{
    static const double heights[] = {0, 0.5, 3, 20, 90};
    tki_fill_normal(v, random);
    for (int64_t l = 0; l < v->count && v->length > 0; l++) {
        double highest = -INFINITY;
        for (int64_t t = 0; t < v->length; t++)
            highest = fmax(highest, tki_decode(v->dtype, tki_line_bits(v, l, t)));
        highest += heights[tki_random_below(random, 5)];
        uint64_t kind = tki_random_below(random, 3);
        int64_t peaks = kind == 1 ? 2 + (int64_t)tki_random_below(random, 7) : kind == 2 ? 0 : 1;
        for (int64_t i = 0; i < peaks; i++)
            tki_line_put(v, l, tki_any_place(v->length, random), highest);
        for (int64_t t = 0; t < v->length && kind == 2; t++)
            tki_line_put(v, l, t, highest - 8.0 * (double)t / (double)v->length);
    }
}

/* All below the peak weigh between a 64th of it and four times as much as it, together. Of three long lines one has them at one distance,
 * where each weighs less than 1e-7 and than 2^-23, and yet more than an addition may lose. */
static void fill_crowd(const tki_lines *v, tki_random *random)
{
    enum { LONG = 1 << 15 };
    static const double lost = 16.125;
    tki_fill_normal(v, random);
    if (!v->low_background)
        return;
    for (int64_t l = 0; l < v->count && v->length > 1; l++) {
        const bool level = l % 3 == 1 && v->length > LONG;
        const double weight = ldexp(1, (int)tki_random_below(random, 9) - 6);
        const double distance = level ? lost : log((double)(v->length - 1) / weight);
        const double top = level ? 0 : 8 * tki_random_unit(random) - 4;
        const int64_t place = tki_any_place(v->length, random);
        for (int64_t t = 0; t < v->length; t++)
            tki_line_put(v, l, t, t == place ? top : top - distance + (level ? 0 : 0.25) * tki_random_unit(random));
    }
}

/* One distance in each line, of the peak to all others: they go through the octave from 4 on in steps of fp16 or as many as there are lines
 * for, then through those above it and below. */
static void fill_swept(const tki_lines *v, tki_random *random)
{
    static const int exponents[] = {2, 3, 4, 5, 1, 0, 6, -1};
    enum { OCTAVES = sizeof exponents / sizeof *exponents, LEAST = 4, MOST_STEPS = 1 << 10 };
    const int64_t most = v->format.precision > 11 ? MOST_STEPS : INT64_C(1) << (v->format.precision - 1);
    const int64_t wanted = v->count / LEAST, steps = wanted < 1 ? 1 : wanted < most ? wanted : most;
    for (int64_t l = 0; l < v->count && v->length > 0; l++) {
        const double step = (double)(l % steps) + (steps < most ? tki_random_unit(random) : 0);
        const double distance = ldexp(1 + step / (double)steps, exponents[l / steps % OCTAVES]);
        for (int64_t t = 0; t < v->length; t++)
            tki_line_put(v, l, t, t == tki_peak_place(l, v->length) ? 0 : -distance);
    }
}

/* Three lines of four have an element whose share is near the smallest number of the result's format, its smallest normal one, or what
 * it holds beside 1: distances sweep across each. The fourth has numbers in the thousands, some of their last places apart. */
static void fill_distances(const tki_lines *v, tki_random *random)
{
    enum { KINDS = 4, STEPS = 32, FAR = 3, NEIGHBOURS = 8 };
    const tki_format f = tki_format_of(v->result);
    const int exponents[FAR] = {tki_format_exponent_lowest(f) - 1, f.exponent_min, -f.precision};
    for (int64_t l = 0; l < v->count && v->length > 0; l++) {
        const double size = ldexp(1 + tki_random_unit(random), 9 + (int)(l / KINDS % 5));
        const double far = tki_decode(v->dtype, tki_round_double(v->dtype, tki_with_sign(random, size)));
        const double step = fmax(0.5, fabs(far) * tki_last_place_of(v->dtype));
        for (int64_t t = 0; t < v->length; t++)
            tki_line_put(v, l, t,
                         l % KINDS == FAR ? far - step * (double)tki_random_below(random, NEIGHBOURS)
                                          : tki_background(v));
        if (l % KINDS == FAR)
            continue;
        const double middle = -exponents[l % KINDS] * log(2), whole = floor(middle);
        const double aside = ((double)(l / KINDS % STEPS) - (STEPS - 1) / 2.0) / (STEPS / 1.6);
        tki_line_put(v, l, l % v->length, -whole);
        tki_line_put(v, l, (l + 1) % v->length, middle - whole + aside);
    }
}

bool tki_fill_exp(tki_family family, const tki_lines *v, tki_random *random)
{
    switch (family) {
    case TKI_FAMILY_CONFIDENT: fill_confident(v, random); return true;
    case TKI_FAMILY_PLATEAU: fill_plateau(v, random); return true;
    case TKI_FAMILY_OFFSET: fill_offset(v, random); return true;
    case TKI_FAMILY_PEAKS: fill_peaks(v, random); return true;
    case TKI_FAMILY_NARROW: fill_narrow(v, random); return true;
    case TKI_FAMILY_CROWD: fill_crowd(v, random); return true;
    case TKI_FAMILY_SWEPT: fill_swept(v, random); return true;
    case TKI_FAMILY_DISTANCES: fill_distances(v, random); return true;
    default: return false;
    }
}
