/* UNTRUSTED. Cross-entropy, loss and gradient, on a GPU. A row is read once, into the registers of a few lanes or of a block, if it fits;
 * wider ones are read again by each pass. The order of a row's sums is fixed by the number of columns alone. A row with a bad target is
 * reported and left as it was. Kernels "_shifted" take rows that are not made of whole packs at multiples of 16 bytes but lie alike in
 * logits and gradients, "_chunks" the same by way of shared memory, those that read again any others too. */
#include "ops/xent/kernel_rows.h"

#ifndef XENT_MORE_BLOCKS
#define XENT_MORE_BLOCKS 0
#endif

/* Narrow rows: p.lanes threads to each; packs = 0: read again. */
template <int packs, bool shifted, bool in_chunks> DEVICE void run_narrow(const tki_xent_params &p)
{
    narrow_team<in_chunks> team = {};
    team.width = (unsigned)p.lanes;
    const int64_t rows_here = team_rounds(team, thread_count());
    for (int64_t first = block_index() * rows_here; first < p.rows; first += block_count() * rows_here) {
        const int64_t row = first + team_rounds(team, thread_index());
        if constexpr (in_chunks) {
            team.here = chunk_of({p.logits, p.rows, p.cols, first}, rows_here);
            team.apart = packs * thread_count();
            chunk_load<packs>(team, 0, p.logits);
            block_barrier();
            run_held<packs, shifted, true>(team, p, row);
            chunk_store<packs>(team, p.grad_logits);
        } else if constexpr (packs > 0)
            run_held<packs, shifted, true>(team, p, row);
        else
            run_reread<true>(team, p, row);
    }
}

template <int packs, bool shifted> DEVICE void run_block(const tki_xent_params &p)
{
    SHARED float slots[xent_slots][most_warps];
    SHARED warp_edges edges[2];
    block_team team = {slots, edges};
    for (int64_t row = block_index(); row < p.rows; row += block_count())
        if constexpr (packs > 0)
            run_held<packs, shifted, false>(team, p, row);
        else
            run_reread<false>(team, p, row);
}

KERNEL(128, 6, xent_narrow_4, tki_xent_params)
{
    run_narrow<4, false, false>(p);
}

KERNEL(128, 6, xent_narrow_4_shifted, tki_xent_params)
{
    run_narrow<4, true, false>(p);
}

KERNEL(128, 4 + XENT_MORE_BLOCKS, xent_narrow_6, tki_xent_params)
{
    run_narrow<6, false, false>(p);
}

KERNEL(128, 4 + XENT_MORE_BLOCKS, xent_narrow_6_shifted, tki_xent_params)
{
    run_narrow<6, true, false>(p);
}

KERNEL(128, 4 + XENT_MORE_BLOCKS, xent_narrow_6_chunks, tki_xent_params)
{
    run_narrow<6, true, true>(p);
}

KERNEL(128, 4 + XENT_MORE_BLOCKS, xent_narrow_8, tki_xent_params)
{
    run_narrow<8, false, false>(p);
}

KERNEL(128, 4, xent_narrow_8_shifted, tki_xent_params)
{
    run_narrow<8, true, false>(p);
}

KERNEL(256, 3, xent_narrow_reread, tki_xent_params)
{
    run_narrow<0, false, false>(p);
}

KERNEL(256, 3, xent_block_8, tki_xent_params)
{
    run_block<8, false>(p);
}

KERNEL(256, 3, xent_block_8_shifted, tki_xent_params)
{
    run_block<8, true>(p);
}

KERNEL(512, 2, xent_reread, tki_xent_params)
{
    run_block<0, false>(p);
}
