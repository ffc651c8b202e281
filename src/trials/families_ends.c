/* CHOOSES. Ends of groups: how many places each group has, and which have none. */
#include "trials/families_index.h"

#include <stdlib.h>

#include "judge/trial_inputs.h"
#include "model/case.h"
#include "trials/shapes.h"

/* How the places are shared out. */
typedef enum sharing { EQUALLY, BY_DRAWING, BY_ZIPF, ONE_HAS_ALL, BY_TILES, ONE_EACH, TWO_SHARE, LAST_FEW } sharing;

typedef struct ends {
    tk_dtype dtype;
    void *data;
    int64_t count, limit; /* groups, and the places that they have together */
} ends;

static void set(const ends *e, int64_t i, int64_t value)
{
    tki_inputs_set_index(e->dtype, e->data, i, value);
}

void tki_ends_raise(tk_dtype dtype, void *data, int64_t count)
{
    const ends e = {dtype, data, count, 0};
    for (int64_t i = 1; i < count; i++)
        if (tki_index_at(dtype, data, i) < tki_index_at(dtype, data, i - 1))
            set(&e, i, tki_index_at(dtype, data, i - 1));
}

static int compare_wide(const void *a, const void *b)
{
    const int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

static int compare_narrow(const void *a, const void *b)
{
    const int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;
    return (x > y) - (x < y);
}

void tki_ends_sort(tk_dtype dtype, void *data, int64_t count)
{
    const bool wide = dtype == TK_I64;
    qsort(data, (size_t)count, wide ? sizeof(int64_t) : sizeof(int32_t), wide ? compare_wide : compare_narrow);
}

/* The group that comes first has the most places, the next one half of that, then a third and so on. */
static void share_by_zipf(const ends *e, tki_random *random)
{
    const int64_t first = tki_below(random, e->count);
    double all = 0, sum = 0;
    for (int64_t i = 0; i < e->count; i++)
        all += 1 / (double)(i + 1);
    for (int64_t i = 0; i < e->count; i++) {
        sum += 1 / (double)((i + e->count - first) % e->count + 1);
        const int64_t end = (int64_t)((double)e->limit * (sum / all));
        set(e, i, end < e->limit && i + 1 < e->count ? end : e->limit);
    }
}

/* Multiples of a tile, and one place more or less; the last group has what is left, or less. Where there are more groups than tiles, the
 * first ones have none up to any, or only these would ever have some. */
static void share_by_tiles(const ends *e, tki_random *random)
{
    static const int64_t tiles[] = {8, 16, 32, 64, 128, 256};
    int64_t end = 0;
    int64_t tile = tiles[tki_below(random, 6)];
    while (tile > 8 && tile * e->count > 3 * e->limit)
        tile /= 2;
    const int64_t first = tile * e->count > 3 * e->limit ? tki_below(random, e->count) : 0;
    for (int64_t i = 0; i < e->count; i++) {
        const int64_t beside = tki_below(random, 3) - 1;
        const int64_t times = tki_below(random, 4);
        end += i < first ? 0 : times * tile + beside;
        const int64_t before = i ? tki_index_at(e->dtype, e->data, i - 1) : 0;
        end = end < before ? before : end < e->limit ? end : e->limit;
        set(e, i, end);
    }
}

static void share(const ends *e, sharing how, tki_random *random)
{
    const int64_t one = tki_below(random, e->count), other = tki_below(random, e->count);
    const int64_t few = e->count < 8 ? e->count : 8;
    for (int64_t i = 0; i < e->count; i++) {
        const int64_t drawn = tki_below(random, e->limit + 1);
        switch (how) {
        case ONE_HAS_ALL: set(e, i, i < one ? 0 : e->limit); break;
        case TWO_SHARE: set(e, i, ((i >= one) * (e->limit - e->limit / 3)) + (i >= other) * (e->limit / 3)); break;
        case ONE_EACH: set(e, i, i + 1 < e->limit ? i + 1 : e->limit); break;
        case LAST_FEW: set(e, i, i < e->count - few ? 0 : (i - (e->count - few) + 1) * e->limit / few); break;
        case BY_DRAWING: set(e, i, drawn); break;
        default: set(e, i, (int64_t)((unsigned __int128)(uint64_t)(i + 1) * (uint64_t)e->limit / (uint64_t)e->count));
        }
    }
    if (how == BY_DRAWING)
        tki_ends_sort(e->dtype, e->data, e->count);
    if (how == BY_ZIPF)
        share_by_zipf(e, random);
    if (how == BY_TILES)
        share_by_tiles(e, random);
}

/* No places for some groups at the front, in the middle or at the end, whose places the next one has, or the one before the last ones. */
static void empty_some(const ends *e, tki_random *random)
{
    const int64_t where = tki_below(random, 6);
    const int64_t from = tki_below(random, e->count), length = 1 + tki_below(random, e->count);
    const int64_t before = from ? tki_index_at(e->dtype, e->data, from - 1) : 0;
    for (int64_t i = 0; i < e->count; i++) {
        if (where == 0 && i < length - 1)
            set(e, i, 0);
        if (where == 1 && i >= from && i < from + length)
            set(e, i, before);
        if (where == 2 && i >= from)
            set(e, i, e->limit);
    }
}

/* The last place is the last group. */
static void set_last_apart(const ends *e)
{
    for (int64_t i = 0; i < e->count - 1; i++)
        if (i == e->count - 2 || tki_index_at(e->dtype, e->data, i) == e->limit)
            set(e, i, e->limit - 1);
    set(e, e->count - 1, e->limit);
}

static bool needs_whole_lines(tki_family family)
{
    switch (family) {
    case TKI_FAMILY_CANCEL:
    case TKI_FAMILY_SWAMP:
    case TKI_FAMILY_FEW:
    case TKI_FAMILY_MIDPOINT:
    case TKI_FAMILY_MIXED_EXPONENTS:
    case TKI_FAMILY_NEAR_TIE:
    case TKI_FAMILY_TRUNCATION:
    case TKI_FAMILY_SMALL_TIES:
    case TKI_FAMILY_TAIL:
    case TKI_FAMILY_OVERFLOW_EDGE:
    case TKI_FAMILY_ORDER: return true;
    default: return false;
    }
}

static bool has_equal_shares(tki_family family)
{
    return family == TKI_FAMILY_INDEX_SORTED || family == TKI_FAMILY_STREAM || family == TKI_FAMILY_MOVED;
}

/* One end half a share up and another down, neither of them the first, the last or that in the middle if there are so many. */
static void move_two(const ends *e)
{
    const int64_t up = e->count > 4, down = e->count - 2, half = e->count ? e->limit / e->count / 2 : 0;
    if (down <= up)
        return;
    set(e, up, tki_index_at(e->dtype, e->data, up) + half);
    set(e, down, tki_index_at(e->dtype, e->data, down) - half);
}

static sharing draw_sharing(tki_family family, tki_random *random)
{
    static const sharing any[] = {EQUALLY,  BY_DRAWING, BY_DRAWING, BY_ZIPF,
                                  BY_TILES, BY_TILES,   BY_TILES,   ONE_HAS_ALL};
    if (has_equal_shares(family))
        return EQUALLY;
    switch (family) {
    case TKI_FAMILY_INDEX_ZIPF: return BY_ZIPF;
    case TKI_FAMILY_INDEX_ENDS:
    case TKI_FAMILY_INDEX_EQUAL: return ONE_HAS_ALL;
    case TKI_FAMILY_INDEX_EACH_ONCE: return ONE_EACH;
    case TKI_FAMILY_INDEX_TWO: return TWO_SHARE;
    case TKI_FAMILY_INDEX_LAST: return LAST_FEW;
    case TKI_FAMILY_INDEX_RUNS:
    case TKI_FAMILY_INDEX_COUNTS: return BY_TILES;
    case TKI_FAMILY_INDEX_HIGH:
    case TKI_FAMILY_INDEX_PERMUTED: return BY_DRAWING;
    default: return any[tki_below(random, 8)];
    }
}

void tki_family_fill_ends(tki_family family, const tk_case *c, int param, void *data, tki_random *random)
{
    ends e = {tk_case_param_dtype(c, param), data, tk_case_elements(c, param),
              c->dims[c->contract->params[param].indexed_dim]};
    /* Terms that cancel or tie do so only where they meet. */
    const bool whole = needs_whole_lines(family) && tki_below(random, 4);
    const sharing how = whole ? ONE_HAS_ALL : draw_sharing(family, random);
    const bool cut = tki_below(random, 3) == 0 && !whole && !has_equal_shares(family);
    if (cut)
        e.limit -= e.limit ? 1 + tki_below(random, tki_below(random, 8) ? e.limit : 1) : 0;
    if (tki_below(random, 32) == 0 && !whole && !has_equal_shares(family))
        e.limit = 0;
    share(&e, how, random);
    if (family == TKI_FAMILY_MOVED)
        move_two(&e);
    if (how != ONE_HAS_ALL && !has_equal_shares(family))
        empty_some(&e, random);
    if (how != ONE_HAS_ALL && !has_equal_shares(family) && e.limit > 0 && e.count > 1 && tki_below(random, 8) == 0)
        set_last_apart(&e);
}
