/* UNTRUSTED. Cross-entropy, loss and gradient, on a GPU. A row is read once, into the registers of a few lanes or of a block, if it fits;
 * wider ones are read again by each pass. The order of a row's sums is fixed by the number of columns alone. A row with a bad target is
 * reported and left as it was. */
#include "ops/xent/kernel_rows.h"

/* Narrow rows: p.lanes threads to each. */
KERNEL(256, 3, xent_narrow_4, tki_xent_params)
{
    lanes_team team = {(unsigned)p.lanes};
    const int64_t rows_here = thread_count() / team.width;
    for (int64_t first = block_index() * rows_here; first < p.rows; first += block_count() * rows_here)
        run_row<4, true>(team, p, first + thread_index() / team.width);
}

template <int packs> DEVICE void run_block(const tki_xent_params &p)
{
    SHARED float slots[xent_slots][most_warps];
    block_team team = {slots};
    for (int64_t row = block_index(); row < p.rows; row += block_count())
        run_row<packs, false>(team, p, row);
}

KERNEL(512, 2, xent_block_4, tki_xent_params)
{
    run_block<4>(p);
}

KERNEL(512, 2, xent_reread, tki_xent_params)
{
    run_block<0>(p);
}
