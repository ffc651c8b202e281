/* Launching the kernels that work on rows. */
#include "backend/gpu_rows.h"

enum {
    PACK_BYTES = 16,
    NARROW_THREADS = 64,
    MOST_THREADS = 512,
    THREADS_STEP = 64, /* a whole number of warps on every device */
    /* More blocks take rows in turn: a launch has fewer than 2^32 threads in all on some devices. */
    MOST_BLOCKS = 1 << 22,
    WARP = 32, /* on Hopper */
    STAGED_PACKS = 8,
    LEAST_STAGED_THREADS = 128,
    MOST_STAGED_THREADS = 256,
    WIDE_STAGED_THREADS = 512, /* where few blocks fit on a multiprocessor */
    LEAST_CLUSTER = 2,
    MOST_CLUSTER = 8,
    STRETCH_BYTES = 33 << 10, /* of each tensor's row in one block, so that several blocks fit on a multiprocessor */
    MOST_STRETCH_BYTES = 220 << 10, /* of all together, so that one does */
    MOST_ANY_BYTES = 47 << 10 /* of shared memory, which every device has beside what the kernels need otherwise */
};

static int64_t divide_up(int64_t a, int64_t b)
{
    return (a + b - 1) / b;
}

static unsigned at_most(int64_t blocks, int64_t most)
{
    return (unsigned)(blocks < most ? blocks : most);
}

int64_t tki_rows_bytes(const tki_call *call)
{
    return call->c->dims[1] * (int64_t)tk_dtype_size(call->c->dtype);
}

static tki_rows_plan plan_narrow(int64_t rows, int64_t row_bytes, const tki_rows_form *form)
{
    tki_rows_plan plan = {.kernel = form->kernel,
                          .any = form->any,
                          .lanes = 1,
                          .grid.threads = NARROW_THREADS,
                          .any_shared_bytes = (unsigned)(NARROW_THREADS * form->packs * PACK_BYTES)};
    while (plan.lanes * form->packs < divide_up(row_bytes, PACK_BYTES))
        plan.lanes *= 2;
    plan.grid.blocks[0] = at_most(divide_up(rows, NARROW_THREADS / plan.lanes), MOST_BLOCKS);
    return plan;
}

tki_rows_plan tki_rows_plan_held(int64_t rows, int64_t row_bytes, const tki_rows_form *forms)
{
    const tki_rows_form *form = forms;
    while (form->most_bytes && form->most_bytes < row_bytes)
        form++;
    if (form->narrow)
        return plan_narrow(rows, row_bytes, form);
    const int64_t packs = divide_up(row_bytes, PACK_BYTES);
    const int64_t threads = form->packs ? divide_up(divide_up(packs, form->packs), THREADS_STEP) * THREADS_STEP
                                        : MOST_THREADS;
    tki_rows_plan plan = {.kernel = form->kernel,
                          .any = form->any,
                          .grid = {.blocks = {at_most(rows, MOST_BLOCKS)}, .threads = (unsigned)threads}};
    if (form->any && packs * PACK_BYTES <= MOST_ANY_BYTES) {
        plan.any_shared_bytes = (unsigned)packs * PACK_BYTES;
        return plan;
    }
    while (form->most_bytes)
        form++;
    plan.any = form->kernel;
    return plan;
}

static int64_t stretch_packs(int64_t row_bytes, unsigned cluster)
{
    return divide_up(divide_up(row_bytes, PACK_BYTES), cluster);
}

/* Eight packs to a thread, so that shared memory and not registers decides how many blocks a multiprocessor has. */
static unsigned staged_threads(int64_t packs)
{
    const int64_t threads = divide_up(packs, STAGED_PACKS * WARP) * WARP;
    return threads < LEAST_STAGED_THREADS  ? LEAST_STAGED_THREADS
           : threads < MOST_STAGED_THREADS ? (unsigned)threads
                                           : MOST_STAGED_THREADS;
}

tki_rows_plan tki_rows_plan_staged(int64_t rows, int64_t row_bytes, int tensors, const char *kernel, const char *any)
{
    unsigned cluster = LEAST_CLUSTER;
    while (cluster < MOST_CLUSTER && stretch_packs(row_bytes, cluster) * PACK_BYTES > STRETCH_BYTES)
        cluster *= 2;
    const int64_t packs = stretch_packs(row_bytes, cluster);
    return (tki_rows_plan){
        .kernel = kernel,
        .any = any,
        .grid = {.blocks = {(unsigned)(rows * cluster)},
                 .threads = packs * PACK_BYTES > 2 * STRETCH_BYTES ? WIDE_STAGED_THREADS : staged_threads(packs),
                 .shared_bytes = (unsigned)(packs * tensors * PACK_BYTES),
                 .cluster = cluster},
        .any_shared_bytes = (unsigned)((packs + 1) * tensors * PACK_BYTES)};
}

bool tki_rows_fit_stage(int64_t row_bytes, int tensors)
{
    return row_bytes > TKI_ROWS_STAGED_ABOVE &&
           (stretch_packs(row_bytes, MOST_CLUSTER) + 1) * tensors * PACK_BYTES <= MOST_STRETCH_BYTES;
}

bool tki_rows_are_whole(int64_t row_bytes, const void *const tensors[], int count)
{
    bool whole = row_bytes % PACK_BYTES == 0;
    for (int i = 0; i < count; i++)
        whole = whole && (uintptr_t)tensors[i] % 16 == 0;
    return whole;
}

tk_status tki_rows_run(const tki_call *call, const char *source, const tki_rows_plan *plan, bool are_whole,
                       const void *params)
{
    tk_status status = TK_OK;
    if (are_whole || call->prepare_only)
        status = tki_gpu_run(call, source, plan->kernel, plan->grid, params);
    if (status == TK_OK && (!are_whole || call->prepare_only)) {
        tki_gpu_grid grid = plan->grid;
        grid.shared_bytes = plan->any_shared_bytes;
        status = tki_gpu_run(call, source, plan->any, grid, params);
    }
    return status;
}
