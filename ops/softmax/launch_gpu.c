/* Which softmax kernel takes rows of so many columns on a GPU. */
#include "ops/softmax/launch_gpu.h"

#include "backend/gpu_rows.h"

static const char shared_source[] = "ops/softmax/kernel.cu";
static const char hopper_source[] = "ops/softmax/kernel_hopper.cu";

static bool is_empty(const tki_softmax_params *p)
{
    return p->rows == 0 || p->cols == 0;
}

static bool are_whole(const tki_softmax_params *p)
{
    return tki_rows_are_whole(p->cols, (const void *[]){p->grad_output, p->in, p->out}, 3);
}

/* What was fastest on an H200. */
static const tki_rows_form fwd_forms[] = {
    {.most_cols = 256, .packs = 1, .narrow = true, .kernel = "softmax_fwd_narrow_1"},
    {.most_cols = 512, .packs = 4, .narrow = true, .kernel = "softmax_fwd_narrow_4"},
    {.most_cols = 1024, .packs = 2, .kernel = "softmax_fwd_block_2"},
    {.most_cols = 32768, .packs = 8, .kernel = "softmax_fwd_block_8"},
    {0},
};

static const tki_rows_form bwd_forms[] = {
    {.most_cols = 256, .packs = 1, .narrow = true, .kernel = "softmax_bwd_narrow_1"},
    {.most_cols = 512, .packs = 4, .narrow = true, .kernel = "softmax_bwd_narrow_4"},
    {.most_cols = 4096, .packs = 1, .kernel = "softmax_bwd_block_1"},
    {.most_cols = 16384, .packs = 4, .kernel = "softmax_bwd_block_4"},
    {0},
};

static tk_status fwd_in_registers(const tki_call *call, const char *source, tki_softmax_params p)
{
    const tki_rows_plan plan = tki_rows_plan_held(p.rows, p.cols, fwd_forms);
    p.lanes = plan.lanes;
    return tki_rows_run(call, source, &plan, plan.lanes ? "softmax_fwd_narrow_any" : "softmax_fwd_block_any",
                        are_whole(&p), &p);
}

static tk_status bwd_in_registers(const tki_call *call, const char *source, tki_softmax_params p)
{
    const tki_rows_plan plan = tki_rows_plan_held(p.rows, p.cols, bwd_forms);
    p.lanes = plan.lanes;
    return tki_rows_run(call, source, &plan, plan.lanes ? "softmax_bwd_narrow_any" : "softmax_bwd_block_any",
                        are_whole(&p), &p);
}

tk_status tki_softmax_fwd_launch_gpu(const tki_call *call, tki_softmax_params p)
{
    return is_empty(&p) ? TK_OK : fwd_in_registers(call, shared_source, p);
}

tk_status tki_softmax_bwd_launch_gpu(const tki_call *call, tki_softmax_params p)
{
    return is_empty(&p) ? TK_OK : bwd_in_registers(call, shared_source, p);
}

tk_status tki_softmax_fwd_launch_hopper(const tki_call *call, tki_softmax_params p)
{
    if (is_empty(&p))
        return TK_OK;
    if (!tki_rows_fit_stage(p.cols, 1))
        return fwd_in_registers(call, hopper_source, p);
    const tki_rows_plan plan = tki_rows_plan_staged(p.rows, p.cols, 1, "softmax_fwd_staged");
    return tki_rows_run(call, hopper_source, &plan, "softmax_fwd_cluster_any", are_whole(&p), &p);
}

tk_status tki_softmax_bwd_launch_hopper(const tki_call *call, tki_softmax_params p)
{
    if (is_empty(&p))
        return TK_OK;
    if (!tki_rows_fit_stage(p.cols, 2))
        return bwd_in_registers(call, hopper_source, p);
    const tki_rows_plan plan = tki_rows_plan_staged(p.rows, p.cols, 2, "softmax_bwd_staged");
    return tki_rows_run(call, hopper_source, &plan, "softmax_bwd_cluster_any", are_whole(&p), &p);
}
