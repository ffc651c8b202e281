/* What kernels share that work on rows: a row in the registers of a team of threads, and the team's maximum and sums.
 *
 * Eight neighbouring columns of a 16-bit type, or four of fp32, make a pack of 16 bytes. Member m of a team of n has packs m, m + n, m + 2n, ...: which columns
 * meet in which partial sum depends on the number of columns alone, never on addresses or on other rows. */
#ifndef TKI_BACKEND_DEVICE_ROWS_H
#define TKI_BACKEND_DEVICE_ROWS_H

#include "backend/device.h"

enum {
    pack_columns = vector_elements,
    pack_words = 4,
    most_warps = 32 /* in a block */
};

/* Of every element of a word. */
enum {
    minus_infinity_word = TKI_DTYPE == 2   ? (int)0xff800000u
                          : TKI_DTYPE == 1 ? (int)0xff80ff80u
                                           : (int)0xfc00fc00u
};

/* A word whose elements are all this value. */
DEVICE uint32_t word_of(float value)
{
#if TKI_DTYPE == 2
    return bits_of(value);
#else
    return to_pair(value, value);
#endif
}

/* The larger of the elements of two words, each beside its own; a NaN beside a number is not seen. */
DEVICE uint32_t larger_word(uint32_t a, uint32_t b)
{
#if TKI_DTYPE == 2
    return bits_of(larger(float_of(a), float_of(b)));
#else
    return larger_pair(a, b);
#endif
}

/* All bits of an element set where the two words have the same number there; a NaN equals nothing. */
DEVICE uint32_t equal_word(uint32_t a, uint32_t b)
{
#if TKI_DTYPE == 2
    return float_of(a) == float_of(b) ? 0xffffffffu : 0;
#else
    return equal_pair(a, b);
#endif
}

DEVICE vector16 pack_of(uint32_t word)
{
    return {{word, word, word, word}};
}

/* `place` may be known at run time only: every word is looked at, so that the pack can stay in registers. */
DEVICE element pack_element(const vector16 &pack, unsigned place)
{
    uint32_t word = 0;
#pragma unroll
    for (unsigned i = 0; i < pack_words; i++)
        word = place / word_elements == i ? pack.word[i] : word;
    return (element)(word >> (place % word_elements * 16));
}

DEVICE void pack_replace(vector16 &pack, unsigned place, element bits)
{
#pragma unroll
    for (unsigned i = 0; i < pack_words; i++) {
        if constexpr (word_elements == 1) {
            pack.word[i] = place == i ? bits : pack.word[i];
        } else {
            uint32_t low = (pack.word[i] & 0xffff0000u) | bits;
            uint32_t high = (pack.word[i] & 0x0000ffffu) | (uint32_t)bits << 16;
            pack.word[i] = place / 2 != i ? pack.word[i] : place % 2 ? high : low;
        }
    }
}

DEVICE float word_larger(uint32_t word)
{
    float values[word_elements];
    from_word(word, values);
    if constexpr (word_elements == 1)
        return values[0];
    else
        return larger(values[0], values[word_elements - 1]);
}

DEVICE float pack_larger(const vector16 &pack)
{
    return word_larger(larger_word(larger_word(pack.word[0], pack.word[1]), larger_word(pack.word[2], pack.word[3])));
}

/* In pairs: two or three additions deep. */
DEVICE float sum_of_pack(const float *v)
{
    const float first = (v[0] + v[1]) + (v[2] + v[3]);
    if constexpr (pack_columns == 4)
        return first;
    else
        return first + ((v[4] + v[5]) + (v[6] + v[7]));
}

DEVICE void pack_floats(const vector16 &pack, float *values)
{
#pragma unroll
    for (int i = 0; i < pack_words; i++)
        from_word(pack.word[i], values + i * word_elements);
}

DEVICE vector16 pack_elements(const float *values)
{
    vector16 pack;
#pragma unroll
    for (int i = 0; i < pack_words; i++)
        pack.word[i] = to_word(values + i * word_elements);
    return pack;
}

/* ------------------------------------------------------------------------------------------------------------
 * Packs and memory
 * ------------------------------------------------------------------------------------------------------------ */

/* A member's packs of a row that is held in registers: from column `first` on, `step` columns apart, in the `left` columns that there
 * are from `first` on. Kept this way round because step is the same for the whole block. */
struct row_span {
    int first, step, left;
};

DEVICE bool span_has(const row_span &span, int k)
{
    return k * span.step < span.left;
}

/* Every row begins at a multiple of 16 bytes and is made of whole packs. Those past its end become `filler`. No load waits for
 * another. */
template <int packs>
DEVICE void load_row(vector16 (&pack)[packs], const element *row, const row_span &span, uint32_t filler)
{
    const element *from = hold_address(row + span.first);
#pragma unroll
    for (int k = 0; k < packs; k++) {
        pack[k] = pack_of(filler);
        if (span_has(span, k))
            pack[k] = load16_first(from + k * span.step);
    }
}

DEVICE bool is_aligned16(const void *address)
{
    return (uintptr_t)address % 16 == 0;
}

/* A pack of a row of any width at any address; columns past its end become `filler`. */
DEVICE vector16 load_columns(const element *row, int64_t column, int64_t cols, uint32_t filler)
{
    const element *from = row + column;
    if (column + pack_columns <= cols && is_aligned16(from))
        return load16(from);
    uint32_t bits[pack_columns];
#pragma unroll
    for (int i = 0; i < pack_columns; i++)
        bits[i] = column + i < cols ? from[i] : (element)filler;
    vector16 pack;
#pragma unroll
    for (int i = 0; i < pack_words; i++)
        pack.word[i] = word_elements == 1 ? bits[i]
                                          : bits[2 * i % pack_columns] | bits[(2 * i + 1) % pack_columns] << 16;
    return pack;
}

DEVICE void store_columns(element *row, int64_t column, int64_t cols, const vector16 &pack)
{
    element *to = row + column;
    if (column + pack_columns <= cols && is_aligned16(to)) {
        store16(to, pack);
        return;
    }
#pragma unroll
    for (int i = 0; i < pack_columns; i++)
        if (column + i < cols)
            to[i] = pack_element(pack, (unsigned)i);
}

/* ------------------------------------------------------------------------------------------------------------
 * Rows of any width at any address. All packs of a row lie equally far, `shift` elements, past multiples of 16 bytes.
 * ------------------------------------------------------------------------------------------------------------ */

/* As many elements as a pack has of those of two, from `first` on, which is in the first of them. */
DEVICE vector16 join_packs(const vector16 &low, const vector16 &high, unsigned first)
{
    const uint32_t all[8] = {low.word[0],  low.word[1],  low.word[2],  low.word[3],
                             high.word[0], high.word[1], high.word[2], high.word[3]};
    uint32_t by_two_words[6], by_word[5];
    vector16 joined;
#pragma unroll
    for (int i = 0; i < 6; i++)
        by_two_words[i] = first & (2 * word_elements) ? all[i + 2] : all[i];
#pragma unroll
    for (int i = 0; i < 5; i++)
        by_word[i] = first & word_elements ? by_two_words[i + 1] : by_two_words[i];
#pragma unroll
    for (int i = 0; i < pack_words; i++)
        joined.word[i] = funnel_shift(by_word[i], by_word[i + 1], first % word_elements * 16);
    return joined;
}

/* The same, where it is known how many whole words are left out; -1: it is not. */
template <int words> DEVICE vector16 join_words(const vector16 &low, const vector16 &high, unsigned first)
{
    if constexpr (words < 0) {
        return join_packs(low, high, first);
    } else {
        const uint32_t all[8] = {low.word[0],  low.word[1],  low.word[2],  low.word[3],
                                 high.word[0], high.word[1], high.word[2], high.word[3]};
        vector16 joined;
#pragma unroll
        for (int i = 0; i < pack_words; i++)
            joined.word[i] = funnel_shift(all[words + i], all[words + i + 1], first % word_elements * 16);
        return joined;
    }
}

/* All but the first `count` become `filler`. */
DEVICE void keep_first(vector16 &pack, int count, uint32_t filler)
{
#pragma unroll
    for (int i = 0; i < pack_words; i++) {
        const uint32_t half = (pack.word[i] & 0xffffu) | (filler & 0xffff0000u);
        const bool has_half = word_elements == 2 && count == 2 * i + 1;
        pack.word[i] = count >= word_elements * (i + 1) ? pack.word[i] : has_half ? half : filler;
    }
}

extern SHARED vector16 row_memory[]; /* as much as the launch asks for */

/* Stores the first `cols` elements of packs in shared memory, to any address, as vectors of 16 bytes that lie there and less than a pack
 * on either side. Called by all members of a team, when all of them have written their packs. */
template <int words>
DEVICE void store_vectors(const vector16 *packs, element *to, int head, int vectors, unsigned member,
                          unsigned members)
{
    constexpr int at_once = words < 0 ? 1 : 4;
    const int next = head > 0;
#pragma unroll at_once
    for (int v = (int)member; v < vectors; v += (int)members)
        store16(to + head + v * pack_columns, join_words<words>(packs[v], packs[v + next], (unsigned)head));
}

template <bool same_in_warp>
DEVICE void store_any(const vector16 *packs, element *to, int cols, unsigned member, unsigned members)
{
    const int before = (int)(-((uintptr_t)to / sizeof(element)) % pack_columns);
    const int head = before < cols ? before : cols;
    const int vectors = (cols - head) / pack_columns;
    if (!same_in_warp)
        store_vectors<-1>(packs, to, head, vectors, member, members);
    else if (head / word_elements == 0)
        store_vectors<0>(packs, to, head, vectors, member, members);
    else if (head / word_elements == 1)
        store_vectors<1>(packs, to, head, vectors, member, members);
    else if (head / word_elements == 2)
        store_vectors<2>(packs, to, head, vectors, member, members);
    else
        store_vectors<3>(packs, to, head, vectors, member, members);
#pragma unroll 1
    for (int i = (int)member; i < 2 * pack_columns; i += (int)members) {
        const int column = i < pack_columns ? i : head + (vectors - 1) * pack_columns + i;
        if (i < pack_columns ? i < head : column < cols)
            to[column] = ((const element *)packs)[column];
    }
}

/* ------------------------------------------------------------------------------------------------------------
 * Teams. All members call together, and every member gets the result. An exchange takes slots of its own; they may be used
 * again when another exchange has come between.
 * ------------------------------------------------------------------------------------------------------------ */

/* Over neighbouring lanes, a power of two of them. */
DEVICE float lanes_larger(float value, unsigned width)
{
    for (unsigned mask = width / 2; mask > 0; mask /= 2)
        value = larger(value, shuffle_xor(value, mask));
    return value;
}

DEVICE float lanes_sum(float value, unsigned width)
{
    for (unsigned mask = width / 2; mask > 0; mask /= 2)
        value += shuffle_xor(value, mask);
    return value;
}

/* Neighbouring lanes: a power of two, at most 32. */
struct lanes_team {
    enum { fills_warps = false };
    unsigned width;
};

DEVICE unsigned team_member(const lanes_team &team)
{
    return thread_index() % team.width;
}

DEVICE unsigned team_members(const lanes_team &team)
{
    return team.width;
}

/* What members have written to shared memory is there for the others. */
DEVICE void team_barrier(const lanes_team &)
{
    warp_barrier();
}

/* The value of one member. */
DEVICE float team_value(const lanes_team &team, float value, unsigned member)
{
    return shuffle(value, lane_index() / team.width * team.width + member);
}

/* The same answer for all teams of the warp: whether it is yes for all of them. */
DEVICE bool team_agrees(const lanes_team &, bool yes)
{
    return warp_vote(!yes) == 0;
}

/* Before row_memory is used for another row. */
DEVICE void team_leave(const lanes_team &)
{
    warp_barrier();
}

/* The team's part of row_memory, where a member has room for `packs`. */
DEVICE vector16 *team_memory(const lanes_team &team, int packs)
{
    return row_memory + thread_index() / team.width * team.width * packs;
}

DEVICE float team_larger(lanes_team &team, float value, int)
{
    return lanes_larger(value, team.width);
}

template <int count> DEVICE void team_sums(lanes_team &team, float (&values)[count], int)
{
#pragma unroll
    for (int i = 0; i < count; i++)
        values[i] = lanes_sum(values[i], team.width);
}

/* All threads of a block, in whole warps. */
struct block_team {
    enum { fills_warps = true };
    float (*slots)[most_warps]; /* shared */
};

DEVICE unsigned team_member(const block_team &)
{
    return thread_index();
}

DEVICE unsigned team_members(const block_team &)
{
    return thread_count();
}

DEVICE void team_barrier(const block_team &)
{
    block_barrier();
}

DEVICE bool team_agrees(const block_team &, bool yes)
{
    return yes;
}

/* The next row's exchange has a barrier of its own. */
DEVICE void team_leave(const block_team &)
{
}

DEVICE vector16 *team_memory(const block_team &, int)
{
    return row_memory;
}

DEVICE float team_larger(block_team &team, float value, int slot)
{
    value = lanes_larger(value, warp_lanes);
    if (lane_index() == 0)
        team.slots[slot][warp_index()] = value;
    block_barrier();
    bool used = lane_index() < thread_count() / warp_lanes;
    return lanes_larger(used ? team.slots[slot][lane_index()] : -float_infinity(), warp_lanes);
}

template <int count> DEVICE void team_sums(block_team &team, float (&values)[count], int slot)
{
#pragma unroll
    for (int i = 0; i < count; i++) {
        values[i] = lanes_sum(values[i], warp_lanes);
        if (lane_index() == 0)
            team.slots[slot + i][warp_index()] = values[i];
    }
    block_barrier();
    bool used = lane_index() < thread_count() / warp_lanes;
#pragma unroll
    for (int i = 0; i < count; i++)
        values[i] = lanes_sum(used ? team.slots[slot + i][lane_index()] : 0.0f, warp_lanes);
}

/* The columns of a member: from `first` on, in packs, `step` apart, before `end`. */
struct row_part {
    int64_t first, step, end;
};

template <class team> DEVICE row_part part_of(const team &members, int64_t cols)
{
    return {(int64_t)team_member(members) * pack_columns, (int64_t)team_members(members) * pack_columns, cols};
}

template <class team> DEVICE row_span span_of(const team &members, int64_t cols)
{
    const int first = (int)team_member(members) * pack_columns;
    return {first, (int)team_members(members) * pack_columns, (int)cols - first};
}

/* ------------------------------------------------------------------------------------------------------------
 * Rows that a team holds in registers, in and out. `whole`: they consist of whole packs at multiples of 16 bytes.
 * ------------------------------------------------------------------------------------------------------------ */

/* A row of a tensor [rows, cols]. */
struct tensor_row {
    const void *tensor;
    int64_t rows, cols, row;
};

DEVICE const element *first_of(const tensor_row &row)
{
    return (const element *)row.tensor + row.row * row.cols;
}

/* The vectors of 16 bytes that a row touches lie inside its tensor. */
DEVICE bool is_inside(const tensor_row &row)
{
    return row.row * row.cols >= pack_columns && (row.rows - row.row - 1) * row.cols >= 2 * pack_columns;
}

/* A row that is not whole: each pack as the two vectors that it touches; what they have of other rows is not looked at. No load waits for
 * another of the same batch. */
template <int packs>
DEVICE void load_inside(vector16 (&pack)[packs], const element *row, const row_span &span, uint32_t filler)
{
    constexpr int batch = packs < 2 ? packs : 2;
    const unsigned shift = (unsigned)((uintptr_t)row / sizeof(element) % pack_columns);
    const element *from = hold_address(row + span.first - shift);
#pragma unroll
    for (int k = 0; k < packs; k += batch) {
        vector16 low[batch], high[batch];
#pragma unroll
        for (int i = 0; i < batch; i++) {
            low[i] = high[i] = pack_of(filler);
            if (span_has(span, k + i)) {
                low[i] = load16_first(from + (k + i) * span.step);
                high[i] = load16_first(from + (k + i) * span.step + pack_columns);
            }
        }
#pragma unroll
        for (int i = 0; i < batch; i++) {
            const int left = span.left - (k + i) * span.step;
            pack[k + i] = join_packs(low[i], high[i], shift);
            if (left > 0 && left < pack_columns)
                keep_first(pack[k + i], left, filler);
        }
    }
}

/* One of the first or last rows of a tensor: element by element, by way of shared memory. */
template <int packs, class team>
DEVICE void load_at_edge(team &members, vector16 (&pack)[packs], const element *row, const row_span &span, int cols,
                         uint32_t filler)
{
    vector16 *memory = team_memory(members, packs);
    team_barrier(members);
#pragma unroll 1
    for (int column = (int)team_member(members); column < cols; column += (int)team_members(members))
        ((element *)memory)[column] = row[column];
    team_barrier(members);
#pragma unroll
    for (int k = 0; k < packs; k++) {
        pack[k] = pack_of(filler);
        if (span_has(span, k)) {
            pack[k] = memory[(span.first + k * span.step) / pack_columns];
            keep_first(pack[k], span.left - k * span.step, filler);
        }
    }
}

/* Takes the first `cols` columns of a row, all or none of them. */
template <int packs, bool whole, class team>
DEVICE void take_row(team &members, vector16 (&pack)[packs], const tensor_row &row, const row_span &span,
                     int64_t cols, uint32_t filler)
{
    if constexpr (whole)
        load_row<packs>(pack, first_of(row), span, filler);
    else if (team_agrees(members, cols == 0 || is_inside(row)))
        load_inside<packs>(pack, first_of(row), span, filler);
    else
        load_at_edge<packs>(members, pack, first_of(row), span, (int)cols, filler);
}

/* Pack k of a member's; to = hold_address(of the row + span.first). */
template <int packs, bool whole, class team>
DEVICE void put_pack(const team &members, element *to, const row_span &span, int k, const vector16 &pack)
{
    if constexpr (whole)
        store16(to + k * span.step, pack);
    else
        team_memory(members, packs)[(span.first + k * span.step) / pack_columns] = pack;
}

/* After all packs were put. */
template <int packs, bool whole, class team> DEVICE void finish_row(const team &members, element *row, int64_t cols)
{
    if constexpr (!whole) {
        team_barrier(members);
        store_any<team::fills_warps>(team_memory(members, packs), row, (int)cols, team_member(members),
                                     team_members(members));
        team_leave(members);
    }
}

/* ------------------------------------------------------------------------------------------------------------
 * Exponentials
 * ------------------------------------------------------------------------------------------------------------ */

/* exp(x - max), times a constant near 1, is 2^(scale x + offset): one multiply-add, with offset near -log2(e) max. That must
 * not be far from 0 or its rounding would be; but where |max| is beyond 2^16, bf16's next smaller number is 256 away or
 * more, so that any scale will do, and 1 makes the offset exact. fp32 has half as many columns for the same bytes, and can afford to
 * subtract first: 2^(scale (x + offset)), offset = -max. An infinite maximum makes its own exponential NaN. */
struct row_origin {
    float scale, offset;
};

enum { subtracts_first = word_elements == 1 };

DEVICE row_origin origin_at(float max)
{
    float scale = subtracts_first || abs_f32(max) <= 65536.0f ? 1.44269504f : 1.0f;
    return {scale, subtracts_first ? -max : -max * scale};
}

DEVICE float exponent_at(float x, const row_origin &origin)
{
    if constexpr (subtracts_first)
        return (x + origin.offset) * origin.scale;
    else
        return fma_f32(x, origin.scale, origin.offset);
}

DEVICE void pack_exponentials(const vector16 &pack, const row_origin &origin, float *e)
{
    pack_floats(pack, e);
#pragma unroll
    for (int i = 0; i < pack_columns; i++)
        e[i] = exp2_flush(exponent_at(e[i], origin));
}

template <int packs> DEVICE void forget_origins(vector16 (&pack)[packs])
{
#pragma unroll
    for (int k = 0; k < packs; k++)
#pragma unroll
        for (int i = 0; i < pack_words; i++)
            forget_origin(pack[k].word[i]);
}

/* -infinity if all are NaN. */
template <int packs> DEVICE float packs_larger(const vector16 (&pack)[packs])
{
    vector16 largest = pack[0];
#pragma unroll
    for (int k = 1; k < packs; k++)
#pragma unroll
        for (int i = 0; i < pack_words; i++)
            largest.word[i] = larger_word(largest.word[i], pack[k].word[i]);
    float value = pack_larger(largest);
    return larger(value, -float_infinity());
}

#endif
