/* UNTRUSTED. The gradient of row softmax on Hopper. Rows that fit into registers are those of kernel_bwd.cu. Of wider ones the blocks of a
 * cluster have a row in their shared memory, a stretch each, which bulk copies bring; rows that are not made of whole packs at multiples
 * of 16 bytes are shifted there, with the same bits. */
#include "backend/device_cluster.h"
#include "ops/softmax/kernel_bwd.cu"

template <bool whole> DEVICE void bwd_staged(const tki_softmax_params &p)
{
    SHARED cluster_memory<softmax_slots> memory;
    cluster_team team = cluster_begin(memory);
    const int64_t row = row_of_cluster();
    const tensor_row rows[2] = {{p.grad_output, p.rows, p.cols, row}, {p.in, p.rows, p.cols, row}};
    const stage stages[2] = {stage_of<whole>(p.cols, 0), stage_of<whole>(p.cols, 1)};
    const stage &gradient = stages[0], &result = stages[1];
    element *out = (element *)p.out + row * p.cols;
    stage_fill<whole>(team, stages, rows);
    cluster_open();
    float sum[1] = {0.0f};
    stage_wait<whole>(team, stages, rows, 0);
    for (int pack = (int)thread_index(); pack < gradient.packs; pack += (int)thread_count())
        sum[0] += pack_product(stage_load(gradient, pack), stage_load(result, pack));
    team_sums(team, sum, sum_slot);
    element *to = hold_address(out + stretch_packs(p.cols) * cluster_rank() * pack_columns);
#pragma unroll 2
    for (int pack = (int)thread_index(); pack < gradient.packs; pack += (int)thread_count())
        stage_put<whole>(gradient, pack, to,
                         pack_gradient(stage_load(gradient, pack), stage_load(result, pack), sum[0]));
    stage_flush<whole>(gradient, out, p.cols);
}

KERNEL(512, 3, softmax_bwd_staged, tki_softmax_params)
{
    bwd_staged<true>(p);
}

KERNEL(512, 3, softmax_bwd_staged_any, tki_softmax_params)
{
    bwd_staged<false>(p);
}
