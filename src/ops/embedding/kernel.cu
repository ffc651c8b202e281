/* UNTRUSTED. Embedding on a GPU.
 *
 * Backward: hits are sorted by row, stably, so that a row's hits stand together in ascending order of their queries; then every row
 * of the result is made by itself and written once. A row of at most 64 hits is one run. The runs of longer rows are
 * summed side by side into `partials` and added up, in order, by another kernel. Where there are few queries and rows one
 * kernel does it all without a sort. Parallel over rows, runs and columns only: every sum has the order that clause BITS asks for. If
 * an index is bad, nothing is written but the fault word. */
#include "kernels/device.h"
#include "ops/embedding/params.h"

#ifndef EMBEDDING_FWD_BLOCKS
#define EMBEDDING_FWD_BLOCKS 12 /* on one multiprocessor, at least */
#endif
#ifndef EMBEDDING_BWD_BLOCKS
#define EMBEDDING_BWD_BLOCKS 8
#endif
#ifndef EMBEDDING_HITS_AHEAD
#define EMBEDDING_HITS_AHEAD 4 /* hits whose units are loaded before the first is added */
#endif
#ifndef EMBEDDING_PARTIALS_AHEAD
#define EMBEDDING_PARTIALS_AHEAD 32
#endif

enum {
    RUN = TKI_EMBEDDING_HITS_IN_RUN,
    BINS = TKI_EMBEDDING_BINS,
    SORT_THREADS = TKI_EMBEDDING_SORT_THREADS, /* one per bin */
    SORT_WARPS = SORT_THREADS / warp_lanes,
    SORT_ROUNDS = 4 /* hits of a thread between two barriers of the sort */
};

typedef tki_embedding_gpu_params params;
typedef tki_embedding_hit hit;
typedef tki_embedding_range range;

DEVICE int64_t index_at(const params &p, int64_t query)
{
    return p.wide_index ? ((const int64_t *)p.index)[query] : ((const int32_t *)p.index)[query];
}

DEVICE bool is_bad(const params &p, int64_t row)
{
    return (uint64_t)row >= (uint64_t)p.vocab;
}

DEVICE int64_t least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* ------------------------------------------------------------------------------------------------------------
 * Units: 16 bytes, 4 bytes or one element at a time
 * ------------------------------------------------------------------------------------------------------------ */

template <class bits> struct elements_of {
    enum { count = sizeof(bits) / sizeof(element) };
};

/* `once`: nobody will read it again. Rows of a table are looked up again and again. */
template <bool once> DEVICE vector16 load_unit(const vector16 *from)
{
    return once ? load16_once(from) : load16(from);
}
template <bool once> DEVICE uint32_t load_unit(const uint32_t *from)
{
    return *from;
}

DEVICE void store_unit(vector16 *to, vector16 bits)
{
    store16_once(to, bits);
}
DEVICE void store_unit(uint32_t *to, uint32_t bits)
{
    *to = bits;
}

DEVICE void add_unit(float *sum, uint32_t bits)
{
    float values[word_elements];
    from_word(bits, values);
#pragma unroll
    for (int k = 0; k < word_elements; k++)
        sum[k] += values[k];
}
DEVICE void add_unit(float *sum, vector16 bits)
{
#pragma unroll
    for (int k = 0; k < 4; k++)
        add_unit(sum + word_elements * k, bits.word[k]);
}

#if TKI_DTYPE != 2 /* where an element is less than a word */
template <bool once> DEVICE element load_unit(const element *from)
{
    return *from;
}
DEVICE void store_unit(element *to, element bits)
{
    *to = bits;
}
DEVICE void add_unit(float *sum, element bits)
{
    sum[0] += from_element(bits);
}
#endif

/* The results of a unit. Every NaN becomes the same one on every device. */
#if TKI_RESULT_DTYPE == 2
DEVICE uint32_t rounded(float sum)
{
    return sum == sum ? bits_of(sum) : 0x7fc00000u;
}
template <class bits> struct result_unit {
    uint32_t word[elements_of<bits>::count];
};
template <class bits> DEVICE void round_unit(result_unit<bits> *result, const float *sum)
{
#pragma unroll
    for (int k = 0; k < elements_of<bits>::count; k++)
        result->word[k] = rounded(sum[k]);
}
template <class bits> DEVICE void store_result(void *out, int64_t unit, result_unit<bits> result)
{
    enum { count = elements_of<bits>::count, step = count % 4 == 0 ? 4 : 1 };
    uint32_t *to = (uint32_t *)out + unit * count;
    const uint32_t *word = result.word;
#pragma unroll
    for (int k = 0; k < count; k += step)
        if constexpr (step == 4)
            store16_once(to + k, {{word[k], word[k + 1], word[k + 2], word[k + 3]}});
        else
            to[k] = word[k];
}
#else
DEVICE element rounded(float sum)
{
    return sum == sum ? to_element(sum) : (element)(TKI_DTYPE == 1 ? 0x7fc0 : 0x7e00);
}
template <class bits> using result_unit = bits;
DEVICE void round_unit(element *bits, const float *sum)
{
    *bits = rounded(sum[0]);
}
DEVICE void round_unit(uint32_t *bits, const float *sum)
{
    *bits = rounded(sum[0]) | (uint32_t)rounded(sum[1]) << 16;
}
DEVICE void round_unit(vector16 *bits, const float *sum)
{
#pragma unroll
    for (int k = 0; k < 4; k++)
        round_unit(&bits->word[k], sum + 2 * k);
}
template <class bits> DEVICE void store_result(void *out, int64_t unit, bits result)
{
    store_unit((bits *)out + unit, result);
}
#endif

/* Groups of threads, one item after another. Of an item's units this group takes those of its column part, and this thread those of its
 * lane, `lanes` apart. */
struct group {
    unsigned lanes, lane;
    int64_t item, stride;
};

DEVICE group this_group(const params &p)
{
    const unsigned groups = thread_count() >> p.group_bits;
    group g;
    g.lanes = 1u << p.group_bits;
    g.lane = thread_index() & (g.lanes - 1);
    g.item = (int64_t)block_index() * groups + (thread_index() >> p.group_bits);
    g.stride = (int64_t)block_count() * groups;
    return g;
}

/* ------------------------------------------------------------------------------------------------------------
 * Forward
 * ------------------------------------------------------------------------------------------------------------ */

/* Where there is nothing to copy, indices are looked at all the same. */
KERNEL(TKI_EMBEDDING_THREADS, EMBEDDING_FWD_BLOCKS, embedding_check, params)
{
    const int64_t stride = (int64_t)block_count() * thread_count();
    for (int64_t i = (int64_t)block_index() * thread_count() + thread_index(); i < p.queries; i += stride)
        if (is_bad(p, index_at(p, i)))
            report_bad_index(p.fault_word, i);
}

template <class bits, int count> DEVICE void gather(const params &p)
{
    const group g = this_group(p);
    const int64_t units = p.dim / elements_of<bits>::count;
    const int64_t tile = (int64_t)g.lanes * count;
    for (int64_t query = g.item; query < p.queries; query += g.stride) {
        const int64_t row = index_at(p, query);
        if (is_bad(p, row)) {
            if (g.lane == 0 && block_index_y() == 0)
                report_bad_index(p.fault_word, query);
            continue;
        }
        const bits *from = (const bits *)p.weight + row * units;
        bits *to = (bits *)p.out + query * units;
        for (int64_t unit = block_index_y() * tile + g.lane; unit < units; unit += p.column_parts * tile) {
            bits copy[count];
#pragma unroll
            for (int k = 0; k < count; k++)
                if (unit + k * g.lanes < units)
                    copy[k] = load_unit<false>(from + unit + k * g.lanes);
#pragma unroll
            for (int k = 0; k < count; k++)
                if (unit + k * g.lanes < units)
                    store_unit(to + unit + k * g.lanes, copy[k]);
        }
    }
}

KERNEL(TKI_EMBEDDING_THREADS, EMBEDDING_FWD_BLOCKS, embedding_fwd_vector, params)
{
    gather<vector16, TKI_EMBEDDING_FWD_UNITS>(p);
}

KERNEL(TKI_EMBEDDING_THREADS, EMBEDDING_FWD_BLOCKS, embedding_fwd_word, params)
{
    gather<uint32_t, TKI_EMBEDDING_FWD_UNITS>(p);
}

KERNEL(TKI_EMBEDDING_THREADS, EMBEDDING_FWD_BLOCKS, embedding_fwd_element, params)
{
    gather<element, TKI_EMBEDDING_FWD_UNITS>(p);
}

/* ------------------------------------------------------------------------------------------------------------
 * Backward: the sort. A bad index has digits like any other, so that the sort stays within its arrays; what would use it as a row
 * looks at the fault word first.
 * ------------------------------------------------------------------------------------------------------------ */

DEVICE bool has_fault(const params &p)
{
    return *p.fault_word != ~(uint64_t)0;
}

DEVICE unsigned digit_of(const params &p, int64_t row, int pass)
{
    return (unsigned)((uint64_t)row >> (pass * p.digit_bits)) & ((1u << p.digit_bits) - 1);
}

/* The i-th hit before a pass. */
DEVICE hit hit_before(const params &p, int pass, int64_t i)
{
    if (pass == 0)
        return {index_at(p, i), i};
    return p.hits[(pass - 1) % 2][i];
}

DEVICE int64_t tile_begin(const params &p, int64_t tile)
{
    return least(tile << p.tile_bits, p.queries);
}

/* How often this thread's digit occurs among the hits [begin, end). `counts` is shared memory. */
DEVICE uint32_t count_digits(const params &p, int pass, int64_t begin, int64_t end, uint32_t *counts)
{
    counts[thread_index()] = 0;
    block_barrier();
    for (int64_t i = begin + thread_index(); i < end; i += SORT_THREADS) {
        const hit h = hit_before(p, pass, i);
        if (pass == 0 && is_bad(p, h.row))
            report_bad_index(p.fault_word, i);
        atomic_add(&counts[digit_of(p, h.row, pass)], 1);
    }
    block_barrier();
    return counts[thread_index()];
}

/* The sum of `value` over the threads before this one. `sums` is shared memory and may be used again after the next barrier. */
DEVICE int64_t sum_before(int64_t value, int64_t *sums)
{
    const unsigned thread = thread_index();
    sums[thread] = value;
    block_barrier();
    for (unsigned distance = 1; distance < SORT_THREADS; distance *= 2) {
        const int64_t other = thread >= distance ? sums[thread - distance] : 0;
        block_barrier();
        sums[thread] += other;
        block_barrier();
    }
    return sums[thread] - value;
}

struct sort_memory {
    int64_t cursor[BINS];             /* where the next hit with that digit goes */
    uint32_t ranks[SORT_WARPS][BINS]; /* of a warp's first hit with that digit, among those of the chunk */
};

/* Moves the hits [begin, end), whose digits' cursors are set, to their places after the pass. Stable: within a warp by lane, within a
 * thread by round, and within the chunk by warp. The next pass' counts are made on the way, except by a block that sorts alone. */
template <bool alone>
DEVICE void move_hits(const params &p, int pass, int64_t begin, int64_t end, sort_memory *shared)
{
    enum { CHUNK = SORT_THREADS * SORT_ROUNDS };
    hit *target = p.hits[pass % 2];
    uint32_t *ranks = shared->ranks[warp_index()];
    const uint64_t lanes_below = ((uint64_t)1 << lane_index()) - 1;
    for (int64_t chunk = begin; chunk < end; chunk += CHUNK) {
        const int rounds = (int)((least(end - chunk, CHUNK) + SORT_THREADS - 1) / SORT_THREADS);
        const int64_t first = chunk + (int64_t)warp_index() * warp_lanes * rounds + lane_index();
        hit hits[SORT_ROUNDS];
        uint32_t rank[SORT_ROUNDS];
        for (int w = 0; w < SORT_WARPS; w++)
            shared->ranks[w][thread_index()] = 0;
        block_barrier();
#pragma unroll
        for (int r = 0; r < SORT_ROUNDS; r++) {
            if (r >= rounds)
                break;
            const int64_t i = first + r * warp_lanes;
            const bool inside = i < end;
            hits[r] = inside ? hit_before(p, pass, i) : hit{0, 0};
            const unsigned digit = digit_of(p, hits[r].row, pass);
            uint64_t peers = warp_vote(inside);
            for (int b = 0; b < p.digit_bits; b++) {
                const uint64_t ones = warp_vote(digit >> b & 1);
                peers &= digit >> b & 1 ? ones : ~ones;
            }
            const unsigned below = count_bits(peers & lanes_below);
            const uint32_t before = ranks[digit];
            rank[r] = before + below;
            warp_barrier();
            if (inside && below == 0)
                ranks[digit] = before + count_bits(peers);
            warp_barrier();
        }
        block_barrier();
        uint32_t sum = 0;
        for (int w = 0; w < SORT_WARPS; w++) {
            const uint32_t count = shared->ranks[w][thread_index()];
            shared->ranks[w][thread_index()] = sum;
            sum += count;
        }
        block_barrier();
#pragma unroll
        for (int r = 0; r < SORT_ROUNDS; r++)
            if (r < rounds && first + r * warp_lanes < end) {
                const unsigned digit = digit_of(p, hits[r].row, pass);
                const int64_t place = shared->cursor[digit] + ranks[digit] + rank[r];
                target[place] = hits[r];
                if (!alone && pass + 1 < p.passes) {
                    const int64_t tile = (int64_t)(pass + 1) * p.tiles + (place >> p.tile_bits);
                    atomic_add(&p.counts[tile * BINS + digit_of(p, hits[r].row, pass + 1)], 1);
                }
            }
        block_barrier();
        shared->cursor[thread_index()] += sum;
    }
}

/* Notes where the hits of each row begin and end. */
DEVICE void mark_ranges(const params &p, int64_t first, int64_t stride)
{
    for (int64_t i = first; i < p.queries; i += stride) {
        const int64_t row = p.sorted[i].row;
        if (i == 0 || p.sorted[i - 1].row != row)
            p.ranges[row].begin = i;
        if (i == p.queries - 1 || p.sorted[i + 1].row != row)
            p.ranges[row].end = i + 1;
    }
}

/* Looks at all indices, counts the first pass' digits and clears what the other kernels add to. Blocks beyond the tiles only clear. */
KERNEL(TKI_EMBEDDING_SORT_THREADS, 2, embedding_bwd_start, params)
{
    SHARED uint32_t counts[BINS];
    const int64_t first = (int64_t)block_index() * SORT_THREADS + thread_index();
    const int64_t stride = (int64_t)block_count() * SORT_THREADS;
    for (int64_t i = first; i < p.vocab; i += stride)
        p.ranges[i] = {0, 0};
    const int64_t words = (int64_t)p.tiles * BINS;
    for (int64_t i = words + first; i < p.passes * words; i += stride)
        p.counts[i] = 0;
    const int64_t tile = block_index();
    if (tile < p.tiles)
        p.counts[tile * BINS + thread_index()] = count_digits(p, 0, tile_begin(p, tile), tile_begin(p, tile + 1),
                                                              counts);
}

/* One pass; one block per tile. */
KERNEL(TKI_EMBEDDING_SORT_THREADS, 2, embedding_bwd_sort, params)
{
    SHARED sort_memory shared;
    const int tile = (int)block_index();
    const uint32_t *counts = p.counts + (int64_t)p.pass * p.tiles * BINS + thread_index();
    int64_t in_tiles_before = 0;
    int64_t in_all = 0;
#pragma unroll 16
    for (int t = 0; t < p.tiles; t++) {
        const uint32_t count = counts[(int64_t)t * BINS];
        in_tiles_before += t < tile ? count : 0;
        in_all += count;
    }
    const int64_t smaller_digits = sum_before(in_all, shared.cursor);
    block_barrier();
    shared.cursor[thread_index()] = smaller_digits + in_tiles_before;
    move_hits<false>(p, p.pass, tile_begin(p, tile), tile_begin(p, tile + 1), &shared);
}

KERNEL(TKI_EMBEDDING_THREADS, EMBEDDING_BWD_BLOCKS, embedding_bwd_mark, params)
{
    if (!has_fault(p))
        mark_ranges(p, (int64_t)block_index() * thread_count() + thread_index(),
                    (int64_t)block_count() * thread_count());
}

/* All passes and the marks, by one block. */
KERNEL(TKI_EMBEDDING_SORT_THREADS, 1, embedding_bwd_sort_alone, params)
{
    SHARED sort_memory shared;
    for (int pass = 0; pass < p.passes; pass++) {
        const uint32_t count = count_digits(p, pass, 0, p.queries, shared.ranks[0]);
        const int64_t smaller_digits = sum_before(count, shared.cursor);
        block_barrier();
        shared.cursor[thread_index()] = smaller_digits;
        move_hits<true>(p, pass, 0, p.queries, &shared);
        block_barrier();
    }
    if (!has_fault(p))
        mark_ranges(p, thread_index(), SORT_THREADS);
}

/* ------------------------------------------------------------------------------------------------------------
 * Backward, small tables: the sort, the ranges and the check of the indices by one kernel. Each block has some rows, looks at all
 * queries, and puts those rows' hits where the hits of smaller rows end. A warp has neighbouring queries.
 * ------------------------------------------------------------------------------------------------------------ */

enum { PLACED_ROWS = TKI_EMBEDDING_PLACED_ROWS, no_row = 0xffff };

struct place_memory {
    uint16_t rows[TKI_EMBEDDING_PLACED_QUERIES];  /* counted from the block's first; no_row: another block's */
    uint32_t counts[SORT_WARPS][PLACED_ROWS + 1]; /* of a warp: hits of each row, and of smaller rows */
    uint32_t totals[PLACED_ROWS + 1];
    int64_t begin[PLACED_ROWS];
};

/* Notes and counts the hits of queries [begin, end), which are the warp's. Several indices are loaded before the first is looked at. */
DEVICE void find_hits(const params &p, int64_t first_row, int64_t begin, int64_t end, place_memory *shared)
{
    enum { AHEAD = 8 };
    const int64_t rows_end = least(first_row + p.placed_rows, p.vocab);
    uint32_t *counts = shared->counts[warp_index()];
    uint32_t smaller = 0;
    for (int64_t first = begin + lane_index(); first < end; first += AHEAD * warp_lanes) {
        int64_t rows[AHEAD];
#pragma unroll
        for (int a = 0; a < AHEAD; a++)
            rows[a] = index_at(p, least(first + a * warp_lanes, end - 1));
#pragma unroll
        for (int a = 0; a < AHEAD; a++) {
            const int64_t query = first + a * warp_lanes;
            if (query >= end)
                break;
            const bool is_here = rows[a] >= first_row && rows[a] < rows_end;
            if (is_bad(p, rows[a]) && block_index() == 0)
                report_bad_index(p.fault_word, query);
            smaller += rows[a] >= 0 && rows[a] < first_row;
            shared->rows[query] = is_here ? (uint16_t)(rows[a] - first_row) : (uint16_t)no_row;
            if (is_here)
                atomic_add(&counts[rows[a] - first_row], 1);
        }
    }
    if (smaller > 0)
        atomic_add(&counts[PLACED_ROWS], smaller);
}

/* Puts the hits of the warp's queries to their places, in order. */
DEVICE void place_hits(const params &p, int64_t first_row, int64_t begin, int64_t end, place_memory *shared)
{
    uint32_t *counts = shared->counts[warp_index()];
    const uint64_t lanes_below = ((uint64_t)1 << lane_index()) - 1;
    for (int64_t first = begin; first < end; first += warp_lanes) {
        const int64_t query = first + lane_index();
        const unsigned row = query < end ? shared->rows[query] : (unsigned)no_row;
        uint64_t left = warp_vote(row != no_row);
        while (left != 0) {
            const unsigned leader = (unsigned)lowest_bit(left);
            const unsigned next = shuffle_u32(row, leader);
            const uint64_t same = warp_vote(row == next);
            const uint32_t before = counts[next];
            if (row == next)
                p.hits[0][shared->begin[row] + before + count_bits(same & lanes_below)] = {first_row + row, query};
            warp_barrier();
            if (lane_index() == leader)
                counts[next] = before + count_bits(same);
            warp_barrier();
            left &= ~same;
        }
    }
}

KERNEL(TKI_EMBEDDING_SORT_THREADS, 2, embedding_bwd_place, params)
{
    SHARED place_memory shared;
    const unsigned thread = thread_index();
    const int64_t first_row = (int64_t)block_index() * p.placed_rows;
    const int64_t in_warp = (p.queries + SORT_THREADS - 1) / SORT_THREADS * warp_lanes;
    const int64_t begin = least(warp_index() * in_warp, p.queries);
    const int64_t end = least(begin + in_warp, p.queries);
    for (unsigned i = lane_index(); i <= PLACED_ROWS; i += warp_lanes)
        shared.counts[warp_index()][i] = 0;
    warp_barrier();
    find_hits(p, first_row, begin, end, &shared);
    block_barrier();
    if (thread <= PLACED_ROWS) {
        uint32_t sum = 0;
        for (int w = 0; w < SORT_WARPS; w++) {
            const uint32_t count = shared.counts[w][thread];
            shared.counts[w][thread] = sum;
            sum += count;
        }
        shared.totals[thread] = sum;
    }
    block_barrier();
    if (thread < PLACED_ROWS) {
        int64_t place = shared.totals[PLACED_ROWS];
        for (unsigned r = 0; r < thread; r++)
            place += shared.totals[r];
        const int64_t hits = shared.totals[thread];
        shared.begin[thread] = place;
        if ((int)thread < p.placed_rows && first_row + thread < p.vocab)
            p.ranges[first_row + thread] = hits > 0 ? range{place, place + hits} : range{0, 0};
    }
    block_barrier();
    place_hits(p, first_row, begin, end, &shared);
}

/* ------------------------------------------------------------------------------------------------------------
 * Backward: the sums. Rows of more than RUN hits are "long". The sorted hits are cut into windows of RUN, regardless of rows, so that
 * every run of a long row has a place in `partials` that is found without any list:
 *   - run 0 has place [w, 1], w being the first window whose first hit is the row's: there is one, as the row is longer than a window;
 *   - any other run has place [w, 0], w being the window in which the run begins. The window's first hit is of the same row,
 *     because run 0 stands before it.
 * A window's first hit is of one row, so no place is used twice.
 * ------------------------------------------------------------------------------------------------------------ */

/* The run whose sum has this place; empty if there is none. */
DEVICE range run_at(const params &p, int64_t place)
{
    const int64_t window_begin = place / 2 * RUN;
    const range row = p.ranges[p.sorted[window_begin].row];
    const int64_t before = window_begin - row.begin;
    if (row.end - row.begin <= RUN)
        return {0, 0};
    if (place % 2 == 1)
        return before < RUN ? range{row.begin, row.begin + RUN} : range{0, 0};
    const int64_t begin = row.begin + (before + RUN - 1) / RUN * RUN;
    return before > 0 && begin < row.end ? range{begin, least(begin + RUN, row.end)} : range{0, 0};
}

/* Queries in ascending order, one at a time; -1 when there are no more. */
struct sorted_queries {
    const hit *sorted;
    range left;
};
DEVICE bool is_left(const sorted_queries &from)
{
    return from.left.begin < from.left.end;
}
DEVICE int64_t take_query(sorted_queries &from)
{
    const int64_t query = is_left(from) ? from.sorted[from.left.begin].query : -1;
    from.left.begin++;
    return query;
}

/* Of the first 64 queries those whose bit is set. */
struct few_queries {
    uint64_t left;
};
DEVICE bool is_left(const few_queries &from)
{
    return from.left != 0;
}
DEVICE int64_t take_query(few_queries &from)
{
    const int64_t query = lowest_bit(from.left);
    from.left &= from.left - 1;
    return query;
}

/* The gradients of these queries, this thread's units from `unit` on. Where there is no query or no unit a zero is added, which changes
 * nothing: a sum that began at +0 is never -0. */
template <class bits, int width, int count, class queries>
DEVICE void sum_queries(float (&sum)[count][width], const params &p, queries from, int64_t unit, int64_t units,
                        unsigned lanes)
{
    enum { AHEAD = EMBEDDING_HITS_AHEAD };
#pragma unroll
    for (int k = 0; k < count; k++)
#pragma unroll
        for (int j = 0; j < width; j++)
            sum[k][j] = 0.0f;
    while (is_left(from)) {
        bits next[AHEAD][count];
#pragma unroll
        for (int a = 0; a < AHEAD; a++) {
            const int64_t query = take_query(from);
            const bits *gradient = (const bits *)p.grad_output + (query < 0 ? 0 : query) * units + unit;
#pragma unroll
            for (int k = 0; k < count; k++)
                next[a][k] = query >= 0 && unit + k * lanes < units ? load_unit<true>(gradient + k * lanes) : bits{};
        }
#pragma unroll
        for (int a = 0; a < AHEAD; a++)
#pragma unroll
            for (int k = 0; k < count; k++)
                add_unit(sum[k], next[a][k]);
    }
}

/* Items are the places in `partials`, the long work first, and then the rows. */
template <class bits, int count> DEVICE void sum_rows(const params &p)
{
    enum { width = elements_of<bits>::count };
    const bool stopped = has_fault(p);
    const group g = this_group(p);
    const int64_t units = p.dim / width;
    const int64_t tile = (int64_t)g.lanes * count;
    const int64_t places = 2 * p.windows;
    for (int64_t item = g.item; item < places + p.vocab; item += g.stride) {
        const bool is_run = item < places;
        const int64_t row = item - places;
        /* The row's range is fetched beside the fault word, not after it. */
        range hits = {0, 0};
        if (!is_run)
            hits = p.ranges[row];
        else if (!stopped)
            hits = run_at(p, item);
        if (stopped || (is_run ? hits.begin == hits.end : hits.end - hits.begin > RUN))
            continue;
        for (int64_t unit = block_index_y() * tile + g.lane; unit < units; unit += p.column_parts * tile) {
            float sum[count][width];
            sum_queries<bits>(sum, p, sorted_queries{p.sorted, hits}, unit, units, g.lanes);
#pragma unroll
            for (int k = 0; k < count; k++) {
                const int64_t u = unit + k * g.lanes;
                if (u >= units)
                    break;
                if (is_run) {
                    float *partial = p.partials + item * p.dim + u * width;
#pragma unroll
                    for (int j = 0; j < width; j++)
                        partial[j] = sum[k][j];
                } else {
                    result_unit<bits> result;
                    round_unit(&result, sum[k]);
                    store_result<bits>(p.out, row * units + u, result);
                }
            }
        }
    }
}

KERNEL(TKI_EMBEDDING_THREADS, EMBEDDING_BWD_BLOCKS, embedding_bwd_sum_vector, params)
{
    sum_rows<vector16, TKI_EMBEDDING_BWD_UNITS>(p);
}

KERNEL(TKI_EMBEDDING_THREADS, EMBEDDING_BWD_BLOCKS, embedding_bwd_sum_word, params)
{
    sum_rows<uint32_t, TKI_EMBEDDING_BWD_UNITS>(p);
}

KERNEL(TKI_EMBEDDING_THREADS, EMBEDDING_BWD_BLOCKS, embedding_bwd_sum_element, params)
{
    sum_rows<element, TKI_EMBEDDING_BWD_UNITS>(p);
}

/* The totals of the long rows, one thread per column; a block for each window and column part. A row is taken by the window that
 * also has its run 0. */
KERNEL(TKI_EMBEDDING_THREADS, EMBEDDING_BWD_BLOCKS, embedding_bwd_combine, params)
{
    enum { AHEAD = EMBEDDING_PARTIALS_AHEAD };
    if (has_fault(p))
        return;
    for (int64_t window = block_index(); window < p.windows; window += block_count()) {
        const int64_t row = p.sorted[window * RUN].row;
        const range hits = p.ranges[row];
        const int64_t runs = (hits.end - hits.begin + RUN - 1) / RUN;
        if (runs == 1 || window * RUN - hits.begin >= RUN)
            continue;
        const int64_t stride = (int64_t)p.column_parts * thread_count();
        for (int64_t column = (int64_t)block_index_y() * thread_count() + thread_index(); column < p.dim;
             column += stride) {
            float total = p.partials[(2 * window + 1) * p.dim + column];
            const float *later = p.partials + hits.begin / RUN * 2 * p.dim + column;
            int64_t run = 1;
            for (; run + AHEAD <= runs; run += AHEAD) {
                float next[AHEAD];
#pragma unroll
                for (int a = 0; a < AHEAD; a++)
                    next[a] = later[(run + a) * 2 * p.dim];
#pragma unroll
                for (int a = 0; a < AHEAD; a++)
                    total += next[a];
            }
#pragma unroll 4
            for (; run < runs; run++)
                total += later[run * 2 * p.dim];
            result_unit<element> result;
            round_unit(&result, &total);
            store_result<element>(p.out, row * p.dim + column, result);
        }
    }
}

/* ------------------------------------------------------------------------------------------------------------
 * Backward: at most RUN queries. Each block looks at all of them by itself.
 * ------------------------------------------------------------------------------------------------------------ */

template <class bits, int count> DEVICE void sum_few(const params &p)
{
    enum { width = elements_of<bits>::count };
    SHARED int64_t rows[RUN]; /* -1: a bad index */
    if (thread_index() < p.queries) {
        const int64_t row = index_at(p, thread_index());
        if (is_bad(p, row))
            report_bad_index(p.fault_word, thread_index());
        rows[thread_index()] = is_bad(p, row) ? -1 : row;
    }
    block_barrier();
    bool stopped = has_fault(p);
    for (int i = 0; i < (int)p.queries; i++)
        stopped |= rows[i] < 0;
    if (stopped)
        return;
    const group g = this_group(p);
    const int64_t units = p.dim / width;
    const int64_t tile = (int64_t)g.lanes * count;
    for (int64_t row = g.item; row < p.vocab; row += g.stride) {
        few_queries hits = {0};
        for (int i = 0; i < (int)p.queries; i++)
            hits.left |= (uint64_t)(rows[i] == row) << i;
        for (int64_t unit = block_index_y() * tile + g.lane; unit < units; unit += p.column_parts * tile) {
            float sum[count][width];
            sum_queries<bits>(sum, p, hits, unit, units, g.lanes);
#pragma unroll
            for (int k = 0; k < count; k++) {
                result_unit<bits> result;
                round_unit(&result, sum[k]);
                if (unit + k * g.lanes < units)
                    store_result<bits>(p.out, row * units + unit + k * g.lanes, result);
            }
        }
    }
}

KERNEL(TKI_EMBEDDING_THREADS, EMBEDDING_BWD_BLOCKS, embedding_bwd_few_vector, params)
{
    sum_few<vector16, TKI_EMBEDDING_BWD_UNITS>(p);
}

KERNEL(TKI_EMBEDDING_THREADS, EMBEDDING_BWD_BLOCKS, embedding_bwd_few_word, params)
{
    sum_few<uint32_t, TKI_EMBEDDING_BWD_UNITS>(p);
}

KERNEL(TKI_EMBEDDING_THREADS, EMBEDDING_BWD_BLOCKS, embedding_bwd_few_element, params)
{
    sum_few<element, TKI_EMBEDDING_BWD_UNITS>(p);
}
