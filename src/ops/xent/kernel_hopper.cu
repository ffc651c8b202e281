/* UNTRUSTED. Cross-entropy on Hopper. Rows that fit into registers are those of kernel.cu. Of wider ones the blocks of a cluster have a row
 * in their shared memory, a stretch each, which bulk copies bring. Of the widest ("long") the threads keep some vectors in registers, and
 * what is left is read again by each pass. */
#define XENT_MORE_BLOCKS (TKI_DTYPE == 0) /* fp16 has conversions of two elements at once, which spare registers */
#include "kernels/device_cluster.h"
#include "ops/xent/kernel.cu"

/* Where the target is: as a column it belongs to one block, and there to one thread. */
struct staged_target {
    unsigned warp;     /* of the cluster, that has it */
    unsigned lane;     /* in that warp */
    target_place here; /* its vector is -1 in all other threads */
};

DEVICE staged_target staged_target_of(int64_t target, const row_stretch &at, int64_t cols)
{
    const unsigned stretch = (unsigned)stretch_packs(cols) * pack_columns;
    const unsigned rank = (unsigned)target / stretch;
    const unsigned place = (unsigned)target % stretch + (unsigned)at.shift;
    const unsigned vector = place / pack_columns;
    const unsigned thread = vector % thread_count();
    const bool is_here = rank == cluster_rank() && thread == thread_index();
    return {(rank * thread_count() + thread) / warp_lanes,
            thread % warp_lanes,
            {is_here ? (int)vector : -1, (int)(place % pack_columns)}};
}

/* The sums of a member's vectors. smooths: distances are wanted. */
struct stretch_sums {
    place_sums others, lowered;
};

template <bool shifted, int chunks, bool smooths>
DEVICE void sum_stretch(stretch_sums &sums, const row_stretch &at, const stage (&in)[1], const kept_vectors<1> &kept,
                        const target_place &target, float max, const row_origin &origin)
{
    const uint32_t filler = (uint32_t)minus_infinity_word;
    each_vector<shifted, chunks>(at, in, kept, filler, [&](int vector, vector16(&x)[1]) {
        if (smooths) {
            vector16 row_only = x[0];
            if (shifted && !are_all(places_of(at, vector)))
                keep_places(row_only, places_of(at, vector), word_of(max));
            sum_distances(sums.lowered, row_only, max);
        }
        replace_target(x[0], vector, target, (element)filler);
        sum_pack(sums.others, x[0], origin);
    });
}

template <bool shifted> DEVICE void put_zeros(const row_stretch &at, element *to)
{
#pragma unroll 1
    for (int vector = (int)thread_index(); vector < at.vectors; vector += (int)thread_count())
        stretch_put<shifted>(at, to, vector, pack_of(0));
}

template <int warps, bool shifted, int chunks> DEVICE void run_staged(const tki_xent_params &p)
{
    SHARED cluster_memory<xent_slots, shifted ? 3 : 1, warps> memory;
    cluster_team team = cluster_begin(memory);
    const uint32_t filler = (uint32_t)minus_infinity_word;
    const int64_t row = row_of_cluster();
    const tensor_row rows[1] = {{p.logits, p.rows, p.cols, row}};
    const row_stretch at = stretch_of<shifted>(rows[0], 1);
    stage in[1];
    stage_fill<shifted, chunks>(team, at, in, rows);
    cluster_open();
    kept_vectors<1> kept;
    load_kept<shifted, chunks>(kept, at, in, filler);
    /* The copies do not wait for the target. A row that is not computed lets them end too, before its memory is given back. */
    const int64_t target = target_of(p, row, load_target(p, row));
    element *to = hold_address((element *)p.grad_logits + at.before);
    if (target < 0) {
        stage_wait<chunks>(team);
        if (team_member(team) == 0)
            note_target(p, row, target);
        if (target == ignored_target)
            put_zeros<shifted>(at, to);
        return;
    }
    const staged_target there = staged_target_of(target, at, p.cols);
    float largest = -float_infinity();
    float at_target = 0.0f;
    each_arriving<shifted, chunks>(team, at, in, kept, filler, [&](int vector, vector16(&x)[1]) {
        if (vector == there.here.vector) {
            at_target = from_element(pack_element(x[0], (unsigned)there.here.place));
            replace_target(x[0], vector, there.here, (element)filler);
        }
        largest = larger(largest, pack_larger(x[0]));
    });
    /* The target's logit comes from its block with the maxima: to load it would be one more wait for memory in every row. */
    const float at_warp[2] = {lanes_larger(largest, warp_lanes), shuffle(at_target, there.lane)};
    team_exchange(team, at_warp, max_slot);
    const float x_target = team_received<2>(team, max_slot, there.warp).values[1];
    const float max = larger(team_largest<2>(team, max_slot), x_target);
    const row_origin origin = origin_at(max);
    stretch_sums sums = {};
    if (p.share_raised > 0)
        sum_stretch<shifted, chunks, true>(sums, at, in, kept, there.here, max, origin);
    else
        sum_stretch<shifted, chunks, false>(sums, at, in, kept, there.here, max, origin);
    float all[2] = {sum_of_member<shifted>(team, sums.others, at.shift, 0), 0.0f};
    if (p.share_raised > 0)
        all[1] = sum_of_member<shifted>(team, sums.lowered, at.shift, 1);
    team_sums(team, all, sum_slot);
    const row_sums totals = {all[0], all[1]};
    float raised = totals.others * UNIT;
    if (totals.others < FAR_SUM) {
        place_sums far_places = {};
#pragma unroll 1
        for (int vector = (int)thread_index(); vector < at.vectors; vector += (int)thread_count()) {
            vector16 x = vector < at.staged ? stage_load(in[0], vector)
                                            : load_unstaged<shifted>(at, in[0], vector, filler);
            replace_target(x, vector, there.here, (element)filler);
            sum_far(far_places, x, origin);
        }
        float far[1] = {sum_of_member<shifted>(team, far_places, at.shift, 2)};
        team_sums(team, far, far_slot);
        raised = far[0];
    }
    const row_result result = conclude(p, raised, x_target, max, origin);
    if (team_member(team) == 0)
        p.loss[row] = loss_of(p, totals, result.rest, x_target, max);
    each_vector<shifted, chunks>(at, in, kept, filler, [&](int vector, vector16(&x)[1]) {
        stretch_put<shifted>(at, to, vector, pack_gradient(x[0], origin, result.factor, p));
    });
    put_target(team, p, row, target, there.here, result.gradient);
}

KERNEL(512, 3, xent_staged, tki_xent_params)
{
    run_staged<128, false, 1>(p);
}

KERNEL(256, 5, xent_staged_shifted, tki_xent_params)
{
    run_staged<128, true, 1>(p);
}

KERNEL(320, 2, xent_long, tki_xent_params)
{
    run_staged<192, false, stage_chunks>(p);
}

KERNEL(320, 2, xent_long_shifted, tki_xent_params)
{
    run_staged<192, true, stage_chunks>(p);
}

/* Rows that do not lie alike in logits and gradients. */
KERNEL(512, 2, xent_cluster_reread, tki_xent_params)
{
    SHARED cluster_memory<xent_slots, 1, 192> memory;
    cluster_team team = cluster_begin(memory);
    cluster_open();
    run_reread<false>(team, p, row_of_cluster());
}
