/* UNTRUSTED. One row of softmax or of its gradient, by a team of threads: held in registers, or read again by each pass, with the
 * same bits. Device code for kernel_fwd.cu, kernel_bwd.cu and theirs for Hopper.
 *
 * whole: rows consist of whole packs at multiples of 16 bytes. Other rows are shifted into packs as they are loaded, and back, by way of
 * shared memory, as they are stored. */
#ifndef TKI_OPS_SOFTMAX_KERNEL_ROWS_H
#define TKI_OPS_SOFTMAX_KERNEL_ROWS_H

#include "backend/device_rows.h"
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

template <int packs, bool whole, class team>
DEVICE void fwd_held(team &members, const tki_softmax_params &p, int64_t row, int64_t cols)
{
    constexpr bool keeps = packs <= TKI_SOFTMAX_KEPT;
    const row_span span = span_of(members, cols);
    element *y = (element *)p.out + row * p.cols;
    vector16 pack[packs];
    take_row<packs, whole>(members, pack, {p.in, p.rows, p.cols, row}, span, cols, (uint32_t)minus_infinity_word);
    const row_origin origin = origin_at(team_larger(members, packs_larger(pack), max_slot));
    float e[keeps ? packs : 1][pack_columns];
    float sum[1] = {0.0f};
#pragma unroll
    for (int k = 0; k < packs; k++) {
        pack_exponentials(pack[k], origin, e[keeps ? k : 0]);
        sum[0] += sum_of_pack(e[keeps ? k : 0]);
    }
    team_sums(members, sum, sum_slot);
    if (!keeps)
        forget_origins(pack);
    const float factor = reciprocal_flush(sum[0]);
    element *to = hold_address(y + span.first);
#pragma unroll
    for (int k = 0; k < packs; k++) {
        if (span_has(span, k)) {
            if (!keeps)
                pack_exponentials(pack[k], origin, e[0]);
            put_pack<packs, whole>(members, to, span, k, pack_scaled(e[keeps ? k : 0], factor));
        }
    }
    finish_row<packs, whole>(members, y, cols);
}

template <class team> DEVICE void fwd_reread(team &members, const tki_softmax_params &p, int64_t row)
{
    const int64_t cols = p.cols;
    const element *x = (const element *)p.in + row * cols;
    element *y = (element *)p.out + row * cols;
    const row_part part = part_of(members, cols);
    float largest = -float_infinity();
#pragma unroll 1
    for (int64_t column = part.first; column < part.end; column += part.step)
        largest = larger(largest, pack_larger(load_columns(x, column, cols, (uint32_t)minus_infinity_word)));
    const row_origin origin = origin_at(team_larger(members, largest, max_slot));
    float e[pack_columns];
    float sum[1] = {0.0f};
#pragma unroll 1
    for (int64_t column = part.first; column < part.end; column += part.step) {
        pack_exponentials(load_columns(x, column, cols, (uint32_t)minus_infinity_word), origin, e);
        sum[0] += sum_of_pack(e);
    }
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

DEVICE float pack_product(const vector16 &g, const vector16 &y)
{
    float gradient[pack_columns], result[pack_columns];
    float sums[2] = {0.0f, 0.0f};
    pack_floats(g, gradient);
    pack_floats(y, result);
#pragma unroll
    for (int i = 0; i < pack_columns; i++)
        sums[i % 2] = fma_f32(result[i], gradient[i], sums[i % 2]);
    return sums[0] + sums[1];
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

template <int packs, bool whole, class team>
DEVICE void bwd_held(team &members, const tki_softmax_params &p, int64_t row, int64_t cols, int slot)
{
    const row_span span = span_of(members, cols);
    element *out = (element *)p.out + row * p.cols;
    vector16 gradient[packs], result[packs];
    take_row<packs, whole>(members, gradient, {p.grad_output, p.rows, p.cols, row}, span, cols, 0);
    take_row<packs, whole>(members, result, {p.in, p.rows, p.cols, row}, span, cols, 0);
    float sum[1] = {0.0f};
#pragma unroll
    for (int k = 0; k < packs; k++)
        sum[0] += pack_product(gradient[k], result[k]);
    team_sums(members, sum, slot);
    forget_origins(gradient);
    forget_origins(result);
    element *to = hold_address(out + span.first);
#pragma unroll
    for (int k = 0; k < packs; k++)
        if (span_has(span, k))
            put_pack<packs, whole>(members, to, span, k, pack_gradient(gradient[k], result[k], sum[0]));
    finish_row<packs, whole>(members, out, cols);
}

template <class team> DEVICE void bwd_reread(team &members, const tki_softmax_params &p, int64_t row, int slot)
{
    const int64_t cols = p.cols;
    const element *g = (const element *)p.grad_output + row * cols;
    const element *y = (const element *)p.in + row * cols;
    element *out = (element *)p.out + row * cols;
    const row_part part = part_of(members, cols);
    float sum[1] = {0.0f};
#pragma unroll 1
    for (int64_t column = part.first; column < part.end; column += part.step)
        sum[0] += pack_product(load_columns(g, column, cols, 0), load_columns(y, column, cols, 0));
    team_sums(members, sum, slot);
#pragma unroll 1
    for (int64_t column = part.first; column < part.end; column += part.step)
        store_columns(out, column, cols,
                      pack_gradient(load_columns(g, column, cols, 0), load_columns(y, column, cols, 0), sum[0]));
}

#endif
