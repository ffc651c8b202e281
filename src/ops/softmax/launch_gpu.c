/* UNTRUSTED. Which softmax kernel takes rows of so many columns on a GPU. */
#include "ops/softmax/launch_gpu.h"

#include "runtime/row_launch.h"

static const char fwd_source[] = "ops/softmax/kernel_fwd.cu";
static const char fwd_hopper_source[] = "ops/softmax/kernel_fwd_hopper.cu";
static const char bwd_source[] = "ops/softmax/kernel_bwd.cu";
static const char bwd_hopper_source[] = "ops/softmax/kernel_bwd_hopper.cu";

static bool is_empty(const tki_softmax_params *p)
{
    return p->rows == 0 || p->cols == 0;
}

static bool lie_alike(const tki_call *call, const tki_softmax_params *p)
{
    return tki_rows_lie_alike(tki_rows_bytes(call), (const void *[]){p->grad_output, p->in, p->out}, 3);
}

/* What was fastest on an H200. */
static const tki_rows_forms fwd_forms = {
    .whole =
        (const tki_rows_form[]){
            {240, 2, 64, 0, "softmax_fwd_narrow_2", "softmax_fwd_narrow_reread"},
            {2048, 4, 64, 0, "softmax_fwd_narrow_4", "softmax_fwd_narrow_reread"},
            {65536, 8, 0, 0, "softmax_fwd_block_8", "softmax_fwd_reread"},
            {.kernel = "softmax_fwd_reread", .apart = "softmax_fwd_reread"},
        },
    .odd =
        (const tki_rows_form[]){
            {2048, 6, 64, 1, "softmax_fwd_narrow_6_chunks", "softmax_fwd_narrow_reread"},
            {2048, 8, 64, 1, "softmax_fwd_narrow_8_chunks", "softmax_fwd_narrow_reread"},
            {65536, 8, 0, 0, "softmax_fwd_block_8_shifted", "softmax_fwd_reread"},
            {.kernel = "softmax_fwd_reread", .apart = "softmax_fwd_reread"},
        },
};

static const tki_rows_forms bwd_forms = {
    .whole =
        (const tki_rows_form[]){
            {256, 2, 128, 0, "softmax_bwd_narrow_2", "softmax_bwd_narrow_reread"},
            {2048, 4, 128, 0, "softmax_bwd_narrow_4", "softmax_bwd_narrow_reread"},
            {8192, 2, 0, 0, "softmax_bwd_block_2", "softmax_bwd_reread"},
            {32768, 4, 0, 0, "softmax_bwd_block_4", "softmax_bwd_reread"},
            {.kernel = "softmax_bwd_reread", .apart = "softmax_bwd_reread"},
        },
    .odd =
        (const tki_rows_form[]){
            {2048, 3, 128, 2, "softmax_bwd_narrow_3_chunks", "softmax_bwd_narrow_reread"},
            {2048, 4, 128, 2, "softmax_bwd_narrow_4_chunks", "softmax_bwd_narrow_reread"},
            {32768, 4, 0, 0, "softmax_bwd_block_4_shifted", "softmax_bwd_reread"},
            {.kernel = "softmax_bwd_reread", .apart = "softmax_bwd_reread"},
        },
};

static const tki_rows_staging fwd_staging = {
    .tensors = 1,
    .stretch_bytes = 50 << 10,
    .long_above = 70 << 10,
    .long_forms = (const tki_rows_long_form[]){{96 << 10, 72 << 10, 384, 256}, {0, 104 << 10, 384, 384}},
    .whole = "softmax_fwd_staged",
    .odd = "softmax_fwd_staged_shifted",
    .long_whole = "softmax_fwd_long",
    .long_odd = "softmax_fwd_long_shifted",
    .apart = "softmax_fwd_cluster_reread",
};

static const tki_rows_staging bwd_staging = {
    .tensors = 2,
    .stretch_bytes = 33 << 10,
    .long_above = 74 << 10,
    .long_forms = (const tki_rows_long_form[]){{152 << 10, 104 << 10, 384, 384}, {0, 220 << 10, 384, 384}},
    .whole = "softmax_bwd_staged",
    .odd = "softmax_bwd_staged_shifted",
    .long_whole = "softmax_bwd_long",
    .long_odd = "softmax_bwd_long_shifted",
    .apart = "softmax_bwd_cluster_reread",
};

static tk_status run_held(const tki_call *call, const char *source, const tki_rows_forms *forms, tki_softmax_params p)
{
    const tki_rows_plan plan = tki_rows_plan_held(call, p.rows, forms);
    p.lanes = plan.lanes;
    return tki_rows_run(call, source, &plan, lie_alike(call, &p), &p);
}

static tk_status run_on_hopper(const tki_call *call, const char *source, const tki_rows_forms *forms,
                               const tki_rows_staging *staging, tki_softmax_params p)
{
    if (!tki_rows_are_wide(tki_rows_bytes(call)))
        return run_held(call, source, forms, p);
    const tki_rows_plan plan = tki_rows_plan_staged(p.rows, tki_rows_bytes(call), staging);
    return tki_rows_run(call, source, &plan, lie_alike(call, &p), &p);
}

tk_status tki_softmax_fwd_launch_gpu(const tki_call *call, tki_softmax_params p)
{
    return is_empty(&p) ? TK_OK : run_held(call, fwd_source, &fwd_forms, p);
}

tk_status tki_softmax_bwd_launch_gpu(const tki_call *call, tki_softmax_params p)
{
    return is_empty(&p) ? TK_OK : run_held(call, bwd_source, &bwd_forms, p);
}

tk_status tki_softmax_fwd_launch_hopper(const tki_call *call, tki_softmax_params p)
{
    return is_empty(&p) ? TK_OK : run_on_hopper(call, fwd_hopper_source, &fwd_forms, &fwd_staging, p);
}

tk_status tki_softmax_bwd_launch_hopper(const tki_call *call, tki_softmax_params p)
{
    return is_empty(&p) ? TK_OK : run_on_hopper(call, bwd_hopper_source, &bwd_forms, &bwd_staging, p);
}
