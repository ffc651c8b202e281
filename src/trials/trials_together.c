/* CHOOSES. Trials of what goes together: structures of data, calls of the same bytes by other sizes or other options one after the other, and
 * sizes that are large, ragged or usual all at once. What is cheap of each kind comes at quick, whatever the seed. */
#include "trials/trials_together.h"

#include <math.h>
#include <string.h>

#include "model/case.h"
#include "trials/attribute_settings.h"
#include "trials/families.h"

typedef struct giving {
    const tki_together *what;
    const tk_case *like;
    tk_case c;
    int number;
    tki_together_how how;
} giving;

static void give(giving *g, int family)
{
    g->what->take(g->what->context, &g->c, family, g->number, &g->how);
}

static void set_shape(giving *g, const int64_t *size)
{
    tki_shape_set(&g->c, g->what->class, size);
}

/* Any of the attributes, by the law of the op's other trials. */
static void draw(giving *g, tki_random *random)
{
    if (g->what->draw)
        g->what->draw(g->what->context, &g->c, random);
}

/* -- Structure ---------------------------------------------------------------------------------------------------- */

static int value_inputs(const tk_contract *contract)
{
    int inputs = 0;
    for (int p = 0; p < contract->param_count; p++)
        inputs += !contract->params[p].output && contract->params[p].kind == TK_KIND_VALUE;
    return inputs;
}

/* Square where that makes a structure, and as small as it may be. */
static void give_structures(giving *g, tki_random *random)
{
    static const int64_t sizes[][TKI_CLASS_SIZES] = {[TKI_VECTOR] = {333},
                                                     [TKI_ROWS] = {24, 24},
                                                     [TKI_PRODUCT] = {24, 24, 24},
                                                     [TKI_LOOKUP] = {48, 12, 16},
                                                     [TKI_GROUPED] = {24, 24, 24, 3}};
    enum { EACH = 3 * TKI_STRUCTURES, RUNS = 4, SHAPES_AT_FULL = 4 };
    const bool sums = tk_family_applies(TKI_FAMILY_SPREAD, g->c.contract);
    const int each = value_inputs(g->c.contract) > 1 ? EACH
                                                     : 2 * TKI_STRUCTURES; /* of one input: with both backgrounds */
    const int shapes = g->what->level == TK_QUICK ? 1 : SHAPES_AT_FULL;
    for (int i = 0; i < shapes * (sums ? EACH : RUNS); i++, g->number++) {
        int64_t size[TKI_CLASS_SIZES];
        const int64_t larger = g->what->level == TK_QUICK ? 0 : 8 * (1 + i % 2) * (i / EACH) + i / EACH % 2;
        for (int d = 0; d < TKI_CLASS_SIZES; d++)
            size[d] = sizes[g->what->class][d] + (d < 3 ? larger : 0) + (sums ? 0 : i * 7);
        set_shape(g, size);
        draw(g, random);
        g->how.brief = sums;
        if (i % EACH < each)
            give(g, TKI_FAMILY_STRUCTURE);
    }
    g->how = (tki_together_how){0};
}

/* -- The same bytes ----------------------------------------------------------------------------------------------- */

/* As many elements in each input of two sizes or more, which a key may be made of. */
static bool has_same_bytes(const tk_case *a, const tk_case *b)
{
    for (int p = 0; p < a->contract->param_count; p++) {
        const tk_param *param = &a->contract->params[p];
        if (!param->output && param->rank > 1 && tk_case_elements(a, p) != tk_case_elements(b, p))
            return false;
    }
    return true;
}

/* The next case behind *turn with each size halved, kept or doubled, whose inputs hold the same bytes. */
static bool next_sibling(const tk_case *base, int *turn, tk_case *sibling)
{
    int turns = 1;
    for (int d = 0; d < base->contract->dim_count; d++)
        turns *= 3;
    while (++*turn < turns) {
        bool other = false, whole = true;
        int rest = *turn;
        *sibling = *base;
        for (int d = 0; d < base->contract->dim_count; d++, rest /= 3) {
            whole &= rest % 3 != 1 || base->dims[d] % 2 == 0;
            sibling->dims[d] = rest % 3 == 1 ? base->dims[d] / 2 : base->dims[d] << (rest % 3 == 2);
            other |= rest % 3 != 0;
        }
        if (other && whole && tki_case_settle(sibling) && has_same_bytes(base, sibling))
            return true;
    }
    return false;
}

static bool is_same_case(const tk_case *a, const tk_case *b)
{
    return !memcmp(a->dims, b->dims, sizeof a->dims) && !memcmp(a->attributes, b->attributes, sizeof a->attributes);
}

/* One after the other: a case, two of the same bytes by other sizes, and one by other attributes. All have one number and so one seed. */
static void give_siblings(giving *g, tki_random *random)
{
    static const int64_t sizes[][TKI_CLASS_SIZES] = {[TKI_VECTOR] = {600},
                                                     [TKI_ROWS] = {12, 40},
                                                     [TKI_PRODUCT] = {16, 12, 20},
                                                     [TKI_LOOKUP] = {40, 12, 16},
                                                     [TKI_GROUPED] = {16, 12, 20, 2}};
    enum { SIBLINGS = 2, MOST_DRAWS = 256 };
    const int chains = g->what->level == TK_QUICK ? 2 : 4;
    for (int chain = 0; chain < chains; chain++, g->number++) {
        int64_t size[TKI_CLASS_SIZES];
        for (int d = 0; d < TKI_CLASS_SIZES; d++)
            size[d] = sizes[g->what->class][d] << (d < 3 && chain % 2 == (d == 1));
        g->c = *g->like;
        set_shape(g, size);
        tk_case siblings[SIBLINGS];
        int count = 0;
        /* Before attributes are drawn, on which it may depend what inputs there are. */
        for (int turn = chain; count < SIBLINGS && next_sibling(&g->c, &turn, &siblings[count]);)
            count++;
        draw(g, random);
        const tk_case base = g->c;
        give(g, TKI_FAMILY_IN_ORDER);
        for (int i = 0; i < count; i++) {
            memcpy(g->c.dims, siblings[i].dims, sizeof g->c.dims);
            give(g, TKI_FAMILY_IN_ORDER);
        }
        if (!g->what->draw)
            continue;
        for (int tries = 0; tries < MOST_DRAWS && (tries == 0 || is_same_case(&g->c, &base)); tries++) {
            g->c = base;
            draw(g, random);
        }
        give(g, TKI_FAMILY_IN_ORDER);
    }
}

/* -- Sizes -------------------------------------------------------------------------------------------------------- */

static int64_t in_turn(const int64_t *values, size_t count, uint64_t turn)
{
    return values[turn % count];
}

#define IN_TURN(values, turn) in_turn(values, sizeof(values) / sizeof *(values), turn)

/* The others shrink until all sizes multiplied are few steps. */
static void make_cheap(giving *g, int kept)
{
    const double most = g->what->level == TK_QUICK ? 0x1p14 : 0x1p19;
    for (;;) {
        double work = 1;
        int largest = -1;
        for (int d = 0; d < g->c.contract->dim_count; d++) {
            work *= (double)g->c.dims[d];
            if (d != kept && (largest < 0 || g->c.dims[d] > g->c.dims[largest]))
                largest = d;
        }
        if (work <= most || largest < 0 || g->c.dims[largest] <= 1)
            return;
        g->c.dims[largest] = (g->c.dims[largest] + 1) / 2;
    }
}

/* Ragged by a tile and beyond a limit; or what models have. The others are few, or ragged by a tile themselves. */
static void give_sizes(giving *g, tki_random *random)
{
    static const int64_t tiles[] = {96, 384, 64, 48, 256, 192, 128, 160, 320, 32, 512, 24, 80, 640, 16, 112};
    static const int64_t usual[] = {768,  4096, 5120, 1024,  8192, 2048, 11008, 1280,
                                    2560, 3072, 6144, 14336, 1536, 2304, 13824, 50257};
    static const int64_t few[] = {1, 2, 3, 4, 5, 8};
    const int dims = g->c.contract->dim_count;
    const int each = g->what->level == TK_QUICK ? 6 : 48;
    const uint64_t turn = tki_random_u64(random) >> 8;
    for (int i = 0; i < each * dims; i++, g->number++) {
        const uint64_t at = turn + (uint64_t)(i / dims);
        const int kept = i % dims;
        const int64_t tile = IN_TURN(tiles, at + 5 * (uint64_t)kept), beyond = 512 << at / 2 % 3;
        const int64_t residues[] = {tile - 1, 1, tile / 2, tile - 1};
        for (int d = 0; d < dims; d++) {
            const int64_t small = IN_TURN(tiles, tki_random_u64(random));
            const bool ragged = tki_random_below(random, 3) == 0 && small <= 64;
            g->c.dims[d] = ragged ? small + small / 2 + (int64_t)tki_random_below(random, 3) - 1
                                  : IN_TURN(few, tki_random_u64(random));
        }
        g->c.dims[kept] = at % 3 == 2 ? IN_TURN(usual, at / 3 + 3 * (uint64_t)kept)
                                      : (beyond / tile + 1) * tile + IN_TURN(residues, at / 3);
        make_cheap(g, kept);
        draw(g, random);
        g->how.brief = true;
        if (tki_case_settle(&g->c))
            give(g, tki_family_main(g->c.contract, i));
    }
    g->how = (tki_together_how){0};
}

/* -- Large ones --------------------------------------------------------------------------------------------------- */

typedef struct large {
    tki_shape_class class;
    tk_level level;
    int64_t size[TKI_CLASS_SIZES];
    int alignment;
    int family; /* 0: the main one */
} large;

/* More rows than 16 bits count, of more than the one column that shows nothing; vectors that are shared out among threads, at each place that
 * vectors of a processor tell apart; what models have, whole. */
static const large large_ones[] = {
    {TKI_ROWS, TK_QUICK, {65536 + 77, 2}, 0, 0},
    {TKI_VECTOR, TK_QUICK, {(1 << 17) + 1040}, 16, 0},
    {TKI_VECTOR, TK_FULL, {(1 << 18) + 16}, 32, 0},
    {TKI_VECTOR, TK_FULL, {(1 << 18) + 40}, 8, 0},
    {TKI_VECTOR, TK_FULL, {4096 * 1024}, 0, 0},
    {TKI_VECTOR, TK_FULL, {2048 * 11008}, 64, 0},
    {TKI_ROWS, TK_FULL, {4096, 1024}, 0, 0},
    {TKI_ROWS, TK_FULL, {2048, 4096}, 0, 0},
    {TKI_ROWS, TK_FULL, {8192, 1024}, 0, 0},
    {TKI_ROWS, TK_FULL, {4096, 768}, 0, 0},
    {TKI_ROWS, TK_FULL, {2048, 5120}, 0, 0},
    {TKI_ROWS, TK_FULL, {512, 8192}, 0, 0},
    {TKI_ROWS, TK_FULL, {256, 11008}, 0, 0},
    {TKI_ROWS, TK_FULL, {256, 32000}, 0, 0},
    {TKI_ROWS, TK_FULL, {128, 50257}, 0, 0},
    {TKI_ROWS, TK_FULL, {32, 128256}, 0, 0},
    {TKI_ROWS, TK_FULL, {(1 << 18) + 5, 17}, 16, 0},
    {TKI_PRODUCT, TK_QUICK, {65536 + 51, 2, 2}, 0, 0},
    {TKI_PRODUCT, TK_QUICK, {2, 65536 + 51, 2}, 0, 0},
    {TKI_PRODUCT, TK_FULL, {4096, 16, 1024}, 0, 0},
    {TKI_PRODUCT, TK_FULL, {16, 4096, 1024}, 0, 0},
    {TKI_PRODUCT, TK_FULL, {1, 4096, 4096}, 0, 0},
    {TKI_PRODUCT, TK_FULL, {8, 11008, 4096}, 0, 0},
    {TKI_PRODUCT, TK_FULL, {2048, 768, 64}, 0, 0},
    {TKI_PRODUCT, TK_FULL, {1024, 1024, 1024}, 0, 0},
    {TKI_PRODUCT, TK_FULL, {1, 50257, 768}, 0, 0},
    {TKI_PRODUCT, TK_FULL, {1291, 1297, 1303}, 0, 0}, /* more products than an int counts */
    {TKI_LOOKUP, TK_QUICK, {90, 1, (1 << 20) + 300}, 0, TKI_FAMILY_INDEX_TWO},
    {TKI_LOOKUP, TK_FULL, {90, 1, (1 << 24) + 300}, 0, TKI_FAMILY_INDEX_TWO},
    {TKI_LOOKUP, TK_FULL, {4096, 1024, 8192}, 0, 0},
    {TKI_LOOKUP, TK_FULL, {2048, 768, 50257}, 0, 0},
    {TKI_LOOKUP, TK_FULL, {4096, 4096, 1024}, 0, 0},
    {TKI_GROUPED, TK_FULL, {2048, 768, 64, 8}, 0, 0},
    {TKI_GROUPED, TK_FULL, {1024, 1024, 256, 4}, 0, 0},
};

static void give_large(giving *g, tki_random *random)
{
    for (size_t i = 0; i < sizeof large_ones / sizeof *large_ones; i++) {
        const large *one = &large_ones[i];
        /* What is made of each row before any is judged costs more than the rest of quick. */
        const bool dear = one->class == TKI_ROWS && one->level == TK_QUICK && tki_index_param(g->c.contract) >= 0;
        if (one->class != g->what->class || one->level != g->what->level || dear)
            continue;
        set_shape(g, one->size);
        draw(g, random);
        g->how = (tki_together_how){.sampled = true, .alignment = one->alignment};
        give(g, one->family ? one->family : tki_family_main(g->c.contract, one->class == TKI_ROWS ? 1 : 0));
        g->number++;
    }
    g->how = (tki_together_how){0};
}

void tki_together_give(const tki_together *what, const tk_case *like)
{
    giving g = {.what = what, .like = like, .c = *like, .number = what->first_number};
    tki_random random = tki_random_stream(what->seed, (uint64_t)what->first_number);
    give_structures(&g, &random);
    give_siblings(&g, &random);
    give_sizes(&g, &random);
    give_large(&g, &random);
}
