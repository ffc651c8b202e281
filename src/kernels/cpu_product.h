/* UNTRUSTED. Sums of products on the CPU. Both factors are packed into panels of cells for the inner loop, a block of
 * sums held in registers: left's cells are spread over vectors and may lie either way, right's rows must lie along
 * vectors and are transposed in registers on their way into the panel where they do not. A cell is a number in fp32,
 * converted if it is one of 16 bits, or a pair of bf16 numbers where the processor multiplies these (cpu_vector_cells.h). Every output is summed in
 * one fixed order, whatever the blocks, the threads and the caches are: runs of DEPTH cells, each from +0 in ascending
 * order by vec_fma_cells(), and the runs added in ascending order. Pairs have two ways to the same bits: the fast one
 * is taken where a look at the exponents shows that it loses no subnormal number.
 *
 * A kernel that does something with sums before it stores them defines PRODUCT_IS_FINISHED as 1 before it includes this, and then
 * finish_block(). */
#ifndef TKI_KERNELS_CPU_PRODUCT_H
#define TKI_KERNELS_CPU_PRODUCT_H

#include <limits.h>
#include <stdbool.h>
#include <unistd.h>

#include "kernels/cpu_vector_cells.h"

#ifndef PRODUCT_IS_FINISHED
#define PRODUCT_IS_FINISHED 0
#endif

typedef struct product_factor {
    const void *data;
    int64_t line_stride;  /* from one row of left, or column of right, to the next */
    int64_t inner_stride; /* along the sum; one of the two strides is 1 */
} product_factor;

typedef struct product_params {
    product_factor left;  /* [rows, inner] */
    product_factor right; /* [inner, cols] */
    void *out;            /* [rows, cols], row-major */
    int64_t rows, cols, inner;
    const void *more; /* for finish_block() */
} product_params;

enum {
    DEPTH = 1024, /* cells of a run: part of what the bits depend on, unlike the other sizes */
    /* The block of sums in registers, which leaves room for one row of right and one element of left. */
    STRIP_ROWS = VEC_REGISTERS == 32 ? 8 : 4,
    STRIP_VECS = 3,
    STRIP_COLS = STRIP_VECS * VEC,
    BLOCK = STRIP_ROWS * STRIP_COLS,
    /* Panels hold groups of lines as [depth][width], a whole number of vectors. */
    LEFT_WIDTH = STRIP_ROWS > VEC ? STRIP_ROWS : VEC,
    RIGHT_WIDTH = STRIP_COLS,
    MOST_SMALL = 64,
    FEW_COLS = VEC / 2,
    /* What a panel, and a tile of them, may have at most. */
    MOST_PANEL_ROWS = 512 > 4 * LEFT_WIDTH ? 512 : 4 * LEFT_WIDTH,
    MOST_COLS = 2048,
    MOST_TILE_ROWS = 2048,
    CACHE_LINE = 64,
    LINE_FLOATS = CACHE_LINE / sizeof(float)
};

/* A thread is not worth waking for fewer products than this. */
static const double PRODUCTS_PER_WORKER = 0x1p18;

/* A part of a factor: `lines` rows of left or columns of right, `places` along the sum. */
typedef struct block {
    const void *first, *end; /* end: that of the whole factor; lanes past the block may be read up to there */
    int64_t line_stride, inner_stride;
    int lines, places;
} block;

/* A rectangle of the output. */
typedef struct tile {
    int64_t row, col, rows, cols;
} tile;

/* How the work is cut. Sizes of left, right and totals count floats of one worker's scratch. */
typedef struct cut {
    product_params p; /* with the factors exchanged if that is faster: then out is [cols, rows] */
    bool exchanged;
    int workers_down, workers_across;
    int64_t share_rows, share_cols; /* of one worker */
    int64_t tile_rows, tile_cols;   /* right's panel serves this many rows, left's panels this many columns */
    int64_t panel_rows;             /* that left's panel holds */
    int64_t left_stride;            /* between rows of left's panel; 1: groups of [depth][LEFT_WIDTH] */
    size_t left, right, totals;
} cut;

typedef struct workspace {
    float *left;   /* panel_rows lines */
    float *right;  /* tile_cols lines, or one strip if one panel of left is all there is */
    float *totals; /* [strip of rows][strip of cols][STRIP_ROWS][STRIP_COLS], if there are several runs */
} workspace;

TKI_INLINE int64_t least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

TKI_INLINE int64_t most(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

TKI_INLINE int64_t parts_of(int64_t size, int64_t part)
{
    return size / part + (size % part != 0);
}

TKI_INLINE int cells_of(int places)
{
    return (places + CELL - 1) / CELL;
}

TKI_INLINE int64_t round_up(int64_t size, int64_t multiple)
{
    return parts_of(size, multiple) * multiple;
}

static int64_t cache_bytes(int name, int64_t otherwise)
{
    int64_t bytes = sysconf(name);
    return bytes > 0 ? bytes : otherwise;
}

/* Parts of equal size, so that the last one is no stub. */
TKI_INLINE int64_t even_part(int64_t size, int64_t limit, int64_t multiple)
{
    return round_up(size <= limit ? size : parts_of(size, parts_of(size, limit)), multiple);
}

static size_t whole_cache_lines(int64_t floats)
{
    return (size_t)round_up(floats, LINE_FLOATS);
}

/* Gives each worker a rectangle, such that the largest is done soonest. */
static void share_out(cut *w, int workers)
{
    double least_cost = 0;
    w->workers_down = w->workers_across = 1;
    w->share_rows = round_up(w->p.rows, STRIP_ROWS);
    w->share_cols = round_up(w->p.cols, STRIP_COLS);
    for (int down = 1; workers > 1 && down <= workers; down++) {
        if (workers % down)
            continue;
        int64_t rows = round_up(parts_of(w->p.rows, down), STRIP_ROWS);
        int64_t cols = round_up(parts_of(w->p.cols, workers / down), STRIP_COLS);
        /* To pack an element takes about as long as eight products. */
        double cost = (double)rows * (double)cols + 8 * (double)(rows + cols);
        if (down == 1 || cost < least_cost) {
            least_cost = cost;
            w->workers_down = down;
            w->workers_across = workers / down;
            w->share_rows = rows;
            w->share_cols = cols;
        }
    }
}

/* If the sum is one product long, both strides may be 1. */
TKI_INLINE bool lines_are_neighbours(const product_factor *factor, int64_t inner)
{
    return factor->inner_stride != 1 || (factor->line_stride == 1 && inner == 1);
}

/* Up to FEW_COLS columns, vectors along the rows waste less. */
static bool better_exchanged(const product_params *p)
{
    return p->cols <= FEW_COLS && p->cols < p->rows;
}

static cut cut_work(const product_params *p, int threads)
{
    cut w = {.p = *p, .exchanged = better_exchanged(p)};
    if (w.exchanged)
        w.p = (product_params){p->right, p->left, p->out, p->cols, p->rows, p->inner, p->more};
    if (p->rows == 0 || p->cols == 0)
        return w;
    double enough = (double)p->rows * (double)p->cols * (double)p->inner / PRODUCTS_PER_WORKER;
    share_out(&w, enough < 2 ? 1 : enough < threads ? (int)enough : threads);

    const int64_t depth = least(DEPTH, parts_of(p->inner, CELL));
    int64_t panel_rows = 4 * LEFT_WIDTH;
    int64_t panel_cols = 4 * RIGHT_WIDTH;
    if (w.share_rows > panel_rows || w.share_cols > panel_cols) {
        /* Half the second-level cache for left's panel; right's, of which a strip at a time is in use, in the third.
         * Both are packed again for every tile: from about 2000 rows or columns on that costs next to nothing. */
        const int64_t line_bytes = (depth + 1) * (int64_t)sizeof(float);
        const int64_t workers = w.workers_down * w.workers_across;
        int64_t rows = cache_bytes(_SC_LEVEL2_CACHE_SIZE, 512 << 10) / 2 / line_bytes;
        int64_t cols = cache_bytes(_SC_LEVEL3_CACHE_SIZE, 8 << 20) / 2 / workers / line_bytes;
        panel_rows = most(panel_rows, least(rows, MOST_PANEL_ROWS));
        panel_cols = most(panel_cols, least(cols, MOST_COLS));
    }
    w.panel_rows = even_part(w.share_rows, panel_rows, LEFT_WIDTH);
    w.tile_rows = w.panel_rows;
    if (w.share_rows > w.panel_rows)
        w.tile_rows *= least(parts_of(MOST_TILE_ROWS, w.panel_rows), parts_of(w.share_rows, w.panel_rows));
    w.tile_cols = even_part(w.share_cols, panel_cols, RIGHT_WIDTH);

    bool neighbours = lines_are_neighbours(&w.p.left, p->inner);
    w.left_stride = neighbours ? 1 : round_up(depth, LINE_FLOATS) + LINE_FLOATS;
    w.left = whole_cache_lines(w.panel_rows * (neighbours ? depth : w.left_stride));
    w.right = whole_cache_lines((w.tile_rows > w.panel_rows ? w.tile_cols : RIGHT_WIDTH) * depth);
    w.totals = p->inner > DEPTH * CELL ? (size_t)(w.tile_rows * w.tile_cols) : 0;
    return w;
}

/* Such a product is not cut and keeps its panels on the stack: what the cutting costs would show. */
static bool is_small(const product_params *p)
{
    return !PRODUCT_IS_FINISHED && p->rows <= MOST_SMALL && p->cols <= MOST_SMALL && p->inner <= MOST_SMALL &&
           p->inner > 0 && (p->rows <= STRIP_ROWS || !better_exchanged(p));
}

static size_t product_scratch_bytes(const product_params *p, int threads)
{
    if (is_small(p))
        return 0;
    cut w = cut_work(p, threads);
    return (size_t)(w.workers_down * w.workers_across) * (w.left + w.right + w.totals) * sizeof(float);
}

/* Of one worker, where neither side is longer; right's columns are not more than left's rows become where the factors are exchanged. */
TKI_INLINE size_t most_of_worker(int64_t rows, int64_t cols, int64_t inner)
{
    const int64_t depth = least(DEPTH, parts_of(inner, CELL));
    const int64_t panel_rows = least(round_up(rows, LEFT_WIDTH), round_up(MOST_PANEL_ROWS, LEFT_WIDTH));
    const int64_t tile_rows = least(round_up(rows, LEFT_WIDTH) + panel_rows, MOST_TILE_ROWS + panel_rows);
    const int64_t tile_cols = least(round_up(cols, RIGHT_WIDTH), round_up(MOST_COLS, RIGHT_WIDTH));
    const size_t totals = inner > DEPTH * CELL ? (size_t)(tile_rows * tile_cols) : 0;
    return whole_cache_lines(panel_rows * (round_up(depth, LINE_FLOATS) + LINE_FLOATS)) +
           whole_cache_lines(most(tile_cols, RIGHT_WIDTH) * depth) + totals;
}

/* Enough for every product of which no size is larger. */
TKI_INLINE size_t product_most_scratch_bytes(const product_params *p, int threads)
{
    const size_t plain = most_of_worker(p->rows, p->cols, p->inner);
    const size_t exchanged = p->cols <= FEW_COLS ? most_of_worker(p->cols, p->rows, p->inner) : 0;
    return (size_t)threads * (plain > exchanged ? plain : exchanged) * sizeof(float);
}

/* The whole factor; the caller moves it on and says how much. */
TKI_INLINE block block_of(const product_factor *factor, int64_t lines, int64_t inner, tk_dtype dtype)
{
    const void *end = element_at(factor->data, lines * inner, dtype);
    return (block){factor->data, end, factor->line_stride, factor->inner_stride, 0, 0};
}

/* Lines that are neighbours in memory: target[cell][line]. Each of the packers gives the smallest exponent it met. */
TKI_INLINE int pack_neighbours(float *restrict target, const block *from, int width, tk_dtype dtype)
{
    vec smallest = vec_smallest_none();
    for (int place = 0; place < from->places; place += CELL, target += width) {
        const void *source = element_at(from->first, place * from->inner_stride, dtype);
        for (int line = 0; line < from->lines; line += VEC) {
            vec cells = vec_zip_cells(element_at(source, line, dtype), from->end, from->inner_stride,
                                      (int)least(VEC, from->lines - line), from->places - place, dtype);
            smallest = vec_smallest(smallest, cells);
            vec_store(target + line, cells);
        }
    }
    return vec_smallest_exponent(smallest);
}

/* Lines that run along the sum: VEC of them are transposed at a time. Missing ones are zero. */
TKI_INLINE int pack_transposed(float *restrict target, const block *from, int width, tk_dtype dtype)
{
    vec smallest = vec_smallest_none();
    for (int line = 0; line < from->lines; line += VEC) {
        int lines = (int)least(VEC, from->lines - line);
        for (int place = 0; place < from->places; place += VEC * CELL) {
            const void *source = element_at(from->first, line * from->line_stride + place, dtype);
            float *to = target + place / CELL * width + line;
            int places = (int)least(VEC * CELL, from->places - place);
            vec square[VEC];
            for (int i = 0; i < VEC; i++) {
                square[i] = i < lines ? vec_load_cells(element_at(source, i * from->line_stride, dtype), from->end,
                                                       places, dtype)
                                      : vec_set(0);
                smallest = vec_smallest(smallest, square[i]);
            }
            vec_transpose(square);
            if (places == VEC * CELL) {
                for (int i = 0; i < VEC; i++)
                    vec_store(to + i * width, square[i]);
            } else {
                for (int i = 0; i * CELL < places; i++)
                    vec_store(to + i * width, square[i]);
            }
        }
    }
    return vec_smallest_exponent(smallest);
}

/* Lines that run along the sum and may stay so: target[line][cell]. */
TKI_INLINE int pack_lines(float *target, const block *from, int64_t stride, tk_dtype dtype)
{
    vec smallest = vec_smallest_none();
    for (int64_t line = 0; line < from->lines; line++, target += stride) {
        const void *source = element_at(from->first, line * from->line_stride, dtype);
        for (int place = 0; place < from->places; place += VEC * CELL) {
            vec cells = vec_load_cells(element_at(source, place, dtype), from->end,
                                       (int)least(VEC * CELL, from->places - place), dtype);
            smallest = vec_smallest(smallest, cells);
            vec_store(target + place / CELL, cells);
        }
    }
    return vec_smallest_exponent(smallest);
}

/* A strip of left's panel: cell t of a row is first[row * row_stride + t * cell_stride]. */
typedef struct left_strip {
    const float *first;
    int64_t row_stride, cell_stride;
} left_strip;

/* sum[rows][vecs] = one run of products of two strips. Loops over registers are unrolled by order, early enough for the
 * compiler to keep the sums out of memory. */
TKI_INLINE void multiply_strips(vec sum[STRIP_ROWS][STRIP_VECS], left_strip left, const float *right, int depth,
                                int rows, int vecs, bool gradual)
{
#pragma GCC unroll 8
    for (int r = 0; r < rows; r++)
#pragma GCC unroll 3
        for (int v = 0; v < vecs; v++)
            sum[r][v] = vec_set(0.0f);
    for (int t = 0; t < depth; t++, left.first += left.cell_stride, right += RIGHT_WIDTH) {
#pragma GCC unroll 8
        for (int r = 0; r < rows; r++)
#pragma GCC unroll 3
            for (int v = 0; v < vecs; v++) {
                vec spread = vec_set(left.first[r * left.row_stride]);
                vec row = vec_load(right + v * VEC);
                sum[r][v] = gradual ? vec_fma_cells_gradual(spread, row, sum[r][v])
                                    : vec_fma_cells(spread, row, sum[r][v]);
            }
    }
}

/* sums[rows][vecs] = one run, added to `before` unless that is NULL */
TKI_INLINE void sum_run(float *sums, const float *before, left_strip left, const float *right, int depth, int rows,
                        int vecs, bool gradual)
{
    vec sum[STRIP_ROWS][STRIP_VECS];
    multiply_strips(sum, left, right, depth, rows, vecs, gradual);
#pragma GCC unroll 8
    for (int r = 0; r < rows; r++)
#pragma GCC unroll 3
        for (int v = 0; v < vecs; v++) {
            int at = r * STRIP_COLS + v * VEC;
            vec_store(sums + at, before ? vec_add(vec_load(before + at), sum[r][v]) : sum[r][v]);
        }
}

TKI_INLINE void sum_run_of_rows(float *sums, const float *before, left_strip left, const float *right, int depth,
                                int rows, int vecs)
{
    if (rows == 1)
        sum_run(sums, before, left, right, depth, 1, vecs, false);
    else if (rows == 2)
        sum_run(sums, before, left, right, depth, 2, vecs, false);
    else if (rows <= 4)
        sum_run(sums, before, left, right, depth, 4, vecs, false);
    else
        sum_run(sums, before, left, right, depth, STRIP_ROWS, vecs, false);
}

/* Few rows or columns are summed with fewer registers; either way in the same order. */
TKI_INLINE void sum_run_of(float *sums, const float *before, left_strip left, const float *right, int depth, int rows,
                           int cols)
{
    if (cols <= VEC)
        sum_run_of_rows(sums, before, left, right, depth, rows, 1);
    else if (cols <= 2 * VEC)
        sum_run_of_rows(sums, before, left, right, depth, rows, 2);
    else
        sum_run_of_rows(sums, before, left, right, depth, rows, STRIP_VECS);
}

/* The gradual way is rare: one block serves for all sizes. */
TKI_INLINE void sum_run_either(float *sums, const float *before, left_strip left, const float *right, int depth,
                               int rows, int cols, bool gradual)
{
    if (CELL > 1 && gradual)
        sum_run(sums, before, left, right, depth, STRIP_ROWS, STRIP_VECS, true);
    else
        sum_run_of(sums, before, left, right, depth, rows, cols);
}

static void add_run(float *sums, const float *before, left_strip left, const float *right, int depth, int rows,
                    int cols, bool gradual)
{
    for (int i = 0; before && i < BLOCK; i += LINE_FLOATS)
        __builtin_prefetch(before + i);
    if (left.row_stride == 1)
        sum_run_either(sums, before, (left_strip){left.first, 1, LEFT_WIDTH}, right, depth, rows, cols, gradual);
    else
        sum_run_either(sums, before, (left_strip){left.first, left.row_stride, 1}, right, depth, rows, cols, gradual);
}

/* The two ways with pairs may bring different NaNs; they leave as one. */
TKI_INLINE vec finished(vec sum)
{
    return CELL > 1 ? vec_if_nan(sum, vec_set(__builtin_nanf(""))) : sum;
}

TKI_INLINE void store_row(void *target, const float *sums, int cols, tk_dtype result)
{
    int c = 0;
    for (; c + VEC <= cols; c += VEC)
        vec_store_elements(element_to(target, c, result), finished(vec_load(sums + c)), result);
    if (c < cols)
        vec_store_elements_part(element_to(target, c, result), finished(vec_load(sums + c)), cols - c, result);
}

TKI_INLINE void store_column(void *target, int64_t stride, const float *sums, int count, tk_dtype result)
{
    float column[STRIP_COLS]; /* as elements of the result's type */
    for (int c = 0; c < count; c += VEC)
        vec_store_elements(element_to(column, c, result), finished(vec_load(sums + c)), result);
    for (int c = 0; c < count; c++)
        memcpy(element_to(target, c * stride, result), element_at(column, c, result), (size_t)element_bytes(result));
}

TKI_INLINE void store_sums(const cut *w, void *out, const float *sums, const tile *to, tk_dtype result)
{
    for (int64_t r = 0; r < to->rows; r++, sums += STRIP_COLS)
        if (w->exchanged)
            store_column(element_to(out, to->col * w->p.rows + to->row + r, result), w->p.rows, sums, (int)to->cols,
                         result);
        else
            store_row(element_to(out, (to->row + r) * w->p.cols + to->col, result), sums, (int)to->cols, result);
}

/* What becomes of a block of finished sums, which may be changed. Without PRODUCT_IS_FINISHED it is stored as it is. */
TKI_INLINE void finish_block(const cut *w, float *sums, const tile *to, tk_dtype dtype, tk_dtype result);

#if !PRODUCT_IS_FINISHED
TKI_INLINE void finish_block(const cut *w, float *sums, const tile *to, tk_dtype dtype, tk_dtype result)
{
    (void)dtype;
    store_sums(w, w->p.out, sums, to, result);
}
#endif

TKI_INLINE int pack_left(float *target, const cut *w, int64_t row, int64_t rows, int64_t place, int places,
                         tk_dtype dtype)
{
    block from = block_of(&w->p.left, w->p.rows, w->p.inner, dtype);
    from.first = element_at(from.first, row * from.line_stride + place * from.inner_stride, dtype);
    from.places = places;
    if (w->left_stride != 1) {
        from.lines = (int)rows;
        return pack_lines(target, &from, w->left_stride, dtype);
    }
    int exponent = INT_MAX / 2;
    for (int64_t r = 0; r < rows; r += LEFT_WIDTH) {
        from.lines = (int)least(LEFT_WIDTH, rows - r);
        exponent = (int)least(exponent, pack_neighbours(target + r * cells_of(places), &from, LEFT_WIDTH, dtype));
        from.first = element_at(from.first, LEFT_WIDTH * from.line_stride, dtype);
    }
    return exponent;
}

/* At most one strip. What is past the end only reaches sums that are never stored. */
TKI_INLINE int pack_right(float *target, const product_params *p, int64_t col, int64_t cols, int64_t place,
                          int places, tk_dtype dtype)
{
    block from = block_of(&p->right, p->cols, p->inner, dtype);
    from.first = element_at(from.first, col * from.line_stride + place * from.inner_stride, dtype);
    from.places = places;
    from.lines = (int)cols;
    if (lines_are_neighbours(&p->right, p->inner))
        return pack_neighbours(target, &from, RIGHT_WIDTH, dtype);
    return pack_transposed(target, &from, RIGHT_WIDTH, dtype);
}

/* -- Small products ------------------------------------------------------------------------------------------------ */

#if !PRODUCT_IS_FINISHED

/* out[live][cols], rows `stride` apart, of a block of which `rows` and `vecs` are computed */
TKI_INLINE void small_block(void *out, int64_t stride, left_strip left, const float *right, int depth, int live,
                            int cols, int rows, int vecs, bool gradual, tk_dtype result)
{
    const int rest = cols % VEC; /* in the last vector; 0: all */
    vec sum[STRIP_ROWS][STRIP_VECS];
    multiply_strips(sum, left, right, depth, rows, vecs, gradual);
#pragma GCC unroll 8
    for (int r = 0; r < rows; r++) {
        if (r == live)
            break;
#pragma GCC unroll 3
        for (int v = 0; v < vecs; v++) {
            void *target = element_to(out, r * stride + v * VEC, result);
            if (v + 1 < vecs || rest == 0)
                vec_store_elements(target, finished(sum[r][v]), result);
            else
                vec_store_elements_part(target, finished(sum[r][v]), rest, result);
        }
    }
}

TKI_INLINE void small_blocks(const product_params *p, left_strip left, const float *right, int64_t col, int cols,
                             int vecs, bool gradual, tk_dtype result)
{
    void *out = element_to(p->out, col, result);
    const int depth = cells_of((int)p->inner);
    for (int rows = (int)p->rows; rows > 0; rows -= STRIP_ROWS) {
        if (CELL > 1 && gradual)
            small_block(out, p->cols, left, right, depth, rows, cols, STRIP_ROWS, vecs, true, result);
        else if (rows > STRIP_ROWS / 2)
            small_block(out, p->cols, left, right, depth, rows, cols, STRIP_ROWS, vecs, false, result);
        else
            small_block(out, p->cols, left, right, depth, rows, cols, STRIP_ROWS / 2, vecs, false, result);
        left.first += STRIP_ROWS * left.row_stride;
        out = element_to(out, STRIP_ROWS * p->cols, result);
    }
}

TKI_INLINE void small_product(const product_params *p, tk_dtype dtype, tk_dtype result)
{
    float left[MOST_SMALL * MOST_SMALL] __attribute__((aligned(CACHE_LINE)));
    float right[MOST_SMALL * RIGHT_WIDTH] __attribute__((aligned(CACHE_LINE)));
    const bool neighbours = lines_are_neighbours(&p->left, p->inner);
    const left_strip strip = {left, neighbours ? 1 : MOST_SMALL, neighbours ? MOST_SMALL : 1};
    block from = block_of(&p->left, p->rows, p->inner, dtype);
    from.lines = (int)p->rows;
    from.places = (int)p->inner;
    int left_exponent = neighbours ? pack_neighbours(left, &from, MOST_SMALL, dtype)
                                   : pack_lines(left, &from, MOST_SMALL, dtype);
    for (int64_t col = 0; col < p->cols; col += STRIP_COLS) {
        int cols = (int)least(STRIP_COLS, p->cols - col);
        int right_exponent = pack_right(right, p, col, cols, 0, (int)p->inner, dtype);
        bool gradual = vec_may_lose_subnormals(left_exponent, right_exponent);
        if (cols <= VEC)
            small_blocks(p, strip, right, col, cols, 1, gradual, result);
        else if (cols <= 2 * VEC)
            small_blocks(p, strip, right, col, cols, 2, gradual, result);
        else
            small_blocks(p, strip, right, col, cols, STRIP_VECS, gradual, result);
    }
}
#endif

/* -- Large products ------------------------------------------------------------------------------------------------ */

TKI_INLINE left_strip strip_at(const cut *w, const float *left, int64_t row, int depth)
{
    if (w->left_stride != 1)
        return (left_strip){left + row * w->left_stride, w->left_stride, 1};
    return (left_strip){left + row / LEFT_WIDTH * LEFT_WIDTH * depth + row % LEFT_WIDTH, 1, LEFT_WIDTH};
}

/* Rows of a large output lie in other pages each; they are under way while the last run is summed. */
TKI_INLINE void prefetch_out(const cut *w, const tile *to, tk_dtype result)
{
    const void *first = element_at(w->p.out, to->row * w->p.cols + to->col, result);
    for (int64_t r = 0; r < to->rows; r++) {
        __builtin_prefetch(element_at(first, r * w->p.cols, result), 1);
        __builtin_prefetch(element_at(first, r * w->p.cols + to->cols - 1, result), 1);
    }
}

/* One run, of left's panel with the strips of right so far. */
typedef struct run {
    int64_t place;
    int places, depth;                 /* depth: in cells */
    int left_exponent, right_exponent; /* the smallest in what is packed */
} run;

/* A panel of left with a strip of right. Sums wait in `totals`, where the panel's first row begins, for the runs to
 * come. */
TKI_INLINE void multiply_strip(const cut *w, const run *now, const float *left, const float *right, float *totals,
                               const tile *at, tk_dtype dtype, tk_dtype result)
{
    const bool first = now->place == 0, last = now->place + now->places == w->p.inner;
    const bool gradual = vec_may_lose_subnormals(now->left_exponent, now->right_exponent);
    float final[BLOCK] __attribute__((aligned(CACHE_LINE)));
    for (int64_t r = 0; r < at->rows; r += STRIP_ROWS) {
        tile to = {at->row + r, at->col, least(STRIP_ROWS, at->rows - r), at->cols};
        left_strip strip = strip_at(w, left, r, now->depth);
        float *waiting = first && last ? NULL : totals + r * w->tile_cols;
        if (last && !w->exchanged)
            prefetch_out(w, &to, result);
        add_run(last ? final : waiting, first ? NULL : waiting, strip, right, now->depth, (int)to.rows, (int)to.cols,
                gradual);
        if (last)
            finish_block(w, final, &to, dtype, result);
    }
}

TKI_INLINE void multiply_panel(const cut *w, run *now, const workspace *space, const tile *t, int64_t row,
                               tk_dtype dtype, tk_dtype result)
{
    const bool keep_right = w->tile_rows > w->panel_rows;
    int64_t rows = least(w->panel_rows, t->rows - row);
    if (now->places)
        now->left_exponent = pack_left(space->left, w, t->row + row, rows, now->place, now->places, dtype);
    for (int64_t col = 0; col < t->cols; col += STRIP_COLS) {
        float *right = space->right + (keep_right ? col * now->depth : 0);
        float *totals = w->totals ? space->totals + row * w->tile_cols + col * STRIP_ROWS : NULL;
        tile at = {t->row + row, t->col + col, rows, least(STRIP_COLS, t->cols - col)};
        if (row == 0 && now->places) {
            int exponent = pack_right(right, &w->p, at.col, at.cols, now->place, now->places, dtype);
            now->right_exponent = (int)least(now->right_exponent, exponent);
        }
        multiply_strip(w, now, space->left, right, totals, &at, dtype, result);
    }
}

/* A sum of no products is one run of length 0. */
TKI_INLINE void multiply_tile(const cut *w, const workspace *space, const tile *t, tk_dtype dtype, tk_dtype result)
{
    int64_t place = 0;
    do {
        int places = (int)least(DEPTH * CELL, w->p.inner - place);
        run now = {place, places, cells_of(places), INT_MAX / 2, INT_MAX / 2};
        for (int64_t row = 0; row < t->rows; row += w->panel_rows)
            multiply_panel(w, &now, space, t, row, dtype, result);
        place += places;
    } while (place < w->p.inner);
}

TKI_INLINE void multiply_share(const cut *w, void *scratch, int worker, tk_dtype dtype, tk_dtype result)
{
    float *own = (float *)scratch + (size_t)worker * (w->left + w->right + w->totals);
    workspace space = {own, own + w->left, own + w->left + w->right};
    int64_t first_row = worker / w->workers_across * w->share_rows;
    int64_t first_col = worker % w->workers_across * w->share_cols;
    int64_t end_row = least(w->p.rows, first_row + w->share_rows);
    int64_t end_col = least(w->p.cols, first_col + w->share_cols);
    for (int64_t col = first_col; col < end_col; col += w->tile_cols)
        for (int64_t row = first_row; row < end_row; row += w->tile_rows) {
            tile t = {row, col, least(w->tile_rows, end_row - row), least(w->tile_cols, end_col - col)};
            multiply_tile(w, &space, &t, dtype, result);
        }
}

/* -- The types ----------------------------------------------------------------------------------------------------- */

/* Each pair of types has functions of its own, in which they are constants: a parallel region is compiled apart, where constants
 * are constants no more, so it calls through a pointer. */
static void share_f16(const cut *w, void *scratch, int worker)
{
    multiply_share(w, scratch, worker, TK_F16, TK_F16);
}

static void share_bf16(const cut *w, void *scratch, int worker)
{
    multiply_share(w, scratch, worker, TK_BF16, TK_BF16);
}

static void share_f32(const cut *w, void *scratch, int worker)
{
    multiply_share(w, scratch, worker, TK_F32, TK_F32);
}

static void share_f16_f32(const cut *w, void *scratch, int worker)
{
    multiply_share(w, scratch, worker, TK_F16, TK_F32);
}

static void share_bf16_f32(const cut *w, void *scratch, int worker)
{
    multiply_share(w, scratch, worker, TK_BF16, TK_F32);
}

#if PRODUCT_IS_FINISHED
#define SMALL(types) NULL
#else
#define SMALL(types) small_##types

static void small_f16(const product_params *p)
{
    small_product(p, TK_F16, TK_F16);
}

static void small_bf16(const product_params *p)
{
    small_product(p, TK_BF16, TK_BF16);
}

static void small_f32(const product_params *p)
{
    small_product(p, TK_F32, TK_F32);
}

static void small_f16_f32(const product_params *p)
{
    small_product(p, TK_F16, TK_F32);
}

static void small_bf16_f32(const product_params *p)
{
    small_product(p, TK_BF16, TK_F32);
}
#endif

typedef struct kind {
    void (*small)(const product_params *p); /* NULL where none is small */
    void (*share)(const cut *w, void *scratch, int worker);
} kind;

/* Cells of two numbers are of bf16. */
static kind kind_of(tk_dtype dtype, tk_dtype result)
{
    const bool wide = result == TK_F32;
    if (CELL > 1 || dtype == TK_BF16)
        return wide ? (kind){SMALL(bf16_f32), share_bf16_f32} : (kind){SMALL(bf16), share_bf16};
    if (dtype == TK_F16)
        return wide ? (kind){SMALL(f16_f32), share_f16_f32} : (kind){SMALL(f16), share_f16};
    return (kind){SMALL(f32), share_f32};
}

/* A worker is a piece of scratch, not a thread: every one is served even if fewer threads come. */
static void multiply(const product_params *p, tk_dtype dtype, tk_dtype result, void *scratch, int threads)
{
    const kind of = kind_of(dtype, result);
    if (is_small(p)) {
        of.small(p);
        return;
    }
    const cut w = cut_work(p, threads);
    const int workers = w.workers_down * w.workers_across;
    if (workers == 1) {
        of.share(&w, scratch, 0);
        return;
    }
#pragma omp parallel for schedule(static, 1) num_threads(workers) if (workers > 0)
    for (int worker = 0; worker < workers; worker++)
        of.share(&w, scratch, worker);
}

#endif
