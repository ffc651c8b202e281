/* UNTRUSTED. Matrix products on Hopper's matrix units: out = left right, fp32 sums. docs/gemm.md has pictures.
 *
 * A block has a multiprocessor to itself and goes on until no tile is left. One of its threads brings 64 places of the sum at a time, of
 * both factors, into a ring of stages in shared memory; two groups of 4 warps multiply. Either both groups share a tile, 64 rows each
 * (`together`), or each has tiles of its own in turn, so that one stores while the other multiplies. Groups that share a tile store it
 * behind the first products of the next one: rounded to 16 bits, the old sums fit beside the new ones.
 *
 * The blocks of a cluster have neighbouring tiles. Each brings a share of what they have in common, into all that need it.
 *
 * What becomes of a sum before it is stored is the form's epilogue; ops/linear/kernel_hopper.h has others.
 *
 * Every output is one sum over ascending blocks of 64 places, each in four steps of the unit; a tile that was cut into parts is the sum of
 * its last part, its first, its second and so on. Which tiles are cut depends on the sizes alone. Places and rows beyond the ends of the
 * factors are zeros in both. */
#include "kernels/device_hopper.h"
#include "ops/product/params_hopper.h"

enum {
    ROWS = TKI_GEMM_HOPPER_ROWS,
    DEPTH = TKI_GEMM_HOPPER_DEPTH,
    LEFT_BYTES = ROWS * DEPTH * 2,
    GROUP_THREADS = 128,
    STEPS = DEPTH / 16,
    STORING = 1, /* numbers of barriers, the next one for the second group */
    MY_TURN = 3,
    LINE_GROUP = 64 * line_bytes, /* 64 rows or columns of a factor across the sum */
    QUEUE = TKI_GEMM_QUEUE        /* numbers of units; the loading thread is never so far ahead of anybody */
};

/* How a kernel is made. `down`: blocks of a cluster, whose tiles lie below each other. `direct`: stored from registers, whatever the rows' alignment
 * or the results' type. */
/* An epilogue: what is read for two neighbours of a row, and what becomes of their sums; with two outputs also what the second one gets. */
struct as_it_is {
    enum { two_outputs = false };
    struct pair {
    };
    DEVICE pair fetch(const tki_gemm_hopper_params &, int, int)
    {
        return {};
    }
    DEVICE void apply(const tki_gemm_hopper_params &, const pair &, float (&)[2], float (&)[2])
    {
    }
};

template <bool left_across_, bool right_across_, int width_, bool together_, int down_, int stages_, bool direct_,
          class E = as_it_is>
struct form {
    typedef E epilogue;
    enum {
        left_across = left_across_,
        right_across = right_across_,
        width = width_,
        together = together_,
        down = down_,
        stages = stages_,
        direct = direct_,
        groups = together ? 2 : 1, /* that share a tile */
        tall = 2 / groups,         /* times 64 rows of one group's share */
        right_bytes = TKI_GEMM_RIGHT_BYTES(width, right_across),
        stage_bytes = LEFT_BYTES + right_bytes,
        box_cols = width % 64 == 0 ? 64 : 32,
        box_bytes = TKI_GEMM_BOX_BYTES(width),
        boxes = tall * (width / box_cols),
        sums = width / 2,
        partial_floats = tall * 64 * width, /* of one group */
        /* Of a thread. Those of all threads are what the kernel was launched with. */
        plain = sizeof(typename E::pair) < sizeof(uint32_t),
        loader_registers = plain ? 40 : 24,
        worker_registers = plain ? 232 : 240
    };
    static_assert(2 * GROUP_THREADS * worker_registers + GROUP_THREADS * loader_registers == 384 * 168,
                  "all of them");
    static_assert(down == 1 || width % (64 * down) == 0, "whole groups of lines in each block");
    static_assert(TKI_GEMM_SHARED_BYTES(width, right_across, stages) <= 232448, "shared memory of a block");
};

/* What a unit is: a tile, or a part of one. */
struct unit {
    int row, col;   /* of the cluster's tile, in tiles of a cluster */
    int begin, end; /* blocks of the sum */
    int part;       /* its number among all parts; -1 for a whole tile */
};

/* Of a number behind the last one, nothing that counts. */
DEVICE unit unit_at(const tki_gemm_hopper_params &p, int number)
{
    if (number >= p.units)
        return {0, 0, 0, 0, -1};
    unit u;
    int tile = number;
    u.part = -1;
    u.begin = 0;
    u.end = p.blocks;
    if (number >= p.whole) {
        u.part = number - p.whole;
        const int cut = u.part / p.parts, which = u.part - cut * p.parts;
        tile = p.whole + cut;
        u.begin = (int)((unsigned)(p.blocks * which) / (unsigned)p.parts);
        u.end = (int)((unsigned)(p.blocks * (which + 1)) / (unsigned)p.parts);
    }
    if (p.raster > 0) {
        const int per = p.raster * p.tiles_across, band = tile / per, rest = tile - band * per;
        const int first = band * p.raster, lines = min(p.raster, p.tiles_down - first);
        u.col = rest / lines;
        u.row = first + rest - u.col * lines;
    } else {
        const int per = -p.raster * p.tiles_down, band = tile / per, rest = tile - band * per;
        const int first = band * -p.raster, lines = min(-p.raster, p.tiles_across - first);
        u.row = rest / lines;
        u.col = first + rest - u.row * lines;
    }
    return u;
}

/* Shared memory: stages, boxes of the output, barriers, the queue of units. */
struct places {
    uint32_t stages, boxes, full, empty, announced, queue;
};

template <class F> DEVICE places places_of(const unsigned char *memory)
{
    places at;
    at.stages = (shared_address(memory) + 1023) & ~1023u; /* the same in every block of a cluster */
    at.boxes = at.stages + F::stages * F::stage_bytes;
    at.full = at.boxes + 4 * F::box_bytes;
    at.empty = at.full + 8 * F::stages;
    at.announced = at.empty + 8 * F::stages;
    at.queue = at.announced + 8 * QUEUE;
    return at;
}

/* The ring of stages, as one reader or writer goes round it. */
struct ring_place {
    int stage;
    uint32_t parity;
};

template <class F> DEVICE void go_on(ring_place &ring)
{
    if (++ring.stage == F::stages) {
        ring.stage = 0;
        ring.parity ^= 1;
    }
}

template <class F> DEVICE void skip_stages(ring_place &ring, int count)
{
    const unsigned ahead = (unsigned)(ring.stage + count);
    ring.parity ^= ahead / F::stages & 1;
    ring.stage = (int)(ahead % F::stages);
}

/* The i-th unit of this cluster. */
DEVICE int announced_unit(const places &at, int i)
{
    const int slot = i % QUEUE;
    int number;
    barrier_wait_cluster(at.announced + 8 * slot, i / QUEUE & 1);
    asm volatile("ld.shared.u32 %0, [%1];" : "=r"(number) : "r"(at.queue + 4 * slot) : "memory");
    return number;
}

/* ------------------------------------------------------------------------------------------------------------
 * The thread that loads
 * ------------------------------------------------------------------------------------------------------------ */

template <bool several>
DEVICE void load(uint16_t blocks, uint32_t to, const tki_gemm_map &map, int x, int y, uint32_t barrier)
{
    if (several)
        load_box_to(blocks, to, (const tensor_map &)map, x, y, barrier);
    else
        load_box(to, (const tensor_map &)map, x, y, barrier);
}

/* Lines `first` on of a factor, `count` of them, at places `depth` on of the sum. */
template <bool is_across, bool several, int count>
DEVICE void load_lines(uint16_t blocks, uint32_t to, const tki_gemm_map &map, int first, int depth, uint32_t barrier)
{
    if (is_across) {
#pragma unroll
        for (int i = 0; i < (count + 63) / 64; i++)
            load<several>(blocks, to + i * LINE_GROUP, map, first + i * 64, depth, barrier);
    } else {
        load<several>(blocks, to, map, depth, first, barrier);
    }
}

/* Tells all blocks of the cluster what its i-th unit is. */
template <class F> DEVICE void announce_unit(const places &at, int i, int number)
{
    const int slot = i % QUEUE;
    for (int b = 0; b < F::down; b++)
        cluster_send_word(cluster_address(at.queue + 4 * slot, b), (uint32_t)number,
                          cluster_address(at.announced + 8 * slot, b));
}

/* Units are taken from a counter, in their order. A part waits for those before it, so nobody may have one of them but clusters that run:
 * the first units come without the counter only where they are whole tiles. */
template <class F>
DEVICE void bring(const tki_gemm_hopper_params &p, const places &at, unsigned rank, int cluster, int clusters)
{
    enum {
        LINES = F::width / F::down,
        EVERYBODY = (1 << F::down) - 1
    }; /* of the right factor, which all blocks need */
    const bool all_counted = p.whole < clusters && p.parts > 1;
    const int uncounted = all_counted ? 0 : clusters;
    barrier_announce(at.announced, 4);
    if (rank == 0)
        announce_unit<F>(at, 0, all_counted ? (int)atomic_add(p.counters, 1) : cluster);
    ring_place ring = {0, 1};
    for (int number = announced_unit(at, 0), i = 0; number < p.units;) {
        const unit u = unit_at(p, number);
        const int row = (u.row * F::down + (int)rank) * ROWS, col = u.col * F::width + (int)rank * LINES;
        int next = 0;
        if (rank == 0) /* answered while loads go out */
            next = uncounted + (int)atomic_add(p.counters, 1);
        barrier_announce(at.announced + 8 * ((i + 1) % QUEUE), 4);
        const int tell = min(u.begin + 2, u.end - 1);
        for (int block = u.begin; block < u.end; block++) {
            const uint32_t full = at.full + 8 * ring.stage, stage = at.stages + ring.stage * F::stage_bytes;
            barrier_wait(at.empty + 8 * ring.stage, ring.parity);
            barrier_announce(full, F::stage_bytes);
            const int depth = block * DEPTH;
            load_lines<F::left_across, false, ROWS>(0, stage, p.left, row, depth, full);
            load_lines<F::right_across, (F::down > 1), LINES>(
                EVERYBODY, stage + LEFT_BYTES + rank * LINES * line_bytes, p.right, col, depth, full);
            go_on<F>(ring);
            if (rank == 0 && block == tell)
                announce_unit<F>(at, i + 1, next);
        }
        i++;
        number = rank == 0 ? next : announced_unit(at, i);
    }
    if (rank == 0 && atomic_add(p.counters + 1, 1) == (uint32_t)clusters - 1) {
        p.counters[0] = 0;
        p.counters[1] = 0;
    }
}

/* ------------------------------------------------------------------------------------------------------------
 * The warps that multiply
 * ------------------------------------------------------------------------------------------------------------ */

/* One of the two groups. */
struct group {
    int index, thread; /* 0 or 1; of its 128 */
    int warp, lane;
};

/* Stores 64 rows of a box's columns, `words` holding two neighbours each, as store_matrices() wants them. Boxes alternate between two
 * places; of the stores that read them, the last one may still run. */
template <class F>
DEVICE void store_box_of(const tki_gemm_map &map, const places &at, const group &g, const uint32_t *words, int box,
                         int row, int col)
{
    const uint32_t to = at.boxes + (2 * g.index + (box & 1)) * F::box_bytes;
    const uint32_t line = (uint32_t)(g.warp * 16 + (g.lane & 15));
    if (g.thread == 0)
        wait_stores_read<1>();
    warps_barrier(STORING + g.index, GROUP_THREADS);
#pragma unroll
    for (int i = 0; i < F::box_cols / 16; i++) {
        const uint32_t piece = (uint32_t)(2 * i + (g.lane >> 4));
        const uint32_t place = F::box_cols == 64 ? line * 128 + ((piece ^ (line & 7)) << 4)
                                                 : line * 64 + ((piece ^ (line >> 1 & 3)) << 4);
        store_matrices(to + place, words[4 * i], words[4 * i + 1], words[4 * i + 2], words[4 * i + 3]);
    }
    publish_to_copies();
    warps_barrier(STORING + g.index, GROUP_THREADS);
    if (g.thread == 0) {
        store_box((const tensor_map &)map, to, col, row);
        close_stores();
    }
}

/* Two neighbours of a row; `left` of them exist. */
DEVICE void store_result_pair(result_element *to, int left, bool aligned, const float (&value)[2])
{
    if (left >= 2 && aligned) {
#if TKI_RESULT_DTYPE == TKI_DTYPE
        *(uint32_t *)to = to_pair(value[0], value[1]);
#else
        store8(to, bits_of(value[0]), bits_of(value[1]));
#endif
        return;
    }
    if (left >= 1)
        to[0] = to_result(value[0]);
    if (left >= 2)
        to[1] = to_result(value[1]);
}

DEVICE bool pairs_are_aligned(const void *elements, int cols)
{
    return ((uintptr_t)elements / sizeof(result_element) | (uintptr_t)cols) % 2 == 0;
}

/* 64 rows from registers. */
template <class F>
DEVICE void store_sums(const tki_gemm_hopper_params &p, const group &g, const float (&sum)[F::sums], int first_row,
                       int first_col)
{
    typedef typename F::epilogue E;
    enum { BATCH = 4 }; /* fetches under way */
    const int row = first_row + g.warp * 16 + (g.lane >> 2), col = first_col + 2 * (g.lane & 3);
    const bool aligned = pairs_are_aligned(p.out_elements, p.cols);
    const bool second_aligned = E::two_outputs && pairs_are_aligned(p.second_elements, p.cols);
#pragma unroll
    for (int half = 0; half < 2; half++) {
        if (row + 8 * half >= p.rows)
            continue;
        const int64_t place = (int64_t)(row + 8 * half) * p.cols + col;
#pragma unroll
        for (int first = 0; first < F::width / 8; first += BATCH) {
            typename E::pair in[BATCH];
#pragma unroll
            for (int j = 0; j < BATCH; j++)
                in[j] = E::fetch(p, row + 8 * half, col + 8 * (first + j));
#pragma unroll
            for (int j = 0; j < BATCH; j++) {
                const int i = first + j;
                float value[2] = {sum[4 * i + 2 * half], sum[4 * i + 2 * half + 1]}, second[2];
                E::apply(p, in[j], value, second);
                store_result_pair((result_element *)p.out_elements + place + 8 * i, p.cols - col - 8 * i, aligned,
                                  value);
                if (E::two_outputs)
                    store_result_pair((result_element *)p.second_elements + place + 8 * i, p.cols - col - 8 * i,
                                      second_aligned, second);
            }
        }
    }
}

/* What the epilogue reads for `count` pairs, from pair `begin` of the 64 rows on: first all of one row of 8, then of the next. */
template <class F, int count>
DEVICE void fetch_pairs(const tki_gemm_hopper_params &p, const group &g, int begin, int first_row, int first_col,
                        typename F::epilogue::pair *in)
{
    const int row = first_row + g.warp * 16 + (g.lane >> 2), col = first_col + 2 * (g.lane & 3);
#pragma unroll
    for (int w = 0; w < count; w++)
        in[w] = F::epilogue::fetch(p, row + 8 * (w & 1), col + 8 * ((begin + w) >> 1));
}

template <class F, int count>
DEVICE void finish_pairs(const tki_gemm_hopper_params &p, const typename F::epilogue::pair *in,
                         const float (&sum)[F::sums], int begin, uint32_t *words, uint32_t *second_words)
{
    typedef typename F::epilogue E;
#pragma unroll
    for (int w = 0; w < count; w++) {
        float value[2] = {sum[2 * (begin + w)], sum[2 * (begin + w) + 1]}, second[2];
        E::apply(p, in[w], value, second);
        words[w] = to_pair(value[0], value[1]);
        if (E::two_outputs)
            second_words[w] = to_pair(second[0], second[1]);
    }
}

/* A part leaves its sums for the last part of its tile, which adds them. Rows beyond the output are left out. True: `sum` is the tile's. */
template <class F>
DEVICE bool join_parts(const tki_gemm_hopper_params &p, const group &g, unsigned rank, int part, int first_row,
                       float (&sum)[F::tall][F::sums])
{
    const int which = part % p.parts;
    const uint32_t slot = ((uint32_t)part * F::down + rank) * F::groups + (F::together ? g.index : 0);
    const int row = first_row + g.warp * 16 + (g.lane >> 2);
    if (which < p.parts - 1) {
        float4 *to = (float4 *)(p.partials + (uint64_t)slot * F::partial_floats) + g.thread;
#pragma unroll
        for (int t = 0; t < F::tall; t++)
#pragma unroll
            for (int j = 0; j < F::sums / 4; j++)
                if (row + 64 * t < p.rows)
                    to[(t * (F::sums / 4) + j) * GROUP_THREADS] = make_float4(sum[t][4 * j], sum[t][4 * j + 1],
                                                                              sum[t][4 * j + 2], sum[t][4 * j + 3]);
        __threadfence();
        warps_barrier(STORING + g.index, GROUP_THREADS);
        if (g.thread == 0)
            asm volatile("st.release.gpu.global.u32 [%0], %1;" ::"l"(p.flags + slot), "r"(1) : "memory");
        return false;
    }
    for (int before = p.parts - 1; before > 0; before--) {
        const uint32_t there = slot - (uint32_t)before * F::down * F::groups;
        if (g.thread == 0) {
            uint32_t flag;
            do
                asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(flag) : "l"(p.flags + there) : "memory");
            while (flag == 0);
            p.flags[there] = 0; /* nobody else reads it */
        }
        warps_barrier(STORING + g.index, GROUP_THREADS);
        const float4 *from = (const float4 *)(p.partials + (uint64_t)there * F::partial_floats) + g.thread;
        enum { BATCH = 8 }; /* loads in flight */
#pragma unroll
        for (int t = 0; t < F::tall; t++)
#pragma unroll
            for (int first = 0; first < F::sums / 4; first += BATCH) {
                float4 v[BATCH];
                if (row + 64 * t >= p.rows)
                    continue;
#pragma unroll
                for (int j = 0; j < BATCH && first + j < F::sums / 4; j++)
                    v[j] = __ldcg(from + (t * (F::sums / 4) + first + j) * GROUP_THREADS);
#pragma unroll
                for (int j = 0; j < BATCH && first + j < F::sums / 4; j++) {
                    sum[t][4 * (first + j)] += v[j].x;
                    sum[t][4 * (first + j) + 1] += v[j].y;
                    sum[t][4 * (first + j) + 2] += v[j].z;
                    sum[t][4 * (first + j) + 3] += v[j].w;
                }
            }
    }
    return true;
}

template <class F> DEVICE void multiply(const tki_gemm_hopper_params &p, const places &at, unsigned rank)
{
    enum {
        WORDS = F::together && !F::direct ? F::sums / 2 : 1,
        PAIRS = F::box_cols / 4,
        AHEAD = !F::together                             ? PAIRS
                : sizeof(typename F::epilogue::pair) > 4 ? 4
                                                         : 8 /* pairs */
    };
    const group g = {(int)thread_index() / GROUP_THREADS, (int)thread_index() % GROUP_THREADS,
                     (int)thread_index() / 32 % 4, (int)thread_index() % 32};
    const uint64_t left = factor_at<F::left_across>(at.stages + (F::together ? g.index * LINE_GROUP : 0), LINE_GROUP);
    const uint64_t right = factor_at<F::right_across>(at.stages + LEFT_BYTES, LINE_GROUP);
    float sum[F::tall][F::sums];
    uint32_t words[WORDS]; /* of the tile before, rounded */
    bool pending = false;
    int pending_row = 0, pending_col = 0;
    ring_place ring = {0, 0};

    auto release = [&](int stage) {
        if (F::down == 1) {
            if (g.thread == 0)
                barrier_arrive(at.empty + 8 * stage);
        } else if (g.thread < F::down) { /* every block brings something into this one */
            barrier_arrive_there(at.empty + 8 * stage, (unsigned)g.thread);
        }
    };
    auto multiply_block = [&](bool keeps) {
        const uint32_t offset = (uint32_t)(ring.stage * (F::stage_bytes >> 4));
        barrier_wait(at.full + 8 * ring.stage, ring.parity);
        begin_products();
#pragma unroll
        for (int step = 0; step < STEPS; step++)
#pragma unroll
            for (int t = 0; t < F::tall; t++)
                issue_product<F::left_across, F::right_across>(
                    sum[t], left + offset + t * (LINE_GROUP >> 4) + step * factor_step<F::left_across>(),
                    right + offset + step * factor_step<F::right_across>(), keeps || step > 0);
        close_products();
    };

    int number = announced_unit(at, 0), i = 0;
    unit u = unit_at(p, number);
    while (number < p.units) {
        if (!F::together && (i & 1) != g.index) {
            skip_stages<F>(ring, u.end - u.begin);
            number = announced_unit(at, ++i);
            u = unit_at(p, number);
            continue;
        }
        const int blocks = u.end - u.begin;
        int before = 0;
        if (!F::together && i > 0) /* a barrier's parity tells this unit's stages only from those just before */
            warps_barrier(MY_TURN + g.index, 2 * GROUP_THREADS);
        if constexpr (F::together && !F::direct) {
#pragma unroll
            for (int b = 0; b < F::boxes; b++) { /* the tile before leaves behind the first blocks */
                if (b == 0 || b < blocks) {
                    multiply_block(b > 0);
                    if (b > 0) {
                        finish_products<1>();
                        release(before);
                    }
                    before = ring.stage;
                    go_on<F>(ring);
                }
                if (pending)
                    store_box_of<F>(p.out, at, g, words + b * (F::box_cols / 4), b, pending_row,
                                    pending_col + b * F::box_cols);
            }
        } else {
            multiply_block(false);
            before = ring.stage;
            go_on<F>(ring);
        }
        for (int b = F::together && !F::direct ? F::boxes : 1; b < blocks; b++) {
            multiply_block(true);
            finish_products<1>();
            release(before);
            before = ring.stage;
            go_on<F>(ring);
        }
        const unit done = u;
        const int row = (done.row * F::down + (int)rank) * ROWS + (F::together ? g.index * 64 : 0);
        const int col = done.col * F::width;
        typename F::epilogue::pair
            in[2][PAIRS]; /* the first are read behind the last products, others behind those before */
        if constexpr (F::together && !F::direct)
            fetch_pairs<F, AHEAD>(p, g, 0, row, col, in[0]);
        number = announced_unit(at, ++i);
        if (!F::together && number < p.units)
            warps_arrive(MY_TURN + 1 - g.index, 2 * GROUP_THREADS);
        u = unit_at(p, number);
        finish_products<0>();
        release(before);
#pragma unroll
        for (int t = 0; t < F::tall; t++)
            hold_sums(sum[t]);
        pending = done.part < 0 || join_parts<F>(p, g, rank, done.part, row, sum);
        if (!pending)
            continue;
        if constexpr (F::direct) {
#pragma unroll
            for (int t = 0; t < F::tall; t++)
                store_sums<F>(p, g, sum[t], row + 64 * t, col);
        } else if constexpr (F::together) {
#pragma unroll
            for (int b = 0; b < F::boxes; b++) {
                uint32_t second[PAIRS]; /* leaves at once: there are no registers for both */
#pragma unroll
                for (int w = 0; w < PAIRS; w += AHEAD) {
                    const int first = b * PAIRS + w, next = first + AHEAD, now = first / AHEAD % 2;
                    if (next < WORDS)
                        fetch_pairs<F, AHEAD>(p, g, next, row, col, in[1 - now]);
                    finish_pairs<F, AHEAD>(p, in[now], sum[0], first, words + first, second + w);
                }
                if (F::epilogue::two_outputs)
                    store_box_of<F>(p.second, at, g, second, b, row, col + b * F::box_cols);
            }
            pending_row = row;
            pending_col = col;
        } else {
            enum { OUTPUTS = F::epilogue::two_outputs ? 2 : 1 };
#pragma unroll
            for (int t = 0; t < F::tall; t++)
#pragma unroll
                for (int b = 0; b < F::boxes / F::tall; b++) {
                    uint32_t box[PAIRS], second[PAIRS];
                    const int number = OUTPUTS * (t * (F::boxes / F::tall) + b), box_col = col + b * F::box_cols;
                    fetch_pairs<F, PAIRS>(p, g, b * PAIRS, row + 64 * t, col, in[0]);
                    finish_pairs<F, PAIRS>(p, in[0], sum[t], b * PAIRS, box, second);
                    store_box_of<F>(p.out, at, g, box, number, row + 64 * t, box_col);
                    if (OUTPUTS == 2)
                        store_box_of<F>(p.second, at, g, second, number + 1, row + 64 * t, box_col);
                }
        }
    }
    if constexpr (F::together && !F::direct) {
        if (pending)
#pragma unroll
            for (int b = 0; b < F::boxes; b++)
                store_box_of<F>(p.out, at, g, words + b * (F::box_cols / 4), b, pending_row,
                                pending_col + b * F::box_cols);
    }
    if (g.thread == 0)
        wait_stores_read<0>(); /* shared memory must last as long; the end of the grid orders the writes */
}

/* ------------------------------------------------------------------------------------------------------------
 * The kernel
 * ------------------------------------------------------------------------------------------------------------ */

template <class F> DEVICE void product(const tki_gemm_hopper_params &p)
{
    extern __shared__ unsigned char product_memory[];
    const places at = places_of<F>(product_memory);
    const unsigned rank = F::down > 1 ? cluster_rank() : 0;
    const int cluster = (int)block_index() / F::down, clusters = (int)block_count() / F::down;
    if (thread_index() == 0) {
        prefetch_map((const tensor_map &)p.left);
        prefetch_map((const tensor_map &)p.right);
        for (int i = 0; i < F::stages; i++) {
            barrier_create(at.full + 8 * i);
            barrier_create(at.empty + 8 * i, F::groups * F::down);
        }
        for (int i = 0; i < QUEUE; i++)
            barrier_create(at.announced + 8 * i);
        barrier_publish();
    }
    let_next_kernel_in();
    if (F::down > 1)
        cluster_barrier();
    else
        block_barrier();
    if (thread_index() >= 2 * GROUP_THREADS) {
        give_registers_up<F::loader_registers>();
        if (thread_index() == 2 * GROUP_THREADS) {
            await_earlier_kernels();
            bring<F>(p, at, rank, cluster, clusters);
        }
    } else {
        take_registers<F::worker_registers>();
        multiply<F>(p, at, rank);
    }
    if (F::down > 1)
        cluster_barrier(); /* none leaves while another may still write or arrive here */
}

#define PRODUCT(name, ...)                                                                   \
    ENTRY(TKI_GEMM_HOPPER_THREADS, 1) name(const __grid_constant__ tki_gemm_hopper_params p) \
    {                                                                                        \
        product<form<__VA_ARGS__>>(p);                                                       \
    }

/* ------------------------------------------------------------------------------------------------------------
 * Rows that the copy engine cannot take
 * ------------------------------------------------------------------------------------------------------------ */

/* 8 elements at any address, of a tensor that begins at `begin` and ends before `end`; those beyond its ends are 0. */
DEVICE vector16 load_any(const element *at, const element *begin, const element *end)
{
    const int shift = (int)((uintptr_t)at / sizeof *at % 8);
    const element *aligned = at - shift;
    vector16 v;
    if (aligned >= begin && aligned + 16 <= end) {
        const vector16 low = load16(aligned), high = shift ? load16(aligned + 8) : low;
        const int skip = shift / 2, bits = shift % 2 * 16;
#pragma unroll
        for (int i = 0; i < 4; i++) {
            uint32_t here = 0, next = 0;
#pragma unroll
            for (int j = 0; j < 8; j++) {
                const uint32_t word = j < 4 ? low.word[j % 4] : high.word[j % 4];
                here = j == i + skip ? word : here;
                next = j == i + skip + 1 ? word : next;
            }
            v.word[i] = funnel_shift(here, next, (unsigned)bits);
        }
        return v;
    }
#pragma unroll
    for (int i = 0; i < 4; i++) {
        const uint32_t low = at + 2 * i >= begin && at + 2 * i < end ? at[2 * i] : 0;
        const uint32_t high = at + 2 * i + 1 >= begin && at + 2 * i + 1 < end ? at[2 * i + 1] : 0;
        v.word[i] = low | high << 16;
    }
    return v;
}

/* Factors into rows at multiples of 16 bytes, padded with whatever follows them: the engine does not bring it. */
KERNEL(256, 4, realign, tki_gemm_realign_params)
{
    const uint32_t threads = block_count() * thread_count(), thread = block_index() * thread_count() + thread_index();
#pragma unroll
    for (int f = 0; f < 2; f++) {
        const tki_gemm_realign &factor = p.factor[f];
        const element *begin = (const element *)factor.from, *end = begin + factor.rows * factor.cols;
        const uint32_t pieces = (uint32_t)(factor.pitch / 8);
        /* A thread goes on by a fixed number of rows and pieces: no division on the way. */
        const uint32_t row_step = pieces ? threads / pieces : 0, piece_step = threads - row_step * pieces;
        uint32_t row = pieces ? thread / pieces : 0, piece = thread - row * pieces;
        while (row < factor.rows) {
            store16((element *)factor.to + (int64_t)row * factor.pitch + piece * 8,
                    load_any(begin + (int64_t)row * factor.cols + piece * 8, begin, end));
            row += row_step;
            piece += piece_step;
            if (piece >= pieces) {
                piece -= pieces;
                row++;
            }
        }
    }
}

#if TKI_RESULT_DTYPE == TKI_DTYPE
/* An output from where the engine could store it to an address that it could not: rows * cols elements. */
KERNEL(256, 4, hand_over, tki_gemm_realign)
{
    const int64_t count = p.rows * p.cols, threads = (int64_t)block_count() * thread_count();
    const element *from = (const element *)p.from;
    element *to = (element *)p.to;
    const int shift = (int)((uintptr_t)to / sizeof *to % 8);
    for (int64_t i = (int64_t)block_index() * thread_count() + thread_index(); i * 8 - shift < count; i += threads) {
        const int64_t first = i * 8 - shift;
        if (first >= 0 && first + 8 <= count) {
            store16(to + first, load_any(from + first, from, from + count));
            continue;
        }
        for (int64_t j = first < 0 ? 0 : first; j < first + 8 && j < count; j++)
            to[j] = from[j];
    }
}
#endif

#include "ops/product/kernel_hopper_few.h"

/* ------------------------------------------------------------------------------------------------------------
 * Kernels; launch_hopper.c has the same list.
 * ------------------------------------------------------------------------------------------------------------ */

#ifndef PIECES_ONLY
#if TKI_RESULT_DTYPE == TKI_DTYPE
PRODUCT(product_256, LEFT_ACROSS, RIGHT_ACROSS, 256, true, 1, 4, false)
PRODUCT(product_256_down, LEFT_ACROSS, RIGHT_ACROSS, 256, true, 2, 4, false)
PRODUCT(product_160, LEFT_ACROSS, RIGHT_ACROSS, 160, false, 1, RIGHT_ACROSS ? 4 : 5, false)
PRODUCT(product_128, LEFT_ACROSS, RIGHT_ACROSS, 128, false, 1, 5, false)
#endif
PRODUCT(product_128_direct, LEFT_ACROSS, RIGHT_ACROSS, 128, false, 1, 5, true)
FEW_PRODUCT(product_few_64, 1, 8)
FEW_PRODUCT(product_few_128, 2, 6)
#endif
