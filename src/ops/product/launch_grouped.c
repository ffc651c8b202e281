/* UNTRUSTED. Products of groups, on the CPU and on any GPU. On the CPU: gemm's kernel for each group. Its bits depend on the group alone, so threads may
 * share groups out or share one group. */
#include "ops/product/launch_grouped.h"

#include <string.h>

#include "model/case.h"
#include "ops/product/kernel_cpu.h"
#include "ops/product/launch_gpu.h"
#include "runtime/gpu.h"

enum { M, N, K, G };
enum { ENDS = 2, OUT };

static const char source[] = "ops/product/kernel_grouped.cu";

/* -- On the CPU -------------------------------------------------------------------------------------------------- */

static tki_gemm_params whole_of(const tki_call *call)
{
    const tki_linear_params p = tki_product_params_of(call->c, call->buffers);
    return tki_plain_product_of(&p);
}

static bool is_over_rows(const tki_call *call)
{
    return call->c->contract->params[OUT].rank == 3;
}

/* One group's product, of the whole one. */
static tki_gemm_params product_of(const tki_call *call, tki_gemm_params p, int64_t group)
{
    const tk_case *c = call->c;
    const int64_t begin = group ? tki_index_at(c->index_dtype, call->buffers[ENDS], group - 1) : 0;
    const int64_t rows = tki_index_at(c->index_dtype, call->buffers[ENDS], group) - begin;
    const int64_t matrix = group * c->dims[N] * c->dims[K];
    const int64_t element = (int64_t)tk_dtype_size(c->dtype), result = (int64_t)tk_dtype_size(c->result_dtype);
    if (is_over_rows(call)) {
        p.left.data = (const char *)p.left.data + begin * p.left.inner_stride * element;
        p.right.data = (const char *)p.right.data + begin * p.right.inner_stride * element;
        p.out = (char *)p.out + matrix * result;
        p.inner = rows;
    } else {
        p.left.data = (const char *)p.left.data + begin * p.inner * element;
        p.right.data = (const char *)p.right.data + matrix * element;
        p.out = (char *)p.out + begin * p.cols * result;
        p.rows = rows;
    }
    return p;
}

static double work_of(const tki_gemm_params *p)
{
    return (double)p->rows * (double)p->cols * (double)p->inner;
}

/* Whether each thread takes groups of its own: where no group is more than a thread's share of the work. Else all work on one group at
 * a time. */
static bool shares_groups(const tki_call *call, const tki_gemm_params *whole)
{
    double all = 0, most = 0;
    for (int64_t i = 0; i < call->c->dims[G]; i++) {
        const tki_gemm_params p = product_of(call, *whole, i);
        most = work_of(&p) > most ? work_of(&p) : most;
        all += work_of(&p);
    }
    return call->threads > 1 && most * call->threads <= all;
}

/* Whatever the ends are. */
static size_t scratch_of(const tki_call *call, int threads)
{
    const tki_gemm_cpu *kernels = call->lowering->kernels;
    const tki_gemm_params p = whole_of(call);
    return call->c->dims[G] ? kernels->most_scratch_bytes(&p, threads) : 0;
}

size_t tki_grouped_scratch_cpu(const tki_call *call)
{
    return scratch_of(call, call->threads);
}

/* Rows of no group. */
static void clear_rest(const tki_call *call)
{
    const tk_case *c = call->c;
    const int64_t last = c->dims[G] ? tki_index_at(c->index_dtype, call->buffers[ENDS], c->dims[G] - 1) : 0;
    const size_t row = (size_t)c->dims[c->contract->params[OUT].dim[1]] * tk_dtype_size(c->result_dtype);
    if (!is_over_rows(call) && row && last < c->dims[M])
        memset((char *)call->buffers[OUT] + (size_t)last * row, 0, (size_t)(c->dims[M] - last) * row);
}

static void multiply_group(const tki_call *call, const tki_gemm_params *whole, int64_t group, void *scratch,
                           int threads)
{
    const tki_gemm_cpu *kernels = call->lowering->kernels;
    const tki_gemm_params p = product_of(call, *whole, group);
    if (p.rows && p.cols)
        kernels->product(&p, call->c->dtype, call->c->result_dtype, scratch, threads);
}

tk_status tki_grouped_launch_cpu(const tki_call *call)
{
    const tk_case *c = call->c;
    const int64_t bad = c->dims[G] ? tki_first_bad_index(c, ENDS, call->buffers[ENDS]) : -1;
    if (bad >= 0)
        return tki_fail_index(call->ctx, c->contract, ENDS, bad,
                              tki_index_at(c->index_dtype, call->buffers[ENDS], bad), c->dims[M]);
    const tki_gemm_params whole = whole_of(call);
    const size_t scratch = scratch_of(call, 1);
    clear_rest(call);
    if (!shares_groups(call, &whole)) {
        for (int64_t i = 0; i < c->dims[G]; i++)
            multiply_group(call, &whole, i, call->scratch, call->threads);
        return TK_OK;
    }
    /* A share is a piece of scratch, not a thread: every one is served even if fewer threads come. */
#pragma omp parallel for schedule(static, 1) num_threads(call->threads)
    for (int share = 0; share < call->threads; share++)
        for (int64_t i = share; i < c->dims[G]; i += call->threads)
            multiply_group(call, &whole, i, (char *)call->scratch + (size_t)share * scratch, 1);
    return TK_OK;
}

/* -- On a GPU ---------------------------------------------------------------------------------------------------- */

/* More tiles than this are taken in turn: a launch has fewer than 2^32 threads in all on some devices. */
enum { MOST_BLOCKS = 1 << 22 };

tki_grouped_params tki_grouped_params_of(const tki_call *call)
{
    const tk_case *c = call->c;
    const tki_product_roles r = tki_product_roles_of(c->contract);
    return (tki_grouped_params){.all = whole_of(call),
                                .of = {.ends = call->buffers[ENDS],
                                       .groups = c->dims[G],
                                       .rows = c->dims[M],
                                       .wide_index = c->index_dtype == TK_I64,
                                       .table = call->scratch,
                                       .fault_word = call->fault_word},
                                .over_rows = r.over_rows,
                                .right_along = !r.right_across};
}

size_t tki_grouped_table_bytes(const tk_case *c)
{
    const size_t bytes = TKI_GROUPED_TABLE_WORDS((size_t)c->dims[G]) * sizeof(int64_t);
    return (bytes + 255) / 256 * 256;
}

tk_status tki_grouped_find(const tki_call *call, const char *from, tki_grouped_groups of)
{
    return tki_gpu_run(call, from, "find_groups", (tki_gpu_grid){.blocks = {1}, .threads = TKI_GROUPED_THREADS}, &of);
}

tk_status tki_grouped_clear_out(const tki_call *call, const char *from, const tki_grouped_params *p)
{
    enum { THREADS = 256 };
    const tki_grouped_clear params = {p->of.table, p->all.out, tk_case_elements(call->c, OUT)};
    const int64_t blocks = (params.count + THREADS - 1) / THREADS, most = 8 * tki_gpu_describe(call->gpu)->units;
    const tki_gpu_grid grid = {.blocks = {(unsigned)(blocks < most ? blocks : most)}, .threads = THREADS};
    return tki_gpu_run(call, from, "clear", grid, &params);
}

size_t tki_grouped_scratch_gpu(const tki_call *call)
{
    return tki_grouped_table_bytes(call->c);
}

static int64_t divide_up(int64_t a, int64_t b)
{
    return a / b + (a % b != 0);
}

/* At most: how many there are is known on the device alone. */
static int64_t tiles_of(const tki_grouped_params *p)
{
    const int64_t across = divide_up(p->all.cols, TKI_GROUPED_TILE);
    return p->over_rows ? p->of.groups * divide_up(p->all.rows, TKI_GROUPED_TILE) * across
                        : (p->all.rows / TKI_GROUPED_TILE + p->of.groups + 1) * across;
}

tk_status tki_grouped_launch_gpu(const tki_call *call)
{
    tki_grouped_params p = tki_grouped_params_of(call);
    p.of.tile = p.over_rows ? 0 : TKI_GROUPED_TILE;
    tk_status status = tki_grouped_find(call, source, p.of);
    if (status != TK_OK || tk_case_elements(call->c, OUT) == 0)
        return status;
    const int64_t tiles = tiles_of(&p);
    const tki_gpu_grid grid = {.blocks = {(unsigned)(tiles < MOST_BLOCKS ? tiles : MOST_BLOCKS)},
                               .threads = TKI_GROUPED_TILE * TKI_GEMM_THREADS_PER_LINE};
    return tki_gpu_run(call, source, "product", grid, &p);
}
