/* UNTRUSTED. Products with few tiles on Hopper's matrix units. Several blocks have one tile, each a stretch of the sum, so that more
 * multiprocessors load: `deep` of them, in a cluster. They leave their sums in shared memory, and each adds up a slice of the columns over all
 * of them, in their order. A cluster may have several tiles beside each other: they need the same lines of the left factor, and each block
 * brings a share of those for all. What passes from the cache to the multiprocessors is what takes the time. Included by kernel_hopper.h. */

/* `groups` of 4 warps have 64 rows each; one more warp loads. */
template <bool left_across_, bool right_across_, int groups_, int stages_, class E = as_it_is> struct few_form {
    typedef E epilogue;
    enum {
        left_across = left_across_,
        right_across = right_across_,
        groups = groups_,
        rows = 64 * groups,
        width = TKI_GEMM_FEW_WIDTH,
        stages = stages_,
        threads = groups * GROUP_THREADS,
        left_bytes = rows * DEPTH * 2,
        stage_bytes = left_bytes + width * DEPTH * 2,
        sums = width / 2,
        pitch = width + 4 /* floats of a row of sums in shared memory: two rows begin in different banks */
    };
    static_assert(rows * pitch * 4 <= stages * stage_bytes, "sums take the place of the stages");
};

/* 4 neighbours of a row; `left` of them exist. */
DEVICE void store_four(result_element *to, int left, const float (&low)[2], const float (&high)[2])
{
    if (left >= 4 && (uintptr_t)to % (4 * sizeof *to) == 0) {
#if TKI_RESULT_DTYPE == TKI_DTYPE
        store8(to, to_pair(low[0], low[1]), to_pair(high[0], high[1]));
#else
        store16(to, {{bits_of(low[0]), bits_of(low[1]), bits_of(high[0]), bits_of(high[1])}});
#endif
        return;
    }
    store_result_pair(to, left, false, low);
    store_result_pair(to + 2, left - 2, false, high);
}

DEVICE float4 load_four_there(uint32_t address)
{
    float4 v;
    asm volatile("ld.shared::cluster.v4.f32 {%0, %1, %2, %3}, [%4];"
                 : "=f"(v.x), "=f"(v.y), "=f"(v.z), "=f"(v.w)
                 : "r"(address)
                 : "memory");
    return v;
}

/* Where a block is in its cluster: which stretch of the sum it has, out of how many, and which tile. */
struct few_place {
    int stretch, deep;
    int tile, wide;
};

DEVICE unsigned rank_at(const few_place &me, int stretch, int tile)
{
    return (unsigned)(tile * me.deep + stretch);
}

/* The tile's sums over all its blocks. Each has `slice` columns. */
template <class F>
DEVICE void add_and_store(const tki_gemm_hopper_params &p, const few_place &me, uint32_t sums, int row, int col)
{
    typedef typename F::epilogue E;
    const int blocks = me.deep, slice = F::width / blocks, rank = me.stretch;
    const int fours = slice / 4, rows = min((int)F::rows, p.rows - row);
    for (int i = (int)thread_index(); i < rows * fours; i += F::threads) {
        const int line = i / fours, four = i - line * fours, place = rank * slice + 4 * four;
        const uint32_t at = sums + (uint32_t)(line * F::pitch + place) * 4;
        float4 of_block[TKI_GEMM_FEW_CLUSTER]; /* all on their way at once */
#pragma unroll
        for (int b = 0; b < TKI_GEMM_FEW_CLUSTER; b++)
            if (b < blocks)
                of_block[b] = load_four_there(cluster_address(at, rank_at(me, b, me.tile)));
        float4 sum = of_block[0];
#pragma unroll
        for (int b = 1; b < TKI_GEMM_FEW_CLUSTER; b++)
            if (b < blocks)
                sum = make_float4(sum.x + of_block[b].x, sum.y + of_block[b].y, sum.z + of_block[b].z,
                                  sum.w + of_block[b].w);
        const int left = p.cols - col - place;
        if (left <= 0)
            continue;
        const int64_t there = (int64_t)(row + line) * p.cols + col + place;
        float low[2] = {sum.x, sum.y}, high[2] = {sum.z, sum.w}, second_low[2], second_high[2];
        const typename E::pair in_low = E::fetch(p, row + line, col + place);
        const typename E::pair in_high = E::fetch(p, row + line, col + place + 2);
        E::apply(p, in_low, low, second_low);
        E::apply(p, in_high, high, second_high);
        store_four((result_element *)p.out_elements + there, left, low, high);
        if (E::two_outputs)
            store_four((result_element *)p.second_elements + there, left, second_low, second_high);
    }
}

/* The blocks that have the same stretch of the sum, of all tiles of the cluster, as bits. */
DEVICE uint16_t same_stretch(const few_place &me)
{
    uint16_t bits = 0;
    for (int i = 0; i < me.wide; i++)
        bits |= (uint16_t)(1u << rank_at(me, me.stretch, i));
    return bits;
}

template <class F> DEVICE void few_product(const tki_gemm_hopper_params &p)
{
    extern __shared__ unsigned char product_memory[];
    const uint32_t stages = (shared_address(product_memory) + 1023) & ~1023u;
    const uint32_t full = stages + F::stages * F::stage_bytes, empty = full + 8 * F::stages;
    const int blocks = (int)cluster_blocks(), deep = p.parts, rank = (int)cluster_rank();
    const few_place me = {rank % deep, deep, rank / deep, blocks / deep};
    const int cluster = (int)block_index() / blocks;
    const int row = cluster % p.tiles_down * F::rows;
    const int col = (cluster / p.tiles_down * me.wide + me.tile) * F::width;
    const int begin = p.blocks * me.stretch / deep, end = p.blocks * (me.stretch + 1) / deep;
    if (thread_index() == 0) {
        if (p.blocks > 0) { /* else there are no maps */
            prefetch_map((const tensor_map &)p.left);
            prefetch_map((const tensor_map &)p.right);
        }
        for (int i = 0; i < F::stages; i++) {
            barrier_create(full + 8 * i);
            barrier_create(empty + 8 * i, (unsigned)(F::groups * me.wide));
        }
        barrier_publish();
    }
    let_next_kernel_in();
    if (me.wide > 1)
        cluster_barrier();
    else
        block_barrier();
    if (thread_index() >= F::threads) {
        if (thread_index() == F::threads) {
            await_earlier_kernels();
            /* Lines of rows that do not exist stay as they are: nothing is made of them that is stored. */
            const int lines = F::left_across ? (int)F::rows : TKI_GEMM_FEW_LINES(F::groups, p.rows, me.wide);
            const int share = lines / me.wide;
            const uint16_t peers = same_stretch(me);
            for (int block = begin; block < end; block++) {
                const int stage = (block - begin) % F::stages, round = (block - begin) / F::stages;
                const uint32_t to = stages + (uint32_t)stage * F::stage_bytes, barrier = full + 8 * stage;
                const int depth = block * DEPTH;
                barrier_wait(empty + 8 * stage, (uint32_t)round & 1 ^ 1);
                barrier_announce(barrier, (uint32_t)(lines * line_bytes + F::width * DEPTH * 2));
                load_lines<F::right_across, false, F::width>(0, to + F::left_bytes, p.right, col, depth, barrier);
                if (me.wide > 1)
                    load_lines<F::left_across, true, F::rows>(peers, to + (uint32_t)(me.tile * share * line_bytes),
                                                              p.left, row + me.tile * share, depth, barrier);
                else
                    load_lines<F::left_across, false, F::rows>(0, to, p.left, row, depth, barrier);
            }
        }
        if (deep > 1)
            cluster_barrier();
        if (blocks > 1)
            cluster_barrier();
        return;
    }
    const group g = {(int)thread_index() / GROUP_THREADS, (int)thread_index() % GROUP_THREADS,
                     (int)thread_index() / 32 % 4, (int)thread_index() % 32};
    float sum[F::sums];
#pragma unroll
    for (int i = 0; i < F::sums; i++)
        sum[i] = 0;
    for (int block = begin; block < end; block++) {
        const int stage = (block - begin) % F::stages, round = (block - begin) / F::stages;
        const uint32_t from = stages + (uint32_t)stage * F::stage_bytes;
        const uint64_t left = factor_at<F::left_across>(from + g.index * LINE_GROUP, LINE_GROUP);
        const uint64_t right = factor_at<F::right_across>(from + F::left_bytes, LINE_GROUP);
        barrier_wait(full + 8 * stage, (uint32_t)round & 1);
        begin_products();
#pragma unroll
        for (int step = 0; step < STEPS; step++)
            issue_product<F::left_across, F::right_across>(sum, left + step * factor_step<F::left_across>(),
                                                           right + step * factor_step<F::right_across>(), 1);
        close_products();
        if (block > begin) {
            finish_products<1>();
            const uint32_t before = empty + 8 * ((stage + F::stages - 1) % F::stages);
            if (me.wide == 1) {
                if (g.thread == 0)
                    barrier_arrive(before);
            } else if (g.thread < me.wide) {
                barrier_arrive_there(before, rank_at(me, me.stretch, g.thread));
            }
        }
    }
    finish_products<0>();
    hold_sums(sum);
    if (deep == 1) {
        store_sums<F>(p, g, sum, row + 64 * g.index, col);
        if (blocks > 1)
            cluster_barrier(); /* none leaves while another may still write or arrive here */
        return;
    }
    warps_barrier(1, F::threads); /* the stages are read to the end */
    const int own_row = g.index * 64 + g.warp * 16 + (g.lane >> 2);
    const uint32_t line = stages + (uint32_t)(own_row * F::pitch + 2 * (g.lane & 3)) * 4;
#pragma unroll
    for (int half = 0; half < 2; half++) {
        if (row + own_row + 8 * half >= p.rows)
            continue;
#pragma unroll
        for (int j = 0; j < F::width / 8; j++)
            asm volatile("st.shared.v2.f32 [%0], {%1, %2};" ::"r"(line + (8 * half * F::pitch + 8 * j) * 4),
                         "f"(sum[4 * j + 2 * half]), "f"(sum[4 * j + 2 * half + 1])
                         : "memory");
    }
    cluster_barrier();
    add_and_store<F>(p, me, stages, row, col);
    cluster_barrier(); /* none leaves while another reads its sums */
}

#define FEW_PRODUCT(name, groups, ...)                                                            \
    ENTRY(TKI_GEMM_FEW_THREADS(groups), 1) name(const __grid_constant__ tki_gemm_hopper_params p) \
    {                                                                                             \
        few_product<few_form<LEFT_ACROSS, RIGHT_ACROSS, groups, __VA_ARGS__>>(p);                 \
    }
