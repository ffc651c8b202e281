/* Which softmax kernel takes rows of so many columns on a GPU. */
#include "ops/softmax/launch_gpu.h"

#include "backend/gpu_rows.h"

static const char fwd_source[] = "ops/softmax/kernel_fwd.cu";
static const char fwd_hopper_source[] = "ops/softmax/kernel_fwd_hopper.cu";
static const char bwd_source[] = "ops/softmax/kernel_bwd.cu";
static const char bwd_hopper_source[] = "ops/softmax/kernel_bwd_hopper.cu";

static bool is_empty(const tki_softmax_params *p)
{
    return p->rows == 0 || p->cols == 0;
}

static bool are_whole(const tki_call *call, const tki_softmax_params *p)
{
    return tki_rows_are_whole(tki_rows_bytes(call), (const void *[]){p->grad_output, p->in, p->out}, 3);
}

/* What was fastest on an H200. */
static const tki_rows_form fwd_forms[] = {
    {.most_bytes = 512,
     .packs = 1,
     .narrow = true,
     .kernel = "softmax_fwd_narrow_1",
     .any = "softmax_fwd_narrow_1_any"},
    {.most_bytes = 1024,
     .packs = 4,
     .narrow = true,
     .kernel = "softmax_fwd_narrow_4",
     .any = "softmax_fwd_narrow_4_any"},
    {.most_bytes = 2048, .packs = 2, .kernel = "softmax_fwd_block_2", .any = "softmax_fwd_block_2_any"},
    {.most_bytes = 65536, .packs = 8, .kernel = "softmax_fwd_block_8", .any = "softmax_fwd_block_8_any"},
    {.kernel = "softmax_fwd_reread"},
};

static const tki_rows_form bwd_forms[] = {
    {.most_bytes = 512,
     .packs = 1,
     .narrow = true,
     .kernel = "softmax_bwd_narrow_1",
     .any = "softmax_bwd_narrow_1_any"},
    {.most_bytes = 1024,
     .packs = 4,
     .narrow = true,
     .kernel = "softmax_bwd_narrow_4",
     .any = "softmax_bwd_narrow_4_any"},
    {.most_bytes = 8192, .packs = 1, .kernel = "softmax_bwd_block_1", .any = "softmax_bwd_block_1_any"},
    {.most_bytes = 32768, .packs = 4, .kernel = "softmax_bwd_block_4", .any = "softmax_bwd_block_4_any"},
    {.kernel = "softmax_bwd_reread"},
};

static tk_status fwd_in_registers(const tki_call *call, const char *source, tki_softmax_params p)
{
    const tki_rows_plan plan = tki_rows_plan_held(p.rows, tki_rows_bytes(call), fwd_forms);
    p.lanes = plan.lanes;
    return tki_rows_run(call, source, &plan, are_whole(call, &p), &p);
}

static tk_status bwd_in_registers(const tki_call *call, const char *source, tki_softmax_params p)
{
    const tki_rows_plan plan = tki_rows_plan_held(p.rows, tki_rows_bytes(call), bwd_forms);
    p.lanes = plan.lanes;
    return tki_rows_run(call, source, &plan, are_whole(call, &p), &p);
}

tk_status tki_softmax_fwd_launch_gpu(const tki_call *call, tki_softmax_params p)
{
    return is_empty(&p) ? TK_OK : fwd_in_registers(call, fwd_source, p);
}

tk_status tki_softmax_bwd_launch_gpu(const tki_call *call, tki_softmax_params p)
{
    return is_empty(&p) ? TK_OK : bwd_in_registers(call, bwd_source, p);
}

tk_status tki_softmax_fwd_launch_hopper(const tki_call *call, tki_softmax_params p)
{
    if (is_empty(&p))
        return TK_OK;
    if (!tki_rows_fit_stage(tki_rows_bytes(call), 1))
        return fwd_in_registers(call, fwd_hopper_source, p);
    const tki_rows_plan plan = tki_rows_plan_staged(p.rows, tki_rows_bytes(call), 1, "softmax_fwd_staged",
                                                    "softmax_fwd_staged_any");
    return tki_rows_run(call, fwd_hopper_source, &plan, are_whole(call, &p), &p);
}

tk_status tki_softmax_bwd_launch_hopper(const tki_call *call, tki_softmax_params p)
{
    if (is_empty(&p))
        return TK_OK;
    if (!tki_rows_fit_stage(tki_rows_bytes(call), 2))
        return bwd_in_registers(call, bwd_hopper_source, p);
    const tki_rows_plan plan = tki_rows_plan_staged(p.rows, tki_rows_bytes(call), 2, "softmax_bwd_staged",
                                                    "softmax_bwd_staged_any");
    return tki_rows_run(call, bwd_hopper_source, &plan, are_whole(call, &p), &p);
}
