/* What kernels share that work on rows: a row in the registers of a team of threads, and the team's maximum and sums.
 *
 * Eight neighbouring columns of a 16-bit type, or four of fp32, make a pack of 16 bytes. Which columns meet in which partial sum
 * depends on the number of columns alone, never on addresses or on other rows:
 *   - member m of a team of n sums columns j, of packs m, m + n, m + 2n, ..., one after the other, for each place j in a pack apart;
 *   - then its sums of all places are added, those half a pack apart first (sum_of_places), and then those of all members.
 *
 * A row that does not begin at a multiple of 16 bytes, a "shifted" one, is taken as the vectors of 16 bytes that it touches, its first and
 * last one in part, and is not moved. Then member m has, of the places that are `shift` or more in its vectors, columns of the packs
 * above, and of the others columns of packs m - 1, m - 1 + n, ...: just what member m + 1 has to hand to member m before the places are
 * added (hand_places), and the sum over the places is the same for every rotation of them. So the bits are those of an aligned row. */
#ifndef TKI_KERNELS_DEVICE_ROWS_H
#define TKI_KERNELS_DEVICE_ROWS_H

#include "kernels/device.h"

/* As much as the launch asks for. */
alignas(128) extern SHARED vector16 row_memory[];

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

/* Two or three additions deep. The places may begin anywhere: rotating them exchanges operands of additions, no more. */
DEVICE float sum_of_places(const float *v)
{
    if constexpr (pack_columns == 4)
        return (v[0] + v[2]) + (v[1] + v[3]);
    else
        return ((v[0] + v[4]) + (v[2] + v[6])) + ((v[1] + v[5]) + (v[3] + v[7]));
}

/* For every place in a pack, the sum over a member's packs. */
struct place_sums {
    float of[pack_columns];
};

DEVICE void add_places(place_sums &sums, const float *values)
{
#pragma unroll
    for (int i = 0; i < pack_columns; i++)
        sums.of[i] += values[i];
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

/* Places `begin` to before `end` of a vector are the row's; both may lie outside of it. */
struct places {
    int begin, end;
};

DEVICE bool are_all(const places &here)
{
    return here.begin <= 0 && here.end >= pack_columns;
}

DEVICE bool has_place(const places &here, int place)
{
    return here.begin <= place && place < here.end;
}

/* All places of other rows become `filler`. */
DEVICE void keep_places(vector16 &pack, const places &here, uint32_t filler)
{
#pragma unroll
    for (int i = 0; i < pack_words; i++) {
        uint32_t kept = 0;
#pragma unroll
        for (int k = 0; k < word_elements; k++)
            if (has_place(here, word_elements * i + k))
                kept |= word_elements == 1 ? 0xffffffffu : 0xffffu << (16 * k);
        pack.word[i] = (pack.word[i] & kept) | (filler & ~kept);
    }
}

/* The first or last vector of a tensor, of which there may be a part only. */
DEVICE vector16 load_places(const element *vector, const places &here, uint32_t filler)
{
    vector16 pack = pack_of(filler);
#pragma unroll 1
    for (int place = 0; place < pack_columns; place++)
        if (has_place(here, place))
            pack_replace(pack, (unsigned)place, vector[place]);
    return pack;
}

/* The first or last vector of a row. */
DEVICE void store_places(element *vector, const places &here, const vector16 &pack)
{
#pragma unroll
    for (int i = 0; i < pack_words; i++) {
        const int first = word_elements * i;
        const int last = first + word_elements - 1;
        if (has_place(here, first) && has_place(here, last))
            *(uint32_t *)(vector + first) = pack.word[i];
        else if (has_place(here, first))
            vector[first] = (element)pack.word[i];
        else if (has_place(here, last))
            vector[last] = (element)(pack.word[i] >> 16);
    }
}

DEVICE void put_vector(element *vector, const places &here, const vector16 &pack)
{
    if (are_all(here))
        store16(vector, pack);
    else
        store_places(vector, here, pack);
}

/* A row of a tensor [rows, cols]. */
struct tensor_row {
    const void *tensor;
    int64_t rows, cols, row;
};

DEVICE const element *first_of(const tensor_row &row)
{
    return (const element *)row.tensor + row.row * row.cols;
}

/* How far a row's first element lies behind the beginning of its vector. */
DEVICE int shift_of(const element *row)
{
    return (int)((uintptr_t)row / sizeof(element) % pack_columns);
}

/* The vectors of 16 bytes that a row touches lie inside its tensor. */
DEVICE bool is_inside(const tensor_row &row)
{
    return row.row * row.cols >= pack_columns && (row.rows - row.row - 1) * row.cols >= pack_columns;
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

/* Neighbouring lanes: a power of two, at most 32. Nothing is divided by it, since a division takes as long as several packs. */
struct lanes_team {
    unsigned width;
};

DEVICE unsigned team_member(const lanes_team &team)
{
    return thread_index() & (team.width - 1);
}

/* Of a number of threads or packs: whole teams in it. */
DEVICE unsigned team_rounds(const lanes_team &team, unsigned number)
{
    return number >> count_bits(team.width - 1);
}

/* The lane of the warp that is a member of this lane's team. */
DEVICE unsigned lane_of(const lanes_team &team, unsigned member)
{
    return (lane_index() & ~(team.width - 1)) | member;
}

DEVICE unsigned team_members(const lanes_team &team)
{
    return team.width;
}

/* The value of one member. */
DEVICE float team_value(const lanes_team &team, float value, unsigned member)
{
    return shuffle(value, lane_of(team, member));
}

DEVICE float team_larger(lanes_team &team, float value, int)
{
    return lanes_larger(value, team.width);
}

/* As lanes_sum() does each of them; all in one loop, so that their shuffles do not wait for one another. */
template <int count> DEVICE void team_sums(lanes_team &team, float (&values)[count], int)
{
    for (unsigned mask = team.width / 2; mask > 0; mask /= 2)
#pragma unroll
        for (int i = 0; i < count; i++)
            values[i] += shuffle_xor(values[i], mask);
}

/* Of member m + 1, and of the first to the last, the sums at places before `shift`, which are of member m's packs. `number` as for an
 * exchange. */
DEVICE void hand_places(lanes_team &team, place_sums &sums, int shift, int)
{
    const unsigned next = lane_of(team, (lane_index() + 1) & (team.width - 1));
#pragma unroll
    for (int i = 0; i < pack_columns - 1; i++) {
        const float other = shuffle(sums.of[i], next);
        sums.of[i] = i < shift ? other : sums.of[i];
    }
}

/* What the first lanes of all warps hand to the last lanes of those before them. */
typedef float warp_edges[most_warps][pack_columns];

/* All threads of a block, in whole warps. */
struct block_team {
    float (*slots)[most_warps]; /* shared */
    warp_edges *edges;          /* shared, one for each number; NULL where no row is shifted */
};

DEVICE unsigned team_member(const block_team &)
{
    return thread_index();
}

DEVICE unsigned team_members(const block_team &)
{
    return thread_count();
}

DEVICE unsigned team_rounds(const block_team &, unsigned number)
{
    return number / thread_count();
}

/* Within a block, all of whose threads have the same shift. */
DEVICE void hand_places(warp_edges &edges, place_sums &sums, int shift)
{
    if (shift == 0)
        return;
    const unsigned warp_after = (warp_index() + 1) % (thread_count() / warp_lanes);
    if (lane_index() == 0)
#pragma unroll
        for (int i = 0; i < pack_columns - 1; i++)
            edges[warp_index()][i] = sums.of[i];
    block_barrier();
#pragma unroll
    for (int i = 0; i < pack_columns - 1; i++) {
        float other = shuffle(sums.of[i], (lane_index() + 1) % warp_lanes);
        if (lane_index() == warp_lanes - 1)
            other = edges[warp_after][i];
        sums.of[i] = i < shift ? other : sums.of[i];
    }
}

DEVICE void hand_places(block_team &team, place_sums &sums, int shift, int number)
{
    hand_places(team.edges[number], sums, shift);
}

/* As many lanes as it takes for the values of all warps, a power of two. */
DEVICE unsigned lanes_for_warps()
{
    unsigned lanes = 1;
    while (lanes * warp_lanes < thread_count())
        lanes *= 2;
    return lanes;
}

/* In every lane one of the warps' values, so that groups of `width` lanes have all of them. */
DEVICE float value_of_warp(const block_team &team, int slot, unsigned width, float none)
{
    const unsigned warp = lane_index() & (width - 1);
    return warp * warp_lanes < thread_count() ? team.slots[slot][warp] : none;
}

DEVICE float team_larger(block_team &team, float value, int slot)
{
    value = lanes_larger(value, warp_lanes);
    if (lane_index() == 0)
        team.slots[slot][warp_index()] = value;
    block_barrier();
    const unsigned width = lanes_for_warps();
    return lanes_larger(value_of_warp(team, slot, width, -float_infinity()), width);
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
    const unsigned width = lanes_for_warps();
#pragma unroll
    for (int i = 0; i < count; i++)
        values[i] = value_of_warp(team, slot + i, width, 0.0f);
    for (unsigned mask = width / 2; mask > 0; mask /= 2)
#pragma unroll
        for (int i = 0; i < count; i++)
            values[i] += shuffle_xor(values[i], mask);
}

/* The columns of a member: from `first` on, in packs, `step` apart, before `end`. */
struct row_part {
    int64_t first, step, end;
};

template <class team> DEVICE row_part part_of(const team &members, int64_t cols)
{
    return {(int64_t)team_member(members) * pack_columns, (int64_t)team_members(members) * pack_columns, cols};
}

/* ------------------------------------------------------------------------------------------------------------
 * Rows that a team holds in registers, in and out. Not `shifted`: they consist of whole packs at multiples of 16 bytes. Shifted ones lie
 * equally far behind a multiple of 16 bytes in all tensors of the call.
 * ------------------------------------------------------------------------------------------------------------ */

/* A member's vectors of a row: from place `first` on, `step` places apart, in the `left` places that the row has from `first` on. Places are
 * counted from the beginning of the row's first vector. Kept this way round because step is the same for the whole block. */
struct row_span {
    int first, step, left;
    int shift; /* places before the row */
    int reach; /* places up to the end of any row of the call, at most */
};

/* `exists`: some lanes may have no row. */
template <bool shifted, class team> DEVICE row_span span_of(const team &members, const tensor_row &row, bool exists)
{
    const int shift = shifted ? shift_of(first_of(row)) : 0;
    const int first = (int)team_member(members) * pack_columns;
    return {first, (int)team_members(members) * pack_columns, exists ? (int)row.cols + shift - first : 0, shift,
            (int)row.cols + (shifted ? pack_columns - 1 : 0)};
}

DEVICE bool span_has(const row_span &span, int k)
{
    return k * span.step < span.left;
}

/* Whether any thread of the block can have it, so that nobody computes with vectors past the end of all rows. Asked only where there are
 * many: the question costs as much as half a vector. */
template <int packs, class team> DEVICE bool span_may_have(const team &, const row_span &, int)
{
    return true;
}

template <int packs> DEVICE bool span_may_have(const block_team &, const row_span &span, int k)
{
    return packs <= 4 || k == 0 || k * span.step < span.reach;
}

DEVICE places places_of(const row_span &span, int k)
{
    return {k == 0 ? span.shift - span.first : 0, span.left - k * span.step};
}

/* What the first and the last vector have of other rows becomes `filler`. */
template <int packs> DEVICE void keep_ends(vector16 (&pack)[packs], const row_span &span, uint32_t filler)
{
#pragma unroll
    for (int k = 0; k < packs; k++)
        if (span_has(span, k) && !are_all(places_of(span, k)))
            keep_places(pack[k], places_of(span, k), filler);
}

/* Vectors past the row's end, and what the first and the last have of other rows, become `filler`. No load waits for another: the rows of
 * which a vector lies outside of the tensor, two at most, have loads of their own. */
template <int packs, bool shifted, class team>
DEVICE void take_row(const team &, int, vector16 (&pack)[packs], const tensor_row &row, const row_span &span,
                     uint32_t filler)
{
    const element *from = hold_address(first_of(row) + (span.first - span.shift));
    if (!shifted || is_inside(row)) {
#pragma unroll
        for (int k = 0; k < packs; k++) {
            pack[k] = pack_of(filler);
            if (span_has(span, k))
                pack[k] = load16_first(from + k * span.step);
        }
    } else {
#pragma unroll
        for (int k = 0; k < packs; k++)
            pack[k] = load_places(from + k * span.step, places_of(span, k), filler);
    }
    if constexpr (shifted)
        keep_ends(pack, span, filler);
}

/* Between the last take_row() and the first put_pack(). */
template <class team> DEVICE void end_taking(const team &)
{
}

/* Where a member's first vector of a row of the result goes. */
template <class team> DEVICE element *place_for(const team &, const tensor_row &row, const row_span &span)
{
    return hold_address((element *)row.tensor + row.row * row.cols + (span.first - span.shift));
}

/* Vector k of a member's; `to` by place_for(). */
template <bool shifted, class team>
DEVICE void put_pack(const team &, element *to, const row_span &span, int k, const vector16 &pack)
{
    if constexpr (shifted)
        put_vector(to + k * span.step, places_of(span, k), pack);
    else
        store16(to + k * span.step, pack);
}

/* ------------------------------------------------------------------------------------------------------------
 * Narrow rows that are shifted. The neighbouring rows of a block are moved between memory and shared memory together, since memory takes
 * parts of vectors badly.
 * ------------------------------------------------------------------------------------------------------------ */

/* Elements [before, before + count) of each tensor, taken as the vectors that they touch; the first of these begins `shift` elements before. */
struct chunk {
    int64_t before;
    int count, shift;
};

/* Lanes whose rows lie in a chunk: that of tensor number i in shared memory, `apart` vectors behind that of number i - 1. The result
 * comes where number 0 was. */
struct chunk_team : lanes_team {
    chunk here;
    unsigned apart;
};

/* Of the threads of a block that has narrow rows. */
template <bool in_chunks> struct narrow_team_of {
    typedef lanes_team type;
};
template <> struct narrow_team_of<true> {
    typedef chunk_team type;
};
template <bool in_chunks> using narrow_team = typename narrow_team_of<in_chunks>::type;

/* The block's rows from `first` on. */
DEVICE chunk chunk_of(const tensor_row &first, int64_t rows_here)
{
    const int64_t left = first.rows - first.row;
    return {first.row * first.cols, (int)((left < rows_here ? left : rows_here) * first.cols),
            shift_of(first_of(first))};
}

/* The vectors of a chunk that it has as a whole. */
DEVICE places whole_vectors(const chunk &of)
{
    return {of.shift > 0, (of.shift + of.count) / pack_columns};
}

/* Calls use(element) for those of the chunk's first and last vector, if these are there in part only. One element a thread. */
template <class function> DEVICE void each_edge(const chunk &of, const function &use)
{
    const places whole = whole_vectors(of);
    const int thread = (int)thread_index();
    const int place = thread < pack_columns ? thread : whole.end * pack_columns + thread - pack_columns;
    const bool is_edge = thread < pack_columns ? whole.begin > 0 : thread < 2 * pack_columns;
    if (is_edge && place >= of.shift && place < of.shift + of.count)
        use(place - of.shift);
}

/* All threads of a block, which hold `packs` vectors each. */
template <int packs> DEVICE void chunk_load(const chunk_team &team, int number, const void *tensor)
{
    const chunk of = team.here;
    const element *from = (const element *)tensor + of.before;
    vector16 *to = row_memory + number * team.apart;
    const places whole = whole_vectors(of);
    vector16 v[packs];
#pragma unroll
    for (int k = 0; k < packs; k++) {
        const int vector = k * (int)thread_count() + (int)thread_index();
        v[k] = pack_of(0);
        if (vector >= whole.begin && vector < whole.end)
            v[k] = load16_first(from - of.shift + vector * pack_columns);
    }
    each_edge(of, [&](int i) { ((element *)to)[of.shift + i] = from[i]; });
#pragma unroll
    for (int k = 0; k < packs; k++) {
        const int vector = k * (int)thread_count() + (int)thread_index();
        if (vector >= whole.begin && vector < whole.end)
            to[vector] = v[k];
    }
}

/* When all rows were put. */
template <int packs> DEVICE void chunk_store(const chunk_team &team, void *tensor)
{
    const chunk of = team.here;
    element *to = (element *)tensor + of.before;
    const places whole = whole_vectors(of);
    block_barrier();
#pragma unroll
    for (int k = 0; k < packs; k++) {
        const int vector = k * (int)thread_count() + (int)thread_index();
        if (vector >= whole.begin && vector < whole.end)
            store16(to - of.shift + vector * pack_columns, row_memory[vector]);
    }
    each_edge(of, [&](int i) { to[i] = ((const element *)row_memory)[of.shift + i]; });
    block_barrier(); /* before the next chunk comes */
}

/* Of a row in the chunk, where the vector with place `first` lies behind the chunk's beginning. */
DEVICE int in_chunk(const chunk_team &members, const tensor_row &row, const row_span &span)
{
    return (int)(row.row * row.cols - members.here.before) + members.here.shift + span.first - span.shift;
}

template <int packs, bool shifted>
DEVICE void take_row(const chunk_team &members, int number, vector16 (&pack)[packs], const tensor_row &row,
                     const row_span &span, uint32_t filler)
{
    const int from = in_chunk(members, row, span) / pack_columns;
    const vector16 *vectors = row_memory + number * members.apart;
#pragma unroll
    for (int k = 0; k < packs; k++) {
        pack[k] = pack_of(filler);
        if (span_has(span, k))
            pack[k] = vectors[from + k * (int)members.width];
    }
    keep_ends(pack, span, filler);
}

DEVICE void end_taking(const chunk_team &)
{
    block_barrier();
}

DEVICE element *place_for(const chunk_team &members, const tensor_row &row, const row_span &span)
{
    return (element *)row_memory + in_chunk(members, row, span);
}

template <bool shifted>
DEVICE void put_pack(const chunk_team &members, element *to, const row_span &span, int k, const vector16 &pack)
{
    const int vector = (int)((vector16 *)to - row_memory) + k * (int)members.width;
    const places here = places_of(span, k);
    if (are_all(here))
        row_memory[vector] = pack;
    else
        store_places((element *)(row_memory + vector), here, pack);
}

/* ------------------------------------------------------------------------------------------------------------
 * Sums
 * ------------------------------------------------------------------------------------------------------------ */

/* The member's sum of the columns of its packs. All members call together. */
template <bool shifted, class team> DEVICE float sum_of_member(team &members, place_sums &sums, int shift, int number)
{
    if constexpr (shifted)
        hand_places(members, sums, shift, number);
    return sum_of_places(sums.of);
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
