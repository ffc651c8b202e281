/* UNTRUSTED. Row softmax and its gradient on a GPU. A row is read once, into the registers of a few lanes or of a block, if it fits and
 * consists of whole packs at multiples of 16 bytes; others are read again by each pass. The order of a row's sums is fixed by the
 * number of columns alone. */
#include "ops/softmax/kernel_rows.h"

/* Narrow rows: p.lanes threads to each. Lanes without a row take part in the exchanges all the same. */
template <int packs> DEVICE void fwd_narrow(const tki_softmax_params &p)
{
    lanes_team team = {(unsigned)p.lanes};
    const int64_t rows_here = thread_count() / team.width;
    for (int64_t first = block_index() * rows_here; first < p.rows; first += block_count() * rows_here) {
        const int64_t row = first + thread_index() / team.width;
        fwd_row<packs>(team, p, row < p.rows ? row : 0, row < p.rows ? p.cols : 0);
    }
}

template <int packs> DEVICE void bwd_narrow(const tki_softmax_params &p)
{
    lanes_team team = {(unsigned)p.lanes};
    const int64_t rows_here = thread_count() / team.width;
    for (int64_t first = block_index() * rows_here; first < p.rows; first += block_count() * rows_here) {
        const int64_t row = first + thread_index() / team.width;
        bwd_row<packs>(team, p, row < p.rows ? row : 0, row < p.rows ? p.cols : 0, 0);
    }
}

template <int packs> DEVICE void fwd_block(const tki_softmax_params &p, float (*slots)[most_warps])
{
    block_team team = {slots};
    for (int64_t row = block_index(); row < p.rows; row += block_count())
        fwd_row<packs>(team, p, row, p.cols);
}

template <int packs> DEVICE void bwd_block(const tki_softmax_params &p, float (*slots)[most_warps])
{
    block_team team = {slots};
    int slot = 0;
    for (int64_t row = block_index(); row < p.rows; row += block_count(), slot ^= 1)
        bwd_row<packs>(team, p, row, p.cols, slot);
}

KERNEL(256, 8, softmax_fwd_narrow_any, tki_softmax_params)
{
    fwd_narrow<0>(p);
}

KERNEL(256, 8, softmax_fwd_narrow_1, tki_softmax_params)
{
    fwd_narrow<1>(p);
}

KERNEL(256, 6, softmax_fwd_narrow_4, tki_softmax_params)
{
    fwd_narrow<4>(p);
}

KERNEL(512, 3, softmax_fwd_block_any, tki_softmax_params)
{
    SHARED float slots[softmax_slots][most_warps];
    fwd_block<0>(p, slots);
}

KERNEL(512, 3, softmax_fwd_block_2, tki_softmax_params)
{
    SHARED float slots[softmax_slots][most_warps];
    fwd_block<2>(p, slots);
}

KERNEL(512, 2, softmax_fwd_block_8, tki_softmax_params)
{
    SHARED float slots[softmax_slots][most_warps];
    fwd_block<8>(p, slots);
}

KERNEL(256, 8, softmax_bwd_narrow_any, tki_softmax_params)
{
    bwd_narrow<0>(p);
}

KERNEL(256, 8, softmax_bwd_narrow_1, tki_softmax_params)
{
    bwd_narrow<1>(p);
}

KERNEL(256, 4, softmax_bwd_narrow_4, tki_softmax_params)
{
    bwd_narrow<4>(p);
}

KERNEL(512, 3, softmax_bwd_block_any, tki_softmax_params)
{
    SHARED float slots[softmax_slots][most_warps];
    bwd_block<0>(p, slots);
}

KERNEL(512, 4, softmax_bwd_block_1, tki_softmax_params)
{
    SHARED float slots[softmax_slots][most_warps];
    bwd_block<1>(p, slots);
}

KERNEL(512, 2, softmax_bwd_block_4, tki_softmax_params)
{
    SHARED float slots[softmax_slots][most_warps];
    bwd_block<4>(p, slots);
}
