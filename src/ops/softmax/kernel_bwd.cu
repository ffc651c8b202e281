/* UNTRUSTED. The gradient of row softmax on a GPU. A row is read once, into the registers of a few lanes or of a block, if it fits; wider ones
 * are read again by each pass. The order of a row's sums is fixed by the number of columns alone. Kernels "_shifted" take rows that are
 * not made of whole packs at multiples of 16 bytes but lie alike in all tensors, "_chunks" the same by way of shared memory, those that read
 * again any others too. */
#include "ops/softmax/kernel_rows.h"

/* Narrow rows: p.lanes threads to each, packs = 0: read again. Lanes without a row take part in the exchanges all the same. */
template <int packs, bool shifted, bool in_chunks> DEVICE void bwd_narrow(const tki_softmax_params &p)
{
    narrow_team<in_chunks> team = {};
    team.width = (unsigned)p.lanes;
    const int64_t rows_here = team_rounds(team, thread_count());
    for (int64_t first = block_index() * rows_here; first < p.rows; first += block_count() * rows_here) {
        const int64_t row = first + team_rounds(team, thread_index());
        const int64_t cols = row < p.rows ? p.cols : 0;
        if constexpr (in_chunks) {
            team.here = chunk_of({p.grad_output, p.rows, p.cols, first}, rows_here);
            team.apart = packs * thread_count();
            chunk_load<packs>(team, 0, p.grad_output);
            chunk_load<packs>(team, 1, p.in);
            block_barrier();
            bwd_held<packs, shifted>(team, p, row < p.rows ? row : 0, cols, 0);
            chunk_store<packs>(team, p.out);
        } else if constexpr (packs > 0)
            bwd_held<packs, shifted>(team, p, row < p.rows ? row : 0, cols, 0);
        else
            bwd_reread(team, p, row < p.rows ? row : 0, cols, 0);
    }
}

template <int packs, bool shifted> DEVICE void bwd_block(const tki_softmax_params &p)
{
    SHARED float slots[softmax_slots][most_warps];
    SHARED warp_edges edges[1];
    block_team team = {slots, edges};
    int slot = 0;
    for (int64_t row = block_index(); row < p.rows; row += block_count(), slot ^= 1)
        if constexpr (packs > 0)
            bwd_held<packs, shifted>(team, p, row, p.cols, slot);
        else
            bwd_reread(team, p, row, p.cols, slot);
}

KERNEL(256, 5, softmax_bwd_narrow_2, tki_softmax_params)
{
    bwd_narrow<2, false, false>(p);
}

KERNEL(256, 4, softmax_bwd_narrow_4, tki_softmax_params)
{
    bwd_narrow<4, false, false>(p);
}

KERNEL(256, 4, softmax_bwd_narrow_3_chunks, tki_softmax_params)
{
    bwd_narrow<3, true, true>(p);
}

KERNEL(256, 3, softmax_bwd_narrow_4_chunks, tki_softmax_params)
{
    bwd_narrow<4, true, true>(p);
}

KERNEL(256, 6, softmax_bwd_narrow_reread, tki_softmax_params)
{
    bwd_narrow<0, false, false>(p);
}

KERNEL(512, 3, softmax_bwd_block_2, tki_softmax_params)
{
    bwd_block<2, false>(p);
}

KERNEL(512, 2, softmax_bwd_block_4, tki_softmax_params)
{
    bwd_block<4, false>(p);
}

KERNEL(512, 2, softmax_bwd_block_4_shifted, tki_softmax_params)
{
    bwd_block<4, true>(p);
}

KERNEL(512, 3, softmax_bwd_reread, tki_softmax_params)
{
    bwd_block<0, false>(p);
}
