/* UNTRUSTED. Matrix products on matrix units, for 16-bit factors and fp32 sums.
 *
 * A block computes a tile of the output, walking along the sum in panels of DEPTH. A panel lies in shared memory as its factor does in
 * memory, lines along the sum or across it; fragments are transposed on their way into registers. Several panels are under way while one is
 * multiplied: by asynchronous copies where 16-byte pieces are aligned and the device has them, else by loads that wait in registers.
 *
 * Every output is one chain of fragment products in ascending order from +0, padded with zero times zero to a multiple of PADDED: its bits depend
 * neither on the tile nor on the other rows and columns, nor on how panels were brought. Nothing is skipped, so that 0 times infinity is NaN. */
#include "kernels/device_mma.h"
#include "ops/product/params.h"
#include "ops/product/params_tensor.h"

enum {
    PADDED = TKI_TENSOR_PADDED,
    PIECE = vector_elements, /* 16 bytes */
    GROUP = 16 /* rows of tiles that are taken together, so that blocks at work share panels in the L2 cache */
};

extern SHARED vector16 memory[]; /* as much as the launch asks for */

/* How one factor's panels come into shared memory. ALONG: the factor lies along the sum. */
template <bool ALONG, int LINES, int DEPTH> struct panel_shape {
    enum {
        ROWS = ALONG ? LINES : DEPTH,
        LENGTH = ALONG ? DEPTH : LINES, /* of a row, in elements */
        CHUNKS = LENGTH / PIECE,
        SIZE = ROWS * CHUNKS /* in pieces of 16 bytes */
    };
};

/* What of a factor is in the panel that comes next. */
template <bool ALONG, int DEPTH> struct source {
    int64_t pitch; /* from one row to the next */
    int lines;     /* of the tile that exist */
    int64_t rest;  /* places along the sum, from this panel on */

    /* Returns where the first panel begins. */
    MEMBER const element *begin(const tki_gemm_factor &factor, int64_t first_line, int64_t line_count, int64_t inner)
    {
        pitch = ALONG ? factor.line_stride : factor.inner_stride;
        const int64_t left = line_count - first_line;
        lines = left < (1 << 20) ? (int)left : 1 << 20;
        rest = inner;
        return (const element *)factor.data + first_line * factor.line_stride;
    }
    MEMBER int places() const
    {
        return rest < DEPTH ? (int)rest : DEPTH;
    }
    MEMBER int rows() const
    {
        return ALONG ? lines : places();
    }
    MEMBER int length() const
    {
        return ALONG ? places() : lines;
    }
};

/* 16-byte pieces, which begin at multiples of 16 bytes; rows are a whole number of them. A thread brings COUNT pieces of a panel, the same
 * place of rows ROW_STEP apart, which are exchanged alike. */
template <bool ALONG, int LINES, int DEPTH, int THREADS> struct piece_feed : panel_shape<ALONG, LINES, DEPTH> {
    typedef panel_shape<ALONG, LINES, DEPTH> shape;
    enum { COUNT = shape::SIZE / THREADS, ROW_STEP = THREADS / shape::CHUNKS };
    static_assert(shape::SIZE % THREADS == 0 && THREADS % shape::CHUNKS == 0 && ROW_STEP % rows_alike == 0, "");

    source<ALONG, DEPTH> from;
    const element *at; /* the piece that comes next */
    vector16 waiting[can_copy_async ? 1 : COUNT];

    MEMBER void begin(const tki_gemm_factor &factor, int64_t first_line, int64_t line_count, int64_t inner)
    {
        at = from.begin(factor, first_line, line_count, inner);
        at += row() * from.pitch + chunk() * PIECE;
    }
    /* Begins to bring piece i of the next panel; all are called for in ascending order. */
    MEMBER void fetch(vector16 *panel, int i)
    {
        const bool exists = i * ROW_STEP < from.rows() - row() && chunk() * PIECE < from.length();
        if (can_copy_async)
            copy16_async(place(panel, i), at, exists);
        else
            waiting[i] = exists ? load16(at) : vector16{{0, 0, 0, 0}};
        at += ROW_STEP * from.pitch;
        if (i == COUNT - 1) { /* across the sum, the next panel's rows follow */
            at += ALONG ? DEPTH - LINES * from.pitch : 0;
            from.rest -= DEPTH;
        }
    }
    /* Ends it. */
    MEMBER void stash(vector16 *panel)
    {
        if (!can_copy_async)
#pragma unroll
            for (int i = 0; i < COUNT; i++)
                *place(panel, i) = waiting[i];
    }

  private:
    MEMBER int row() const
    {
        return (int)thread_index() / shape::CHUNKS;
    }
    MEMBER int chunk() const
    {
        return (int)thread_index() % shape::CHUNKS;
    }
    MEMBER vector16 *place(vector16 *panel, int i) const
    {
        return panel + chunk_at<ALONG, shape::CHUNKS>(row(), chunk()) + i * ROW_STEP * shape::CHUNKS;
    }
};

/* Pairs of elements at any address: neighbouring lanes load neighbouring pairs, so that a warp's loads lie side by side. */
template <bool ALONG, int LINES, int DEPTH, int THREADS> struct pair_feed : panel_shape<ALONG, LINES, DEPTH> {
    typedef panel_shape<ALONG, LINES, DEPTH> shape;
    enum {
        PAIRS = shape::LENGTH / 2,
        COUNT = shape::ROWS * PAIRS / THREADS,
        ROW_STEP = THREADS / PAIRS,
        CYCLE = ROW_STEP < rows_alike ? rows_alike / ROW_STEP : 1 /* so many pairs further rows are exchanged alike */
    };
    static_assert(shape::ROWS * PAIRS % THREADS == 0 && THREADS % PAIRS == 0, "");

    source<ALONG, DEPTH> from;
    const element *at; /* the pair that comes next */
    uint32_t low[loads_wait ? COUNT : 1], high[loads_wait ? COUNT : 1];

    MEMBER void begin(const tki_gemm_factor &factor, int64_t first_line, int64_t line_count, int64_t inner)
    {
        at = from.begin(factor, first_line, line_count, inner);
        at += row() * from.pitch + pair() * 2;
    }
    MEMBER void fetch(vector16 *, int i)
    {
        if (loads_wait)
            load(i, low[i], high[i]);
    }
    MEMBER void stash(vector16 *panel)
    {
        if (loads_wait) {
#pragma unroll
            for (int i = 0; i < COUNT; i++)
                store(i, panel, low[i], high[i]);
        } else {
#pragma unroll 4
            for (int i = 0; i < COUNT; i++) {
                load(i, low[0], high[0]);
                store(i, panel, low[0], high[0]);
            }
        }
    }

  private:
    MEMBER int row() const
    {
        return (int)thread_index() / PAIRS;
    }
    MEMBER int pair() const
    {
        return (int)thread_index() % PAIRS;
    }
    MEMBER void load(int i, uint32_t &even, uint32_t &odd)
    {
        const bool exists = i * ROW_STEP < from.rows() - row();
        even = exists && pair() * 2 < from.length() ? at[0] : 0;
        odd = exists && pair() * 2 + 1 < from.length() ? at[1] : 0;
        at = hold_address(at + ROW_STEP * from.pitch);
        if (i == COUNT - 1) {
            at += ALONG ? DEPTH - LINES * from.pitch : 0;
            from.rest -= DEPTH;
        }
    }
    MEMBER void store(int i, vector16 *panel, uint32_t even, uint32_t odd) const
    {
        vector16 *to = panel + chunk_at<ALONG, shape::CHUNKS>(row() + i % CYCLE * ROW_STEP, pair() / 4);
        to[i / CYCLE * CYCLE * ROW_STEP * shape::CHUNKS].word[pair() % 4] = even | odd << 16;
    }
};

template <bool WHOLE, bool ALONG, int LINES, int DEPTH, int THREADS> struct feed_of {
    typedef piece_feed<ALONG, LINES, DEPTH, THREADS> type;
};
template <bool ALONG, int LINES, int DEPTH, int THREADS> struct feed_of<false, ALONG, LINES, DEPTH, THREADS> {
    typedef pair_feed<ALONG, LINES, DEPTH, THREADS> type;
};

/* Begins to bring share number `share` of the next panels of both factors; the shares come in ascending order. */
template <class left_feed, class right_feed>
DEVICE void fetch_share(left_feed &left, right_feed &right, vector16 *stage, int share, int shares)
{
    enum { LEFT = left_feed::COUNT, ALL = LEFT + right_feed::COUNT };
#pragma unroll
    for (int i = 0; i < ALL; i++) {
        if (i * shares / ALL != share)
            continue;
        if (i < LEFT)
            left.fetch(stage, i);
        else
            right.fetch(stage + left_feed::SIZE, i - LEFT);
    }
}

template <int COUNT, class reader>
DEVICE void load_fragments(fragment (&set)[COUNT], const reader &from, const vector16 *panel, int step)
{
#pragma unroll
    for (int i = 0; i < COUNT; i++)
        set[i] = from.load(panel, i, step);
}

/* Writes a warp's 16 rows by SQUARES squares of sums, by way of `patch` in shared memory, so that rows are stored in whole pieces. */
template <int SQUARES>
DEVICE void store_rows(result_element *patch, const square *sums, const tki_gemm_params &p, int64_t first_row,
                       int64_t first_col)
{
    enum {
        COLS = SQUARES * 16,
        RESULTS = 16 / sizeof(result_element), /* in a piece */
        PITCH = COLS + RESULTS,                /* rows begin in different banks */
        PIECES = COLS / RESULTS
    };
    const int lane = (int)lane_index();
#pragma unroll
    for (int j = 0; j < SQUARES; j++)
#pragma unroll
        for (int i = 0; i < square_sums; i += sum_run) {
            result_element *at = patch + sum_row(i) * PITCH + j * 16 + sum_col(i);
#pragma unroll
            for (int r = 0; r < sum_run; r++)
                at[r] = to_result(sums[j].sum[i + r]);
        }
    warp_barrier();
    result_element *out = (result_element *)p.out + first_row * p.cols + first_col;
    const int64_t rows = p.rows - first_row, cols = p.cols - first_col;
    if (p.cols % RESULTS == 0 && (uintptr_t)p.out % 16 == 0) {
#pragma unroll
        for (int i = 0; i < 16 * PIECES / warp_lanes; i++) {
            const int row = (i * warp_lanes + lane) / PIECES, col = (i * warp_lanes + lane) % PIECES * RESULTS;
            if (row < rows && col < cols)
                store16(out + row * p.cols + col, *(const vector16 *)(patch + row * PITCH + col));
        }
    } else {
        for (int i = lane; i < 16 * COLS; i += warp_lanes) {
            const int row = i / COLS, col = i % COLS;
            if (row < rows && col < cols)
                out[row * p.cols + col] = patch[row * PITCH + col];
        }
    }
    warp_barrier();
}

/* LEFT_ALONG, RIGHT_ALONG: the factor lies along the sum. WHOLE: both lie in pieces of 16 bytes. Blocks take tiles in turn, so that any
 * number of blocks does the work. */
template <bool LEFT_ALONG, bool RIGHT_ALONG, bool WHOLE, int ROWS, int COLS, int THREADS, int DEPTH, int STAGES>
DEVICE void multiply(const tki_gemm_params &p)
{
    typedef typename feed_of<WHOLE, LEFT_ALONG, ROWS, DEPTH, THREADS>::type left_feed;
    typedef typename feed_of<WHOLE, RIGHT_ALONG, COLS, DEPTH, THREADS>::type right_feed;
    enum {
        STEPS = DEPTH / 16,
        STAGE = left_feed::SIZE + right_feed::SIZE,
        WARPS = THREADS / warp_lanes,
        DOWN = ROWS > 128 ? ROWS / 64 : 2, /* warps of a tile, and squares of a warp */
        ACROSS = WARPS / DOWN,
        WARP_ROWS = ROWS / DOWN,
        WARP_COLS = COLS / ACROSS,
        SQUARES_DOWN = WARP_ROWS / 16,
        SQUARES_ACROSS = WARP_COLS / 16,
        /* Copies begin between the products, for a burst of them would hold up the fragments that are read next; the last step waits for
         * them. Loads that wait in registers begin at once. */
        SHARES = WHOLE && can_copy_async ? (STEPS - 1) * SQUARES_DOWN : 1,
        PATCH = 16 * (WARP_COLS * sizeof(result_element) + 16) / 16 /* of a warp, in pieces */
    };
    static_assert(STEPS % fragment_sets == 0, "fragments alternate between sets of registers");
    static_assert(PADDED % DEPTH == 0, "");
    static_assert(WARPS * PATCH <= STAGES * STAGE, "");
    const int warp = (int)warp_index();
    const int warp_row = warp / ACROSS * WARP_ROWS, warp_col = warp % ACROSS * WARP_COLS;

    fragment_reader<false, LEFT_ALONG, left_feed::CHUNKS> left_reader;
    fragment_reader<true, RIGHT_ALONG, right_feed::CHUNKS> right_reader;
    left_reader.begin(warp_row);
    right_reader.begin(warp_col);

    const int64_t tiles_down = (p.rows + ROWS - 1) / ROWS, tiles_across = (p.cols + COLS - 1) / COLS;
    const int64_t panels = (p.inner + PADDED - 1) / PADDED * (PADDED / DEPTH);
    for (int64_t tile = block_index(); tile < tiles_down * tiles_across; tile += block_count()) {
        const int64_t group = tile / (GROUP * tiles_across), within = tile % (GROUP * tiles_across);
        const int64_t group_rows = tiles_down - group * GROUP < GROUP ? tiles_down - group * GROUP : GROUP;
        const int64_t first_row = (group * GROUP + within % group_rows) * ROWS;
        const int64_t first_col = within / group_rows * COLS;

        left_feed left;
        right_feed right;
        left.begin(p.left, first_row, p.rows, p.inner);
        right.begin(p.right, first_col, p.cols, p.inner);
        square sums[SQUARES_DOWN][SQUARES_ACROSS] = {};
        fragment a[fragment_sets][SQUARES_DOWN], b[fragment_sets][SQUARES_ACROSS];

#pragma unroll
        for (int s = 0; s < STAGES - 1; s++) {
            fetch_share(left, right, memory + s * STAGE, 0, 1);
            left.stash(memory + s * STAGE);
            right.stash(memory + s * STAGE + left_feed::SIZE);
            close_copies();
        }
        await_copies<STAGES - 2>();
        block_barrier();
        load_fragments(a[0], left_reader, memory, 0);
        load_fragments(b[0], right_reader, memory + left_feed::SIZE, 0);

        vector16 *now = memory, *last = memory + (STAGES - 1) * STAGE, *filled = last;
#pragma unroll 1
        for (int64_t panel = 0; panel < panels; panel++) {
#pragma unroll
            for (int step = 0; step < STEPS; step++) {
                if (step == STEPS - 1) {
                    left.stash(filled);
                    right.stash(filled + left_feed::SIZE);
                    filled = filled == last ? memory : filled + STAGE;
                    now = now == last ? memory : now + STAGE;
                    await_copies<STAGES - 2>();
                    block_barrier();
                }
                const int next = (step + 1) % STEPS;
                if (fragment_sets == 2) {
                    load_fragments(a[next % fragment_sets], left_reader, now, next);
                    load_fragments(b[next % fragment_sets], right_reader, now + left_feed::SIZE, next);
                }
#pragma unroll
                for (int i = 0; i < SQUARES_DOWN; i++) {
                    /* All warps have read what lay there: their last fragments of it, before the last barrier. */
                    const int share = step * SQUARES_DOWN + i;
                    if (share < SHARES)
                        fetch_share(left, right, filled, share, SHARES);
                    if (share == SHARES - 1)
                        close_copies();
#pragma unroll
                    for (int j = 0; j < SQUARES_ACROSS; j++)
                        multiply_add(sums[i][j], a[step % fragment_sets][i], b[step % fragment_sets][j]);
                }
                if (fragment_sets == 1) {
                    load_fragments(a[0], left_reader, now, next);
                    load_fragments(b[0], right_reader, now + left_feed::SIZE, next);
                }
            }
        }

        await_copies<0>();
        block_barrier();
        result_element *patch = (result_element *)(memory + warp * PATCH);
#pragma unroll
        for (int i = 0; i < SQUARES_DOWN; i++)
            store_rows<SQUARES_ACROSS>(patch, sums[i], p, first_row + warp_row + i * 16, first_col + warp_col);
        block_barrier();
    }
}

#if TKI_HIP
enum {
    LARGE_ROWS = TKI_TENSOR_STAGED_ROWS,
    LARGE_COLS = TKI_TENSOR_STAGED_COLS,
    LARGE_THREADS = TKI_TENSOR_STAGED_THREADS,
    LARGE_DEPTH = TKI_TENSOR_STAGED_DEPTH,
    LARGE_STAGES = TKI_TENSOR_STAGED_STAGES,
    SMALL_DEPTH = TKI_TENSOR_STAGED_DEPTH,
    SMALL_STAGES = TKI_TENSOR_STAGED_STAGES,
    PAIRS_DEPTH = TKI_TENSOR_STAGED_DEPTH
};
#else
enum {
    LARGE_ROWS = TKI_TENSOR_ROWS,
    LARGE_COLS = TKI_TENSOR_COLS,
    LARGE_THREADS = TKI_TENSOR_THREADS,
    LARGE_DEPTH = TKI_TENSOR_DEPTH,
    LARGE_STAGES = TKI_TENSOR_STAGES,
    SMALL_DEPTH = TKI_TENSOR_SMALL_DEPTH,
    SMALL_STAGES = TKI_TENSOR_SMALL_STAGES,
    PAIRS_DEPTH = TKI_TENSOR_PAIRS_DEPTH
};
#endif

/* Which factors are transposed in memory, as BLAS names it: n, rows of left lie along the sum and those of right across it; t, the other way. */
#define PRODUCTS(name, left_along, right_along)                                                                    \
    KERNEL(LARGE_THREADS, 256 / LARGE_THREADS, name##_large, tki_gemm_params)                                      \
    {                                                                                                              \
        multiply<left_along, right_along, true, LARGE_ROWS, LARGE_COLS, LARGE_THREADS, LARGE_DEPTH, LARGE_STAGES>( \
            p);                                                                                                    \
    }                                                                                                              \
    KERNEL(TKI_TENSOR_SMALL_THREADS, 3, name##_small, tki_gemm_params)                                             \
    {                                                                                                              \
        multiply<left_along, right_along, true, TKI_TENSOR_SMALL, TKI_TENSOR_SMALL, TKI_TENSOR_SMALL_THREADS,      \
                 SMALL_DEPTH, SMALL_STAGES>(p);                                                                    \
    }                                                                                                              \
    KERNEL(TKI_TENSOR_STAGED_THREADS, 1, name##_pairs, tki_gemm_params)                                            \
    {                                                                                                              \
        multiply<left_along, right_along, false, TKI_TENSOR_STAGED_ROWS, TKI_TENSOR_STAGED_COLS,                   \
                 TKI_TENSOR_STAGED_THREADS, PAIRS_DEPTH, TKI_TENSOR_STAGED_STAGES>(p);                             \
    }

PRODUCTS(product_nn, true, false)
PRODUCTS(product_nt, true, true)
PRODUCTS(product_tn, false, false)
