/* UNTRUSTED. Products of groups of rows on Hopper's matrix units, with what a block has of gemm's kernel (ops/gemm/kernel_hopper.h): a ring of
 * stages that one thread fills, two groups of warps that multiply, tiles that leave behind the products of the next one.
 *
 * Each tile is of one group. Where a group's rows end within a tile, its last rows are stored from shared memory by the threads, which stop
 * there; the copy engine stores whole boxes only. Where the sums run over rows, both factors' lines behind the end of the group are those of
 * the next one: they are set to zero in shared memory, both, so that an infinity in one never meets a zero of the other.
 *
 * Every output is one sum over ascending blocks of 64 places, which begin with the group where the sum runs over its rows: the bits depend
 * neither on where the group lies nor on other rows. */
#define PIECES_ONLY
#include "ops/product/kernel_hopper.h"
#include "ops/product/kernel_groups.h"
#include "ops/product/params_hopper_grouped.h"

enum {
    BAND = 16,        /* tiles of rows that are gone through together */
    HALF_WIDTH = 128, /* of the widest tile */
    CLEARED = 5       /* number of a barrier */
};

template <bool value_> struct constant {
    static constexpr bool value = value_;
};

/* A tile of the output. */
struct task {
    int row, end, col; /* where it begins, and where the rows end that may be stored */
    int group;
    int place;   /* of the sums over rows: the group's first row */
    int blocks;  /* along the sum, at least one */
    int left;    /* lines in the last block; 64, where they are not the group's alone */
    bool narrow; /* of 256 columns it has 128 at most, and no more are computed */
    int from; /* the row of the left factor, where sums do not run over rows: none that there is for rows of no group */
};

DEVICE int task_count(const tki_grouped_hopper_params &p)
{
    return (int)p.of.table[TKI_GROUPED_TOTAL] * p.tiles_down * p.tiles_across;
}

template <class F> DEVICE bool is_narrow(const tki_grouped_hopper_params &p, int col)
{
    return F::width == 256 && p.cols - col <= HALF_WIDTH;
}

template <class F> DEVICE task task_at(const tki_grouped_hopper_params &p, int number, int tasks)
{
    task u = {0, 0, 0, 0, 0, 1, DEPTH, false, 0};
    if (number >= tasks)
        return u;
    if (F::left_across) {
        const int per = p.tiles_down * p.tiles_across, place = number / per, tile = number - place * per;
        const int across = tile / p.tiles_down;
        u.group = (int)p.of.table[TKI_GROUPED_FIRST + place];
        u.row = (tile - across * p.tiles_down) * ROWS;
        u.col = across * F::width;
        u.narrow = is_narrow<F>(p, u.col);
        u.end = p.rows;
        u.place = (int)begin_of(p.of, u.group);
        const int places = (int)end_of(p.of, u.group) - u.place;
        u.blocks = max((places + DEPTH - 1) / DEPTH, 1);
        u.left = places - (u.blocks - 1) * DEPTH;
        return u;
    }
    const int total = (int)p.of.table[TKI_GROUPED_TOTAL];
    const int per = BAND * p.tiles_across, band = number / per, rest = number - band * per;
    const int lines = min((int)BAND, total - band * BAND), across = rest / lines;
    const int line = band * BAND + rest - across * lines;
    u.group = (int)group_with(p.of, line);
    u.row = (int)begin_of(p.of, u.group) + (line - (int)p.of.table[TKI_GROUPED_FIRST + u.group]) * ROWS;
    u.end = (int)end_of(p.of, u.group);
    u.col = across * F::width;
    u.narrow = is_narrow<F>(p, u.col);
    const bool any = u.group < (int)p.of.groups;
    u.blocks = any ? p.blocks : 1;
    u.from = any ? u.row : (int)p.of.rows;
    return u;
}

DEVICE int announced_task(const places &at, int i)
{
    const int slot = (i - 1) % QUEUE;
    int number;
    barrier_wait(at.announced + 8 * slot, (i - 1) / QUEUE & 1);
    asm volatile("ld.shared.u32 %0, [%1];" : "=r"(number) : "r"(at.queue + 4 * slot) : "memory");
    return number;
}

/* ------------------------------------------------------------------------------------------------------------
 * The thread that loads
 * ------------------------------------------------------------------------------------------------------------ */

/* 64 places of the right factor's lines, or of one group's. */
template <class F>
DEVICE void load_right(const tki_grouped_hopper_params &p, uint32_t to, const task &u, int depth, uint32_t barrier)
{
    const tensor_map &map = (const tensor_map &)p.right;
    enum { LINES = F::right_across ? 64 : HALF_WIDTH }; /* of a box */
#pragma unroll
    for (int i = 0; i < F::width / LINES; i++) {
        if (i * LINES >= HALF_WIDTH && u.narrow)
            break;
        const uint32_t there = to + i * LINES * line_bytes;
        if (!F::right_across)
            load_box_of(there, map, depth, u.col + i * LINES, u.group, barrier);
        else if (F::left_across)
            load_box(there, map, u.col + i * LINES, u.place + depth, barrier);
        else
            load_box_of(there, map, u.col + i * LINES, depth, u.group, barrier);
    }
}

template <class F> DEVICE void bring_tasks(const tki_grouped_hopper_params &p, const places &at)
{
    const int tasks = task_count(p), blocks = (int)block_count();
    ring_place ring = {0, 1};
    int number = (int)block_index();
    task u = task_at<F>(p, number, tasks);
    for (int i = 0; number < tasks; i++) {
        const int slot = i % QUEUE;
        const int next = blocks + (int)atomic_add(p.counters, 1); /* answered while loads go out */
        const int tell = min(2, u.blocks - 1);
        task then = {};
        for (int block = 0; block < u.blocks; block++) {
            const uint32_t full = at.full + 8 * ring.stage, stage = at.stages + ring.stage * F::stage_bytes;
            barrier_wait(at.empty + 8 * ring.stage, ring.parity);
            barrier_announce(full, u.narrow ? LEFT_BYTES + HALF_WIDTH * line_bytes : (int)F::stage_bytes);
            const int depth = block * DEPTH;
            load_lines<F::left_across, false, ROWS>(0, stage, p.left, F::left_across ? u.row : u.from,
                                                    depth + (F::left_across ? u.place : 0), full);
            load_right<F>(p, stage + LEFT_BYTES, u, depth, full);
            go_on<F>(ring);
            if (block == tell) {
                asm volatile("st.shared.u32 [%0], %1;" ::"r"(at.queue + 4 * slot), "r"(next) : "memory");
                barrier_arrive(at.announced + 8 * slot);
                then = task_at<F>(p, next, tasks);
            }
        }
        number = next;
        u = then;
    }
    if (atomic_add(p.counters + 1, 1) == (uint32_t)blocks - 1) {
        p.counters[0] = 0;
        p.counters[1] = 0;
    }
}

/* ------------------------------------------------------------------------------------------------------------
 * The warps that multiply
 * ------------------------------------------------------------------------------------------------------------ */

/* Lines of both factors behind the end of the group. All groups of warps that share the stage come here. */
template <class F> DEVICE void clear_lines(uint32_t stage, const group &g, int left)
{
    enum { LINE_GROUPS = (LEFT_BYTES + F::right_bytes) / LINE_GROUP, THREADS = F::groups * GROUP_THREADS };
    const int pieces = (DEPTH - left) * (line_bytes / 16);
    const int thread = F::together ? g.index * GROUP_THREADS + g.thread : g.thread;
    for (int i = 0; i < LINE_GROUPS; i++)
        for (int piece = thread; piece < pieces; piece += THREADS)
            asm volatile("st.shared.v4.u32 [%0], {%1, %1, %1, %1};" ::"r"(stage + i * LINE_GROUP + left * line_bytes +
                                                                          piece * 16),
                         "r"(0)
                         : "memory");
    publish_to_copies();
    warps_barrier(F::together ? (int)CLEARED : STORING + g.index, THREADS);
}

/* Stores 64 rows of a box's columns, of which those from `u.end` on are not the group's. As store_box_of() of gemm: boxes alternate
 * between two places, and each is one group of the engine's stores, if an empty one. */
template <class F>
DEVICE void store_box_of_group(const tki_grouped_hopper_params &p, const places &at, const group &g,
                               const uint32_t *words, int box, const task &u, int row, int col)
{
    const uint32_t to = at.boxes + (2 * g.index + (box & 1)) * F::box_bytes;
    const uint32_t line = (uint32_t)(g.warp * 16 + (g.lane & 15));
    if (g.thread == 0)
        wait_stores_read<1>();
    warps_barrier(STORING + g.index, GROUP_THREADS);
#pragma unroll
    for (int i = 0; i < F::box_cols / 16; i++) {
        const uint32_t piece = (uint32_t)(2 * i + (g.lane >> 4));
        store_matrices(to + line * 128 + ((piece ^ (line & 7)) << 4), words[4 * i], words[4 * i + 1],
                       words[4 * i + 2], words[4 * i + 3]);
    }
    publish_to_copies();
    warps_barrier(STORING + g.index, GROUP_THREADS);
    const bool whole = F::left_across || row + TKI_GEMM_STORE_ROWS <= u.end;
    if (!whole)
#pragma unroll 1
        for (int i = g.thread; i < TKI_GEMM_STORE_ROWS * 8; i += GROUP_THREADS) {
            const uint32_t own = (uint32_t)i / 8, piece = (uint32_t)i % 8;
            vector16 v;
            asm volatile("ld.shared.v4.u32 {%0, %1, %2, %3}, [%4];"
                         : "=r"(v.word[0]), "=r"(v.word[1]), "=r"(v.word[2]), "=r"(v.word[3])
                         : "r"(to + own * 128 + ((piece ^ (own & 7)) << 4))
                         : "memory");
            if (row + (int)own < u.end && col + (int)piece * 8 < p.cols)
                store16((result_element *)p.out_elements + (int64_t)(row + (int)own) * p.cols + col + piece * 8, v);
        }
    if (g.thread == 0) {
        if (F::left_across)
            store_box_into((const tensor_map &)p.out, to, col, row, u.group);
        else if (whole)
            store_box((const tensor_map &)p.out, to, col, row);
        close_stores();
    }
}

template <class F>
DEVICE void store_sums_of_group(const tki_grouped_hopper_params &p, const group &g, const float (&sum)[F::sums],
                                const task &u, int row)
{
    tki_gemm_hopper_params own; /* what store_sums() reads of it */
    own.out_elements = (result_element *)p.out_elements +
                       (F::left_across ? (int64_t)u.group * p.rows * p.cols : (int64_t)0);
    own.rows = u.end;
    own.cols = p.cols;
    store_sums<F>(own, g, sum, row, u.col);
}

template <class F> DEVICE void multiply_tasks(const tki_grouped_hopper_params &p, const places &at)
{
    enum { WORDS = F::together && !F::direct ? F::sums / 2 : 1 };
    const group g = {(int)thread_index() / GROUP_THREADS, (int)thread_index() % GROUP_THREADS,
                     (int)thread_index() / 32 % 4, (int)thread_index() % 32};
    const uint64_t left = factor_at<F::left_across>(at.stages + (F::together ? g.index * LINE_GROUP : 0), LINE_GROUP);
    const uint64_t right = factor_at<F::right_across>(at.stages + LEFT_BYTES, LINE_GROUP);
    const int tasks = task_count(p);
    float sum[F::tall][F::sums];
    uint32_t words[WORDS]; /* of the tile before, rounded */
    bool pending = false;
    task done = {};
    ring_place ring = {0, 0};

    auto row_of = [&](const task &u) { return u.row + (F::together ? g.index * 64 : 0); };
    auto release = [&](int stage) {
        if (g.thread == 0)
            barrier_arrive(at.empty + 8 * stage);
    };
    auto wait_for_block = [&](int lines) {
        barrier_wait(at.full + 8 * ring.stage, ring.parity);
        if (F::left_across && lines < DEPTH)
            clear_lines<F>(at.stages + ring.stage * F::stage_bytes, g, lines);
    };
    auto multiply_block = [&](auto narrow, bool keeps, int lines) {
        const uint32_t offset = (uint32_t)(ring.stage * (F::stage_bytes >> 4));
        wait_for_block(lines);
        begin_products();
#pragma unroll
        for (int step = 0; step < STEPS; step++)
#pragma unroll
            for (int t = 0; t < F::tall; t++) {
                const uint64_t x = left + offset + t * (LINE_GROUP >> 4) + step * factor_step<F::left_across>();
                const uint64_t y = right + offset + step * factor_step<F::right_across>();
                if constexpr (narrow.value)
                    issue_narrow_product<F::left_across, F::right_across>(sum[t], x, y, keeps || step > 0);
                else
                    issue_product<F::left_across, F::right_across>(sum[t], x, y, keeps || step > 0);
            }
        close_products();
    };
    auto store_pending = [&](int b) {
        if (pending && !(done.narrow && b * F::box_cols >= HALF_WIDTH))
            store_box_of_group<F>(p, at, g, words + b * (F::box_cols / 4), b, done, row_of(done),
                                  done.col + b * F::box_cols);
    };

    int number = (int)block_index(), i = 0, before = 0;
    task u = task_at<F>(p, number, tasks);
    auto lines_in = [&](int block) { return F::left_across && block == u.blocks - 1 ? u.left : (int)DEPTH; };
    auto multiply_all = [&](auto narrow) {
        if constexpr (F::together && !F::direct) {
#pragma unroll
            for (int b = 0; b < F::boxes; b++) { /* the tile before leaves behind the first blocks */
                if (b == 0 || b < u.blocks) {
                    multiply_block(narrow, b > 0, lines_in(b));
                    if (b > 0) {
                        finish_products<1>();
                        release(before);
                    }
                    before = ring.stage;
                    go_on<F>(ring);
                }
                store_pending(b);
            }
        } else {
            multiply_block(narrow, false, lines_in(0));
            before = ring.stage;
            go_on<F>(ring);
        }
        for (int b = F::together && !F::direct ? F::boxes : 1; b < u.blocks; b++) {
            multiply_block(narrow, true, lines_in(b));
            finish_products<1>();
            release(before);
            before = ring.stage;
            go_on<F>(ring);
        }
    };
    while (number < tasks) {
        if (!F::together && (i & 1) != g.index) {
            skip_stages<F>(ring, u.blocks);
            number = announced_task(at, ++i);
            u = task_at<F>(p, number, tasks);
            continue;
        }
        if constexpr (F::together && !F::direct) {
            if (row_of(u) >= u.end) { /* the other group has all rows that there are */
#pragma unroll
                for (int b = 0; b < F::boxes; b++)
                    store_pending(b);
                pending = false;
                for (int b = 0; b < u.blocks; b++) {
                    wait_for_block(lines_in(b));
                    release(ring.stage);
                    go_on<F>(ring);
                }
                number = announced_task(at, ++i);
                u = task_at<F>(p, number, tasks);
                continue;
            }
        }
        if (!F::together && i > 0) /* a barrier's parity tells this task's stages only from those just before */
            warps_barrier(MY_TURN + g.index, 2 * GROUP_THREADS);
        if (F::width == 256 && u.narrow)
            multiply_all(constant<F::width == 256>());
        else
            multiply_all(constant<false>());
        done = u;
        number = announced_task(at, ++i); /* behind the last products */
        if (!F::together && number < tasks)
            warps_arrive(MY_TURN + 1 - g.index, 2 * GROUP_THREADS);
        u = task_at<F>(p, number, tasks);
        finish_products<0>();
        release(before);
#pragma unroll
        for (int t = 0; t < F::tall; t++)
            hold_sums(sum[t]);
        pending = true;
        if constexpr (F::direct) {
#pragma unroll
            for (int t = 0; t < F::tall; t++)
                store_sums_of_group<F>(p, g, sum[t], done, row_of(done) + 64 * t);
        } else if constexpr (F::together) {
#pragma unroll
            for (int w = 0; w < WORDS; w++)
                words[w] = to_pair(sum[0][2 * w], sum[0][2 * w + 1]);
        } else {
#pragma unroll
            for (int t = 0; t < F::tall; t++)
#pragma unroll
                for (int b = 0; b < F::boxes / F::tall; b++) {
                    uint32_t box[F::box_cols / 4];
#pragma unroll
                    for (int w = 0; w < F::box_cols / 4; w++)
                        box[w] = to_pair(sum[t][b * (F::box_cols / 2) + 2 * w],
                                         sum[t][b * (F::box_cols / 2) + 2 * w + 1]);
                    store_box_of_group<F>(p, at, g, box, t * (F::boxes / F::tall) + b, done, row_of(done) + 64 * t,
                                          done.col + b * F::box_cols);
                }
        }
    }
    if constexpr (F::together && !F::direct) {
#pragma unroll
        for (int b = 0; b < F::boxes; b++)
            store_pending(b);
    }
    if (g.thread == 0)
        wait_stores_read<0>(); /* shared memory must last as long; the end of the grid orders the writes */
}

/* ------------------------------------------------------------------------------------------------------------
 * The kernels
 * ------------------------------------------------------------------------------------------------------------ */

template <class F> DEVICE void multiply_groups(const tki_grouped_hopper_params &p)
{
    extern __shared__ unsigned char groups_memory[];
    const places at = places_of<F>(groups_memory);
    if (thread_index() == 0) {
        prefetch_map((const tensor_map &)p.left);
        prefetch_map((const tensor_map &)p.right);
        for (int i = 0; i < F::stages; i++) {
            barrier_create(at.full + 8 * i);
            barrier_create(at.empty + 8 * i, F::groups);
        }
        for (int i = 0; i < QUEUE; i++)
            barrier_create(at.announced + 8 * i);
        barrier_publish();
    }
    let_next_kernel_in();
    block_barrier();
    if (thread_index() >= 2 * GROUP_THREADS) {
        give_registers_up<40>();
        if (thread_index() == 2 * GROUP_THREADS) {
            await_earlier_kernels();
            bring_tasks<F>(p, at);
        }
    } else {
        take_registers<232>();
        await_earlier_kernels(); /* one of them makes the table */
        multiply_tasks<F>(p, at);
    }
}

#define GROUPS(name, ...)                                                                       \
    ENTRY(TKI_GEMM_HOPPER_THREADS, 1) name(const __grid_constant__ tki_grouped_hopper_params p) \
    {                                                                                           \
        multiply_groups<form<__VA_ARGS__>>(p);                                                  \
    }

/* launch_hopper.c has the same list. */
#if TKI_RESULT_DTYPE == TKI_DTYPE
GROUPS(groups_256, LEFT_ACROSS, RIGHT_ACROSS, 256, true, 1, 4, false)
GROUPS(groups_128, LEFT_ACROSS, RIGHT_ACROSS, 128, false, 1, 5, false)
#endif
GROUPS(groups_128_direct, LEFT_ACROSS, RIGHT_ACROSS, 128, false, 1, 5, true)
