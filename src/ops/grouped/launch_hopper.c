/* Which kernel takes which products of groups on Hopper. None of the choices changes the bits. */
#include "ops/grouped/launch_hopper.h"

#include <limits.h>

#include "ops/gemm/params_hopper.h"
#include "ops/grouped/launch_gpu.h"
#include "ops/grouped/params_hopper.h"
#include "runtime/gpu.h"

enum { M, N, K, G };
enum { OUT = 3 };
enum { DEPTH = TKI_GEMM_HOPPER_DEPTH, ROWS = TKI_GEMM_HOPPER_ROWS, PIECE = 8 /* elements in 16 bytes */ };

/* The kernels of kernel_hopper.h. */
typedef struct form {
    const char *name;
    int width, stages;
    bool direct; /* stores results of any type and alignment */
} form;

static int64_t divide_up(int64_t a, int64_t b)
{
    return (a + b - 1) / b;
}

const char *tki_grouped_accept_hopper(const tk_case *c, const tki_gpu_info *device)
{
    for (int i = 0; i < c->contract->dim_count; i++)
        if (c->dims[i] > INT_MAX - 1024)
            return "a size is 2^31 or more";
    const double down = (double)c->dims[M] / ROWS + (double)c->dims[G] + 1;
    const double tiles = (double)c->dims[G] * ((double)c->dims[K] / ROWS + 1) * ((double)c->dims[N] / 128 + 1);
    const double widest = (double)(c->dims[N] > c->dims[K] ? c->dims[N] : c->dims[K]) / 128 + 1;
    if (tiles > INT_MAX / 2 || down * widest > INT_MAX / 2 || (double)c->dims[G] * (double)c->dims[K] > INT_MAX / 2)
        return "more tiles, or rows of matrices, than 2^30";
    return tki_gpu_accept_hopper(c, device);
}

/* Of the columns behind the last 256 the wide kernel computes half a tile where they are no more. */
static const form *form_of(const tki_call *call, const tki_grouped_params *p)
{
    static const form wide = {"groups_256", 256, 4, false}, narrow = {"groups_128", 128, 5, false};
    static const form direct = {"groups_128_direct", 128, 5, true};
    if (call->c->result_dtype == TK_F32 || p->all.cols % PIECE)
        return &direct;
    return p->all.cols > 128 ? &wide : &narrow;
}

/* -- Factors --------------------------------------------------------------------------------------------------- */

/* A factor as it lies in memory: row-major, `matrices` of them, or one without an axis for them: 0. */
typedef struct layout {
    const void *data;
    int64_t matrices, rows, cols, pitch;
    int box_rows;
} layout;

static layout left_of(const tki_grouped_params *p)
{
    if (p->over_rows)
        return (layout){p->all.left.data, 0, p->all.inner, p->all.rows, p->all.rows, DEPTH};
    return (layout){p->all.left.data, 0, p->all.rows, p->all.inner, p->all.inner, ROWS};
}

static layout right_of(const tki_grouped_params *p)
{
    if (p->over_rows)
        return (layout){p->all.right.data, 0, p->all.inner, p->all.cols, p->all.cols, DEPTH};
    if (p->right_along)
        return (layout){p->all.right.data, p->of.groups, p->all.cols, p->all.inner, p->all.inner, 128};
    return (layout){p->all.right.data, p->of.groups, p->all.inner, p->all.cols, p->all.cols, DEPTH};
}

static bool is_aligned(const void *data)
{
    return (uintptr_t)data % 16 == 0;
}

static size_t whole_lines(int64_t elements)
{
    return ((size_t)elements * sizeof(uint16_t) + 255) / 256 * 256;
}

static int64_t all_rows(const layout *factor)
{
    return factor->matrices ? factor->matrices * factor->rows : factor->rows;
}

/* A factor whose rows the copy engine cannot take is copied, to this pitch. */
static int64_t aligned_pitch(const layout *factor)
{
    return divide_up(factor->pitch, PIECE) * PIECE;
}

static size_t copy_bytes(const layout *factor)
{
    return factor->pitch % PIECE || !is_aligned(factor->data) ? whole_lines(all_rows(factor) * aligned_pitch(factor))
                                                              : 0;
}

static size_t out_bytes(const tki_call *call, const form *f)
{
    return f->direct || is_aligned(call->buffers[OUT]) ? 0 : whole_lines(tk_case_elements(call->c, OUT));
}

/* Is there something to multiply? The engine takes no tensor without elements. */
static bool has_products(const tki_call *call, const tki_grouped_params *p)
{
    return tk_case_elements(call->c, OUT) > 0 && p->all.inner > 0 && p->of.groups > 0;
}

size_t tki_grouped_scratch_hopper(const tki_call *call)
{
    const tki_grouped_params p = tki_grouped_params_of(call);
    const size_t table = tki_grouped_table_bytes(call->c);
    if (!has_products(call, &p))
        return table;
    const form *f = form_of(call, &p);
    const layout left = left_of(&p), right = right_of(&p);
    return table + copy_bytes(&left) + copy_bytes(&right) + out_bytes(call, f);
}

/* -- Launching ------------------------------------------------------------------------------------------------- */

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
    *copy = (tki_gemm_realign){factor->data, *scratch, all_rows(factor), factor->cols, aligned_pitch(factor)};
    *scratch += bytes;
    factor->data = copy->to;
    factor->pitch = copy->pitch;
}

static tk_status realign(const tki_call *call, layout *left, layout *right, char **scratch)
{
    tki_gemm_realign_params copies = {0};
    move_aside(left, scratch, &copies.factor[0]);
    move_aside(right, scratch, &copies.factor[1]);
    const int64_t elements = copies.factor[0].rows * copies.factor[0].pitch +
                             copies.factor[1].rows * copies.factor[1].pitch;
    if (elements == 0 && !call->prepare_only)
        return TK_OK;
    return tki_gpu_run(call, call->lowering->source, "realign", copy_grid(call, elements), &copies);
}

static tk_status hand_over(const tki_call *call, const void *stored)
{
    const tki_gemm_realign copy = {stored, call->buffers[OUT], 1, tk_case_elements(call->c, OUT), 0};
    return tki_gpu_run(call, call->lowering->source, "hand_over", copy_grid(call, copy.cols), &copy);
}

static tk_status map_factor(const tki_call *call, const layout *factor, tki_gemm_map *map)
{
    const tki_gpu_box box = {.base = factor->data,
                             .matrices = factor->matrices,
                             .rows = factor->rows,
                             .cols = factor->cols,
                             .pitch = factor->pitch,
                             .box_rows = factor->box_rows,
                             .box_cols = 64};
    return tki_gpu_map(call->ctx, call->gpu, &box, map);
}

static tk_status map_out(const tki_call *call, const tki_grouped_params *p, const void *out, tki_gemm_map *map)
{
    const layout whole = {
        out, p->over_rows ? p->of.groups : 0, p->all.rows, p->all.cols, p->all.cols, TKI_GEMM_STORE_ROWS};
    return map_factor(call, &whole, map);
}

static tki_gpu_grid grid_of(const tki_call *call, const tki_grouped_params *p, const form *f)
{
    const int64_t across = divide_up(p->all.cols, f->width), units = tki_gpu_describe(call->gpu)->units;
    const int64_t tiles = across * (p->over_rows ? p->of.groups * divide_up(p->all.rows, ROWS)
                                                 : p->of.rows / ROWS + p->of.groups + 1);
    return (tki_gpu_grid){.blocks = {(unsigned)(tiles < units ? tiles : units)},
                          .threads = TKI_GEMM_HOPPER_THREADS,
                          .shared_bytes = (unsigned)TKI_GEMM_SHARED_BYTES(f->width, !p->right_along, f->stages)};
}

/* Loads what the launches below would need. */
static tk_status prepare(const tki_call *call, const tki_grouped_params *p, const form *f)
{
    uint32_t *none;
    tk_status status = tki_gpu_launch_words(call->ctx, call->gpu, call->stream, true, &none);
    if (status == TK_OK)
        status = tki_gpu_run(call, call->lowering->source, f->name, grid_of(call, p, f),
                             &(tki_grouped_hopper_params){0});
    return status == TK_OK && !f->direct ? hand_over(call, NULL) : status;
}

static tk_status multiply(const tki_call *call, const tki_grouped_params *p, const form *f, const layout *left,
                          const layout *right, void *aside)
{
    void *out = aside ? aside : p->all.out;
    tki_grouped_hopper_params k = {.of = p->of,
                                   .out_elements = out,
                                   .rows = (int32_t)p->all.rows,
                                   .cols = (int32_t)p->all.cols,
                                   .tiles_down = p->over_rows ? (int32_t)divide_up(p->all.rows, ROWS) : 1,
                                   .tiles_across = (int32_t)divide_up(p->all.cols, f->width),
                                   .blocks = (int32_t)divide_up(p->all.inner, DEPTH)};
    tk_status status = tki_gpu_launch_words(call->ctx, call->gpu, call->stream, false, &k.counters);
    if (status == TK_OK)
        status = map_factor(call, left, &k.left);
    if (status == TK_OK)
        status = map_factor(call, right, &k.right);
    if (status == TK_OK && !f->direct)
        status = map_out(call, p, out, &k.out);
    if (status == TK_OK)
        status = tki_gpu_run(call, call->lowering->source, f->name, grid_of(call, p, f), &k);
    return status == TK_OK && aside ? hand_over(call, out) : status;
}

tk_status tki_grouped_launch_hopper(const tki_call *call)
{
    tki_grouped_params p = tki_grouped_params_of(call);
    p.of.tile = p.over_rows ? 0 : ROWS;
    tk_status status = tki_grouped_find(call, call->lowering->source, p.of);
    if (status != TK_OK || tk_case_elements(call->c, OUT) == 0)
        return status;
    if (!has_products(call, &p))
        return tki_grouped_clear_out(call, call->lowering->source, &p);
    const form *f = form_of(call, &p);
    layout left = left_of(&p), right = right_of(&p);
    char *scratch = (char *)call->scratch + tki_grouped_table_bytes(call->c);
    status = realign(call, &left, &right, &scratch);
    if (status != TK_OK)
        return status;
    return call->prepare_only ? prepare(call, &p, f)
                              : multiply(call, &p, f, &left, &right, out_bytes(call, f) ? scratch : NULL);
}
