/* Teams that are clusters of blocks, each with a stretch of the row in its shared memory: Hopper and later, CUDA only. In an exchange each
 * warp writes its values into the shared memory of every block, and each block waits for all of them on a barrier of its own: no
 * block reads the memory of another, which may have ended. */
#ifndef TKI_BACKEND_DEVICE_CLUSTER_H
#define TKI_BACKEND_DEVICE_CLUSTER_H

#include "backend/device_rows.h"

enum { most_cluster_warps = 128 }; /* in all blocks of a cluster together */

DEVICE unsigned cluster_rank()
{
    unsigned rank;
    asm("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
    return rank;
}

DEVICE unsigned cluster_blocks()
{
    unsigned blocks;
    asm("mov.u32 %0, %%cluster_nctarank;" : "=r"(blocks));
    return blocks;
}

/* Clusters lie one after the other along the grid's first axis, one row to each. */
DEVICE int64_t row_of_cluster()
{
    unsigned cluster;
    asm("mov.u32 %0, %%clusterid.x;" : "=r"(cluster));
    return cluster;
}

/* Each arrival is followed by a wait, or by the end of the thread. */
DEVICE void cluster_arrive()
{
    asm volatile("barrier.cluster.arrive.relaxed.aligned;" ::: "memory");
}

DEVICE void cluster_wait()
{
    asm volatile("barrier.cluster.wait.acquire.aligned;" ::: "memory");
}

DEVICE uint32_t shared_address(const void *place)
{
    return (uint32_t)__cvta_generic_to_shared(place);
}

/* Where block `rank` has what lies at `address` here. */
DEVICE uint32_t cluster_address(uint32_t address, unsigned rank)
{
    uint32_t there;
    asm("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(there) : "r"(address), "r"(rank));
    return there;
}

/* ------------------------------------------------------------------------------------------------------------
 * Barriers in shared memory with one arrival to a phase, which announces the bytes that belong to it. Bytes may come before
 * their announcement.
 * ------------------------------------------------------------------------------------------------------------ */

DEVICE void barrier_create(uint32_t barrier)
{
    asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(barrier) : "memory");
}

/* Lets the other blocks and the copies find barriers that were created. */
DEVICE void barrier_publish()
{
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
}

DEVICE void barrier_announce(uint32_t barrier, uint32_t bytes)
{
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(barrier), "r"(bytes) : "memory");
}

/* For the end of the first phase, and with it what this block's copies have brought. */
DEVICE void barrier_wait(uint32_t barrier)
{
    uint32_t done = 0;
    while (!done)
        asm volatile("{\n\t.reg .pred p;\n\t"
                     "mbarrier.try_wait.parity.acquire.cta.shared::cta.b64 p, [%1], 0;\n\t"
                     "selp.u32 %0, 1, 0, p;\n\t}"
                     : "=r"(done)
                     : "r"(barrier)
                     : "memory");
}

/* The same for what other blocks have written. */
DEVICE void barrier_wait_cluster(uint32_t barrier)
{
    uint32_t done = 0;
    while (!done)
        asm volatile("{\n\t.reg .pred p;\n\t"
                     "mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 p, [%1], 0;\n\t"
                     "selp.u32 %0, 1, 0, p;\n\t}"
                     : "=r"(done)
                     : "r"(barrier)
                     : "memory");
}

/* Four bytes into a block of the cluster, counted by that block's barrier. */
DEVICE void cluster_send(uint32_t to, float value, uint32_t barrier)
{
    asm volatile("st.async.shared::cluster.mbarrier::complete_tx::bytes.b32 [%0], %1, [%2];" ::"r"(to),
                 "r"(bits_of(value)), "r"(barrier)
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

template <int numbers> struct cluster_memory {
    uint64_t exchanged[numbers]; /* barriers */
    uint64_t staged;             /* a barrier */
    float slots[numbers][most_cluster_warps];
};

struct cluster_team {
    uint32_t exchanged, staged; /* shared addresses */
    float (*slots)[most_cluster_warps];
    bool met; /* the other blocks are there, and their barriers are ready */
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

/* Each number is used once. */
template <int count> DEVICE void team_exchange(cluster_team &team, const float (&values)[count], int number)
{
    if (!team.met) {
        cluster_wait();
        team.met = true;
    }
    const unsigned warps = thread_count() / warp_lanes;
    const uint32_t barrier = team.exchanged + 8 * number;
    if (thread_index() == 0)
        barrier_announce(barrier, cluster_blocks() * warps * count * (uint32_t)sizeof(float));
    if (lane_index() < cluster_blocks()) {
        const uint32_t barrier_there = cluster_address(barrier, lane_index());
#pragma unroll
        for (int i = 0; i < count; i++) {
            const float *place = &team.slots[number + i][cluster_rank() * warps + warp_index()];
            cluster_send(cluster_address(shared_address(place), lane_index()), values[i], barrier_there);
        }
    }
    warp_barrier();
    barrier_wait_cluster(barrier);
}

/* The largest of the values that the warps have exchanged. */
DEVICE float team_largest(const cluster_team &team, int number)
{
    float largest = -float_infinity();
    for (unsigned i = lane_index(); i < cluster_blocks() * thread_count() / warp_lanes; i += warp_lanes)
        largest = larger(largest, team.slots[number][i]);
    return lanes_larger(largest, warp_lanes);
}

DEVICE float team_larger(cluster_team &team, float value, int number)
{
    const float of_warp[1] = {lanes_larger(value, warp_lanes)};
    team_exchange(team, of_warp, number);
    return team_largest(team, number);
}

template <int count> DEVICE void team_sums(cluster_team &team, float (&values)[count], int number)
{
#pragma unroll
    for (int i = 0; i < count; i++)
        values[i] = lanes_sum(values[i], warp_lanes);
    team_exchange(team, values, number);
#pragma unroll
    for (int i = 0; i < count; i++) {
        float sum = 0.0f;
        for (unsigned w = lane_index(); w < cluster_blocks() * thread_count() / warp_lanes; w += warp_lanes)
            sum += team.slots[number + i][w];
        values[i] = lanes_sum(sum, warp_lanes);
    }
}

/* ------------------------------------------------------------------------------------------------------------
 * Stretches in shared memory. Rows consist of whole packs and begin at multiples of 16 bytes.
 * ------------------------------------------------------------------------------------------------------------ */

extern __shared__ vector16 stage_memory[]; /* as much as the launch asks for */

/* A thread looks at packs thread, thread + threads, ... of the block's stretch. */
struct stage {
    uint32_t base; /* shared address of the first pack */
    int packs;
};

/* The block's part of the `number`-th of the rows that are staged together. */
DEVICE stage stage_of(int64_t cols, int number)
{
    const int64_t stretch = stretch_packs(cols);
    const int64_t left = cols / pack_columns - stretch * cluster_rank();
    return {shared_address(stage_memory) + (uint32_t)(stretch * number) * (uint32_t)sizeof(vector16),
            (int)(left < stretch ? left < 0 ? 0 : left : stretch)};
}

/* Thread 0 alone, before cluster_open(): `rows` stages of equal size will be filled. */
DEVICE void stage_announce(const cluster_team &team, const stage &to, int rows)
{
    barrier_announce(team.staged, (uint32_t)(to.packs * rows) * (uint32_t)sizeof(vector16));
}

/* Thread 0 alone: starts the copy of one row. */
DEVICE void stage_fill(const cluster_team &team, const stage &to, const element *row, int64_t cols)
{
    const uint32_t bytes = (uint32_t)to.packs * (uint32_t)sizeof(vector16);
    if (bytes > 0)
        bulk_copy(to.base, row + stretch_packs(cols) * cluster_rank() * pack_columns, bytes, team.staged);
}

/* Every thread, before it looks at a pack. One copy and one wait: several smaller ones took a tenth longer. */
DEVICE void stage_wait(const cluster_team &team)
{
    barrier_wait(team.staged);
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

#endif
