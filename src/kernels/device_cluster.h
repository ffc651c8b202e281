/* Teams that are clusters of blocks, each with a stretch of the row in its shared memory: Hopper and later, CUDA only. In an exchange each
 * warp writes its values into the shared memory of every block, and each block waits for all of them on a barrier of its own: no
 * block reads the memory of another, which may have ended. */
#ifndef TKI_KERNELS_DEVICE_CLUSTER_H
#define TKI_KERNELS_DEVICE_CLUSTER_H

#include "kernels/device_hopper.h"
#include "kernels/device_rows.h"

/* Bytes of row_memory. */
DEVICE uint32_t row_memory_bytes()
{
    uint32_t bytes;
    asm("mov.u32 %0, %%dynamic_smem_size;" : "=r"(bytes));
    return bytes;
}

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

/* Copies of stretches that are long come in chunks, so that the first pass need not wait for the last. */
enum { stage_chunks = 4 };

/* `numbers` of exchanges, `hands` of those of places, and the warps of all blocks of a cluster together. */
template <int numbers, int hands, int most_cluster_warps> struct alignas(16) cluster_memory {
    float slots[numbers][most_cluster_warps];
    uint64_t exchanged[numbers];   /* barriers */
    uint64_t staged[stage_chunks]; /* barriers */
    warp_edges edges[hands];
};

struct cluster_team {
    uint32_t exchanged, staged; /* shared addresses */
    float *slots;
    unsigned slots_apart; /* floats from one number's slots to the next */
    warp_edges *edges;
    bool met; /* the other blocks are there, and their barriers are ready */
};

/* The floats of a message with `count` values, side by side in the slots of its exchange, one message after the other. */
template <int count> struct alignas(count == 3 ? 16 : 4 * count) message {
    float values[count == 3 ? 4 : count];
};

/* First, all threads of the block: makes the barriers. Only thread 0 may use them yet. */
template <int numbers, int hands, int warps>
DEVICE cluster_team cluster_begin(cluster_memory<numbers, hands, warps> &memory)
{
    const cluster_team team = {
        shared_address(memory.exchanged), shared_address(memory.staged), memory.slots[0], warps, memory.edges, false};
    if (thread_index() == 0) {
#pragma unroll
        for (int i = 0; i < numbers; i++)
            barrier_create(team.exchanged + 8 * i);
#pragma unroll
        for (int i = 0; i < stage_chunks; i++)
            barrier_create(team.staged + 8 * i);
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

template <int count> DEVICE const message<count> *messages_of(const cluster_team &team, int number)
{
    return (const message<count> *)(team.slots + number * team.slots_apart);
}

DEVICE void hand_places(cluster_team &team, place_sums &sums, int shift, int number)
{
    hand_places(team.edges[number], sums, shift);
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
        const message<count> *place = messages_of<count>(team, number) + cluster_rank() * warps + warp_index();
        cluster_send(cluster_address(shared_address(place), lane_index()), all.values,
                     cluster_address(barrier, lane_index()));
    }
    warp_barrier();
    barrier_wait_cluster(barrier);
}

/* What a warp of the cluster has sent. */
template <int count> DEVICE message<count> team_received(const cluster_team &team, int number, unsigned warp)
{
    return messages_of<count>(team, number)[warp];
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
 * Stretches of rows, brought into shared memory by bulk copies as far as there is room. `shifted`: see device_rows.h; the rows lie equally
 * far behind a multiple of 16 bytes in all tensors of the call. A stretch then begins and ends inside of a vector, of which the
 * neighbouring block has the rest.
 * ------------------------------------------------------------------------------------------------------------ */

/* Where the block's part of a row lies, in vectors of 16 bytes, in all tensors alike. Places are counted from its first vector on. */
struct row_stretch {
    int64_t before; /* elements of the tensor before the first vector: negative if that is not whole */
    int64_t total;  /* of the tensor */
    int vectors;    /* that it touches */
    int staged;     /* of these in shared memory, the first ones */
    int shift, end; /* the first place and that behind the last */
};

/* A thread looks at vectors thread, thread + threads, ..., and no other thread does after stage_wait(). */
struct stage {
    uint32_t base;       /* shared address of the first vector */
    const element *from; /* where it lies in the tensor */
};

/* Copies are fastest to where the lowest bits of the address are the same as those of the source. */
enum { stage_unit = 128, most_stage_offset = stage_unit - (int)sizeof(vector16) };

/* Bytes from the stage of one of `tensors` rows to the next. */
DEVICE uint32_t stage_apart(int tensors)
{
    return row_memory_bytes() / tensors / stage_unit * stage_unit;
}

/* `tensors` rows are staged together. */
template <bool shifted> DEVICE row_stretch stretch_of(const tensor_row &row, int tensors)
{
    const int64_t stretch = stretch_packs(row.cols) * pack_columns;
    const int64_t begin = stretch * cluster_rank();
    const int64_t left = row.cols - begin < stretch ? row.cols - begin : stretch;
    const int shift = shifted ? shift_of(first_of(row)) : 0;
    const int end = left > 0 ? shift + (int)left : 0;
    const int vectors = (end + pack_columns - 1) / pack_columns;
    const int room = (int)((stage_apart(tensors) - most_stage_offset) / (uint32_t)sizeof(vector16));
    return {row.row * row.cols + begin - shift,
            row.rows * row.cols,
            vectors,
            vectors < room ? vectors : room,
            shift,
            end};
}

DEVICE places places_of(const row_stretch &at, int vector)
{
    return {vector == 0 ? at.shift : 0, at.end - vector * pack_columns};
}

DEVICE bool is_inside(const row_stretch &at, int vector)
{
    const int64_t first = at.before + (int64_t)vector * pack_columns;
    return first >= 0 && first + pack_columns <= at.total;
}

DEVICE vector16 stage_load(const stage &at, int vector)
{
    vector16 v;
    asm volatile("ld.shared.v4.u32 {%0, %1, %2, %3}, [%4];"
                 : "=r"(v.word[0]), "=r"(v.word[1]), "=r"(v.word[2]), "=r"(v.word[3])
                 : "r"(at.base + (uint32_t)vector * (uint32_t)sizeof(vector16)));
    return v;
}

DEVICE void stage_store(const stage &at, int vector, const vector16 &v)
{
    asm volatile(
        "st.shared.v4.u32 [%0], {%1, %2, %3, %4};" ::"r"(at.base + (uint32_t)vector * (uint32_t)sizeof(vector16)),
        "r"(v.word[0]), "r"(v.word[1]), "r"(v.word[2]), "r"(v.word[3])
        : "memory");
}

DEVICE void shared_store(uint32_t to, uint16_t bits)
{
    asm volatile("st.shared.u16 [%0], %1;" ::"r"(to), "h"(bits) : "memory");
}

DEVICE void shared_store(uint32_t to, uint32_t bits)
{
    asm volatile("st.shared.u32 [%0], %1;" ::"r"(to), "r"(bits) : "memory");
}

/* The tensor's very first and last vector may be there in part only: no copy brings those. */
DEVICE void stage_fill_edge(const row_stretch &at, const stage &to, int vector, int place)
{
    if (place >= 0 && place < pack_columns && has_place(places_of(at, vector), place))
        shared_store(to.base + (uint32_t)(vector * pack_columns + place) * (uint32_t)sizeof(element),
                     to.from[vector * pack_columns + place]);
}

/* Vectors of a chunk of the staged ones: of each thread equally many, but for the last chunk. */
DEVICE int chunk_vectors(const row_stretch &at, int chunks)
{
    const int rounds = (at.staged + (int)thread_count() - 1) / (int)thread_count();
    return (rounds + chunks - 1) / chunks * (int)thread_count();
}

/* Every thread, before cluster_open(): starts the copies of `count` rows. */
template <bool shifted, int chunks, int count>
DEVICE void stage_fill(const cluster_team &team, const row_stretch &at, stage (&to)[count],
                       const tensor_row (&from)[count])
{
    int first = 0;
    int end = at.staged;
#pragma unroll
    for (int i = 0; i < count; i++) {
        const element *first_vector = (const element *)from[i].tensor + at.before;
        const uint32_t offset = (uint32_t)(uintptr_t)first_vector % stage_unit;
        to[i] = {shared_address(row_memory) + stage_apart(count) * i + offset, first_vector};
    }
    if constexpr (shifted) {
        first = end > 0 && !is_inside(at, 0);
        end -= end > first && !is_inside(at, end - 1);
#pragma unroll
        for (int i = 0; i < count; i++) {
            if (first > 0)
                stage_fill_edge(at, to[i], 0, (int)thread_index());
            if (end < at.staged)
                stage_fill_edge(at, to[i], end, (int)thread_index() - pack_columns);
        }
    }
    if (thread_index() != 0)
        return;
    const int in_chunk = chunk_vectors(at, chunks);
#pragma unroll
    for (int c = 0; c < chunks; c++) {
        const int begin = c == 0 ? first : c * in_chunk;
        const int stop = c < chunks - 1 && (c + 1) * in_chunk < end ? (c + 1) * in_chunk : end;
        const uint32_t bytes = stop > begin ? (uint32_t)(stop - begin) * (uint32_t)sizeof(vector16) : 0;
        barrier_announce(team.staged + 8 * c, count * bytes);
#pragma unroll
        for (int i = 0; i < count; i++)
            if (bytes > 0)
                bulk_copy(to[i].base + (uint32_t)begin * (uint32_t)sizeof(vector16),
                          to[i].from + (int64_t)begin * pack_columns, bytes, team.staged + 8 * c);
    }
}

/* A thread that has the vector takes what is of other blocks and rows out of it. */
DEVICE void stage_trim(const row_stretch &at, const stage &in, int vector, uint32_t filler)
{
    if (vector < 0 || vector >= at.staged || vector % (int)thread_count() != (int)thread_index())
        return;
    vector16 v = stage_load(in, vector);
    keep_places(v, places_of(at, vector), filler);
    stage_store(in, vector, v);
}

/* Lets all copies end. */
template <int chunks> DEVICE void stage_wait(const cluster_team &team)
{
#pragma unroll
    for (int c = 0; c < chunks; c++)
        barrier_wait(team.staged + 8 * c);
}

/* A vector that there was no room for. */
template <bool shifted>
DEVICE vector16 load_unstaged(const row_stretch &at, const stage &in, int vector, uint32_t filler)
{
    const element *from = in.from + (int64_t)vector * pack_columns;
    const places here = places_of(at, vector);
    if (!shifted || are_all(here))
        return load16_first(from);
    vector16 v = is_inside(at, vector) ? load16_first(from) : load_places(from, here, filler);
    keep_places(v, here, filler);
    return v;
}

/* Calls use(vector, packs) for each of the thread's vectors in ascending order, with those of all `count` rows: for the staged ones from
 * `vector` on and before `end`. */
template <int count, class function>
DEVICE void each_staged(const stage (&in)[count], int vector, int end, const function &use)
{
#pragma unroll 2
    for (; vector < end; vector += (int)thread_count()) {
        vector16 v[count];
#pragma unroll
        for (int i = 0; i < count; i++)
            v[i] = stage_load(in[i], vector);
        use(vector, v);
    }
}

/* The first of a thread's vectors that are not staged, loaded while the copies are under way and kept in registers: with them a row may be
 * larger by a quarter than shared memory, and is still read once. */
template <int count> struct kept_vectors {
    enum { most = count == 1 ? 6 : 4 };
    vector16 v[most][count];
};

DEVICE int first_unstaged(const row_stretch &at)
{
    const int step = (int)thread_count();
    return (int)thread_index() + (at.staged - (int)thread_index() + step - 1) / step * step;
}

/* Between stage_fill() and the first pass. */
template <bool shifted, int chunks, int count>
DEVICE void load_kept(kept_vectors<count> &kept, const row_stretch &at, const stage (&in)[count], uint32_t filler)
{
    if constexpr (chunks > 1) {
        const int first = first_unstaged(at);
#pragma unroll
        for (int k = 0; k < kept.most; k++)
#pragma unroll
            for (int i = 0; i < count; i++) {
                const int vector = first + k * (int)thread_count();
                kept.v[k][i] = pack_of(filler);
                if (vector < at.vectors)
                    kept.v[k][i] = load_unstaged<shifted>(at, in[i], vector, filler);
            }
    }
}

/* For those that are not staged. */
template <bool shifted, int count, class function>
DEVICE void each_unstaged(const row_stretch &at, const stage (&in)[count], const kept_vectors<count> &kept,
                          uint32_t filler, const function &use)
{
    const int step = (int)thread_count();
    int vector = first_unstaged(at);
#pragma unroll
    for (int k = 0; k < kept.most; k++, vector += step) {
        vector16 v[count];
#pragma unroll
        for (int i = 0; i < count; i++)
            v[i] = kept.v[k][i];
        if (vector < at.vectors)
            use(vector, v);
    }
#pragma unroll 1
    for (; vector < at.vectors; vector += step) {
        vector16 v[count];
#pragma unroll
        for (int i = 0; i < count; i++)
            v[i] = load_unstaged<shifted>(at, in[i], vector, filler);
        use(vector, v);
    }
}

/* The first pass, which waits for the copies chunk by chunk. */
template <bool shifted, int chunks, int count, class function>
DEVICE void each_arriving(const cluster_team &team, const row_stretch &at, const stage (&in)[count],
                          const kept_vectors<count> &kept, uint32_t filler, const function &use)
{
    const int in_chunk = chunk_vectors(at, chunks);
#pragma unroll 1
    for (int c = 0; c < chunks; c++) {
        const int begin = c * in_chunk;
        const int end = c < chunks - 1 && begin + in_chunk < at.staged ? begin + in_chunk : at.staged;
        barrier_wait(team.staged + 8 * c);
        if constexpr (shifted) {
#pragma unroll
            for (int i = 0; i < count; i++) {
                if (c == 0)
                    stage_trim(at, in[i], 0, filler);
                if (at.vectors - 1 >= begin && at.vectors - 1 < end)
                    stage_trim(at, in[i], at.vectors - 1, filler);
            }
        }
        each_staged(in, begin + (int)thread_index(), end, use);
    }
    if constexpr (chunks > 1)
        each_unstaged<shifted>(at, in, kept, filler, use);
}

/* Later passes. Rows that come in one chunk are staged as a whole. */
template <bool shifted, int chunks, int count, class function>
DEVICE void each_vector(const row_stretch &at, const stage (&in)[count], const kept_vectors<count> &kept,
                        uint32_t filler, const function &use)
{
    each_staged(in, (int)thread_index(), at.staged, use);
    if constexpr (chunks > 1)
        each_unstaged<shifted>(at, in, kept, filler, use);
}

/* A vector of the result; `to` is where the stretch's first one goes. */
template <bool shifted> DEVICE void stretch_put(const row_stretch &at, element *to, int vector, const vector16 &v)
{
    if constexpr (shifted)
        put_vector(to + (int64_t)vector * pack_columns, places_of(at, vector), v);
    else
        store16(to + (int64_t)vector * pack_columns, v);
}

#endif
