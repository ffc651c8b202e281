/* UNTRUSTED. Row softmax on Hopper. Rows that fit into registers are those of kernel_fwd.cu. Of wider ones the blocks of a
 * cluster have a row in their shared memory, a stretch each, which bulk copies bring. Of the widest ("long") the threads keep some
 * vectors in registers, and what is left is read again by each pass. */
#include "kernels/device_cluster.h"
#include "ops/softmax/kernel_fwd.cu"

template <int warps, bool shifted, int chunks> DEVICE void fwd_staged(const tki_softmax_params &p)
{
    SHARED cluster_memory<softmax_slots, 1, warps> memory;
    cluster_team team = cluster_begin(memory);
    const uint32_t filler = (uint32_t)minus_infinity_word;
    const tensor_row rows[1] = {{p.in, p.rows, p.cols, row_of_cluster()}};
    const row_stretch at = stretch_of<shifted>(rows[0], 1);
    stage in[1];
    stage_fill<shifted, chunks>(team, at, in, rows);
    cluster_open();
    kept_vectors<1> kept;
    load_kept<shifted, chunks>(kept, at, in, filler);
    float largest = -float_infinity();
    each_arriving<shifted, chunks>(team, at, in, kept, filler,
                                   [&](int, vector16(&x)[1]) { largest = larger(largest, pack_larger(x[0])); });
    const row_origin origin = origin_at(team_larger(team, largest, max_slot));
    place_sums sums = {};
    each_vector<shifted, chunks>(at, in, kept, filler, [&](int, vector16(&x)[1]) {
        float e[pack_columns];
        pack_exponentials(x[0], origin, e);
        add_places(sums, e);
    });
    float sum[1] = {sum_of_member<shifted>(team, sums, at.shift, 0)};
    team_sums(team, sum, sum_slot);
    const float factor = reciprocal_flush(sum[0]);
    element *to = hold_address((element *)p.out + at.before);
    each_vector<shifted, chunks>(at, in, kept, filler, [&](int vector, vector16(&x)[1]) {
        float e[pack_columns];
        pack_exponentials(x[0], origin, e);
        stretch_put<shifted>(at, to, vector, pack_scaled(e, factor));
    });
}

KERNEL(512, 3, softmax_fwd_staged, tki_softmax_params)
{
    fwd_staged<128, false, 1>(p);
}

KERNEL(512, 3, softmax_fwd_staged_shifted, tki_softmax_params)
{
    fwd_staged<128, true, 1>(p);
}

KERNEL(384, 2, softmax_fwd_long, tki_softmax_params)
{
    fwd_staged<192, false, stage_chunks>(p);
}

KERNEL(384, 2, softmax_fwd_long_shifted, tki_softmax_params)
{
    fwd_staged<192, true, stage_chunks>(p);
}

/* Rows that do not lie alike in all tensors. */
KERNEL(512, 2, softmax_fwd_cluster_reread, tki_softmax_params)
{
    SHARED cluster_memory<softmax_slots, 1, 192> memory;
    cluster_team team = cluster_begin(memory);
    cluster_open();
    fwd_reread(team, p, row_of_cluster(), p.cols);
}
