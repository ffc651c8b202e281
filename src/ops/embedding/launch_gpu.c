/* UNTRUSTED. embedding on a GPU: which of kernel.cu's kernels run, on how many blocks, and where their scratch memory lies. */
#include "ops/embedding/launch_gpu.h"

#include "ops/embedding/params.h"
#include "runtime/gpu.h"

static const char source[] = "ops/embedding/kernel.cu";

enum { QUERIES, DIM, VOCAB };

enum {
    MOST_BLOCKS = 1 << 22, /* HIP counts the threads of a grid in 32 bits; blocks go on until nothing is left */
    MOST_PARTS = 65535,    /* of the second axis of a grid */
    LEAST_TILE_BITS = 9,
    SORT_ALONE = 2048,     /* up to this many queries one block sorts */
    CLEARED_BY_THREAD = 4, /* ranges */
    FEW_ROWS = 4096,       /* up to this many each can look at all of the few queries */
    FEW_ELEMENTS = 1 << 19 /* of the result */
};

static int64_t ceil_div(int64_t a, int64_t b)
{
    return a / b + (a % b != 0);
}

static unsigned blocks_for(int64_t items, int64_t items_per_block)
{
    const int64_t blocks = ceil_div(items, items_per_block);
    return blocks < MOST_BLOCKS ? (unsigned)blocks : MOST_BLOCKS;
}

/* As many as it takes to tell `count` things apart. */
static int bits_for(int64_t count)
{
    int bits = 0;
    while (bits < 63 && (int64_t)1 << bits < count)
        bits++;
    return bits;
}

static tki_embedding_gpu_params params_of(const tki_call *call)
{
    const tk_case *c = call->c;
    return (tki_embedding_gpu_params){.queries = c->dims[QUERIES],
                                      .dim = c->dims[DIM],
                                      .vocab = c->dims[VOCAB],
                                      .wide_index = c->index_dtype == TK_I64,
                                      .fault_word = call->fault_word};
}

static tk_status check_indices(const tki_call *call, const tki_embedding_gpu_params *p)
{
    if (p->queries == 0)
        return TK_OK;
    const tki_gpu_grid grid = {.blocks = {blocks_for(p->queries, TKI_EMBEDDING_THREADS)},
                               .threads = TKI_EMBEDDING_THREADS};
    return tki_gpu_run(call, source, "embedding_check", grid, p);
}

/* The kernels of one kind, by what they move at once: 16 bytes, a word of 4 bytes, or an element that is less. */
typedef const char *const by_unit[3];

static by_unit gather_kernels = {"embedding_fwd_vector", "embedding_fwd_word", "embedding_fwd_element"};
static by_unit sum_kernels = {"embedding_bwd_sum_vector", "embedding_bwd_sum_word", "embedding_bwd_sum_element"};
static by_unit few_kernels = {"embedding_bwd_few_vector", "embedding_bwd_few_word", "embedding_bwd_few_element"};

/* Shares out `items` rows of p->dim elements among groups of threads; sets what the kernel has to know about that. */
static tki_gpu_grid share_out(tki_embedding_gpu_params *p, int64_t items, int width, int units_per_thread)
{
    const int64_t units = p->dim / width;
    const int bits = bits_for(ceil_div(units, units_per_thread));
    const int most_bits = bits_for(TKI_EMBEDDING_THREADS);
    p->group_bits = bits < most_bits ? bits : most_bits;
    const int64_t parts = ceil_div(units, (int64_t)units_per_thread << p->group_bits);
    p->column_parts = parts < MOST_PARTS ? (int32_t)parts : MOST_PARTS;
    return (tki_gpu_grid){
        .blocks = {blocks_for(items, TKI_EMBEDDING_THREADS >> p->group_bits), (unsigned)p->column_parts},
        .threads = TKI_EMBEDDING_THREADS};
}

/* Launches the widest kernel that every row of both tensors takes. Where they lie is not known yet when a call is prepared: then
 * all are loaded. */
static tk_status run_rows(const tki_call *call, tki_embedding_gpu_params *p, by_unit kernels, int64_t items,
                          int units_per_thread, const void *rows)
{
    static const size_t unit_bytes[] = {16, 4, 2};
    const size_t element_bytes = tk_dtype_size(call->c->dtype);
    const size_t places = (uintptr_t)rows | (uintptr_t)p->out | (uintptr_t)p->dim * element_bytes;
    tk_status status = TK_OK;
    for (int k = 0; k < 3 && unit_bytes[k] >= element_bytes && status == TK_OK; k++) {
        const int width = (int)(unit_bytes[k] / element_bytes);
        const bool fits = places % unit_bytes[k] == 0;
        if (fits || call->prepare_only)
            status = tki_gpu_run(call, source, kernels[k], share_out(p, items, width, units_per_thread), p);
        if (fits && !call->prepare_only)
            break;
    }
    return status;
}

tk_status tki_embedding_fwd_launch_gpu(const tki_call *call)
{
    tki_embedding_gpu_params p = params_of(call);
    p.index = call->buffers[0];
    p.weight = call->buffers[1];
    p.out = call->buffers[2];
    if (p.queries == 0 || p.dim == 0 || p.vocab == 0)
        return check_indices(call, &p);
    return run_rows(call, &p, gather_kernels, p.queries, TKI_EMBEDDING_FWD_UNITS, p.weight);
}

/* A small call is over before several kernels could have been launched. */
static bool needs_no_sort(const tki_embedding_gpu_params *p)
{
    return p->queries <= TKI_EMBEDDING_HITS_IN_RUN && p->vocab <= FEW_ROWS && p->dim <= FEW_ELEMENTS / p->vocab;
}

/* Whether one kernel can do all of the sort: each of its blocks looks at every query. */
static bool is_small_table(const tki_embedding_gpu_params *p)
{
    return p->queries <= TKI_EMBEDDING_PLACED_QUERIES &&
           p->vocab <= (int64_t)TKI_EMBEDDING_PLACED_ROWS * TKI_EMBEDDING_PLACING_BLOCKS;
}

static void plan_sort(tki_embedding_gpu_params *p)
{
    p->windows = p->queries > TKI_EMBEDDING_HITS_IN_RUN ? ceil_div(p->queries, TKI_EMBEDDING_HITS_IN_RUN) : 0;
    if (is_small_table(p)) {
        p->placed_rows = (int32_t)ceil_div(p->vocab, TKI_EMBEDDING_PLACING_BLOCKS);
        p->passes = 1;
        return;
    }
    const int bits = bits_for(p->vocab) > 0 ? bits_for(p->vocab) : 1;
    p->passes = (int32_t)ceil_div(bits, TKI_EMBEDDING_DIGIT_BITS);
    p->digit_bits = (int32_t)ceil_div(bits, p->passes);
    p->tile_bits = LEAST_TILE_BITS;
    while (ceil_div(p->queries, (int64_t)1 << p->tile_bits) > TKI_EMBEDDING_MOST_TILES)
        p->tile_bits++;
    p->tiles = (int32_t)ceil_div(p->queries, (int64_t)1 << p->tile_bits);
}

/* Takes count times size bytes off the scratch memory, all sizes being multiples of 16; NULL and *used = SIZE_MAX where that
 * does not fit. With scratch = NULL it only counts. */
static void *take(char *scratch, size_t *used, int64_t count, size_t size)
{
    const size_t begin = *used;
    size_t bytes;
    if (__builtin_mul_overflow(count, size, &bytes) || __builtin_add_overflow(begin, bytes, used))
        *used = SIZE_MAX;
    return scratch == NULL || *used == SIZE_MAX ? NULL : scratch + begin;
}

static size_t place_scratch(tki_embedding_gpu_params *p, char *scratch)
{
    const size_t bins_bytes = TKI_EMBEDDING_BINS * sizeof *p->counts;
    size_t used = 0;
    p->hits[0] = take(scratch, &used, p->queries, sizeof *p->hits[0]);
    p->hits[1] = p->passes > 1 ? take(scratch, &used, p->queries, sizeof *p->hits[1]) : NULL;
    p->sorted = p->hits[(p->passes - 1) % 2];
    p->ranges = take(scratch, &used, p->vocab, sizeof *p->ranges);
    p->counts = take(scratch, &used, (int64_t)p->passes * p->tiles, bins_bytes);
    int64_t partials;
    if (__builtin_mul_overflow(2 * p->windows, p->dim, &partials))
        return SIZE_MAX;
    p->partials = take(scratch, &used, partials, sizeof *p->partials);
    return used;
}

size_t tki_embedding_bwd_scratch_bytes_gpu(const tki_call *call)
{
    const tk_case *c = call->c;
    tki_embedding_gpu_params p = {.queries = c->dims[QUERIES], .dim = c->dims[DIM], .vocab = c->dims[VOCAB]};
    if (p.dim == 0 || p.vocab == 0 || needs_no_sort(&p))
        return 0;
    plan_sort(&p);
    return place_scratch(&p, NULL);
}

/* Afterwards p->sorted and p->ranges are there for the kernels to come. */
static tk_status sort_hits(const tki_call *call, tki_embedding_gpu_params *p)
{
    if (p->placed_rows > 0) {
        const tki_gpu_grid placing = {.blocks = {blocks_for(p->vocab, p->placed_rows)},
                                      .threads = TKI_EMBEDDING_SORT_THREADS};
        return tki_gpu_run(call, source, "embedding_bwd_place", placing, p);
    }
    const int64_t clearing = ceil_div(p->vocab, (int64_t)TKI_EMBEDDING_SORT_THREADS * CLEARED_BY_THREAD);
    tki_gpu_grid grid = {.blocks = {blocks_for(clearing > p->tiles ? clearing : p->tiles, 1)},
                         .threads = TKI_EMBEDDING_SORT_THREADS};
    tk_status status = tki_gpu_run(call, source, "embedding_bwd_start", grid, p);
    if (status != TK_OK || p->queries == 0)
        return status;
    if (p->queries <= SORT_ALONE) {
        grid.blocks[0] = 1;
        return tki_gpu_run(call, source, "embedding_bwd_sort_alone", grid, p);
    }
    grid.blocks[0] = (unsigned)p->tiles;
    for (p->pass = 0; p->pass < p->passes && status == TK_OK; p->pass++)
        status = tki_gpu_run(call, source, "embedding_bwd_sort", grid, p);
    if (status != TK_OK)
        return status;
    grid = (tki_gpu_grid){.blocks = {blocks_for(p->queries, TKI_EMBEDDING_THREADS)},
                          .threads = TKI_EMBEDDING_THREADS};
    return tki_gpu_run(call, source, "embedding_bwd_mark", grid, p);
}

tk_status tki_embedding_bwd_launch_gpu(const tki_call *call)
{
    tki_embedding_gpu_params p = params_of(call);
    p.grad_output = call->buffers[0];
    p.index = call->buffers[1];
    p.out = call->buffers[2];
    if (p.dim == 0 || p.vocab == 0)
        return check_indices(call, &p);
    if (needs_no_sort(&p))
        return run_rows(call, &p, few_kernels, p.vocab, TKI_EMBEDDING_BWD_UNITS, p.grad_output);
    plan_sort(&p);
    place_scratch(&p, call->scratch);
    tk_status status = sort_hits(call, &p);
    if (status != TK_OK)
        return status;
    status = run_rows(call, &p, sum_kernels, 2 * p.windows + p.vocab, TKI_EMBEDDING_BWD_UNITS, p.grad_output);
    if (status != TK_OK || p.windows == 0)
        return status;
    const int64_t parts = ceil_div(p.dim, TKI_EMBEDDING_THREADS);
    p.column_parts = parts < MOST_PARTS ? (int32_t)parts : MOST_PARTS;
    const tki_gpu_grid combine = {.blocks = {blocks_for(p.windows, 1), (unsigned)p.column_parts},
                                  .threads = TKI_EMBEDDING_THREADS};
    return tki_gpu_run(call, source, "embedding_bwd_combine", combine, &p);
}
