/* UNTRUSTED. Which kernel takes which products of groups on Hopper. None of the choices changes the bits. */
#include <limits.h>

#include "ops/product/launch_copies.h"
#include "ops/product/launch_grouped.h"
#include "ops/product/params_hopper_grouped.h"
#include "runtime/gpu.h"

enum { M, N, K, G };
enum { OUT = 3 };
enum { DEPTH = TKI_GEMM_HOPPER_DEPTH, ROWS = TKI_GEMM_HOPPER_ROWS, PIECE = TKI_COPY_PIECE };

typedef tki_layout layout;

/* The kernels of kernel_hopper.h. */
typedef struct form {
    const char *name;
    int width, stages;
    bool direct; /* stores results of any type and alignment */
} form;

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

/* `matrices` of them, row-major, or one without an axis for them: 0. */
static layout factor_of(const void *data, int64_t matrices, int64_t rows, int64_t cols, int box_rows)
{
    return (layout){data, matrices, rows, cols, cols, tki_divide_up(cols, PIECE) * PIECE, box_rows};
}

static layout left_of(const tki_grouped_params *p)
{
    return p->over_rows ? factor_of(p->all.left.data, 0, p->all.inner, p->all.rows, DEPTH)
                        : factor_of(p->all.left.data, 0, p->all.rows, p->all.inner, ROWS);
}

static layout right_of(const tki_grouped_params *p)
{
    const int64_t matrices = p->over_rows ? 0 : p->of.groups;
    return p->right_along ? factor_of(p->all.right.data, matrices, p->all.cols, p->all.inner, 128)
                          : factor_of(p->all.right.data, matrices, p->all.inner, p->all.cols, DEPTH);
}

static size_t out_bytes(const tki_call *call, const form *f)
{
    return f->direct || tki_is_aligned(call->buffers[OUT]) ? 0 : tki_whole_lines(tk_case_elements(call->c, OUT));
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
    return table + tki_copy_bytes(&left) + tki_copy_bytes(&right) + out_bytes(call, f);
}

/* -- Launching ------------------------------------------------------------------------------------------------- */

static tk_status hand_over(const tki_call *call, const void *stored)
{
    return tki_copy_back(call, &(tki_gemm_realign){stored, call->buffers[OUT], 1, tk_case_elements(call->c, OUT), 0});
}

static tk_status map_out(const tki_call *call, const tki_grouped_params *p, const void *out, tki_gemm_map *map)
{
    const layout whole = factor_of(out, p->over_rows ? p->of.groups : 0, p->all.rows, p->all.cols,
                                   TKI_GEMM_STORE_ROWS);
    return tki_map_layout(call, &whole, 64, map);
}

static tki_gpu_grid grid_of(const tki_call *call, const tki_grouped_params *p, const form *f)
{
    const int64_t across = tki_divide_up(p->all.cols, f->width), units = tki_gpu_describe(call->gpu)->units;
    const int64_t tiles = across * (p->over_rows ? p->of.groups * tki_divide_up(p->all.rows, ROWS)
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
                                   .tiles_down = p->over_rows ? (int32_t)tki_divide_up(p->all.rows, ROWS) : 1,
                                   .tiles_across = (int32_t)tki_divide_up(p->all.cols, f->width),
                                   .blocks = (int32_t)tki_divide_up(p->all.inner, DEPTH)};
    tk_status status = tki_gpu_launch_words(call->ctx, call->gpu, call->stream, false, &k.counters);
    if (status == TK_OK)
        status = tki_map_layout(call, left, 64, &k.left);
    if (status == TK_OK)
        status = tki_map_layout(call, right, 64, &k.right);
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
    status = tki_copy_factors(call, &left, &right, &scratch);
    if (status != TK_OK)
        return status;
    return call->prepare_only ? prepare(call, &p, f)
                              : multiply(call, &p, f, &left, &right, out_bytes(call, f) ? scratch : NULL);
}
