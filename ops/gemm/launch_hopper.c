/* How a product is cut for Hopper: which kernel, tiles in which order, which tiles in parts. */
#include "ops/gemm/launch_hopper.h"

#include <limits.h>

#include "backend/gpu.h"
#include "ops/gemm/params_hopper.h"

enum { DEPTH = TKI_GEMM_HOPPER_DEPTH, PIECE = 8 /* elements in 16 bytes */ };

typedef tki_gemm_hopper_product product;

/* The kernels of kernel_hopper.h and kernel_hopper_few.h. Times are those of an H200, in ns. */
typedef struct form {
    const char *name;
    int rows, width; /* of a block's tile */
    int down;        /* blocks of a cluster, each with a tile of its own */
    int stages[2];   /* the right factor lies along the sum, across it */
    int groups;      /* of warps that share a tile */
    bool direct;     /* stores results of any type and alignment */
    bool few;        /* one tile to a cluster, whose blocks have a stretch of the sum each */
    int block_time;  /* of 64 places of the sum */
    int tile_time;   /* what a tile takes beside */
} form;

static const form forms[] = {
    {"product_256", 128, 256, 1, {4, 4}, 2, false, false, 770, 300},
    {"product_256_down", 128, 256, 2, {4, 4}, 2, false, false, 770, 500},
    {"product_160", 128, 160, 1, {5, 4}, 1, false, false, 540, 300},
    {"product_128", 128, 128, 1, {5, 5}, 1, false, false, 410, 100},
    {"product_128_direct", 128, 128, 1, {5, 5}, 1, true, false, 410, 6000},
    {"few_64", 64, TKI_GEMM_FEW_WIDTH, 1, {8, 8}, 1, true, true, 190, 300},
    {"few_128", 128, TKI_GEMM_FEW_WIDTH, 1, {6, 6}, 2, true, true, 300, 1500},
};
enum { FORMS = sizeof forms / sizeof *forms };

/* How one product is cut. Of few tiles: `parts` is the number of blocks in a cluster, and nothing else counts. */
typedef struct cut {
    int form;
    int raster;
    int whole, parts;
} cut;

static int64_t divide_up(int64_t a, int64_t b)
{
    return (a + b - 1) / b;
}

/* ------------------------------------------------------------------------------------------------------------
 * Sizes
 * ------------------------------------------------------------------------------------------------------------ */

static bool is_empty(const product *p)
{
    return p->params.rows == 0 || p->params.cols == 0;
}

/* A factor as it lies in memory. */
typedef struct layout {
    const void *data;
    int64_t rows, cols, pitch;
    bool across;
} layout;

static layout left_of(const product *p)
{
    const tki_gemm_factor *f = &p->params.left;
    return p->left_across ? (layout){f->data, p->params.inner, p->params.rows, f->inner_stride, true}
                          : (layout){f->data, p->params.rows, p->params.inner, f->line_stride, false};
}

static layout right_of(const product *p)
{
    const tki_gemm_factor *f = &p->params.right;
    return p->right_across ? (layout){f->data, p->params.inner, p->params.cols, f->inner_stride, true}
                           : (layout){f->data, p->params.cols, p->params.inner, f->line_stride, false};
}

static bool is_aligned(const void *data)
{
    return (uintptr_t)data % 16 == 0;
}

static size_t whole_lines(int64_t elements)
{
    return ((size_t)elements * sizeof(uint16_t) + 255) / 256 * 256;
}

/* A factor whose rows the copy engine cannot take is copied, to this pitch. */
static int64_t aligned_pitch(const layout *factor)
{
    return divide_up(factor->pitch, PIECE) * PIECE;
}

static size_t copy_bytes(const layout *factor)
{
    return factor->pitch % PIECE || !is_aligned(factor->data) ? whole_lines(factor->rows * aligned_pitch(factor)) : 0;
}

static int64_t tiles_down(const product *p, const form *f)
{
    return divide_up(p->params.rows, (int64_t)f->rows * f->down);
}

static int64_t tiles_across(const product *p, const form *f)
{
    return divide_up(p->params.cols, (int64_t)f->width);
}

static int64_t tiles_of(const product *p, const form *f)
{
    return tiles_down(p, f) * tiles_across(p, f);
}

static int64_t blocks_of(const product *p)
{
    return divide_up(p->params.inner, DEPTH);
}

static int64_t part_units(const product *p, const cut *how)
{
    const form *f = &forms[how->form];
    return how->parts > 1 && !f->few ? (tiles_of(p, f) - how->whole) * how->parts : 0;
}

static size_t partial_bytes(const product *p, const cut *how)
{
    const form *f = &forms[how->form];
    return (size_t)(part_units(p, how) * f->down) * (size_t)(f->rows * f->width) * sizeof(float);
}

/* ------------------------------------------------------------------------------------------------------------
 * Choosing. The model knows the sizes, and the multiprocessors of a whole Hopper: the order of sums is the same on every one.
 * ------------------------------------------------------------------------------------------------------------ */

enum {
    UNITS = 132,
    MOST_PARTS = 16,
    LEAST_BLOCKS_OF_PART = 4,
    MOST_PARTIAL_BYTES = 96 << 20,
    BAND = 16 /* lines of tiles that are gone through together, so that their factors stay in the cache */
};

static int64_t units_of(const product *p, const cut *how)
{
    const int64_t parts = part_units(p, how);
    return parts ? how->whole + parts : tiles_of(p, &forms[how->form]);
}

/* Nanoseconds. Few tiles: as long as the blocks take, or the cache, from which each of them fetches its own factors, or the memory. */
static double estimate_few(const product *p, const cut *how)
{
    enum { START = 3000, JOIN = 700, CACHE_BYTES = 7000, MEMORY_BYTES = 3800 /* in a nanosecond */ };
    const form *f = &forms[how->form];
    const double tiles = (double)tiles_of(p, f), blocks = (double)blocks_of(p);
    const double rounds = (double)divide_up(tiles_of(p, f) * how->parts, UNITS);
    const double working = rounds * (double)divide_up(blocks_of(p), how->parts) * f->block_time;
    const double cache = tiles * blocks * (f->rows + f->width) * DEPTH * sizeof(uint16_t) / CACHE_BYTES;
    const double lines = (double)(p->params.rows + p->params.cols);
    const double memory = lines * (double)p->params.inner * sizeof(uint16_t) / MEMORY_BYTES;
    const double fetching = cache > memory ? cache : memory;
    return rounds * (START + f->tile_time + (how->parts > 1 ? JOIN * how->parts : 0)) +
           (working > fetching ? working : fetching);
}

/* Rounds of whole tiles, then rounds of parts, whose last one fetches the others. */
static double estimate(const product *p, const cut *how)
{
    enum { START = 4500, FETCH = 8000, MEMORY_BYTES = 2200 };
    const form *f = &forms[how->form];
    if (f->few)
        return estimate_few(p, how);
    const int clusters = UNITS / f->down;
    const int64_t tiles = tiles_of(p, f), blocks = blocks_of(p);
    const double whole = (double)blocks * f->block_time + f->tile_time;
    const double lines = (double)(p->params.rows + p->params.cols);
    const double memory = START + lines * (double)p->params.inner * sizeof(uint16_t) / MEMORY_BYTES;
    if (how->parts == 1) {
        const double working = START + (double)divide_up(tiles, clusters) * whole;
        return working > memory ? working : memory;
    }
    const double part = (double)divide_up(blocks, how->parts) * f->block_time + f->tile_time;
    const double working = START + (double)(how->whole / clusters) * whole +
                           (double)divide_up((tiles - how->whole) * how->parts, clusters) * part +
                           FETCH * (how->parts - 1.0);
    return working > memory ? working : memory;
}

static bool fits(const product *p, const cut *how)
{
    const form *f = &forms[how->form];
    return part_units(p, how) * f->down * f->groups + TKI_GEMM_COUNTERS <= TKI_GPU_LAUNCH_WORDS &&
           partial_bytes(p, how) <= MOST_PARTIAL_BYTES;
}

static void keep_better(const product *p, cut how, cut *best, double *least)
{
    const double cost = estimate(p, &how);
    if (cost < *least && fits(p, &how)) {
        *best = how;
        *least = cost;
    }
}

/* All tiles whole; or those of the last round in parts, or of the last two. */
static void try_form(const product *p, int form_index, cut *best, double *least)
{
    const form *f = &forms[form_index];
    const int clusters = UNITS / f->down;
    const int64_t tiles = tiles_of(p, f), blocks = blocks_of(p);
    if (tiles > INT_MAX / MOST_PARTS)
        return;
    keep_better(p, (cut){form_index, BAND, (int)tiles, 1}, best, least);
    for (int parts = 2; f->few && parts <= TKI_GEMM_FEW_CLUSTER && parts <= blocks; parts *= 2)
        keep_better(p, (cut){form_index, BAND, (int)tiles, parts}, best, least);
    for (int rounds = 0; rounds < 2 && !f->few; rounds++) {
        const int64_t whole = tiles - tiles % clusters - (int64_t)rounds * clusters;
        for (int parts = 2;
             whole >= 0 && whole < tiles && parts <= MOST_PARTS && blocks / parts >= LEAST_BLOCKS_OF_PART; parts++)
            keep_better(p, (cut){form_index, BAND, (int)whole, parts}, best, least);
    }
}

static bool can_store(const form *f, const product *p, bool stores_fp32)
{
    return f->direct || (!stores_fp32 && p->params.cols % PIECE == 0);
}

static cut choose(const product *p, bool stores_fp32)
{
    cut best = {0};
    double least = 1e300;
    for (int i = 0; i < FORMS; i++)
        if (can_store(&forms[i], p, stores_fp32))
            try_form(p, i, &best, &least);
    return best;
}

tki_choice tki_gemm_choose_hopper(const product *p, bool stores_fp32)
{
    if (is_empty(p) || p->params.inner == 0)
        return (tki_choice){{0}};
    const cut how = choose(p, stores_fp32);
    return (tki_choice){{how.form, how.raster, how.whole, how.parts}};
}

static cut cut_of(const tki_call *call)
{
    const int *number = call->choice.number;
    return (cut){number[0], number[1], number[2], number[3]};
}

/* ------------------------------------------------------------------------------------------------------------
 * Launching
 * ------------------------------------------------------------------------------------------------------------ */

const char *tki_gemm_accept_hopper(const tk_case *c, const tki_gpu_info *device)
{
    for (int i = 0; i < c->contract->dim_count; i++)
        if (c->dims[i] > INT_MAX - 1024)
            return "a size is 2^31 or more";
    return tki_gpu_accept_hopper(c, device);
}

/* An output that the engine stores, and cannot where it is, is stored elsewhere first. */
static size_t out_bytes(const product *p, const cut *how)
{
    return forms[how->form].direct || is_aligned(p->params.out) ? 0 : whole_lines(p->params.rows * p->params.cols);
}

size_t tki_gemm_scratch_hopper(const tki_call *call, const product *p)
{
    if (is_empty(p) || p->params.inner == 0)
        return 0;
    const layout left = left_of(p), right = right_of(p);
    const cut how = cut_of(call);
    return copy_bytes(&left) + copy_bytes(&right) + out_bytes(p, &how) + partial_bytes(p, &how);
}

static tki_gpu_grid copy_grid(const tki_call *call, int64_t elements)
{
    enum { THREADS = 256 };
    const int64_t blocks = divide_up(elements / PIECE + 1, THREADS);
    const int64_t most = 8 * (int64_t)tki_gpu_describe(call->gpu)->units;
    return (tki_gpu_grid){.blocks = {(unsigned)(blocks < most ? blocks : most)}, .threads = THREADS};
}

/* The factor lies in scratch memory from then on. */
static void move_aside(layout *factor, char **scratch, tki_gemm_realign *copy)
{
    const size_t bytes = copy_bytes(factor);
    if (bytes == 0)
        return;
    *copy = (tki_gemm_realign){factor->data, *scratch, factor->rows, factor->cols, aligned_pitch(factor)};
    *scratch += bytes;
    factor->data = copy->to;
    factor->pitch = copy->pitch;
}

static tk_status realign(const tki_call *call, const product *p, layout *left, layout *right, char **scratch)
{
    tki_gemm_realign_params copies = {0};
    move_aside(left, scratch, &copies.factor[0]);
    move_aside(right, scratch, &copies.factor[1]);
    const int64_t elements = copies.factor[0].rows * copies.factor[0].pitch +
                             copies.factor[1].rows * copies.factor[1].pitch;
    if (elements == 0 && !call->prepare_only)
        return TK_OK;
    return tki_gpu_run(call, p->source, "realign", copy_grid(call, elements), &copies);
}

static tk_status hand_over(const tki_call *call, const product *p, const void *stored)
{
    const tki_gemm_realign copy = {stored, p->params.out, p->params.rows, p->params.cols, p->params.cols};
    return tki_gpu_run(call, p->source, "hand_over", copy_grid(call, copy.rows * copy.cols), &copy);
}

static tk_status map_factor(const tki_call *call, const layout *factor, int box_lines, tki_gemm_map *map)
{
    const tki_gpu_box box = {.base = factor->data,
                             .rows = factor->rows,
                             .cols = factor->cols,
                             .pitch = factor->pitch,
                             .box_rows = factor->across ? DEPTH : box_lines,
                             .box_cols = 64};
    return tki_gpu_map(call->ctx, call->gpu, &box, map);
}

static tk_status map_out(const tki_call *call, const product *p, const form *f, const void *out, tki_gemm_map *map)
{
    const tki_gpu_box box = {.base = out,
                             .rows = p->params.rows,
                             .cols = p->params.cols,
                             .pitch = p->params.cols,
                             .box_rows = TKI_GEMM_STORE_ROWS,
                             .box_cols = f->width % 64 == 0 ? 64 : 32};
    return tki_gpu_map(call->ctx, call->gpu, &box, map);
}

static tki_gpu_grid grid_of(const tki_call *call, const product *p, const cut *how)
{
    const form *f = &forms[how->form];
    if (f->few)
        return (tki_gpu_grid){.blocks = {(unsigned)(tiles_of(p, f) * how->parts)},
                              .threads = (unsigned)TKI_GEMM_FEW_THREADS(f->groups),
                              .shared_bytes = (unsigned)TKI_GEMM_FEW_SHARED_BYTES(f->groups, f->stages[0]),
                              .cluster = (unsigned)how->parts};
    const int cluster = f->down;
    const int64_t clusters = tki_gpu_describe(call->gpu)->units / cluster, units = units_of(p, how);
    const int stages = f->stages[p->right_across];
    return (tki_gpu_grid){.blocks = {(unsigned)(cluster * (units < clusters ? units : clusters))},
                          .threads = TKI_GEMM_HOPPER_THREADS,
                          .shared_bytes = (unsigned)TKI_GEMM_SHARED_BYTES(f->width, p->right_across, stages),
                          .cluster = (unsigned)cluster};
}

/* Loads what the launches below would need. */
static tk_status prepare_cut(const tki_call *call, const product *p, const cut *how)
{
    const form *f = &forms[how->form];
    uint32_t *none;
    tk_status status = tki_gpu_launch_words(call->ctx, call->gpu, call->stream, true, &none);
    if (status == TK_OK)
        status = tki_gpu_run(call, p->source, f->name, grid_of(call, p, how), &(tki_gemm_hopper_params){0});
    return status == TK_OK && !f->direct ? hand_over(call, p, NULL) : status;
}

static tk_status launch_cut(const tki_call *call, const product *p, const layout *left, const layout *right,
                            const cut *how, char *scratch)
{
    const form *f = &forms[how->form];
    const size_t aside = out_bytes(p, how);
    void *out = aside ? scratch : p->params.out;
    tki_gemm_hopper_params k = {.out_elements = out,
                                .rows = (int32_t)p->params.rows,
                                .cols = (int32_t)p->params.cols,
                                .tiles_down = (int32_t)tiles_down(p, f),
                                .tiles_across = (int32_t)tiles_across(p, f),
                                .blocks = (int32_t)blocks_of(p),
                                .raster = how->raster,
                                .whole = how->whole,
                                .parts = how->parts,
                                .units = (int32_t)units_of(p, how),
                                .partials = (float *)(void *)(scratch + aside)};
    uint32_t *words;
    tk_status status = tki_gpu_launch_words(call->ctx, call->gpu, call->stream, false, &words);
    if (status == TK_OK)
        status = map_factor(call, left, f->rows, &k.left);
    if (status == TK_OK)
        status = map_factor(call, right, f->width / f->down, &k.right);
    if (status == TK_OK && !f->direct)
        status = map_out(call, p, f, out, &k.out);
    if (status != TK_OK)
        return status;
    k.counters = words;
    k.flags = words + TKI_GEMM_COUNTERS;
    status = tki_gpu_run(call, p->source, f->name, grid_of(call, p, how), &k);
    return status == TK_OK && aside ? hand_over(call, p, out) : status;
}

tk_status tki_gemm_launch_hopper(const tki_call *call, const product *p)
{
    if (is_empty(p))
        return TK_OK;
    if (p->params.inner == 0) { /* a sum over nothing */
        const size_t bytes = (size_t)(p->params.rows * p->params.cols) * tk_dtype_size(call->c->result_dtype);
        return call->prepare_only ? TK_OK : tki_gpu_fill(call->ctx, call->gpu, call->stream, p->params.out, 0, bytes);
    }
    layout left = left_of(p), right = right_of(p);
    char *scratch = call->scratch;
    const cut how = cut_of(call);
    tk_status status = realign(call, p, &left, &right, &scratch);
    if (status != TK_OK)
        return status;
    return call->prepare_only ? prepare_cut(call, p, &how) : launch_cut(call, p, &left, &right, &how, scratch);
}
