/* UNTRUSTED. Matrix products on the CPU. The output is cut into tiles; for each tile, panels of both factors are converted to
 * fp32 and packed so that the inner loop reads them in order. Every output element is summed in one fixed order, whatever
 * the tiles and threads are: runs of DEPTH products, each from +0 in ascending order, and the runs added in ascending order
 * to a total that starts at +0. */
#include "ops/gemm/kernel_cpu.h"

#include "backend/cpu_math.h"

extern const tki_gemm_cpu TKI_ISA_TABLE(tki_gemm_cpu);

enum {
    TILE_ROWS = 128,
    TILE_COLS = 128,
    DEPTH = 256,    /* length of a run: part of what the bits depend on, unlike the other sizes */
    STRIP_ROWS = 4, /* the inner loop's block, 4 x 8 sums in eight SSE registers */
    STRIP_COLS = 8
};

/* Fewer products than this are not worth waking threads for. */
static const double PARALLEL_FROM = 0x1p18;

/* What one worker keeps at hand. Panels are strips: strip s holds its 4 rows, or 8 columns, as [depth][4 or 8]. */
typedef struct workspace {
    float left[TILE_ROWS * DEPTH];
    float right[TILE_COLS * DEPTH];
    float totals[TILE_ROWS * TILE_COLS];
} workspace;

/* A part of a factor: `lines` rows of left or columns of right, `depth` places along the sum. */
typedef struct block {
    int64_t first_line, first_place;
    int lines, depth;
} block;

static int64_t tiles_along(int64_t size, int64_t tile)
{
    return size / tile + (size % tile != 0);
}

static int at_most(int64_t left_over, int limit)
{
    return left_over < limit ? (int)left_over : limit;
}

static int64_t worker_count(const tki_gemm_params *p, int threads)
{
    int64_t tiles = tiles_along(p->rows, TILE_ROWS) * tiles_along(p->cols, TILE_COLS);
    if ((double)p->rows * (double)p->cols * (double)p->inner < PARALLEL_FROM)
        return tiles > 0;
    return tiles < threads ? tiles : threads;
}

static size_t scratch_bytes(const tki_gemm_params *p, int threads)
{
    return (size_t)worker_count(p, threads) * sizeof(workspace);
}

/* Fills strips of `width` lines; lines past the end are zero, and only reach totals that are never stored. */
TKI_INLINE void pack(float *restrict target, const tki_gemm_factor *factor, block from, int width, tk_dtype dtype)
{
    float loaded[DEPTH > TILE_COLS ? DEPTH : TILE_COLS];
    int padded = (from.lines + width - 1) / width * width;
    if (factor->inner_stride == 1) {
        for (int line = 0; line < from.lines; line++) {
            float *strip = target + line / width * width * from.depth + line % width;
            int64_t begin = (from.first_line + line) * factor->line_stride + from.first_place;
            tki_load_block(loaded, factor->data, begin, from.depth, dtype);
            for (int t = 0; t < from.depth; t++)
                strip[t * width] = loaded[t];
        }
    } else {
        for (int t = 0; t < from.depth; t++) {
            int64_t begin = (from.first_place + t) * factor->inner_stride + from.first_line;
            tki_load_block(loaded, factor->data, begin, from.lines, dtype);
            for (int line = 0; line < from.lines; line++)
                target[line / width * width * from.depth + t * width + line % width] = loaded[line];
        }
    }
    for (int line = from.lines; line < padded; line++)
        for (int t = 0; t < from.depth; t++)
            target[line / width * width * from.depth + t * width + line % width] = 0.0f;
}

/* totals[4][8] (rows TILE_COLS apart) += one run of products of two strips */
static void add_run(float *restrict totals, const float *restrict left, const float *restrict right, int depth)
{
    float sum[STRIP_ROWS][STRIP_COLS] = {{0}};
    for (int t = 0; t < depth; t++)
        for (int r = 0; r < STRIP_ROWS; r++)
            for (int c = 0; c < STRIP_COLS; c++)
                sum[r][c] += left[t * STRIP_ROWS + r] * right[t * STRIP_COLS + c];
    for (int r = 0; r < STRIP_ROWS; r++)
        for (int c = 0; c < STRIP_COLS; c++)
            totals[r * TILE_COLS + c] += sum[r][c];
}

TKI_INLINE void multiply_tile(const tki_gemm_params *p, workspace *w, int64_t row, int64_t col, tk_dtype dtype)
{
    int rows = at_most(p->rows - row, TILE_ROWS);
    int cols = at_most(p->cols - col, TILE_COLS);
    int padded_rows = (rows + STRIP_ROWS - 1) / STRIP_ROWS * STRIP_ROWS;
    memset(w->totals, 0, sizeof(float) * TILE_COLS * (size_t)padded_rows);
    for (int64_t place = 0; place < p->inner; place += DEPTH) {
        int depth = at_most(p->inner - place, DEPTH);
        pack(w->left, &p->left, (block){row, place, rows, depth}, STRIP_ROWS, dtype);
        pack(w->right, &p->right, (block){col, place, cols, depth}, STRIP_COLS, dtype);
        for (int c = 0; c < cols; c += STRIP_COLS)
            for (int r = 0; r < rows; r += STRIP_ROWS)
                add_run(w->totals + r * TILE_COLS + c, w->left + r * depth, w->right + c * depth, depth);
    }
    for (int r = 0; r < rows; r++)
        tki_store_block(p->out, (row + r) * p->cols + col, cols, w->totals + r * TILE_COLS, dtype);
}

TKI_INLINE void product(const tki_gemm_params *p, void *scratch, int threads, tk_dtype dtype)
{
    int64_t tiles_across = tiles_along(p->cols, TILE_COLS);
    int64_t tiles = tiles_along(p->rows, TILE_ROWS) * tiles_across;
    int workers = (int)worker_count(p, threads);
    if (workers == 0)
        return;
        /* A worker is a piece of scratch, not a thread: every one is served even if fewer threads come. */
#pragma omp parallel for schedule(static, 1) num_threads(workers) if (workers > 1)
    for (int worker = 0; worker < workers; worker++)
        for (int64_t tile = worker; tile < tiles; tile += workers)
            multiply_tile(p, (workspace *)scratch + worker, tile / tiles_across * TILE_ROWS,
                          tile % tiles_across * TILE_COLS, dtype);
}

static void product_f16(const tki_gemm_params *p, void *scratch, int threads)
{
    product(p, scratch, threads, TK_F16);
}

static void product_bf16(const tki_gemm_params *p, void *scratch, int threads)
{
    product(p, scratch, threads, TK_BF16);
}

const tki_gemm_cpu TKI_ISA_TABLE(tki_gemm_cpu) = {.product = {product_f16, product_bf16},
                                                  .scratch_bytes = scratch_bytes};
