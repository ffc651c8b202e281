/* UNTRUSTED. Row softmax on a GPU. A row is read once, into the registers of a few lanes or of a block, if it fits; wider ones
 * are read again by each pass. The order of a row's sums is fixed by the number of columns alone. "Any" kernels take rows that are not
 * made of whole packs at multiples of 16 bytes. */
#include "ops/softmax/kernel_rows.h"

/* Narrow rows: p.lanes threads to each. Lanes without a row take part in the exchanges all the same. */
template <int packs, bool whole> DEVICE void fwd_narrow(const tki_softmax_params &p)
{
    lanes_team team = {(unsigned)p.lanes};
    const int64_t rows_here = thread_count() / team.width;
    for (int64_t first = block_index() * rows_here; first < p.rows; first += block_count() * rows_here) {
        const int64_t row = first + thread_index() / team.width;
        fwd_held<packs, whole>(team, p, row < p.rows ? row : 0, row < p.rows ? p.cols : 0);
    }
}

template <int packs, bool whole> DEVICE void fwd_block(const tki_softmax_params &p)
{
    SHARED float slots[softmax_slots][most_warps];
    block_team team = {slots};
    for (int64_t row = block_index(); row < p.rows; row += block_count())
        fwd_held<packs, whole>(team, p, row, p.cols);
}

KERNEL(256, 8, softmax_fwd_narrow_1, tki_softmax_params)
{
    fwd_narrow<1, true>(p);
}

KERNEL(256, 8, softmax_fwd_narrow_1_any, tki_softmax_params)
{
    fwd_narrow<1, false>(p);
}

KERNEL(256, 6, softmax_fwd_narrow_4, tki_softmax_params)
{
    fwd_narrow<4, true>(p);
}

KERNEL(256, 4, softmax_fwd_narrow_4_any, tki_softmax_params)
{
    fwd_narrow<4, false>(p);
}

KERNEL(512, 3, softmax_fwd_block_2, tki_softmax_params)
{
    fwd_block<2, true>(p);
}

KERNEL(512, 3, softmax_fwd_block_2_any, tki_softmax_params)
{
    fwd_block<2, false>(p);
}

KERNEL(512, 2, softmax_fwd_block_8, tki_softmax_params)
{
    fwd_block<8, true>(p);
}

KERNEL(384, 2, softmax_fwd_block_8_any, tki_softmax_params)
{
    fwd_block<8, false>(p);
}

KERNEL(512, 3, softmax_fwd_reread, tki_softmax_params)
{
    SHARED float slots[softmax_slots][most_warps];
    block_team team = {slots};
    for (int64_t row = block_index(); row < p.rows; row += block_count())
        fwd_reread(team, p, row);
}
