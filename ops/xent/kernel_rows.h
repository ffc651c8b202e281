/* UNTRUSTED. One row of cross-entropy, by a team of threads: held in registers, or read again by each pass, with the same bits. Device
 * code for kernel.cu and kernel_hopper.cu.
 *
 * Rows that do not consist of whole packs at multiples of 16 bytes are shifted into packs as they are loaded, and back, by way of shared
 * memory, as they are stored. One kernel does both, where softmax has two: it needs as many registers either way, and a kernel
 * takes a third of a second to compile.
 *
 * The target is taken out of the row and dealt with apart: its logit becomes -inf, or, in a row that is held, the maximum, which is
 * counted once less. Among the others those that equal the maximum are counted and the rest summed, so that Z - 1 and
 * N = Z - exp(-d_t) come without a subtraction and a confident row keeps its relative accuracy. All that the gradient needs is read before the team's last exchange, so the gradient may lie over the logits. */
#ifndef TKI_OPS_XENT_KERNEL_ROWS_H
#define TKI_OPS_XENT_KERNEL_ROWS_H

#include "backend/device_rows.h"
#include "ops/xent/params.h"

/* Of the exchanges; see device_rows.h. The maximum may have the target's logit with it; three sums take the room of four. */
enum { max_slot, sum_slot = max_slot + 2, far_slot = sum_slot + 4, xent_slots };

/* A difference of bf16 logits can exceed fp32's range, and so can a sum of them, where its weighted mean does not. So the d_j are
 * summed times 2^-64. */
#define LOWER 0x1p-64f
#define RAISE 0x1p64f

/* Sums of exponentials are kept times 2^64, or those that lie 2^-126 below the maximum would be lost to N, which may have nothing
 * else. They are summed that way only where it matters: below this sum. */
#define UNIT 0x1p64f
#define FAR_SUM 0x1p-80f

struct row_sums {
    float below;   /* of the exponentials of the others that are less than the maximum */
    float maximal; /* how many others are not less */
    float lowered; /* 2^-64 times the others' d_j; 0 without smoothing */
};

/* Takes the columns that equal the maximum out of a pack, and adds their number. */
DEVICE void take_maximal(vector16 &pack, uint32_t max_word, float &maximal)
{
    constexpr uint32_t ones = word_elements == 1 ? 1 : 0x00010001u; /* of each element */
    uint32_t counts = 0;
#pragma unroll
    for (int i = 0; i < pack_words; i++) {
        const uint32_t equal = equal_word(pack.word[i], max_word);
        pack.word[i] = (pack.word[i] & ~equal) | ((uint32_t)minus_infinity_word & equal);
        counts += equal & ones;
    }
    maximal += (float)((counts & 0xffffu) + (counts >> 16));
}

/* Adds a pack. */
template <bool counts>
DEVICE void sum_pack(row_sums &sums, vector16 pack, const row_origin &origin, uint32_t max_word)
{
    float e[pack_columns];
    if (counts)
        take_maximal(pack, max_word, sums.maximal);
    pack_exponentials(pack, origin, e);
    sums.below += sum_of_pack(e);
}

/* The target and columns that do not exist are there as the maximum itself, and so count nothing. */
DEVICE void sum_distances(row_sums &sums, const vector16 &pack, float max)
{
    float d[pack_columns];
    pack_floats(pack, d);
#pragma unroll
    for (int i = 0; i < pack_columns; i++)
        d[i] = fma_f32(d[i], -LOWER, max * LOWER);
    sums.lowered += sum_of_pack(d);
}

/* Where all but the maximal are far below the maximum, 64 can be added to their exponents without rounding. */
DEVICE float sum_of_far(vector16 pack, const row_origin &origin, uint32_t max_word)
{
    float e[pack_columns];
    float maximal = 0.0f;
    take_maximal(pack, max_word, maximal);
    pack_floats(pack, e);
#pragma unroll
    for (int i = 0; i < pack_columns; i++)
        e[i] = exp2_flush(exponent_at(e[i], origin) + 64.0f);
    return sum_of_pack(e);
}

/* 2^64 times the exponential. */
DEVICE float raised_exponential(float x, const row_origin &origin)
{
    const float exponent = exponent_at(x, origin);
    return exponent < -64.0f ? exp2_flush(exponent + 64.0f) : exp2_flush(exponent) * UNIT;
}

/* log(1 + r) for r >= 0, within a few u relative. 1 + r = 2^k (1 + f) with 1 + f near [sqrt(1/2), sqrt(2)): taking 2^k out of r and
 * 1 apart leaves f with a single rounding. log(1 + f) = 2 atanh(f / (2 + f)) by its series. */
DEVICE float log1p_nonnegative(float r)
{
    const uint32_t sqrt_half = 0x3f3504f3;
    const int32_t k = (int32_t)(bits_of(1.0f + r) - sqrt_half) >> 23;
    const float power = float_of((uint32_t)(127 - k) << 23);
    const float f = r * power + (power - 1.0f);
    const float s = f / (2.0f + f);
    const float s2 = s * s;
    float series = 0x1.745d18p-4f; /* 1/11 */
    series = series * s2 + 0x1.c71c72p-4f;
    series = series * s2 + 0x1.24924ap-3f;
    series = series * s2 + 0x1.99999ap-3f;
    series = series * s2 + 0x1.555556p-2f;
    const float twice = s + s;
    const float log_f = twice + twice * (s2 * series);
    return (float)k * 0x1.62e4p-1f + (log_f + (float)k * 0x1.7f7d1cp-20f);
}

/* What a row comes to. */
struct row_result {
    float rest;     /* 2^64 (Z - 1) */
    float factor;   /* of an exponential, to make it p */
    float gradient; /* at the target */
};

/* `raised` is 2^64 times the sum of the others below the maximum. An infinite maximum is +inf, or there is nothing but -inf. */
DEVICE row_result conclude(const tki_xent_params &p, const row_sums &sums, float raised, float x_target, float max,
                           const row_origin &origin, float maximum)
{
    const float correction = reciprocal_flush(maximum);
    const float below = raised * correction;
    const float others = below + sums.maximal * UNIT;
    const float with_target = below + raised_exponential(x_target, origin) * correction +
                              (sums.maximal - 1.0f) * UNIT;
    const float rest = x_target == max ? others : with_target;
    const float inverse = abs_f32(max) < float_infinity() ? reciprocal_flush(UNIT + rest) : float_nan();
    return {rest, correction * (UNIT * inverse), p.scale * (p.share_of_others - others * inverse)};
}

/* The order of the additions matters to the promise: the target's term, which has most roundings, comes last. Terms without
 * weight are left out, since their factor may be infinite. */
DEVICE float loss_of(const tki_xent_params &p, const row_sums &sums, float rest, float x_target, float max)
{
    const float lowered_target = max * LOWER - x_target * LOWER;
    float loss = log1p_nonnegative(rest * LOWER);
    if (p.share_raised > 0)
        loss += p.share_raised * (sums.lowered + lowered_target);
    if (p.keep > 0)
        loss += p.keep * lowered_target * RAISE;
    return abs_f32(max) < float_infinity() ? loss : float_nan();
}

DEVICE vector16 pack_gradient(const vector16 &pack, const row_origin &origin, float factor, const tki_xent_params &p)
{
    float e[pack_columns];
    pack_exponentials(pack, origin, e);
#pragma unroll
    for (int i = 0; i < pack_columns; i++)
        e[i] = p.scale * fma_f32(e[i], factor, -p.share);
    return pack_elements(e);
}

/* ------------------------------------------------------------------------------------------------------------
 * A row with a good target, or, held in registers, one of no columns, of which nothing is written: a team without work that takes part
 * in the exchanges. `shared_warp`: the warp holds other rows too, which must not decide how this one is summed.
 * ------------------------------------------------------------------------------------------------------------ */

/* `place` is that of the target behind the pack's first column. */
DEVICE void replace_target(vector16 &pack, int64_t place, element bits)
{
    if (place >= 0 && place < pack_columns)
        pack_replace(pack, (unsigned)place, bits);
}

enum { no_column = 0x7fffffff };

/* The target among the packs that a member holds. */
struct held_target {
    unsigned owner;  /* the member that has it */
    uint32_t column; /* of this member's, counted on through its packs; no_column: another's, or there is none */
};

template <class team> DEVICE held_target held_target_of(const team &members, int target)
{
    const unsigned pack = target < 0 ? 0 : (unsigned)target / pack_columns;
    const unsigned owner = pack % team_members(members);
    const uint32_t column = pack / team_members(members) * pack_columns + (unsigned)target % pack_columns;
    return {owner, target >= 0 && owner == team_member(members) ? column : no_column};
}

/* Its bits in word i of pack k. */
DEVICE uint32_t target_bits(const held_target &target, int k, int i)
{
    const uint32_t first = (uint32_t)(k * pack_columns + word_elements * i);
    if constexpr (word_elements == 1)
        return target.column == first ? 0xffffffffu : 0;
    else
        return target.column == first ? 0xffffu : target.column == first + 1 ? 0xffff0000u : 0;
}

DEVICE void replace_target(vector16 &pack, const held_target &target, int k, uint32_t word)
{
#pragma unroll
    for (int i = 0; i < pack_words; i++) {
        const uint32_t bits = target_bits(target, k, i);
        pack.word[i] = (pack.word[i] & ~bits) | (word & bits);
    }
}

template <int packs> DEVICE void replace_target(vector16 (&pack)[packs], const held_target &target, uint32_t word)
{
#pragma unroll
    for (int k = 0; k < packs; k++)
        replace_target(pack[k], target, k, word);
}

/* The target's logit, from the lane that has it: to load it would be one more wait for memory, after that for the target. */
template <int packs>
DEVICE float find_target(const lanes_team &members, const tki_xent_params &, const vector16 (&pack)[packs],
                         const held_target &target, int64_t)
{
    uint32_t here = 0;
#pragma unroll
    for (int k = 0; k < packs; k++)
#pragma unroll
        for (int i = 0; i < pack_words; i++)
            here |= pack[k].word[i] & target_bits(target, k, i);
    return team_value(members, from_element((element)(word_elements == 1 ? here : here | here >> 16)), target.owner);
}

template <int packs>
DEVICE float find_target(const block_team &, const tki_xent_params &p, const vector16 (&)[packs], const held_target &,
                         int64_t place)
{
    return from_element(((const element *)p.logits)[place]);
}

template <int packs, bool shared_warp, class team>
DEVICE void run_held(team &members, const tki_xent_params &p, int64_t row, int64_t cols, int target)
{
    const row_span span = span_of(members, cols);
    vector16 pack[packs];
    const tensor_row from = {p.logits, p.rows, p.cols, row};
    if (p.whole)
        take_row<packs, true>(members, pack, from, span, cols, (uint32_t)minus_infinity_word);
    else
        take_row<packs, false>(members, pack, from, span, cols, (uint32_t)minus_infinity_word);
    held_target there = held_target_of(members, target);
    const float x_target = find_target(members, p, pack, there, row * p.cols + target);
    const float largest = packs_larger(pack);
    const float max = team_larger(members, largest, max_slot);
    const row_origin origin = origin_at(max);
    const float maximum = exp2_flush(exponent_at(max, origin));
    const uint32_t max_word = word_of(max);
    replace_target(pack, there, max_word);
    forget_origin(there.column);
    row_sums sums = {0.0f, 0.0f, 0.0f};
    if (shared_warp || warp_vote(largest == max || there.column != no_column) != 0) {
#pragma unroll
        for (int k = 0; k < packs; k++)
            sum_pack<true>(sums, pack[k], origin, max_word);
    } else {
#pragma unroll
        for (int k = 0; k < packs; k++)
            sum_pack<false>(sums, pack[k], origin, max_word);
    }
    forget_origins(pack);
    if (p.share_raised > 0) {
#pragma unroll
        for (int k = 0; k < packs; k++) {
            if (span_has(span, k)) {
                vector16 others = pack[k];
                if (span.left < k * span.step + pack_columns)
                    keep_first(others, span.left - k * span.step, max_word);
                sum_distances(sums, others, max);
            }
        }
    }
    float all[3] = {sums.below, sums.maximal, sums.lowered};
    team_sums(members, all, sum_slot);
    sums = {all[0], all[1] - 1.0f, all[2]}; /* less the target */
    forget_origins(pack);
    float raised = sums.below * UNIT;
    if (warp_vote(sums.below < FAR_SUM) != 0) {
        float far[1] = {0.0f};
#pragma unroll
        for (int k = 0; k < packs; k++)
            far[0] += sum_of_far(pack[k], origin, max_word);
        team_sums(members, far, far_slot);
        raised = sums.below < FAR_SUM ? far[0] : raised;
        forget_origins(pack);
    }
    const row_result result = conclude(p, sums, raised, x_target, max, origin, maximum);
    if (team_member(members) == 0 && cols > 0)
        p.loss[row] = loss_of(p, sums, result.rest, x_target, max);
    element *gradient = (element *)p.grad_logits + row * p.cols;
    element *to = hold_address(gradient + span.first);
    const uint32_t at_target = word_of(result.gradient);
#pragma unroll
    for (int k = 0; k < packs; k++) {
        if (span_has(span, k)) {
            pack[k] = pack_gradient(pack[k], origin, result.factor, p);
            replace_target(pack[k], there, k, at_target);
            if (p.whole)
                put_pack<packs, true>(members, to, span, k, pack[k]);
            else
                put_pack<packs, false>(members, to, span, k, pack[k]);
        }
    }
    if (!p.whole)
        finish_row<packs, false>(members, gradient, cols);
}

/* A pack of a row, columns past its end and the target replaced. */
DEVICE vector16 load_others(const element *x, int64_t column, int64_t cols, int64_t target, uint32_t filler)
{
    vector16 pack = load_columns(x, column, cols, filler);
    replace_target(pack, target - column, (element)filler);
    return pack;
}

template <class team> DEVICE void run_reread(team &members, const tki_xent_params &p, int64_t row, int64_t target)
{
    const int64_t cols = p.cols;
    const uint32_t nothing = (uint32_t)minus_infinity_word;
    const row_part part = part_of(members, cols);
    const element *x = (const element *)p.logits + row * p.cols;
    const float x_target = from_element(x[target]);
    float largest = -float_infinity();
#pragma unroll 1
    for (int64_t column = part.first; column < part.end; column += part.step)
        largest = larger(largest, pack_larger(load_others(x, column, cols, target, nothing)));
    const float max = larger(team_larger(members, largest, max_slot), x_target);
    const row_origin origin = origin_at(max);
    const float maximum = exp2_flush(exponent_at(max, origin));
    const uint32_t max_word = word_of(max);
    row_sums sums = {0.0f, 0.0f, 0.0f};
    const bool counts = warp_vote(largest == max) != 0;
#pragma unroll 1
    for (int64_t column = part.first; column < part.end; column += part.step) {
        const vector16 pack = load_others(x, column, cols, target, nothing);
        if (counts)
            sum_pack<true>(sums, pack, origin, max_word);
        else
            sum_pack<false>(sums, pack, origin, max_word);
        if (p.share_raised > 0)
            sum_distances(sums, load_others(x, column, cols, target, word_of(max)), max);
    }
    float all[3] = {sums.below, sums.maximal, sums.lowered};
    team_sums(members, all, sum_slot);
    sums = {all[0], all[1], all[2]};
    float raised = sums.below * UNIT;
    if (sums.below < FAR_SUM) {
        float far[1] = {0.0f};
#pragma unroll 1
        for (int64_t column = part.first; column < part.end; column += part.step)
            far[0] += sum_of_far(load_others(x, column, cols, target, nothing), origin, max_word);
        team_sums(members, far, far_slot);
        raised = far[0];
    }
    const row_result result = conclude(p, sums, raised, x_target, max, origin, maximum);
    if (team_member(members) == 0)
        p.loss[row] = loss_of(p, sums, result.rest, x_target, max);
    element *gradient = (element *)p.grad_logits + row * p.cols;
#pragma unroll 1
    for (int64_t column = part.first; column < part.end; column += part.step) {
        const vector16 pack = load_others(x, column, cols, target, nothing);
        vector16 out = pack_gradient(pack, origin, result.factor, p);
        replace_target(out, target - column, to_element(result.gradient));
        store_columns(gradient, column, cols, out);
    }
}

/* ------------------------------------------------------------------------------------------------------------
 * Any row
 * ------------------------------------------------------------------------------------------------------------ */

template <class team> DEVICE void write_ignored(const team &members, const tki_xent_params &p, int64_t row)
{
    element *gradient = (element *)p.grad_logits + row * p.cols;
    const row_part part = part_of(members, p.cols);
#pragma unroll 1
    for (int64_t column = part.first; column < part.end; column += part.step)
        store_columns(gradient, column, p.cols, pack_of(0));
    if (team_member(members) == 0)
        p.loss[row] = 0.0f;
}

/* The target of a row that is to be computed, else -1; ignored rows are written, bad ones reported. */
template <class team> DEVICE int64_t target_of(const team &members, const tki_xent_params &p, int64_t row)
{
    if (row >= p.rows)
        return -1;
    const int64_t target = p.wide_target ? ((const int64_t *)p.target)[row] : ((const int32_t *)p.target)[row];
    if (target == p.ignore_index) {
        write_ignored(members, p, row);
        return -1;
    }
    if (target >= 0 && target < p.cols)
        return target;
    if (team_member(members) == 0)
        report_bad_index(p.fault_word, row);
    return -1;
}

/* packs = 0: read again. */
template <int packs, bool shared_warp, class team>
DEVICE void run_row(team &members, const tki_xent_params &p, int64_t row)
{
    const int64_t target = target_of(members, p, row);
    if (!shared_warp && target < 0)
        return;
    const int64_t cols = target < 0 ? 0 : p.cols;
    if constexpr (packs > 0)
        run_held<packs, shared_warp>(members, p, target < 0 ? 0 : row, cols, (int)target);
    else
        run_reread(members, p, row, target);
}

#endif
