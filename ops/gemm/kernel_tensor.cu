/* UNTRUSTED. Matrix products on matrix units, for 16-bit factors and fp32 sums.
 *
 * A block computes a tile of the output, walking along the sum in panels of DEPTH. A panel lies in shared memory as its factor does in
 * memory, lines along the sum or across it; fragments are transposed on their way into registers. Several panels are under way while one is
 * multiplied: by asynchronous copies where 16-byte pieces are aligned and the device has them, else by loads that wait in registers.
 *
 * Every output is one chain of fragment products in ascending order from +0, padded with zero times zero to a whole panel: its bits depend
 * neither on the tile nor on the other rows and columns, nor on how panels were brought. Nothing is skipped, so that 0 times infinity is NaN. */
#include "backend/device_mma.h"
#include "ops/gemm/params.h"
#include "ops/gemm/params_tensor.h"

enum {
    DEPTH = TKI_TENSOR_DEPTH,
    STEPS = DEPTH / 16,
    PIECE = vector_elements, /* 16 bytes */
    GROUP = 8 /* rows of tiles that are taken together, so that blocks at work share panels in the L2 cache */
};

extern SHARED vector16 memory[]; /* as much as the launch asks for */

/* How one factor's panels come into shared memory. ALONG: the factor lies along the sum. */
template <bool ALONG, int LINES> struct panel_shape {
    enum {
        ROWS = ALONG ? LINES : DEPTH,
        LENGTH = ALONG ? DEPTH : LINES, /* of a row, in elements */
        CHUNKS = LENGTH / PIECE,
        SIZE = ROWS * CHUNKS /* in pieces of 16 bytes */
    };
};

/* What of a factor is in the panel that comes next. */
template <bool ALONG> struct source {
    const element *at; /* where the panel begins */
    int64_t pitch;     /* from one row to the next */
    int lines;         /* of the tile that exist */
    int64_t rest;      /* places along the sum, from this panel on */

    MEMBER void begin(const tki_gemm_factor &factor, int64_t first_line, int64_t line_count, int64_t inner)
    {
        at = (const element *)factor.data + first_line * factor.line_stride;
        pitch = ALONG ? factor.line_stride : factor.inner_stride;
        const int64_t left = line_count - first_line;
        lines = left < (1 << 20) ? (int)left : 1 << 20;
        rest = inner;
    }
    MEMBER void advance()
    {
        at += ALONG ? DEPTH : DEPTH * pitch;
        rest -= DEPTH;
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

/* 16-byte pieces, which begin at multiples of 16 bytes; rows are a whole number of them. */
template <bool ALONG, int LINES, int THREADS> struct piece_feed : panel_shape<ALONG, LINES> {
    typedef panel_shape<ALONG, LINES> shape;
    enum { COUNT = shape::SIZE / THREADS, ROW_STEP = THREADS / shape::CHUNKS };
    static_assert(shape::SIZE % THREADS == 0 && THREADS % shape::CHUNKS == 0 &&
                      ROW_STEP % (can_copy_async ? 8 : 16) == 0,
                  "");

    source<ALONG> from;
    vector16 waiting[can_copy_async ? 1 : COUNT];

    /* Begins to bring the next panel. */
    MEMBER void fetch(vector16 *panel)
    {
        const int t = (int)thread_index();
        const int row = t / shape::CHUNKS, chunk = t % shape::CHUNKS;
        const int rows = from.rows(), length = from.length();
        const element *at = from.at + row * from.pitch + chunk * PIECE;
        vector16 *to = panel + chunk_at<ALONG, shape::CHUNKS>(row, chunk);
#pragma unroll
        for (int i = 0; i < COUNT; i++) { /* rows that are exchanged alike */
            const bool exists = row + i * ROW_STEP < rows && chunk * PIECE < length;
            if (can_copy_async)
                copy16_async(to + i * ROW_STEP * shape::CHUNKS, at, exists);
            else
                waiting[i] = exists ? load16(at) : vector16{{0, 0, 0, 0}};
            at += ROW_STEP * from.pitch;
        }
        from.advance();
    }
    /* Ends it. */
    MEMBER void stash(vector16 *panel)
    {
        const int t = (int)thread_index();
        const int row = t / shape::CHUNKS, chunk = t % shape::CHUNKS;
        vector16 *to = panel + chunk_at<ALONG, shape::CHUNKS>(row, chunk);
        if (!can_copy_async)
#pragma unroll
            for (int i = 0; i < COUNT; i++)
                to[i * ROW_STEP * shape::CHUNKS] = waiting[i];
    }
};

/* Pairs of elements at any address: neighbouring lanes load neighbouring pairs, so that a warp's loads lie side by side. */
template <bool ALONG, int LINES, int THREADS> struct pair_feed : panel_shape<ALONG, LINES> {
    typedef panel_shape<ALONG, LINES> shape;
    enum { PAIRS = shape::LENGTH / 2, COUNT = shape::ROWS * PAIRS / THREADS, ROW_STEP = THREADS / PAIRS };
    static_assert(shape::ROWS * PAIRS % THREADS == 0 && THREADS % PAIRS == 0, "");

    source<ALONG> from;
    element low[loads_wait ? COUNT : 1], high[loads_wait ? COUNT : 1];

    MEMBER void fetch(vector16 *)
    {
        if (!loads_wait)
            return;
        const element *at = first();
#pragma unroll
        for (int i = 0; i < COUNT; i++)
            load(i, at, low[i], high[i]);
        from.advance();
    }
    MEMBER void stash(vector16 *panel)
    {
        if (loads_wait) {
#pragma unroll
            for (int i = 0; i < COUNT; i++)
                store(i, panel, low[i], high[i]);
            return;
        }
        const element *at = first();
#pragma unroll 4
        for (int i = 0; i < COUNT; i++) {
            load(i, at, low[0], high[0]);
            store(i, panel, low[0], high[0]);
        }
        from.advance();
    }

  private:
    MEMBER const element *first() const
    {
        const int t = (int)thread_index();
        return from.at + t / PAIRS * from.pitch + t % PAIRS * 2;
    }
    MEMBER void load(int i, const element *&at, element &even, element &odd) const
    {
        const int t = (int)thread_index();
        const int row = t / PAIRS + i * ROW_STEP, place = t % PAIRS * 2;
        even = row < from.rows() && place < from.length() ? at[0] : 0;
        odd = row < from.rows() && place + 1 < from.length() ? at[1] : 0;
        at = hold_address(at + ROW_STEP * from.pitch);
    }
    MEMBER void store(int i, vector16 *panel, element even, element odd) const
    {
        const int t = (int)thread_index();
        const int row = t / PAIRS + i * ROW_STEP, pair = t % PAIRS;
        panel[chunk_at<ALONG, shape::CHUNKS>(row, pair / 4)].word[pair % 4] = even | (uint32_t)odd << 16;
    }
};

template <bool WHOLE, bool ALONG, int LINES, int THREADS> struct feed_of {
    typedef piece_feed<ALONG, LINES, THREADS> type;
};
template <bool ALONG, int LINES, int THREADS> struct feed_of<false, ALONG, LINES, THREADS> {
    typedef pair_feed<ALONG, LINES, THREADS> type;
};

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
template <bool LEFT_ALONG, bool RIGHT_ALONG, bool WHOLE, int ROWS, int COLS, int THREADS>
DEVICE void multiply(const tki_gemm_params &p)
{
    typedef typename feed_of<WHOLE, LEFT_ALONG, ROWS, THREADS>::type left_feed;
    typedef typename feed_of<WHOLE, RIGHT_ALONG, COLS, THREADS>::type right_feed;
    enum {
        STAGES = WHOLE && can_copy_async ? TKI_TENSOR_STAGES : TKI_TENSOR_STAGED,
        STAGE = left_feed::SIZE + right_feed::SIZE,
        WARPS = THREADS / warp_lanes,
        DOWN = 2, /* warps of a tile, and squares of a warp */
        ACROSS = WARPS / DOWN,
        WARP_ROWS = ROWS / DOWN,
        WARP_COLS = COLS / ACROSS,
        SQUARES_DOWN = WARP_ROWS / 16,
        SQUARES_ACROSS = WARP_COLS / 16,
        PATCH = 16 * (WARP_COLS * sizeof(result_element) + 16) / 16 /* of a warp, in pieces */
    };
    static_assert(STEPS % fragment_sets == 0, "fragments alternate between sets of registers");
    static_assert(WARPS * PATCH <= STAGES * STAGE, "");
    const int warp = (int)warp_index();
    const int warp_row = warp / ACROSS * WARP_ROWS, warp_col = warp % ACROSS * WARP_COLS;

    fragment_reader<LEFT_ALONG, left_feed::CHUNKS> left_reader;
    fragment_reader<RIGHT_ALONG, right_feed::CHUNKS> right_reader;
    left_reader.begin(warp_row);
    right_reader.begin(warp_col);

    const int64_t tiles_down = (p.rows + ROWS - 1) / ROWS, tiles_across = (p.cols + COLS - 1) / COLS;
    const int64_t panels = (p.inner + DEPTH - 1) / DEPTH;
    for (int64_t tile = block_index(); tile < tiles_down * tiles_across; tile += block_count()) {
        const int64_t group = tile / (GROUP * tiles_across), within = tile % (GROUP * tiles_across);
        const int64_t group_rows = tiles_down - group * GROUP < GROUP ? tiles_down - group * GROUP : GROUP;
        const int64_t first_row = (group * GROUP + within % group_rows) * ROWS;
        const int64_t first_col = within / group_rows * COLS;

        left_feed left;
        right_feed right;
        left.from.begin(p.left, first_row, p.rows, p.inner);
        right.from.begin(p.right, first_col, p.cols, p.inner);
        square sums[SQUARES_DOWN][SQUARES_ACROSS] = {};
        fragment a[fragment_sets][SQUARES_DOWN], b[fragment_sets][SQUARES_ACROSS];

#pragma unroll
        for (int s = 0; s < STAGES - 1; s++) {
            left.fetch(memory + s * STAGE);
            right.fetch(memory + s * STAGE + left_feed::SIZE);
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
                if (step == 0) {
                    /* All warps have read what lay there: their last fragments of it, before the last barrier. */
                    left.fetch(filled);
                    right.fetch(filled + left_feed::SIZE);
                    close_copies();
                }
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
                for (int i = 0; i < SQUARES_DOWN; i++)
#pragma unroll
                    for (int j = 0; j < SQUARES_ACROSS; j++)
                        multiply_add(sums[i][j], a[step % fragment_sets][i], b[step % fragment_sets][j]);
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

enum {
    LARGE_ROWS = can_copy_async ? TKI_TENSOR_ROWS : TKI_TENSOR_STAGED_ROWS,
    LARGE_COLS = can_copy_async ? TKI_TENSOR_COLS : TKI_TENSOR_STAGED_COLS,
    LARGE_THREADS = can_copy_async ? TKI_TENSOR_THREADS : TKI_TENSOR_STAGED_THREADS
};

/* Which factors are transposed in memory, as BLAS names it: n, rows of left lie along the sum and those of right across it; t, the other way. */
#define PRODUCTS(name, left_along, right_along)                                                                   \
    KERNEL(LARGE_THREADS, 256 / LARGE_THREADS, name##_large, tki_gemm_params)                                     \
    {                                                                                                             \
        multiply<left_along, right_along, true, LARGE_ROWS, LARGE_COLS, LARGE_THREADS>(p);                        \
    }                                                                                                             \
    KERNEL(TKI_TENSOR_SMALL_THREADS, 3, name##_small, tki_gemm_params)                                            \
    {                                                                                                             \
        multiply<left_along, right_along, true, TKI_TENSOR_SMALL, TKI_TENSOR_SMALL, TKI_TENSOR_SMALL_THREADS>(p); \
    }                                                                                                             \
    KERNEL(TKI_TENSOR_STAGED_THREADS, 1, name##_pairs, tki_gemm_params)                                           \
    {                                                                                                             \
        multiply<left_along, right_along, false, TKI_TENSOR_STAGED_ROWS, TKI_TENSOR_STAGED_COLS,                  \
                 TKI_TENSOR_STAGED_THREADS>(p);                                                                   \
    }

PRODUCTS(product_nn, true, false)
PRODUCTS(product_nt, true, true)
PRODUCTS(product_tn, false, false)
