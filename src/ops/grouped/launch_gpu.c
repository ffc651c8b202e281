/* Products of groups on a GPU: what a call is, its table of groups, and tiles on any device. */
#include "ops/grouped/launch_gpu.h"

#include "runtime/gpu.h"

enum { M, N, K, G };
enum { FIRST, SECOND, ENDS, OUT };

static const char source[] = "ops/grouped/kernel.cu";

/* More tiles than this are taken in turn: a launch has fewer than 2^32 threads in all on some devices. */
enum { MOST_BLOCKS = 1 << 22 };

tki_grouped_params tki_grouped_params_of(const tki_call *call)
{
    const tk_case *c = call->c;
    const int64_t m = c->dims[M], n = c->dims[N], k = c->dims[K];
    const tk_param *output = &c->contract->params[OUT];
    tki_grouped_params p = {.of = {.ends = call->buffers[ENDS],
                                   .groups = c->dims[G],
                                   .rows = m,
                                   .wide_index = c->index_dtype == TK_I64,
                                   .table = call->scratch,
                                   .fault_word = call->fault_word},
                            .over_rows = output->rank == 3,
                            .right_along = output->rank == 2 && output->dim[1] == K};
    const void *first = call->buffers[FIRST], *second = call->buffers[SECOND];
    if (p.over_rows) /* a^T grad_c */
        p.all = (tki_gemm_params){.left = {second, 1, k}, .right = {first, 1, n}, .rows = k, .cols = n, .inner = m};
    else if (p.right_along) /* grad_c b^T */
        p.all = (tki_gemm_params){.left = {first, n, 1}, .right = {second, n, 1}, .rows = m, .cols = k, .inner = n};
    else
        p.all = (tki_gemm_params){.left = {first, k, 1}, .right = {second, 1, n}, .rows = m, .cols = n, .inner = k};
    p.all.out = call->buffers[OUT];
    return p;
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
