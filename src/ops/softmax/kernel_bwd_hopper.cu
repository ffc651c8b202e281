/* UNTRUSTED. The gradient of row softmax on Hopper. Rows that fit into registers are those of kernel_bwd.cu. Of wider ones the blocks of a
 * cluster have a row in their shared memory, a stretch each, which bulk copies bring. Of the widest ("long") the threads keep some
 * vectors in registers, and what is left is read again. */
#include "kernels/device_cluster.h"
#include "ops/softmax/kernel_bwd.cu"

template <int warps, bool shifted, int chunks> DEVICE void bwd_staged(const tki_softmax_params &p)
{
    SHARED cluster_memory<softmax_slots, 1, warps> memory;
    cluster_team team = cluster_begin(memory);
    const int64_t row = row_of_cluster();
    const tensor_row rows[2] = {{p.grad_output, p.rows, p.cols, row}, {p.in, p.rows, p.cols, row}};
    const row_stretch at = stretch_of<shifted>(rows[0], 2);
    stage in[2];
    stage_fill<shifted, chunks>(team, at, in, rows);
    cluster_open();
    kept_vectors<2> kept;
    load_kept<shifted, chunks>(kept, at, in, 0);
    place_sums sums = {};
    each_arriving<shifted, chunks>(team, at, in, kept, 0,
                                   [&](int, vector16(&v)[2]) { add_products(sums, v[0], v[1]); });
    float sum[1] = {sum_of_member<shifted>(team, sums, at.shift, 0)};
    team_sums(team, sum, sum_slot);
    element *to = hold_address((element *)p.out + at.before);
    each_vector<shifted, chunks>(at, in, kept, 0, [&](int vector, vector16(&v)[2]) {
        stretch_put<shifted>(at, to, vector, pack_gradient(v[0], v[1], sum[0]));
    });
}

KERNEL(512, 3, softmax_bwd_staged, tki_softmax_params)
{
    bwd_staged<128, false, 1>(p);
}

KERNEL(512, 3, softmax_bwd_staged_shifted, tki_softmax_params)
{
    bwd_staged<128, true, 1>(p);
}

KERNEL(384, 2, softmax_bwd_long, tki_softmax_params)
{
    bwd_staged<192, false, stage_chunks>(p);
}

KERNEL(384, 2, softmax_bwd_long_shifted, tki_softmax_params)
{
    bwd_staged<192, true, stage_chunks>(p);
}

/* Rows that do not lie alike in all tensors. */
KERNEL(512, 2, softmax_bwd_cluster_reread, tki_softmax_params)
{
    SHARED cluster_memory<softmax_slots, 1, 192> memory;
    cluster_team team = cluster_begin(memory);
    cluster_open();
    bwd_reread(team, p, row_of_cluster(), p.cols, sum_slot);
}
