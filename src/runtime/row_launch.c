/* UNTRUSTED. Launching the kernels that work on rows. */
#include "runtime/row_launch.h"

#include <limits.h>

enum {
    PACK_BYTES = 16,
    MOST_SHIFT = PACK_BYTES - 2, /* bytes */
    MOST_THREADS = 512,
    MOST_LANES = 32,
    /* More blocks take rows in turn: a launch has fewer than 2^32 threads in all on some devices. */
    MOST_BLOCKS = 1 << 22,
    WARP = 32, /* on Hopper */
    STAGED_PACKS = 12,
    LEAST_STAGED_THREADS = 128,
    MOST_STAGED_THREADS = 256,
    STAGED_ABOVE = 32 << 10, /* bytes of a row */
    LEAST_CLUSTER = 2,
    MOST_CLUSTER = 16,
    STAGE_UNIT = 128 /* bytes: a stage begins up to so many behind where its memory does, see device_cluster.h */
};

static int64_t divide_up(int64_t a, int64_t b)
{
    return (a + b - 1) / b;
}

static int64_t round_up(int64_t a, int64_t b)
{
    return divide_up(a, b) * b;
}

static unsigned at_most(int64_t blocks, int64_t most)
{
    return (unsigned)(blocks < most ? blocks : most);
}

int64_t tki_rows_bytes(const tki_call *call)
{
    return call->c->dims[1] * (int64_t)tk_dtype_size(call->c->dtype);
}

static bool are_whole(int64_t row_bytes)
{
    return row_bytes % PACK_BYTES == 0;
}

/* The most vectors of 16 bytes that a row touches, wherever it begins; rows of whole packs are taken where they begin with one. */
static int64_t row_vectors(int64_t row_bytes)
{
    return divide_up(are_whole(row_bytes) ? row_bytes : row_bytes + MOST_SHIFT, PACK_BYTES);
}

static int lanes_for(int64_t vectors, const tki_rows_form *form)
{
    int lanes = 1;
    while (lanes < MOST_LANES && lanes * form->packs < vectors)
        lanes *= 2;
    return lanes;
}

/* Vectors that the lanes of a row can hold without having room for more; INT_MAX if they cannot. */
static int held_by(int64_t vectors, const tki_rows_form *form)
{
    const int held = lanes_for(vectors, form) * form->packs;
    return held < vectors ? INT_MAX : held;
}

static const tki_rows_form *form_for(int64_t vectors, const tki_rows_form *forms)
{
    const tki_rows_form *form = forms;
    while (form->most_bytes && form->most_bytes < vectors * PACK_BYTES)
        form++;
    const int64_t most_bytes = form->most_bytes;
    for (const tki_rows_form *other = form; form->narrow_threads && other->most_bytes == most_bytes; other++)
        if (held_by(vectors, other) < held_by(vectors, form))
            form = other;
    return form;
}

tki_rows_plan tki_rows_plan_held(const tki_call *call, int64_t rows, const tki_rows_forms *forms)
{
    const int64_t vectors = row_vectors(tki_rows_bytes(call));
    const tki_rows_form *form = form_for(vectors, are_whole(tki_rows_bytes(call)) ? forms->whole : forms->odd);
    tki_rows_plan plan = {.kernel = form->kernel, .apart = form->apart};
    if (form->narrow_threads) {
        plan.lanes = lanes_for(vectors, form);
        plan.chunk_bytes = (unsigned)(form->narrow_threads * form->packs * PACK_BYTES * form->chunks);
        plan.grid = (tki_gpu_grid){
            .blocks = {at_most(divide_up(rows, form->narrow_threads / plan.lanes), MOST_BLOCKS)},
            .threads = (unsigned)form->narrow_threads};
        return plan;
    }
    const int64_t threads = form->packs ? round_up(divide_up(vectors, form->packs), tki_gpu_describe(call->gpu)->warp)
                                        : MOST_THREADS;
    plan.grid = (tki_gpu_grid){.blocks = {at_most(rows, MOST_BLOCKS)}, .threads = (unsigned)threads};
    return plan;
}

bool tki_rows_are_wide(int64_t row_bytes)
{
    return row_vectors(row_bytes) * PACK_BYTES > STAGED_ABOVE;
}

static int64_t stretch_packs(int64_t row_bytes, unsigned cluster)
{
    return divide_up(divide_up(row_bytes, PACK_BYTES), cluster);
}

/* So many packs to a thread that shared memory and not registers decides how many blocks a multiprocessor has. */
static unsigned staged_threads(int64_t packs)
{
    const int64_t threads = round_up(divide_up(packs, STAGED_PACKS), WARP);
    return threads < LEAST_STAGED_THREADS  ? LEAST_STAGED_THREADS
           : threads < MOST_STAGED_THREADS ? (unsigned)threads
                                           : MOST_STAGED_THREADS;
}

tki_rows_plan tki_rows_plan_staged(int64_t rows, int64_t row_bytes, const tki_rows_staging *staging)
{
    unsigned cluster = LEAST_CLUSTER;
    while (cluster < MOST_CLUSTER && stretch_packs(row_bytes, cluster) * PACK_BYTES > staging->stretch_bytes)
        cluster *= 2;
    const int64_t packs = stretch_packs(row_bytes, cluster);
    const bool whole = are_whole(row_bytes);
    const int64_t stretch = (whole ? packs : packs + 1) * PACK_BYTES;
    const int64_t bytes = round_up(stretch + STAGE_UNIT - PACK_BYTES, STAGE_UNIT) * staging->tensors;
    tki_rows_plan plan = {.kernel = whole ? staging->whole : staging->odd,
                          .apart = staging->apart,
                          .grid = {.blocks = {(unsigned)(rows * cluster)},
                                   .threads = staged_threads(packs),
                                   .shared_bytes = (unsigned)bytes,
                                   .cluster = cluster}};
    if (packs * PACK_BYTES * staging->tensors > staging->long_above) {
        const tki_rows_long_form *form = staging->long_forms;
        while (form->most_bytes && form->most_bytes < bytes)
            form++;
        plan.kernel = whole ? staging->long_whole : staging->long_odd;
        plan.grid.threads = (unsigned)(whole ? form->threads : form->odd_threads);
        plan.grid.shared_bytes = at_most(bytes, form->shared_bytes);
    }
    return plan;
}

bool tki_rows_lie_alike(int64_t row_bytes, const void *const tensors[], int count)
{
    uintptr_t first = 0;
    bool alike = true;
    for (int i = count - 1; i >= 0; i--)
        if (tensors[i])
            first = (uintptr_t)tensors[i] % PACK_BYTES;
    for (int i = 0; i < count; i++)
        alike = alike && (!tensors[i] || (uintptr_t)tensors[i] % PACK_BYTES == first);
    return alike && (first == 0 || !are_whole(row_bytes));
}

static tk_status run_alike(const tki_call *call, const char *source, const tki_rows_plan *plan, const void *params)
{
    tki_gpu_grid grid = plan->grid;
    grid.shared_bytes += plan->chunk_bytes;
    return tki_gpu_run(call, source, plan->kernel, grid, params);
}

tk_status tki_rows_run(const tki_call *call, const char *source, const tki_rows_plan *plan, bool alike,
                       const void *params)
{
    tk_status status = TK_OK;
    if (alike || call->prepare_only)
        status = run_alike(call, source, plan, params);
    if (status == TK_OK && (!alike || call->prepare_only))
        status = tki_gpu_run(call, source, plan->apart, plan->grid, params);
    return status;
}
