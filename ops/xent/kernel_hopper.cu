/* UNTRUSTED. Cross-entropy on Hopper. Rows that fit into registers are those of kernel.cu. Of wider ones the blocks of a cluster have a row
 * in their shared memory, a stretch each, which bulk copies bring; rows that are not made of whole packs at multiples of 16 bytes are
 * shifted there, with the same bits. */
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

/* The row without its target, and where that was. */
struct staged_row {
    stage at;
    int cols; /* from the stretch's first on */
    float max;
    int target_pack, target_place; /* pack -1: not in this block's stretch */
};

/* counts: some pack of the warp's has the maximum. smooths: distances are wanted. */
template <bool counts, bool smooths>
DEVICE void sum_stage(row_sums &sums, const staged_row &row, const row_origin &origin)
{
    constexpr int at_once = smooths ? 1 : 2;
    const uint32_t max_word = word_of(row.max);
#pragma unroll at_once
    for (int pack = (int)thread_index(); pack < row.at.packs; pack += (int)thread_count()) {
        vector16 v = stage_load(row.at, pack);
        sum_pack<counts>(sums, v, origin, max_word);
        if (smooths) {
            if (pack == row.target_pack)
                pack_replace(v, (unsigned)row.target_place, to_element(row.max));
            if (row.cols < (pack + 1) * pack_columns)
                keep_first(v, row.cols - pack * pack_columns, max_word);
            sum_distances(sums, v, row.max);
        }
    }
}

/* A pack is looked at by one thread alone, so that this thread can take the target out of it. */
template <bool whole> DEVICE void run_staged(const tki_xent_params &p)
{
    SHARED cluster_memory<xent_slots> memory;
    cluster_team team = cluster_begin(memory);
    const int64_t row = row_of_cluster();
    const tensor_row rows[1] = {{p.logits, p.rows, p.cols, row}};
    const stage stages[1] = {stage_of<whole>(p.cols, 0)};
    const stage &at = stages[0];
    stage_fill<whole>(team, stages, rows);
    cluster_open();
    /* The copies do not wait for the target. A row that is not computed lets them end too, before its memory is given back. */
    const int64_t target = target_of(team, p, row);
    stage_wait<whole>(team, stages, rows, (uint32_t)minus_infinity_word);
    if (target < 0)
        return;
    const target_place there = place_of(target, p.cols);
    const int64_t begin = stretch_packs(p.cols) * cluster_rank();
    const int place = (int)(target % pack_columns);
    const int target_pack = there.rank == cluster_rank() ? there.pack : -1;
    float largest = -float_infinity();
    float at_target = 0.0f;
    const int step = (int)thread_count();
    for (int pack = (int)thread_index(); pack < at.packs; pack += step) {
        vector16 v = stage_load(at, pack);
        if (pack == target_pack) {
            at_target = from_element(pack_element(v, (unsigned)place));
            pack_replace(v, (unsigned)place, (element)minus_infinity_word);
            stage_store(at, pack, v);
        }
        largest = larger(largest, pack_larger(v));
    }
    /* The target's logit comes from its block with the maxima: to load it would be one more wait for memory in every row. */
    const unsigned owner = (unsigned)there.pack % thread_count();
    const float at_warp[2] = {lanes_larger(largest, warp_lanes), shuffle(at_target, owner % warp_lanes)};
    team_exchange(team, at_warp, max_slot);
    const unsigned owner_warp = (there.rank * thread_count() + owner) / warp_lanes;
    const float x_target = team_received<2>(team, max_slot, owner_warp).values[1];
    const float max = larger(team_largest<2>(team, max_slot), x_target);
    const row_origin origin = origin_at(max);
    const float maximum = exp2_flush(exponent_at(max, origin));
    const uint32_t max_word = word_of(max);
    row_sums sums = {0.0f, 0.0f, 0.0f};
    const bool counts = warp_vote(largest == max) != 0;
    const staged_row others = {at, (int)(p.cols - begin * pack_columns), max, target_pack, place};
    if (p.share_raised > 0) {
        if (counts)
            sum_stage<true, true>(sums, others, origin);
        else
            sum_stage<false, true>(sums, others, origin);
    } else if (counts) {
        sum_stage<true, false>(sums, others, origin);
    } else {
        sum_stage<false, false>(sums, others, origin);
    }
    float all[3] = {sums.below, sums.maximal, sums.lowered};
    team_sums(team, all, sum_slot);
    sums = {all[0], all[1], all[2]};
    float raised = sums.below * UNIT;
    if (sums.below < FAR_SUM) {
        float far[1] = {0.0f};
#pragma unroll 1
        for (int pack = (int)thread_index(); pack < at.packs; pack += step)
            far[0] += sum_of_far(stage_load(at, pack), origin, max_word);
        team_sums(team, far, far_slot);
        raised = far[0];
    }
    const row_result result = conclude(p, sums, raised, x_target, max, origin, maximum);
    if (team_member(team) == 0)
        p.loss[row] = loss_of(p, sums, result.rest, x_target, max);
    element *gradient = (element *)p.grad_logits + row * p.cols;
    element *to = hold_address(gradient + begin * pack_columns);
#pragma unroll 2
    for (int pack = (int)thread_index(); pack < at.packs; pack += step) {
        vector16 out = pack_gradient(stage_load(at, pack), origin, result.factor, p);
        if (pack == target_pack)
            pack_replace(out, (unsigned)place, to_element(result.gradient));
        stage_put<whole>(at, pack, to, out);
    }
    stage_flush<whole>(at, gradient, p.cols);
}

KERNEL(512, 3, xent_staged, tki_xent_params)
{
    run_staged<true>(p);
}

KERNEL(512, 3, xent_staged_any, tki_xent_params)
{
    run_staged<false>(p);
}
