/* UNTRUSTED. One row of softmax or of its gradient, by a team of threads: held in registers, or read again by each pass, with the
 * same bits. Device code for kernel_fwd.cu, kernel_bwd.cu and theirs for Hopper. shifted: see device_rows.h. */
#ifndef TKI_OPS_SOFTMAX_KERNEL_ROWS_H
#define TKI_OPS_SOFTMAX_KERNEL_ROWS_H

#include "kernels/device_rows.h"
#include "ops/softmax/params.h"

/* Rows of up to this many packs a thread keep their exponentials; others compute them again from the elements, which take half
 * the registers. */
#ifndef TKI_SOFTMAX_KEPT
#define TKI_SOFTMAX_KEPT 1
#endif

/* Of the exchanges; see device_rows.h. */
enum { max_slot, sum_slot, softmax_slots };

/* ------------------------------------------------------------------------------------------------------------
 * Forward. A NaN, a +inf or nothing but -inf makes the sum NaN, and that the whole row.
 * ------------------------------------------------------------------------------------------------------------ */

DEVICE vector16 pack_scaled(const float *e, float factor)
{
    float y[pack_columns];
#pragma unroll
    for (int i = 0; i < pack_columns; i++)
        y[i] = e[i] * factor;
    return pack_elements(y);
}

template <int packs, bool shifted, class team>
DEVICE void fwd_held(team &members, const tki_softmax_params &p, int64_t row, int64_t cols)
{
    constexpr bool keeps = packs <= TKI_SOFTMAX_KEPT;
    const tensor_row from = {p.in, p.rows, p.cols, row};
    const row_span span = span_of<shifted>(members, from, cols > 0);
    vector16 pack[packs];
    take_row<packs, shifted>(members, 0, pack, from, span, (uint32_t)minus_infinity_word);
    end_taking(members);
    const row_origin origin = origin_at(team_larger(members, packs_larger(pack), max_slot));
    float e[keeps ? packs : 1][pack_columns];
    place_sums sums = {};
#pragma unroll
    for (int k = 0; k < packs; k++) {
        if (span_may_have<packs>(members, span, k)) {
            pack_exponentials(pack[k], origin, e[keeps ? k : 0]);
            add_places(sums, e[keeps ? k : 0]);
        }
    }
    float sum[1] = {sum_of_member<shifted>(members, sums, span.shift, 0)};
    team_sums(members, sum, sum_slot);
    if (!keeps)
        forget_origins(pack);
    const float factor = reciprocal_flush(sum[0]);
    element *to = place_for(members, {p.out, p.rows, p.cols, row}, span);
#pragma unroll
    for (int k = 0; k < packs; k++) {
        if (span_has(span, k)) {
            if (!keeps)
                pack_exponentials(pack[k], origin, e[0]);
            put_pack<shifted>(members, to, span, k, pack_scaled(e[keeps ? k : 0], factor));
        }
    }
}

template <class team> DEVICE void fwd_reread(team &members, const tki_softmax_params &p, int64_t row, int64_t cols)
{
    const element *x = (const element *)p.in + row * p.cols;
    element *y = (element *)p.out + row * p.cols;
    const row_part part = part_of(members, cols);
    float largest = -float_infinity();
#pragma unroll 1
    for (int64_t column = part.first; column < part.end; column += part.step)
        largest = larger(largest, pack_larger(load_columns(x, column, cols, (uint32_t)minus_infinity_word)));
    const row_origin origin = origin_at(team_larger(members, largest, max_slot));
    float e[pack_columns];
    place_sums sums = {};
#pragma unroll 1
    for (int64_t column = part.first; column < part.end; column += part.step) {
        pack_exponentials(load_columns(x, column, cols, (uint32_t)minus_infinity_word), origin, e);
        add_places(sums, e);
    }
    float sum[1] = {sum_of_places(sums.of)};
    team_sums(members, sum, sum_slot);
    const float factor = reciprocal_flush(sum[0]);
#pragma unroll 1
    for (int64_t column = part.first; column < part.end; column += part.step) {
        pack_exponentials(load_columns(x, column, cols, (uint32_t)minus_infinity_word), origin, e);
        store_columns(y, column, cols, pack_scaled(e, factor));
    }
}

/* ------------------------------------------------------------------------------------------------------------
 * Backward: y (g - s) as IEEE has it, for every value of s. There is one exchange only, so that its slot changes from row to row.
 * ------------------------------------------------------------------------------------------------------------ */

DEVICE void add_products(place_sums &sums, const vector16 &g, const vector16 &y)
{
    float gradient[pack_columns], result[pack_columns];
    pack_floats(g, gradient);
    pack_floats(y, result);
#pragma unroll
    for (int i = 0; i < pack_columns; i++)
        sums.of[i] = fma_f32(result[i], gradient[i], sums.of[i]);
}

DEVICE vector16 pack_gradient(const vector16 &g, const vector16 &y, float sum)
{
    float gradient[pack_columns], result[pack_columns];
    pack_floats(g, gradient);
    pack_floats(y, result);
#pragma unroll
    for (int i = 0; i < pack_columns; i++)
        result[i] *= gradient[i] - sum;
    return pack_elements(result);
}

template <int packs, bool shifted, class team>
DEVICE void bwd_held(team &members, const tki_softmax_params &p, int64_t row, int64_t cols, int slot)
{
    const tensor_row from[2] = {{p.grad_output, p.rows, p.cols, row}, {p.in, p.rows, p.cols, row}};
    const row_span span = span_of<shifted>(members, from[0], cols > 0);
    vector16 gradient[packs], result[packs];
    take_row<packs, shifted>(members, 0, gradient, from[0], span, 0);
    take_row<packs, shifted>(members, 1, result, from[1], span, 0);
    end_taking(members);
    place_sums sums = {};
#pragma unroll
    for (int k = 0; k < packs; k++)
        if (span_may_have<packs>(members, span, k))
            add_products(sums, gradient[k], result[k]);
    float sum[1] = {sum_of_member<shifted>(members, sums, span.shift, 0)};
    team_sums(members, sum, slot);
    forget_origins(gradient);
    forget_origins(result);
    element *to = place_for(members, {p.out, p.rows, p.cols, row}, span);
#pragma unroll
    for (int k = 0; k < packs; k++)
        if (span_has(span, k))
            put_pack<shifted>(members, to, span, k, pack_gradient(gradient[k], result[k], sum[0]));
}

template <class team>
DEVICE void bwd_reread(team &members, const tki_softmax_params &p, int64_t row, int64_t cols, int slot)
{
    const element *g = (const element *)p.grad_output + row * p.cols;
    const element *y = (const element *)p.in + row * p.cols;
    element *out = (element *)p.out + row * p.cols;
    const row_part part = part_of(members, cols);
    place_sums sums = {};
#pragma unroll 1
    for (int64_t column = part.first; column < part.end; column += part.step)
        add_products(sums, load_columns(g, column, cols, 0), load_columns(y, column, cols, 0));
    float sum[1] = {sum_of_places(sums.of)};
    team_sums(members, sum, slot);
#pragma unroll 1
    for (int64_t column = part.first; column < part.end; column += part.step)
        store_columns(out, column, cols,
                      pack_gradient(load_columns(g, column, cols, 0), load_columns(y, column, cols, 0), sum[0]));
}

#endif
