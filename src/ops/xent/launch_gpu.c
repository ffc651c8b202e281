/* UNTRUSTED. Which kernel of xent takes rows of so many columns on a GPU. Without columns there are still losses to write. */
#include "ops/xent/launch_gpu.h"

#include "runtime/row_launch.h"

static const char shared_source[] = "ops/xent/kernel.cu";
static const char hopper_source[] = "ops/xent/kernel_hopper.cu";

static bool lie_alike(const tki_call *call, const tki_xent_params *p)
{
    return tki_rows_lie_alike(tki_rows_bytes(call), (const void *[]){p->logits, p->grad_logits}, 2);
}

/* What was fastest on an H200. */
static const tki_rows_forms forms = {
    .whole =
        (const tki_rows_form[]){
            {256, 4, 64, 0, "xent_narrow_4", "xent_narrow_reread"},
            {4096, 6, 64, 0, "xent_narrow_6", "xent_narrow_reread"},
            {4096, 8, 64, 0, "xent_narrow_8", "xent_narrow_reread"},
            {32768, 8, 0, 0, "xent_block_8", "xent_reread"},
            {.kernel = "xent_reread", .apart = "xent_reread"},
        },
    .odd =
        (const tki_rows_form[]){
            {256, 6, 64, 1, "xent_narrow_6_chunks", "xent_narrow_reread"},
            {256, 4, 64, 0, "xent_narrow_4_shifted", "xent_narrow_reread"},
            {1024, 6, 64, 0, "xent_narrow_6_shifted", "xent_narrow_reread"},
            {1024, 8, 64, 0, "xent_narrow_8_shifted", "xent_narrow_reread"},
            {3072, 6, 64, 0, "xent_narrow_6_shifted", "xent_narrow_reread"},
            {3072, 4, 64, 0, "xent_narrow_4_shifted", "xent_narrow_reread"},
            {32768, 8, 0, 0, "xent_block_8_shifted", "xent_reread"},
            {.kernel = "xent_reread", .apart = "xent_reread"},
        },
};

static const tki_rows_staging staging = {
    .tensors = 1,
    .stretch_bytes = 50 << 10,
    .long_above = 80 << 10,
    .long_forms = (const tki_rows_long_form[]){{0, 104 << 10, 320, 320}},
    .whole = "xent_staged",
    .odd = "xent_staged_shifted",
    .long_whole = "xent_long",
    .long_odd = "xent_long_shifted",
    .apart = "xent_cluster_reread",
};

static tk_status run_held(const tki_call *call, const char *source, tki_xent_params p)
{
    const tki_rows_plan plan = tki_rows_plan_held(call, p.rows, &forms);
    p.lanes = plan.lanes;
    p.fault_word = call->fault_word;
    return tki_rows_run(call, source, &plan, lie_alike(call, &p), &p);
}

tk_status tki_xent_launch_gpu(const tki_call *call, tki_xent_params p)
{
    return p.rows == 0 ? TK_OK : run_held(call, shared_source, p);
}

tk_status tki_xent_launch_hopper(const tki_call *call, tki_xent_params p)
{
    if (p.rows == 0)
        return TK_OK;
    if (!tki_rows_are_wide(tki_rows_bytes(call)))
        return run_held(call, hopper_source, p);
    const tki_rows_plan plan = tki_rows_plan_staged(p.rows, tki_rows_bytes(call), &staging);
    p.fault_word = call->fault_word;
    return tki_rows_run(call, hopper_source, &plan, lie_alike(call, &p), &p);
}
