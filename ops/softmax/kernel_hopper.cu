/* UNTRUSTED. Row softmax and its gradient on Hopper. Rows that fit into registers are those of kernel.cu. Of wider ones the blocks of a cluster have a row in their shared memory, a stretch each, which
 * bulk copies bring; rows that are not made of whole packs at multiples of 16 bytes are read again by each pass, with the same bits. */
#include "backend/device_cluster.h"
#include "ops/softmax/kernel.cu"

KERNEL(512, 3, softmax_fwd_staged, tki_softmax_params)
{
    SHARED cluster_memory<softmax_slots> memory;
    cluster_team team = cluster_begin(memory);
    const stage at = stage_of(p.cols, 0);
    const int64_t offset = row_of_cluster() * p.cols;
    if (thread_index() == 0) {
        stage_announce(team, at, 1);
        stage_fill(team, at, (const element *)p.in + offset, p.cols);
    }
    cluster_open();
    float largest = -float_infinity();
    stage_wait(team);
    for (int pack = (int)thread_index(); pack < at.packs; pack += (int)thread_count())
        largest = larger(largest, pack_larger(stage_load(at, pack)));
    const row_origin origin = origin_at(team_larger(team, largest, max_slot));
    float e[pack_columns];
    float sum[1] = {0.0f};
#pragma unroll 2
    for (int pack = (int)thread_index(); pack < at.packs; pack += (int)thread_count()) {
        pack_exponentials(stage_load(at, pack), origin, e);
        sum[0] += sum_of_8(e);
    }
    team_sums(team, sum, sum_slot);
    const float factor = reciprocal_flush(sum[0]);
    element *y = hold_address((element *)p.out + offset + stretch_packs(p.cols) * cluster_rank() * pack_columns);
#pragma unroll 2
    for (int pack = (int)thread_index(); pack < at.packs; pack += (int)thread_count()) {
        pack_exponentials(stage_load(at, pack), origin, e);
        store16(y + pack * pack_columns, pack_scaled(e, factor));
    }
}

KERNEL(512, 3, softmax_bwd_staged, tki_softmax_params)
{
    SHARED cluster_memory<softmax_slots> memory;
    cluster_team team = cluster_begin(memory);
    const stage gradient = stage_of(p.cols, 0);
    const stage result = stage_of(p.cols, 1);
    const int64_t offset = row_of_cluster() * p.cols;
    if (thread_index() == 0) {
        stage_announce(team, gradient, 2);
        stage_fill(team, gradient, (const element *)p.grad_output + offset, p.cols);
        stage_fill(team, result, (const element *)p.in + offset, p.cols);
    }
    cluster_open();
    float sum[1] = {0.0f};
    stage_wait(team);
    for (int pack = (int)thread_index(); pack < gradient.packs; pack += (int)thread_count())
        sum[0] += pack_product(stage_load(gradient, pack), stage_load(result, pack));
    team_sums(team, sum, sum_slot);
    element *out = hold_address((element *)p.out + offset + stretch_packs(p.cols) * cluster_rank() * pack_columns);
#pragma unroll 2
    for (int pack = (int)thread_index(); pack < gradient.packs; pack += (int)thread_count())
        store16(out + pack * pack_columns,
                pack_gradient(stage_load(gradient, pack), stage_load(result, pack), sum[0]));
}

KERNEL(512, 3, softmax_fwd_cluster_any, tki_softmax_params)
{
    SHARED cluster_memory<softmax_slots> memory;
    cluster_team team = cluster_begin(memory);
    cluster_open();
    fwd_row<0>(team, p, row_of_cluster(), p.cols);
}

KERNEL(512, 3, softmax_bwd_cluster_any, tki_softmax_params)
{
    SHARED cluster_memory<softmax_slots> memory;
    cluster_team team = cluster_begin(memory);
    cluster_open();
    bwd_row<0>(team, p, row_of_cluster(), p.cols, sum_slot);
}
