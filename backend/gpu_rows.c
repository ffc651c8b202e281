/* Launching the kernels that work on rows. */
#include "backend/gpu_rows.h"

enum {
    PACK = 8, /* columns in 16 bytes */
    NARROW_THREADS = 64,
    MOST_THREADS = 512,
    THREADS_STEP = 64, /* a whole number of warps on every device */
    /* More blocks take rows in turn: a launch has fewer than 2^32 threads in all on some devices. */
    MOST_BLOCKS = 1 << 22,
    LEAST_CLUSTER = 2,
    MOST_CLUSTER = 8,
    STAGED_THREADS = 256,
    STRETCH_BYTES = 33 << 10, /* of each tensor's row in one block, so that several blocks fit on a multiprocessor */
    MOST_STRETCH_BYTES = 220 << 10 /* of all together, so that one does */
};

static int64_t divide_up(int64_t a, int64_t b)
{
    return (a + b - 1) / b;
}

static unsigned at_most(int64_t blocks, int64_t most)
{
    return (unsigned)(blocks < most ? blocks : most);
}

static tki_rows_plan plan_narrow(int64_t rows, int64_t cols, const tki_rows_form *form)
{
    tki_rows_plan plan = {.kernel = form->kernel, .lanes = 1, .grid.threads = NARROW_THREADS};
    while (plan.lanes * form->packs < divide_up(cols, PACK))
        plan.lanes *= 2;
    plan.grid.blocks[0] = at_most(divide_up(rows, NARROW_THREADS / plan.lanes), MOST_BLOCKS);
    return plan;
}

tki_rows_plan tki_rows_plan_held(int64_t rows, int64_t cols, const tki_rows_form *forms)
{
    const tki_rows_form *form = forms;
    while (form->most_cols && form->most_cols < cols)
        form++;
    if (form->narrow)
        return plan_narrow(rows, cols, form);
    const int64_t threads = form->packs ? divide_up(divide_up(divide_up(cols, PACK), form->packs), THREADS_STEP)
                                        : MOST_THREADS / THREADS_STEP;
    return (tki_rows_plan){
        .kernel = form->kernel,
        .grid = {.blocks = {at_most(rows, MOST_BLOCKS)}, .threads = (unsigned)(threads * THREADS_STEP)}};
}

static int64_t stretch_bytes(int64_t cols, int tensors, unsigned cluster)
{
    return divide_up(divide_up(cols, PACK), cluster) * 16 * tensors;
}

tki_rows_plan tki_rows_plan_staged(int64_t rows, int64_t cols, int tensors, const char *kernel)
{
    unsigned cluster = LEAST_CLUSTER;
    while (cluster < MOST_CLUSTER && stretch_bytes(cols, 1, cluster) > STRETCH_BYTES)
        cluster *= 2;
    const int64_t bytes = stretch_bytes(cols, tensors, cluster);
    return (tki_rows_plan){
        .kernel = kernel,
        .grid = {.blocks = {(unsigned)(rows * cluster)},
                 .threads = stretch_bytes(cols, 1, cluster) > 2 * STRETCH_BYTES ? MOST_THREADS : STAGED_THREADS,
                 .shared_bytes = (unsigned)bytes,
                 .cluster = cluster}};
}

bool tki_rows_fit_stage(int64_t cols, int tensors)
{
    return cols >= TKI_ROWS_STAGED_FROM && stretch_bytes(cols, tensors, MOST_CLUSTER) <= MOST_STRETCH_BYTES;
}

bool tki_rows_are_whole(int64_t cols, const void *const tensors[], int count)
{
    bool whole = cols % PACK == 0;
    for (int i = 0; i < count; i++)
        whole = whole && (uintptr_t)tensors[i] % 16 == 0;
    return whole;
}

tk_status tki_rows_run(const tki_call *call, const char *source, const tki_rows_plan *plan, const char *any,
                       bool are_whole, const void *params)
{
    if (!plan->kernel)
        return tki_gpu_run(call, source, any, plan->grid, params);
    if (call->prepare_only) {
        tk_status status = tki_gpu_run(call, source, plan->kernel, plan->grid, params);
        return status == TK_OK ? tki_gpu_run(call, source, any, plan->grid, params) : status;
    }
    tki_gpu_grid grid = plan->grid;
    if (!are_whole)
        grid.shared_bytes = 0;
    return tki_gpu_run(call, source, are_whole ? plan->kernel : any, grid, params);
}
