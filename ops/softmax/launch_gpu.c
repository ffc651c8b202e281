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

tk_status tki_softmax_fwd_launch_gpu(const tki_call *call, tki_softmax_params p)
{
    if (is_empty(&p))
        return TK_OK;
    const tki_rows_plan plan = tki_rows_plan_shared(p.rows, p.cols, 1, 8);
    p.lanes = plan.lanes;
    if (plan.lanes)
        return tki_rows_run(call, shared_source, plan.packs == 1 ? "softmax_fwd_narrow_1" : "softmax_fwd_narrow_4",
                            "softmax_fwd_narrow_any", are_whole(&p), &plan, &p);
    return tki_rows_run(call, shared_source, plan.packs == 4 ? "softmax_fwd_block_4" : "softmax_fwd_block_8",
                        "softmax_fwd_block_any", are_whole(&p), &plan, &p);
}

tk_status tki_softmax_bwd_launch_gpu(const tki_call *call, tki_softmax_params p)
{
    if (is_empty(&p))
        return TK_OK;
    const tki_rows_plan plan = tki_rows_plan_shared(p.rows, p.cols, 1, 4);
    p.lanes = plan.lanes;
    if (plan.lanes)
        return tki_rows_run(call, shared_source, plan.packs == 1 ? "softmax_bwd_narrow_1" : "softmax_bwd_narrow_4",
                            "softmax_bwd_narrow_any", are_whole(&p), &plan, &p);
    return tki_rows_run(call, shared_source, "softmax_bwd_block_4", "softmax_bwd_block_any", are_whole(&p), &plan,
                        &p);
}

const char *tki_softmax_fwd_accept_hopper(const tk_case *c, const tki_gpu_info *device)
{
    return tki_rows_accept_staged(c, device, c->dims[1], 1);
}

const char *tki_softmax_bwd_accept_hopper(const tk_case *c, const tki_gpu_info *device)
{
    return tki_rows_accept_staged(c, device, c->dims[1], 2);
}

tk_status tki_softmax_fwd_launch_hopper(const tki_call *call, tki_softmax_params p)
{
    if (is_empty(&p))
        return TK_OK;
    const tki_rows_plan plan = tki_rows_plan_staged(p.rows, p.cols, 1);
    return tki_rows_run(call, hopper_source, "softmax_fwd_staged", "softmax_fwd_cluster_any", are_whole(&p), &plan,
                        &p);
}

tk_status tki_softmax_bwd_launch_hopper(const tki_call *call, tki_softmax_params p)
{
    if (is_empty(&p))
        return TK_OK;
    const tki_rows_plan plan = tki_rows_plan_staged(p.rows, p.cols, 2);
    return tki_rows_run(call, hopper_source, "softmax_bwd_staged", "softmax_bwd_cluster_any", are_whole(&p), &plan,
                        &p);
}
