/* DECIDES. Drawing the calls of a trial. */
#include "judge/call_setup.h"

#include <string.h>

#include "core/random.h"

enum { BLOCK = 512, SEED_BITS = 40 };

/* -- Fills ------------------------------------------------------------------------------------------------- */

static void random_block(uint64_t seed, size_t block, unsigned char out[BLOCK])
{
    tki_random random = tki_random_stream(seed, block);
    for (size_t i = 0; i < BLOCK; i += 8) {
        uint64_t bits = tki_random_u64(&random);
        memcpy(out + i, &bits, 8);
    }
}

static void copy_source(const tki_fill *fill, size_t begin, unsigned char out[BLOCK])
{
    /* From a place of its own, so that an output does not simply hold the input at the same place. */
    size_t elements = fill->source_bytes / fill->element;
    size_t at = (fill->seed % elements * fill->element + begin) % fill->source_bytes;
    for (size_t i = 0; i < BLOCK;) {
        size_t part = fill->source_bytes - at < BLOCK - i ? fill->source_bytes - at : BLOCK - i;
        memcpy(out + i, fill->source + at, part);
        i += part;
        at = 0;
    }
}

/* Element by element, since it is elements that are left unwritten. */
static void make_unlike(const tki_fill *fill, size_t block, unsigned char out[BLOCK])
{
    unsigned char other[BLOCK], noise[BLOCK];
    tki_fill_bytes(fill->unlike, block * BLOCK, BLOCK, other);
    bool drawn = false;
    for (size_t i = 0; i < BLOCK; i += fill->element) {
        if (memcmp(out + i, other + i, fill->element) != 0)
            continue;
        if (!drawn)
            random_block(~fill->seed, block, noise);
        drawn = true;
        for (size_t k = 0; k < fill->element; k++)
            out[i + k] ^= (unsigned char)(noise[i + k] | (k == 0));
    }
}

static void fill_block(const tki_fill *fill, size_t block, unsigned char out[BLOCK])
{
    bool copied = (fill->kind == TKI_FILL_STALE || fill->kind == TKI_FILL_INPUT) &&
                  fill->source_bytes >= fill->element;
    if (fill->kind == TKI_FILL_ZEROS || fill->kind == TKI_FILL_ONES)
        memset(out, fill->kind == TKI_FILL_ZEROS ? 0 : 0xff, BLOCK);
    else if (copied)
        copy_source(fill, block * BLOCK, out);
    else
        random_block(fill->seed, block, out);
    if (fill->unlike)
        make_unlike(fill, block, out);
}

void tki_fill_bytes(const tki_fill *fill, size_t begin, size_t bytes, unsigned char *out)
{
    while (bytes > 0) {
        unsigned char block[BLOCK];
        size_t skipped = begin % BLOCK;
        size_t part = BLOCK - skipped < bytes ? BLOCK - skipped : bytes;
        fill_block(fill, begin / BLOCK, block);
        memcpy(out, block + skipped, part);
        out += part;
        begin += part;
        bytes -= part;
    }
}

bool tki_fill_intact(const tki_fill *fill, size_t begin, size_t bytes, const unsigned char *seen)
{
    while (bytes > 0) {
        unsigned char block[BLOCK];
        size_t part = bytes < BLOCK ? bytes : BLOCK;
        tki_fill_bytes(fill, begin, part, block);
        if (memcmp(block, seen, part) != 0)
            return false;
        seen += part;
        begin += part;
        bytes -= part;
    }
    return true;
}

/* -- Calls ------------------------------------------------------------------------------------------------- */

uint64_t tki_trial_calls_seed(const tki_trial *trial)
{
    if (trial->family == TKI_GIVEN_INPUTS)
        return trial->seed;
    tki_random random = tki_random_stream(trial->seed,
                                          (uint64_t)(trial->family + 1000) << 32 ^ (uint64_t)trial->chunk);
    return tki_random_u64(&random) >> (64 - SEED_BITS);
}

/* Whatever the machine has: a partition that loses rows with five threads does so with two processors, too. */
static const int thread_counts[] = {1, 2, 3, 4, 5, 8, 16};
enum { THREAD_COUNTS = sizeof thread_counts / sizeof *thread_counts, MOST_THREADS = 64, OTHER_THREADS = 1 << 20 };

/* How the arrays of one call lie. */
typedef enum arrangement {
    AT_PAGES,  /* each ends with a page, or begins with one */
    AS_MALLOC, /* all aligned alike, to 16 bytes or more, with a ragged end: what callers mostly have */
    LOOSE,     /* each at 8, 4 or the size of its element, and not more */
    MIXED,     /* each as it comes */
    ARRANGEMENTS
} arrangement;

static const uint32_t alignments[] = {256, 64, 32, 16, 8, 4, 1};
enum { WIDE_ALIGNMENTS = 4, ALIGNMENTS = sizeof alignments / sizeof *alignments };

static tki_placement draw_placement(tki_random *random, arrangement how, uint32_t common)
{
    tki_placement placement = {.offset = (uint32_t)tki_random_u64(random)};
    uint64_t edge = how == AT_PAGES ? 1 + (tki_random_below(random, 4) == 0) : 0;
    if (how == MIXED)
        edge = tki_random_below(random, 4) == 0 ? 1 + tki_random_below(random, 2) : 0;
    uint64_t loose = tki_random_below(random, ALIGNMENTS - WIDE_ALIGNMENTS);
    uint64_t any = tki_random_below(random, ALIGNMENTS);
    placement.edge = (tki_edge)edge;
    placement.alignment = how == AS_MALLOC ? common : alignments[how == LOOSE ? WIDE_ALIGNMENTS + loose : any];
    return placement;
}

/* A permutation of 0 .. count-1. */
static void shuffle(tki_random *random, int *order, int count)
{
    for (int i = 0; i < count; i++) {
        int j = (int)tki_random_below(random, (uint64_t)i + 1);
        order[i] = order[j];
        order[j] = i;
    }
}

tki_setup tki_setup_draw(const tki_trial *trial, int number)
{
    const uint64_t seed = tki_trial_calls_seed(trial);
    tki_random orders = tki_random_stream(seed, 3);
    int threads[THREAD_COUNTS] = {0}, arrangements[ARRANGEMENTS] = {0};
    shuffle(&orders, threads, THREAD_COUNTS);
    shuffle(&orders, arrangements, ARRANGEMENTS);
    tki_random random = tki_random_stream(seed, 4 + (uint64_t)number);
    tki_setup setup = {.threads = thread_counts[threads[number % THREAD_COUNTS]]};
    /* A table of grids has a row for each count, and a limit may lie higher. Not twice running, so that calls differ. */
    tki_random other = tki_random_stream(seed, OTHER_THREADS + (uint64_t)number);
    const uint64_t rare = tki_random_below(&other, 8);
    if (number % 2 == 0 && rare < 3) {
        int count = 6 + (int)tki_random_below(&other, rare == 0 ? MOST_THREADS - 5 : 19);
        setup.threads = count == 8 || count == 16 ? count - 1 : count;
    }
    arrangement how = (arrangement)arrangements[number % ARRANGEMENTS];
    uint32_t common = alignments[tki_random_below(&random, WIDE_ALIGNMENTS)];
    /* Large arrays of one program often lie at the same place in their pages. */
    uint32_t offset = (uint32_t)tki_random_u64(&random);
    bool at_one_offset = how == AS_MALLOC && (offset & 1);
    for (int p = 0; p < trial->c.contract->param_count; p++) {
        setup.placement[p] = draw_placement(&random, how, common);
        if (at_one_offset)
            setup.placement[p].offset = offset;
        uint64_t kind = tki_random_below(&random, 8);
        setup.fill[p] = kind < TKI_FILL_KINDS ? (tki_fill_kind)kind : TKI_FILL_RANDOM;
        setup.fill_seed[p] = tki_random_u64(&random);
        if (trial->alignment)
            setup.placement[p] = (tki_placement){TKI_EDGE_NONE, (uint32_t)trial->alignment,
                                                 setup.placement[p].offset};
    }
    if (trial->threads)
        setup.threads = trial->threads;
    return setup;
}
