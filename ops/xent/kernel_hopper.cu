/* UNTRUSTED. Cross-entropy on Hopper. The blocks of a cluster have a row in their shared memory, a stretch each, which bulk copies bring;
 * rows that are not made of whole packs at multiples of 16 bytes are read again by each pass, with the same bits. */
#include "backend/device_cluster.h"
#include "ops/xent/kernel.cu"

struct target_place {
    unsigned rank; /* of the block that has it */
    int pack;      /* of that block's stretch */
};

DEVICE target_place place_of(int64_t target, int64_t cols)
{
    const unsigned pack = (unsigned)(target / pack_columns);
    const unsigned stretch = (unsigned)stretch_packs(cols);
    return {pack / stretch, (int)(pack % stretch)};
}

/* A pack is looked at by one thread alone, so that this thread can take the target out of it. */
KERNEL(512, 3, xent_staged, tki_xent_params)
{
    SHARED cluster_memory<xent_slots> memory;
    cluster_team team = cluster_begin(memory);
    const int64_t row = row_of_cluster();
    const stage at = stage_of(p.cols, 0);
    const element *x = (const element *)p.logits + row * p.cols;
    if (thread_index() == 0) {
        stage_announce(team, at, 1);
        stage_fill(team, at, x, p.cols);
    }
    cluster_open();
    /* The copies do not wait for the target. A row that is not computed lets them end before its memory is given back. */
    const int64_t target = target_of(team, p, row);
    if (target < 0) {
        stage_wait(team);
        return;
    }
    const target_place there = place_of(target, p.cols);
    const int64_t begin = stretch_packs(p.cols) * cluster_rank();
    const int place = (int)(target % pack_columns);
    const int target_pack = there.rank == cluster_rank() ? there.pack : -1;
    float largest = -float_infinity();
    float at_target = 0.0f;
    const int step = (int)thread_count();
    stage_wait(team);
    for (int pack = (int)thread_index(); pack < at.packs; pack += step) {
        vector16 v = stage_load(at, pack);
        if (pack == target_pack) {
            at_target = from_element(pack_element(v, (unsigned)place));
            pack_replace(v, (unsigned)place, (element)minus_infinity_pair);
            stage_store(at, pack, v);
        }
        largest = larger(largest, pack_larger(v));
    }
    /* The target's logit comes from its block with the maxima: to load it would be one more wait for memory in every row. */
    const unsigned owner = (unsigned)there.pack % thread_count();
    const float at_warp[2] = {lanes_larger(largest, warp_lanes), shuffle(at_target, owner % warp_lanes)};
    team_exchange(team, at_warp, max_slot);
    const float x_target = team.slots[target_slot][(there.rank * thread_count() + owner) / warp_lanes];
    const float max = larger(team_largest(team, max_slot), x_target);
    const row_origin origin = origin_at(max);
    const float maximum = exp2_flush(exponent_at(max, origin));
    const uint32_t max_pair = to_pair(max, max);
    row_sums sums = {0.0f, 0.0f, 0.0f};
    if (warp_vote(largest == max) != 0) {
#pragma unroll 2
        for (int pack = (int)thread_index(); pack < at.packs; pack += step)
            sum_pack<true>(sums, stage_load(at, pack), origin, max_pair);
    } else {
#pragma unroll 2
        for (int pack = (int)thread_index(); pack < at.packs; pack += step)
            sum_pack<false>(sums, stage_load(at, pack), origin, max_pair);
    }
    if (p.share_raised > 0) {
        for (int pack = (int)thread_index(); pack < at.packs; pack += step) {
            vector16 v = stage_load(at, pack);
            if (pack == target_pack)
                pack_replace(v, (unsigned)place, to_element(max));
            sum_distances(sums, v, max);
        }
    }
    float all[3] = {sums.below, sums.maximal, sums.lowered};
    team_sums(team, all, sum_slot);
    sums = {all[0], all[1], all[2]};
    float raised = sums.below * UNIT;
    if (sums.below < FAR_SUM) {
        float far[1] = {0.0f};
        for (int pack = (int)thread_index(); pack < at.packs; pack += step)
            far[0] += sum_of_far(stage_load(at, pack), origin, max_pair);
        team_sums(team, far, far_slot);
        raised = far[0];
    }
    const row_result result = conclude(p, sums, raised, x_target, max, origin, maximum);
    if (team_member(team) == 0)
        p.loss[row] = loss_of(p, sums, result.rest, x_target, max);
    element *gradient = hold_address((element *)p.grad_logits + row * p.cols + begin * pack_columns);
#pragma unroll 2
    for (int pack = (int)thread_index(); pack < at.packs; pack += step) {
        vector16 out = pack_gradient(stage_load(at, pack), origin, result.factor, p);
        if (pack == target_pack)
            pack_replace(out, (unsigned)place, to_element(result.gradient));
        store16(gradient + pack * pack_columns, out);
    }
}

KERNEL(512, 2, xent_cluster_any, tki_xent_params)
{
    SHARED cluster_memory<xent_slots> memory;
    cluster_team team = cluster_begin(memory);
    cluster_open();
    run_row<0, false>(team, p, row_of_cluster());
}
