/* UNTRUSTED. How a product or a layer is cut for Hopper: which kernel, tiles in which order, which tiles in parts. */
#include "ops/product/launch_hopper.h"

#include <limits.h>
#include <stdlib.h>

#include "core/context.h"
#include "ops/product/launch_copies.h"
#include "ops/product/launch_gpu.h"
#include "runtime/gpu.h"

enum { DEPTH = TKI_GEMM_HOPPER_DEPTH, PIECE = TKI_COPY_PIECE, LINE = 64 /* in 128 bytes */ };

typedef tki_gemm_hopper_product product;
typedef tki_layout layout;

/* The kernels of kernel_hopper.h and kernel_hopper_few.h. Times are those of an H200, in ns. */
typedef struct form {
    const char *name[TKI_GEMM_EPILOGUES]; /* NULL: there is none */
    int rows, width;                      /* of a block's tile */
    int down;                             /* blocks of a cluster, each with a tile of its own */
    int stages[2];                        /* the right factor lies along the sum, across it */
    int groups;                           /* of warps that share a tile */
    bool direct;                          /* stores results of any type and alignment */
    bool few;                             /* kernel_hopper_few.h: few tiles, each of several blocks */
    int block_time;                       /* of 64 places of the sum */
    int tile_time;                        /* what a tile takes beside */
} form;

#define ALL_GELU(form) "gelu_" form, "derivative_" form
#define ALL(form)                                                      \
    {                                                                  \
        "product_" form, "vector_" form, "terms_" form, ALL_GELU(form) \
    }
static const form forms[] = {
    {{"product_256", "vector_256", NULL, ALL_GELU("256")}, 128, 256, 1, {4, 4}, 2, false, false, 770, 300},
    {{"product_256_down", "vector_256_down"}, 128, 256, 2, {4, 4}, 2, false, false, 770, 500},
    {{"product_160"}, 128, 160, 1, {5, 4}, 1, false, false, 540, 300},
    {ALL("128"), 128, 128, 1, {5, 5}, 1, false, false, 410, 100},
    {ALL("128_direct"), 128, 128, 1, {5, 5}, 1, true, false, 410, 6000},
    {ALL("few_64"), 64, TKI_GEMM_FEW_WIDTH, 1, {8, 8}, 1, true, true, 190, 300},
    {{"product_few_128", "vector_few_128"}, 128, TKI_GEMM_FEW_WIDTH, 1, {6, 6}, 2, true, true, 375, 1500},
};
enum { FORMS = sizeof forms / sizeof *forms };

/* How one product is cut. */
typedef struct cut {
    int form;
    int raster;
    int whole; /* few tiles: how many of them a cluster has beside each other */
    int parts; /* few tiles: of each one, a block each */
} cut;

/* ------------------------------------------------------------------------------------------------------------
 * Sizes
 * ------------------------------------------------------------------------------------------------------------ */

static bool is_empty(const product *p)
{
    return p->params.rows == 0 || p->params.cols == 0;
}

/* A factor as it lies in memory. Rows of its copy begin at lines of the cache too, unless they are short. */
static layout factor_of(const tki_gemm_factor *f, bool across, int64_t lines, int64_t places)
{
    const int64_t pitch = across ? f->inner_stride : f->line_stride, unit = pitch < 8 * LINE ? PIECE : LINE;
    return (layout){.data = f->data,
                    .rows = across ? places : lines,
                    .cols = across ? lines : places,
                    .pitch = pitch,
                    .aligned_pitch = tki_divide_up(pitch, unit) * unit,
                    .box_rows = across ? DEPTH : 0};
}

static layout left_of(const product *p)
{
    return factor_of(&p->params.left, p->left_across, p->params.rows, p->params.inner);
}

static layout right_of(const product *p)
{
    return factor_of(&p->params.right, p->right_across, p->params.cols, p->params.inner);
}

/* How much longer a row takes from the cache than one that begins at a line of it. */
static double line_cost(const layout *factor)
{
    const int64_t pitch = tki_copy_bytes(factor) ? factor->aligned_pitch : factor->pitch;
    return pitch % LINE == 0 ? 1 : 2.8;
}

static int64_t tiles_down(const product *p, const form *f)
{
    return tki_divide_up(p->params.rows, (int64_t)f->rows * f->down);
}

static int64_t tiles_across(const product *p, const form *f)
{
    return tki_divide_up(p->params.cols, (int64_t)f->width);
}

static int64_t tiles_of(const product *p, const form *f)
{
    return tiles_down(p, f) * tiles_across(p, f);
}

/* Of the left factor, in the box that one block brings. */
static int left_lines(const product *p, const cut *how)
{
    const form *f = &forms[how->form];
    if (!f->few || p->left_across)
        return f->rows;
    return (int)TKI_GEMM_FEW_LINES(f->groups, p->params.rows, how->whole) / how->whole;
}

static int64_t blocks_of(const product *p)
{
    return tki_divide_up(p->params.inner, DEPTH);
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
    BAND = 16,
    NARROW_BAND = 8,
    MOST_RASTER = 1 << 16,
    RASTERS = 2,
    MOST_CUTS = FORMS * (1 + 2 * (MOST_PARTS - 1))
};
_Static_assert(RASTERS *MOST_CUTS <= TKI_MOST_CANDIDATES, "lists of candidates have room for all");

static int64_t units_of(const product *p, const cut *how)
{
    const int64_t parts = part_units(p, how);
    return parts ? how->whole + parts : tiles_of(p, &forms[how->form]);
}

/* Nanoseconds. Few tiles: as long as the blocks take, or the way from the cache, or the memory. While blocks have at most every other
 * multiprocessor, the stream's next kernel gets ready on the others; clusters of more than two are then crowded into a part of the device. */
static double estimate_few(const product *p, const cut *how)
{
    enum {
        START = 3000,
        LATE = 3500,
        LATE_WIDE = 2500,
        JOIN = 700,
        CACHE_BYTES = 5800,
        SHARED_BYTES = 15000,
        MEMORY_BYTES = 4200
    };
    const form *f = &forms[how->form];
    const int64_t tiles = tiles_down(p, f) * tki_divide_up(tiles_across(p, f), how->whole) * how->whole;
    const int64_t blocks = tiles * how->parts;
    const double rounds = (double)tki_divide_up(blocks, UNITS);
    const double working = rounds * (double)tki_divide_up(blocks_of(p), how->parts) * f->block_time;
    /* Tiles below each other that are at work together take the same columns of the right factor. */
    const double cache_bytes = tiles_down(p, f) > 1 && blocks <= UNITS ? SHARED_BYTES : CACHE_BYTES;
    const double cache = (double)(tiles * blocks_of(p) * (left_lines(p, how) + f->width)) * DEPTH * sizeof(uint16_t) /
                         cache_bytes;
    const double lines = (double)(p->params.rows + p->params.cols);
    const double memory = lines * (double)p->params.inner * sizeof(uint16_t) / MEMORY_BYTES;
    const bool roomy = blocks <= UNITS / 2;
    const double crowded = roomy && how->whole * how->parts > 2 ? 1.5 : 1;
    const double fetching = (cache > memory ? cache : memory) * crowded;
    const double start = START + (roomy ? 0 : how->whole > 1 ? LATE_WIDE : LATE);
    return rounds * (start + f->tile_time + (how->parts > 1 ? JOIN * how->parts : 0)) +
           (working > fetching ? working : fetching);
}

/* What passes from the cache to the multiprocessors. Rows that do not begin at multiples of 128 bytes lie in two lines of the cache each. */
static double cache_time(const product *p, const form *f)
{
    enum { CACHE_BYTES = 13000 /* in a nanosecond */ };
    const layout left = left_of(p), right = right_of(p);
    const double lines = f->rows * f->down * line_cost(&left) + f->width * line_cost(&right);
    return (double)(tiles_of(p, f) * blocks_of(p)) * lines * DEPTH * sizeof(uint16_t) / CACHE_BYTES;
}

static double memory_time(const product *p)
{
    enum { READ_BYTES = 2200, WRITTEN_BYTES = 3400 };
    const double rows = (double)p->params.rows, cols = (double)p->params.cols;
    return (rows + cols) * (double)p->params.inner * sizeof(uint16_t) / READ_BYTES +
           rows * cols * sizeof(uint16_t) / WRITTEN_BYTES;
}

/* So many units, of so long each. Multiprocessors that are idle in the last round leave their power to the others. */
static double rounds_time(int64_t units, int clusters, double unit)
{
    const double busy = (double)(units % clusters) / clusters, spared = 1 - 0.7 * (1 - busy);
    const double last = units % clusters == 0 ? 0 : spared > 0.8 ? spared : 0.8;
    return ((double)(units / clusters) + last) * unit;
}

/* Rounds of whole tiles, then rounds of parts, of which the last one of a tile fetches the others. */
static double work_time(const product *p, const cut *how)
{
    enum { FETCH = 8000, EPILOGUE = 6000 /* of a tile whose groups of warps compute it together */ };
    const form *f = &forms[how->form];
    const int clusters = UNITS / f->down;
    const int64_t tiles = tiles_of(p, f), blocks = blocks_of(p);
    const double tile_time = f->tile_time + (p->epilogue > TKI_GEMM_VECTOR && f->groups > 1 ? EPILOGUE : 0);
    const double whole = (double)blocks * f->block_time + tile_time;
    if (how->parts == 1)
        return rounds_time(tiles, clusters, whole);
    const double part = (double)tki_divide_up(blocks, how->parts) * f->block_time + tile_time;
    return rounds_time(how->whole, clusters, whole) + rounds_time((tiles - how->whole) * how->parts, clusters, part) +
           FETCH * (how->parts - 1.0);
}

static double estimate(const product *p, const cut *how)
{
    enum { START = 4500 };
    const form *f = &forms[how->form];
    if (f->few)
        return estimate_few(p, how);
    const double working = work_time(p, how), cache = cache_time(p, f), memory = memory_time(p);
    const double fetching = cache > memory ? cache : memory;
    return START + (working > fetching ? working : fetching);
}

static bool fits(const product *p, const cut *how)
{
    const form *f = &forms[how->form];
    return part_units(p, how) * f->down * f->groups + TKI_GEMM_COUNTERS <= TKI_GPU_LAUNCH_WORDS &&
           partial_bytes(p, how) <= MOST_PARTIAL_BYTES;
}

/* The cuts of a product that fit, and what the model expects of them. */
typedef struct costed {
    cut how;
    double cost;
    int order; /* in which they were added */
} costed;

typedef struct cut_list {
    costed *cuts; /* [room] */
    int count, room;
} cut_list;

static void add_cut(const product *p, cut how, cut_list *list)
{
    if (list->count == list->room || !fits(p, &how))
        return;
    list->cuts[list->count] = (costed){how, estimate(p, &how), list->count};
    list->count++;
}

/* All tiles whole; or those of the last round in parts, or of the last two. */
static void add_cuts_of(const product *p, int form_index, int raster, cut_list *list)
{
    const form *f = &forms[form_index];
    const int clusters = UNITS / f->down;
    const int64_t tiles = tiles_of(p, f), blocks = blocks_of(p);
    if (tiles > INT_MAX / MOST_PARTS)
        return;
    if (f->few) {
        const int most_wide = p->left_across ? 1 : TKI_GEMM_FEW_CLUSTER;
        for (int parts = 1; parts <= TKI_GEMM_FEW_CLUSTER && parts <= blocks; parts *= 2)
            for (int wide = 1; wide <= most_wide && wide * parts <= TKI_GEMM_FEW_CLUSTER; wide *= 4)
                add_cut(p, (cut){form_index, raster, wide, parts}, list);
        return;
    }
    add_cut(p, (cut){form_index, raster, (int)tiles, 1}, list);
    for (int rounds = 0; rounds < 2; rounds++) {
        const int64_t whole = tiles - tiles % clusters - (int64_t)rounds * clusters;
        for (int parts = 2;
             whole >= 0 && whole < tiles && parts <= MOST_PARTS && blocks / parts >= LEAST_BLOCKS_OF_PART; parts++)
            add_cut(p, (cut){form_index, raster, (int)whole, parts}, list);
    }
}

static bool can_store(const form *f, const product *p, bool stores_fp32)
{
    return f->direct || (!stores_fp32 && p->params.cols % PIECE == 0);
}

/* Lines of tiles that are gone through together, so that their factors stay in the cache. Short sums write more than they read. */
static int band_of(const product *p, const form *f)
{
    enum { SHORT_SUM = 8 /* blocks */ };
    return f->down > 1 || (!f->few && blocks_of(p) < SHORT_SUM) ? NARROW_BAND : BAND;
}

/* With the usual bands, or with the others, where that makes a difference. */
static void list_cuts(const product *p, bool stores_fp32, bool usual, cut_list *list)
{
    for (int i = 0; i < FORMS; i++) {
        const form *f = &forms[i];
        const int band = band_of(p, f), other = BAND + NARROW_BAND - band;
        const bool differs = !f->few && tiles_down(p, f) > NARROW_BAND;
        if (f->name[p->epilogue] && can_store(f, p, stores_fp32) && (usual || differs))
            add_cuts_of(p, i, usual ? band : other, list);
    }
}

static tki_choice choice_of(const cut *how)
{
    return (tki_choice){{how->form, how->raster, how->whole, how->parts}};
}

/* Of equals the one that was added first. */
static int by_cost(const void *a, const void *b)
{
    const costed *x = a, *y = b;
    return x->cost < y->cost ? -1 : x->cost > y->cost ? 1 : x->order - y->order;
}

/* A kernel that stores what becomes of zeros, and loads nothing. */
static cut cut_of_nothing(void)
{
    int i = 0;
    while (!forms[i].few)
        i++;
    return (cut){i, BAND, 1, 1};
}

tki_choice tki_gemm_choose_hopper(const product *p, bool stores_fp32)
{
    costed cuts[MOST_CUTS];
    cut_list list = {cuts, 0, MOST_CUTS};
    int best = 0;
    if (is_empty(p))
        return (tki_choice){{0}};
    if (p->params.inner == 0) {
        const cut how = cut_of_nothing();
        return choice_of(&how);
    }
    list_cuts(p, stores_fp32, true, &list);
    for (int i = 1; i < list.count; i++)
        if (by_cost(&cuts[i], &cuts[best]) < 0)
            best = i;
    return choice_of(&cuts[best].how);
}

int tki_gemm_candidates_hopper(const product *p, bool stores_fp32, tki_choice *list, int most)
{
    costed cuts[RASTERS * MOST_CUTS];
    cut_list all = {cuts, 0, RASTERS * MOST_CUTS};
    if (is_empty(p) || p->params.inner == 0)
        return 0;
    list_cuts(p, stores_fp32, true, &all);
    list_cuts(p, stores_fp32, false, &all);
    qsort(cuts, (size_t)all.count, sizeof *cuts, by_cost);
    for (int i = 0; i < all.count && i < most; i++)
        list[i] = choice_of(&cuts[i].how);
    return all.count < most ? all.count : most;
}

static cut cut_of(const tki_call *call)
{
    const int *number = call->choice.number;
    return (cut){number[0], number[1], number[2], number[3]};
}

/* Whatever a choice says: indices of tables, numbers of tiles and parts, and words that belong to this launch stay in their ranges. */
static bool can_do(const product *p, bool stores_fp32, const cut *how)
{
    if (how->form < 0 || how->form >= FORMS || how->raster < 1 || how->raster > MOST_RASTER || how->parts < 1 ||
        how->parts > MOST_PARTS || how->whole < 0)
        return false;
    const form *f = &forms[how->form];
    const int64_t tiles = tiles_of(p, f), blocks = blocks_of(p);
    const int64_t in_band = how->raster * tiles_across(p, f); /* the kernel counts them in an int */
    if (!f->name[p->epilogue] || !can_store(f, p, stores_fp32) || tiles > INT_MAX / MOST_PARTS || in_band > INT_MAX ||
        how->parts > (blocks ? blocks : 1))
        return false;
    if (f->few) {
        const bool wide_is_possible = how->whole == 1 || (how->whole == 4 && !p->left_across);
        return wide_is_possible && how->parts <= TKI_GEMM_FEW_CLUSTER / how->whole &&
               (how->parts & (how->parts - 1)) == 0;
    }
    return how->parts == 1 ? how->whole == tiles : how->whole < tiles && fits(p, how);
}

/* ------------------------------------------------------------------------------------------------------------
 * Launching
 * ------------------------------------------------------------------------------------------------------------ */

const char *tki_product_accept_hopper(const tk_case *c, const tki_gpu_info *device)
{
    for (int i = 0; i < c->contract->dim_count; i++)
        if (c->dims[i] > INT_MAX - 1024)
            return "a size is 2^31 or more";
    return tki_gpu_accept_hopper(c, device);
}

/* An output that the engine stores, and cannot where it is, is stored elsewhere first. */
static size_t aside_bytes(const product *p, const cut *how, const void *out)
{
    return forms[how->form].direct || tki_is_aligned(out) ? 0 : tki_whole_lines(p->params.rows * p->params.cols);
}

size_t tki_gemm_scratch_hopper(const tki_call *call, const product *p)
{
    if (is_empty(p) || p->params.inner == 0)
        return 0;
    const layout left = left_of(p), right = right_of(p);
    const cut how = cut_of(call);
    if (!can_do(p, call->c->result_dtype == TK_F32, &how))
        return 0; /* the launch will refuse it */
    return tki_copy_bytes(&left) + tki_copy_bytes(&right) + aside_bytes(p, &how, p->params.out) +
           aside_bytes(p, &how, p->params.unactivated) + partial_bytes(p, &how);
}

static tk_status hand_over(const tki_call *call, const product *p, const void *stored, void *out)
{
    const tki_gemm_realign copy = {stored, out, p->params.rows, p->params.cols, p->params.cols};
    return stored == out && !call->prepare_only ? TK_OK : tki_copy_back(call, &copy);
}

/* A factor's boxes have as many rows as places of the sum, or so many lines. */
static tk_status map_factor(const tki_call *call, layout factor, int box_lines, tki_gemm_map *map)
{
    factor.box_rows = factor.box_rows ? factor.box_rows : box_lines;
    return tki_map_layout(call, &factor, 64, map);
}

static tk_status map_out(const tki_call *call, const product *p, const form *f, const void *out, tki_gemm_map *map)
{
    const layout whole = {.data = out,
                          .rows = p->params.rows,
                          .cols = p->params.cols,
                          .pitch = p->params.cols,
                          .box_rows = TKI_GEMM_STORE_ROWS};
    return tki_map_layout(call, &whole, f->width % 64 == 0 ? 64 : 32, map);
}

static tki_gpu_grid grid_of(const tki_call *call, const product *p, const cut *how)
{
    const form *f = &forms[how->form];
    if (f->few)
        return (tki_gpu_grid){.blocks = {(unsigned)(tiles_down(p, f) * tki_divide_up(tiles_across(p, f), how->whole) *
                                                    how->whole * how->parts)},
                              .threads = (unsigned)TKI_GEMM_FEW_THREADS(f->groups),
                              .shared_bytes = (unsigned)TKI_GEMM_FEW_SHARED_BYTES(f->groups, f->stages[0]),
                              .cluster = (unsigned)(how->whole * how->parts)};
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
        status = tki_gpu_run(call, call->lowering->source, f->name[p->epilogue], grid_of(call, p, how),
                             &(tki_gemm_hopper_params){0});
    return status == TK_OK && !f->direct ? hand_over(call, p, NULL, NULL) : status;
}

/* Where the kernel stores what is to come to `out`. */
static void *take_place(const product *p, const cut *how, void *out, char **scratch)
{
    const size_t bytes = aside_bytes(p, how, out);
    void *place = bytes ? *scratch : out;
    *scratch += bytes;
    return place;
}

static tk_status launch_cut(const tki_call *call, const product *p, const layout *left, const layout *right,
                            const cut *how, char *scratch)
{
    const form *f = &forms[how->form];
    void *out = take_place(p, how, p->params.out, &scratch),
         *second = take_place(p, how, p->params.unactivated, &scratch);
    tki_gemm_hopper_params k = {.out_elements = out,
                                .second_elements = second,
                                .bias = p->params.bias,
                                .with = p->params.pre ? p->params.pre : p->params.other,
                                .rows = (int32_t)p->params.rows,
                                .cols = (int32_t)p->params.cols,
                                .tiles_down = (int32_t)tiles_down(p, f),
                                .tiles_across = (int32_t)tiles_across(p, f),
                                .blocks = (int32_t)blocks_of(p),
                                .raster = how->raster,
                                .whole = how->whole,
                                .parts = how->parts,
                                .units = (int32_t)units_of(p, how),
                                .partials = (float *)(void *)scratch};
    uint32_t *words;
    tk_status status = tki_gpu_launch_words(call->ctx, call->gpu, call->stream, false, &words);
    if (status == TK_OK && p->params.inner == 0)
        return tki_gpu_run(call, call->lowering->source, f->name[p->epilogue], grid_of(call, p, how), &k);
    if (status == TK_OK)
        status = map_factor(call, *left, left_lines(p, how), &k.left);
    if (status == TK_OK)
        status = map_factor(call, *right, f->width / f->down, &k.right);
    if (status == TK_OK && !f->direct)
        status = map_out(call, p, f, out, &k.out);
    if (status == TK_OK && !f->direct && second)
        status = map_out(call, p, f, second, &k.second);
    if (status != TK_OK)
        return status;
    k.counters = words;
    k.flags = words + TKI_GEMM_COUNTERS;
    status = tki_gpu_run(call, call->lowering->source, f->name[p->epilogue], grid_of(call, p, how), &k);
    if (status == TK_OK)
        status = hand_over(call, p, out, p->params.out);
    return status == TK_OK ? hand_over(call, p, second, p->params.unactivated) : status;
}

tk_status tki_gemm_launch_hopper(const tki_call *call, const product *p)
{
    if (is_empty(p))
        return TK_OK;
    if (p->params.inner == 0 && p->epilogue == TKI_GEMM_AS_IT_IS) { /* sums over nothing */
        const size_t bytes = (size_t)(p->params.rows * p->params.cols) * tk_dtype_size(call->c->result_dtype);
        return call->prepare_only ? TK_OK : tki_gpu_fill(call->ctx, call->gpu, call->stream, p->params.out, 0, bytes);
    }
    layout left = left_of(p), right = right_of(p);
    char *scratch = call->scratch;
    const cut how = cut_of(call);
    if (!can_do(p, call->c->result_dtype == TK_F32, &how))
        return tki_fail(call->ctx, TK_INTERNAL, "%s: no kernel for the chosen lowering", call->c->contract->name);
    tk_status status = tki_copy_factors(call, &left, &right, &scratch);
    if (status != TK_OK)
        return status;
    return call->prepare_only ? prepare_cut(call, p, &how) : launch_cut(call, p, &left, &right, &how, scratch);
}

/* ------------------------------------------------------------------------------------------------------------
 * Rows
 * ------------------------------------------------------------------------------------------------------------ */

static product product_of(const tk_case *c, void *const buffers[])
{
    const tki_product_roles r = tki_product_roles_of(c->contract);
    return (product){.params = tki_product_params_of(c, buffers),
                     .left_across = r.left_across,
                     .right_across = r.right_across,
                     .epilogue = tki_product_has(c, r.unactivated) ? TKI_GEMM_GELU
                                 : tki_product_has(c, r.pre)       ? TKI_GEMM_DERIVATIVE
                                 : tki_product_has(c, r.other)     ? TKI_GEMM_TERMS
                                 : tki_is_layer(&r)                ? TKI_GEMM_VECTOR
                                                                   : TKI_GEMM_AS_IT_IS};
}

tki_choice tki_product_choose_hopper(const tki_lowering *lowering, const tk_case *c)
{
    (void)lowering;
    const product p = product_of(c, (void *[TK_MAX_PARAMS]){NULL});
    return tki_gemm_choose_hopper(&p, c->result_dtype == TK_F32);
}

int tki_product_candidates_hopper(const tki_lowering *lowering, const tk_case *c, tki_choice *list, int most)
{
    (void)lowering;
    const product p = product_of(c, (void *[TK_MAX_PARAMS]){NULL});
    return tki_gemm_candidates_hopper(&p, c->result_dtype == TK_F32, list, most);
}

size_t tki_product_scratch_hopper(const tki_call *call)
{
    const product p = product_of(call->c, call->buffers);
    return tki_gemm_scratch_hopper(call, &p);
}

tk_status tki_product_launch_hopper(const tki_call *call)
{
    const product p = product_of(call->c, call->buffers);
    return tki_gemm_launch_hopper(call, &p);
}
