/* Teams that are clusters of blocks, each with a stretch of the row in its shared memory: Hopper and later, CUDA only. In an exchange each
 * warp writes its values into the shared memory of every block, and each block waits for all of them on a barrier of its own: no
 * block reads the memory of another, which may have ended. */
#ifndef TKI_BACKEND_DEVICE_CLUSTER_H
#define TKI_BACKEND_DEVICE_CLUSTER_H

#include "backend/device_hopper.h"
#include "backend/device_rows.h"

enum { most_cluster_warps = 128 }; /* in all blocks of a cluster together */

/* Clusters lie one after the other along the grid's first axis, one row to each. */
DEVICE int64_t row_of_cluster()
{
    unsigned cluster;
    asm("mov.u32 %0, %%clusterid.x;" : "=r"(cluster));
    return cluster;
}

/* Into a block of the cluster, counted by that block's barrier. A message costs much the same whether it has one value or four. */
DEVICE void cluster_send(uint32_t to, const float (&values)[1], uint32_t barrier)
{
    cluster_send_word(to, bits_of(values[0]), barrier);
}

DEVICE void cluster_send(uint32_t to, const float (&values)[2], uint32_t barrier)
{
    asm volatile("st.async.shared::cluster.mbarrier::complete_tx::bytes.v2.b32 [%0], {%1, %2}, [%3];" ::"r"(to),
                 "r"(bits_of(values[0])), "r"(bits_of(values[1])), "r"(barrier)
                 : "memory");
}

DEVICE void cluster_send(uint32_t to, const float (&values)[4], uint32_t barrier)
{
    asm volatile(
        "st.async.shared::cluster.mbarrier::complete_tx::bytes.v4.b32 [%0], {%1, %2, %3, %4}, [%5];" ::"r"(to),
        "r"(bits_of(values[0])), "r"(bits_of(values[1])), "r"(bits_of(values[2])), "r"(bits_of(values[3])),
        "r"(barrier)
        : "memory");
}

/* A multiple of 16 bytes from global into shared memory, counted by a barrier; cached as load16_first() does. */
DEVICE void bulk_copy(uint32_t to, const void *from, uint32_t bytes, uint32_t barrier)
{
    asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.L2::cache_hint"
                 " [%0], [%1], %2, [%3], %4;" ::"r"(to),
                 "l"(from), "r"(bytes), "r"(barrier), "l"(policy_read_first())
                 : "memory");
}

/* ------------------------------------------------------------------------------------------------------------
 * The team: all threads of all blocks of a cluster
 * ------------------------------------------------------------------------------------------------------------ */

template <int numbers> struct alignas(16) cluster_memory {
    float slots[numbers][most_cluster_warps];
    uint64_t exchanged[numbers]; /* barriers */
    uint64_t staged;             /* a barrier */
};

struct cluster_team {
    uint32_t exchanged, staged; /* shared addresses */
    float (*slots)[most_cluster_warps];
    bool met; /* the other blocks are there, and their barriers are ready */
};

/* The floats of a message with `count` values, side by side in the slots of its exchange, one message after the other. */
template <int count> struct alignas(count == 3 ? 16 : 4 * count) message {
    float values[count == 3 ? 4 : count];
};

/* First, all threads of the block: makes the barriers. Only thread 0 may use them yet. */
template <int numbers> DEVICE cluster_team cluster_begin(cluster_memory<numbers> &memory)
{
    const cluster_team team = {shared_address(memory.exchanged), shared_address(&memory.staged), memory.slots, false};
    if (thread_index() == 0) {
#pragma unroll
        for (int i = 0; i < numbers; i++)
            barrier_create(team.exchanged + 8 * i);
        barrier_create(team.staged);
        barrier_publish();
    }
    return team;
}

/* Then: all threads of the block may use its barriers. Nothing of another block is touched yet: the first exchange waits until all are
 * there. */
DEVICE void cluster_open()
{
    block_barrier();
    cluster_arrive();
}

DEVICE unsigned team_member(const cluster_team &)
{
    return cluster_rank() * thread_count() + thread_index();
}

/* A block's stretch of a row, in packs. Rows have less than 2^31 columns. */
DEVICE int64_t stretch_packs(int64_t cols)
{
    const unsigned packs = ((unsigned)cols + pack_columns - 1) / pack_columns;
    return (packs + cluster_blocks() - 1) / cluster_blocks();
}

DEVICE row_part part_of(const cluster_team &, int64_t cols)
{
    const int64_t stretch = stretch_packs(cols) * pack_columns;
    const int64_t begin = stretch * cluster_rank();
    const int64_t end = begin + stretch;
    return {begin + (int64_t)thread_index() * pack_columns, (int64_t)thread_count() * pack_columns,
            end < cols ? end : cols};
}

/* The warps send their values to all blocks. Each exchange has a number of its own, and as many behind it as its messages have floats. */
template <int count> DEVICE void team_exchange(cluster_team &team, const float (&values)[count], int number)
{
    message<count> all = {};
#pragma unroll
    for (int i = 0; i < count; i++)
        all.values[i] = values[i];
    if (!team.met) {
        cluster_wait();
        team.met = true;
    }
    const unsigned warps = thread_count() / warp_lanes;
    const uint32_t barrier = team.exchanged + 8 * number;
    if (thread_index() == 0)
        barrier_announce(barrier, cluster_blocks() * warps * (uint32_t)sizeof all);
    if (lane_index() < cluster_blocks()) {
        const message<count> *place = (message<count> *)team.slots[number] + cluster_rank() * warps + warp_index();
        cluster_send(cluster_address(shared_address(place), lane_index()), all.values,
                     cluster_address(barrier, lane_index()));
    }
    warp_barrier();
    barrier_wait_cluster(barrier);
}

/* What a warp of the cluster has sent. */
template <int count> DEVICE message<count> team_received(const cluster_team &team, int number, unsigned warp)
{
    return ((const message<count> *)team.slots[number])[warp];
}

/* The largest of the first values that the warps have exchanged. */
template <int count> DEVICE float team_largest(const cluster_team &team, int number)
{
    float largest = -float_infinity();
    for (unsigned w = lane_index(); w < cluster_blocks() * thread_count() / warp_lanes; w += warp_lanes)
        largest = larger(largest, team_received<count>(team, number, w).values[0]);
    return lanes_larger(largest, warp_lanes);
}

DEVICE float team_larger(cluster_team &team, float value, int number)
{
    const float of_warp[1] = {lanes_larger(value, warp_lanes)};
    team_exchange(team, of_warp, number);
    return team_largest<1>(team, number);
}

template <int count> DEVICE void team_sums(cluster_team &team, float (&values)[count], int number)
{
#pragma unroll
    for (int i = 0; i < count; i++)
        values[i] = lanes_sum(values[i], warp_lanes);
    team_exchange(team, values, number);
    float sums[count] = {};
    for (unsigned w = lane_index(); w < cluster_blocks() * thread_count() / warp_lanes; w += warp_lanes) {
        const message<count> of_warp = team_received<count>(team, number, w);
#pragma unroll
        for (int i = 0; i < count; i++)
            sums[i] += of_warp.values[i];
    }
#pragma unroll
    for (int i = 0; i < count; i++)
        values[i] = lanes_sum(sums[i], warp_lanes);
}

/* ------------------------------------------------------------------------------------------------------------
 * Stretches in shared memory, brought by bulk copies. `whole`: rows consist of whole packs at multiples of 16 bytes. Of other rows the
 * copies bring all vectors of 16 bytes that a stretch touches, and the threads move the packs to where they belong.
 * ------------------------------------------------------------------------------------------------------------ */

/* A thread looks at packs thread, thread + threads, ... of the block's stretch, and no other thread does between stage_wait() and
 * stage_flush(). */
struct stage {
    uint32_t base; /* shared address of the first pack */
    int packs;
};

/* The block's part of the `number`-th of the rows that are staged together. */
template <bool whole> DEVICE stage stage_of(int64_t cols, int number)
{
    const int64_t stretch = stretch_packs(cols);
    const int64_t left = (cols + pack_columns - 1) / pack_columns - stretch * cluster_rank();
    const int64_t room = whole ? stretch : stretch + 1;
    return {shared_address(row_memory) + (uint32_t)(room * number) * (uint32_t)sizeof(vector16),
            (int)(left < stretch ? left < 0 ? 0 : left : stretch)};
}

DEVICE vector16 stage_load(const stage &at, int pack)
{
    vector16 v;
    asm volatile("ld.shared.v4.u32 {%0, %1, %2, %3}, [%4];"
                 : "=r"(v.word[0]), "=r"(v.word[1]), "=r"(v.word[2]), "=r"(v.word[3])
                 : "r"(at.base + (uint32_t)pack * (uint32_t)sizeof(vector16)));
    return v;
}

DEVICE void stage_store(const stage &at, int pack, const vector16 &v)
{
    asm volatile(
        "st.shared.v4.u32 [%0], {%1, %2, %3, %4};" ::"r"(at.base + (uint32_t)pack * (uint32_t)sizeof(vector16)),
        "r"(v.word[0]), "r"(v.word[1]), "r"(v.word[2]), "r"(v.word[3])
        : "memory");
}

/* The vectors of 16 bytes that a stretch touches. Copies bring those from `first` to before `end`, which lie inside the tensor; of the
 * tensor's very first and last one there may be a part only. */
struct raw_stretch {
    const element *elements; /* the stretch's first */
    int64_t left;            /* elements of the tensor from there on */
    int shift;               /* of that behind the beginning of its vector */
    int first, end;
};

DEVICE raw_stretch raw_stretch_of(const tensor_row &from, const stage &to)
{
    const int64_t before = from.row * from.cols + stretch_packs(from.cols) * cluster_rank() * pack_columns;
    const element *elements = (const element *)from.tensor + before;
    const int64_t left = from.rows * from.cols - before;
    const int shift = (int)((uintptr_t)elements / sizeof(element) % pack_columns);
    const int64_t inside = left > 0 ? (left + shift) / pack_columns : 0;
    return {elements, left, shift, before < shift, (int)(inside < to.packs + 1 ? inside : to.packs + 1)};
}

DEVICE uint32_t stage_bytes(const raw_stretch &raw)
{
    return raw.first < raw.end ? (uint32_t)(raw.end - raw.first) * (uint32_t)sizeof(vector16) : 0;
}

DEVICE void shared_store(uint32_t to, uint16_t bits)
{
    asm volatile("st.shared.u16 [%0], %1;" ::"r"(to), "h"(bits) : "memory");
}

DEVICE void shared_store(uint32_t to, uint32_t bits)
{
    asm volatile("st.shared.u32 [%0], %1;" ::"r"(to), "r"(bits) : "memory");
}

/* Every thread, before cluster_open(): what no copy brings. */
DEVICE void stage_fill_edges(const stage &to, const raw_stretch &raw)
{
    const int vector = thread_index() < pack_columns ? 0 : raw.end;
    const int64_t place = (int64_t)vector * pack_columns + thread_index() % pack_columns - raw.shift;
    const bool missing = vector < raw.first || vector >= raw.end;
    if (thread_index() < 2 * pack_columns && missing && vector <= to.packs && place >= 0 && place < raw.left)
        shared_store(to.base + (uint32_t)(place + raw.shift) * (uint32_t)sizeof(element), raw.elements[place]);
}

/* Every thread, before cluster_open(): starts the copies of `count` rows into as many stages. */
template <bool whole, int count>
DEVICE void stage_fill(const cluster_team &team, const stage (&to)[count], const tensor_row (&from)[count])
{
    raw_stretch raw[count];
    uint32_t bytes = 0;
#pragma unroll
    for (int i = 0; i < count; i++) {
        raw[i] = raw_stretch_of(from[i], to[i]);
        if constexpr (whole)
            raw[i].end = to[i].packs;
        else
            stage_fill_edges(to[i], raw[i]);
        bytes += stage_bytes(raw[i]);
    }
    if (thread_index() != 0)
        return;
    barrier_announce(team.staged, bytes);
#pragma unroll
    for (int i = 0; i < count; i++)
        if (stage_bytes(raw[i]) > 0)
            bulk_copy(to[i].base + (uint32_t)raw[i].first * (uint32_t)sizeof(vector16),
                      raw[i].elements + raw[i].first * pack_columns - raw[i].shift, stage_bytes(raw[i]), team.staged);
}

/* Moves the packs of a row that is not whole to their places; elements past its end become `filler`. A pack is put where no thread has yet
 * to look: all have read what lies before it. */
template <int words> DEVICE void stage_move(const stage &at, unsigned shift, int left, uint32_t filler)
{
#pragma unroll 1
    for (int first = 0; first < at.packs; first += (int)thread_count()) {
        const int pack = first + (int)thread_index();
        vector16 v = pack_of(filler);
        if (pack < at.packs) {
            v = join_words<words>(stage_load(at, pack), stage_load(at, pack + 1), shift);
            if (left < (pack + 1) * pack_columns)
                keep_first(v, left - pack * pack_columns, filler);
        }
        block_barrier();
        if (pack < at.packs)
            stage_store(at, pack, v);
    }
}

DEVICE void stage_align(const stage &at, const tensor_row &row, uint32_t filler)
{
    const int64_t begin = stretch_packs(row.cols) * cluster_rank() * pack_columns;
    const element *elements = first_of(row) + begin;
    const unsigned shift = (unsigned)((uintptr_t)elements / sizeof(element) % pack_columns);
    const int left = (int)(row.cols - begin);
    if (shift / word_elements == 0)
        stage_move<0>(at, shift, left, filler);
    else if (shift / word_elements == 1)
        stage_move<1>(at, shift, left, filler);
    else if (shift / word_elements == 2)
        stage_move<2>(at, shift, left, filler);
    else
        stage_move<3>(at, shift, left, filler);
}

/* Every thread, before it looks at a pack. One copy and one wait: several smaller ones took a tenth longer. */
template <bool whole, int count>
DEVICE void stage_wait(const cluster_team &team, const stage (&at)[count], const tensor_row (&from)[count],
                       uint32_t filler)
{
    barrier_wait(team.staged);
    if constexpr (!whole) {
#pragma unroll
        for (int i = 0; i < count; i++)
            stage_align(at[i], from[i], filler);
    }
}

/* A pack of the result: of a whole row to its place behind `to`, the stretch's first; else into the stage. */
template <bool whole> DEVICE void stage_put(const stage &at, int pack, element *to, const vector16 &v)
{
    if constexpr (whole)
        store16(to + pack * pack_columns, v);
    else
        stage_store(at, pack, v);
}

/* When every pack was put. */
template <bool whole> DEVICE void stage_flush(const stage &from, element *row, int64_t cols)
{
    if constexpr (!whole) {
        const int64_t begin = stretch_packs(cols) * cluster_rank() * pack_columns;
        const int64_t left = cols - begin;
        const int here = from.packs * pack_columns;
        block_barrier();
        if (left > 0)
            store_any<true>(row_memory + (from.base - shared_address(row_memory)) / sizeof(vector16), row + begin,
                            left < here ? (int)left : here, thread_index(), thread_count());
    }
}

#endif
