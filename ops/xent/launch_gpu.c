/* Which kernel of xent takes rows of so many columns on a GPU. Without columns there are still losses to write. */
#include "ops/xent/launch_gpu.h"

#include "backend/gpu_rows.h"

static const char shared_source[] = "ops/xent/kernel.cu";
static const char hopper_source[] = "ops/xent/kernel_hopper.cu";

static bool are_whole(const tki_call *call, const tki_xent_params *p)
{
    return tki_rows_are_whole(tki_rows_bytes(call), (const void *[]){p->logits, p->grad_logits}, 2);
}

static const tki_rows_form forms[] = {
    {.most_bytes = 2048, .packs = 4, .narrow = true, .kernel = "xent_narrow_4", .any = "xent_narrow_4"},
    {.most_bytes = 32768, .packs = 4, .kernel = "xent_block_4", .any = "xent_block_4"},
    {.kernel = "xent_reread"},
};

static tk_status run_in_registers(const tki_call *call, const char *source, tki_xent_params p)
{
    const tki_rows_plan plan = tki_rows_plan_held(p.rows, tki_rows_bytes(call), forms);
    p.lanes = plan.lanes;
    p.whole = are_whole(call, &p);
    p.fault_word = call->fault_word;
    return tki_rows_run(call, source, &plan, p.whole, &p);
}

tk_status tki_xent_launch_gpu(const tki_call *call, tki_xent_params p)
{
    return p.rows == 0 ? TK_OK : run_in_registers(call, shared_source, p);
}

tk_status tki_xent_launch_hopper(const tki_call *call, tki_xent_params p)
{
    if (p.rows == 0)
        return TK_OK;
    if (!tki_rows_fit_stage(tki_rows_bytes(call), 1))
        return run_in_registers(call, hopper_source, p);
    const tki_rows_plan plan = tki_rows_plan_staged(p.rows, tki_rows_bytes(call), 1, "xent_staged",
                                                    "xent_staged_any");
    p.fault_word = call->fault_word;
    return tki_rows_run(call, hopper_source, &plan, are_whole(call, &p), &p);
}
