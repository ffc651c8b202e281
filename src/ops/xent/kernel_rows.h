/* UNTRUSTED. One row of cross-entropy, by a team of threads: held in registers, or read again by each pass, with the same bits. Device
 * code for kernel.cu and kernel_hopper.cu. shifted: see device_rows.h.
 *
 * The target is taken out of the row and dealt with apart: its logit becomes -inf, and the others are summed, so that
 * N = Z - exp(-d_t) comes without a subtraction. So does Z - 1 where the target has the maximum, and a confident row keeps its
 * relative accuracy; where another has it, Z - 1 = N + exp(-d_t) - 1 has an error of a few roundings of Z, but the loss is not small. All that the gradient needs is read before the team's last exchange, so the gradient may lie over the logits. */
#ifndef TKI_OPS_XENT_KERNEL_ROWS_H
#define TKI_OPS_XENT_KERNEL_ROWS_H

#include "kernels/device_rows.h"
#include "ops/xent/params.h"

/* Of the exchanges; see device_rows.h. The maximum may have the target's logit with it; sums come in twos. */
enum { max_slot, sum_slot = max_slot + 2, far_slot = sum_slot + 2, xent_slots };

/* A difference of bf16 logits can exceed fp32's range, and so can a sum of them, where its weighted mean does not. So the d_j are
 * summed times 2^-64. */
#define LOWER 0x1p-64f
#define RAISE 0x1p64f

/* Sums of exponentials are kept times 2^64, or those that lie 2^-126 below the maximum would be lost to N, which may have nothing
 * else. They are summed that way only where it matters: below this sum. */
#define UNIT 0x1p64f
#define FAR_SUM 0x1p-80f

struct row_sums {
    float others;  /* of their exponentials */
    float lowered; /* 2^-64 times all d_j; 0 without smoothing */
};

DEVICE void sum_pack(place_sums &sums, const vector16 &pack, const row_origin &origin)
{
    float e[pack_columns];
    pack_exponentials(pack, origin, e);
    add_places(sums, e);
}

/* Columns that do not exist are there as the maximum itself, and so count nothing. */
DEVICE void sum_distances(place_sums &sums, const vector16 &pack, float max)
{
    float d[pack_columns];
    pack_floats(pack, d);
#pragma unroll
    for (int i = 0; i < pack_columns; i++)
        d[i] = fma_f32(d[i], -LOWER, max * LOWER);
    add_places(sums, d);
}

/* Where all others are far below the maximum, which is the target's, 64 can be added to their exponents without rounding. */
DEVICE void sum_far(place_sums &sums, const vector16 &pack, const row_origin &origin)
{
    float e[pack_columns];
    pack_floats(pack, e);
#pragma unroll
    for (int i = 0; i < pack_columns; i++)
        e[i] = exp2_flush(exponent_at(e[i], origin) + 64.0f);
    add_places(sums, e);
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

/* `raised` is 2^64 times the sum of the others. An infinite maximum is +inf, or there is nothing but -inf. A NaN among the sums stays. */
DEVICE row_result conclude(const tki_xent_params &p, float raised, float x_target, float max,
                           const row_origin &origin)
{
    const float correction = reciprocal_flush(exp2_flush(exponent_at(max, origin)));
    const float others = raised * correction;
    const float at_target = raised_exponential(x_target, origin) * correction;
    const float less_one = others - UNIT + at_target;
    const float rest = x_target == max ? others : less_one < at_target ? at_target : less_one;
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
        loss += p.share_raised * sums.lowered;
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
 * What the target asks for. Nothing of a row waits for it but what needs it.
 * ------------------------------------------------------------------------------------------------------------ */

enum { no_row = -1, bad_target = -2, ignored_target = -3 };

/* A target as it lies in memory: what it means is asked only when all of the row's loads are under way, since that waits for it. */
struct target_words {
    uint32_t low, high;
};

DEVICE target_words load_target(const tki_xent_params &p, int64_t row)
{
    const uint32_t *from = (const uint32_t *)p.target + (p.wide_target ? 2 * row : row);
    if (row >= p.rows)
        return {0, 0};
    return {from[0], p.wide_target ? from[1] : 0};
}

DEVICE int64_t target_of(const tki_xent_params &p, int64_t row, const target_words &words)
{
    if (row >= p.rows)
        return no_row;
    const int64_t target = p.wide_target ? (int64_t)((uint64_t)words.high << 32 | words.low) : (int32_t)words.low;
    if (target == p.ignore_index)
        return ignored_target;
    return target >= 0 && target < p.cols ? target : (int64_t)bad_target;
}

/* By one member of the row's team: what is known without the row. */
DEVICE void note_target(const tki_xent_params &p, int64_t row, int64_t target)
{
    if (target == ignored_target)
        p.loss[row] = 0.0f;
    else if (target == bad_target)
        report_bad_index(p.fault_word, row);
}

/* The target's place among the vectors of a row or stretch that a member has. */
struct target_place {
    int vector; /* -1: another member has it, or there is none */
    int place;
};

DEVICE void replace_target(vector16 &pack, int vector, const target_place &target, element bits)
{
    if (vector == target.vector)
        pack_replace(pack, (unsigned)target.place, bits);
}

/* By each thread after the row's vectors that it has: puts the gradient over what they have at the target. */
template <class team>
DEVICE void put_target(const team &, const tki_xent_params &p, int64_t row, int64_t target, const target_place &here,
                       float gradient)
{
    if (here.vector >= 0)
        ((element *)p.grad_logits)[row * p.cols + target] = to_element(gradient);
}

DEVICE element *chunk_row(const chunk_team &members, const tki_xent_params &p, int64_t row)
{
    return (element *)row_memory + members.here.shift + (row * p.cols - members.here.before);
}

DEVICE void put_target(const chunk_team &members, const tki_xent_params &p, int64_t row, int64_t target,
                       const target_place &here, float gradient)
{
    if (here.vector >= 0)
        chunk_row(members, p, row)[target] = to_element(gradient);
}

/* A row with a bad target keeps the gradient that it had. */
template <class team> DEVICE void keep_row(const team &, const tki_xent_params &, int64_t)
{
}

DEVICE void keep_row(const chunk_team &members, const tki_xent_params &p, int64_t row)
{
    const element *gradient = (const element *)p.grad_logits + row * p.cols;
    for (int64_t i = team_member(members); i < p.cols; i += members.width)
        chunk_row(members, p, row)[i] = gradient[i];
}

/* ------------------------------------------------------------------------------------------------------------
 * Rows held in registers. Of a row without a good target nothing is computed, or, by lanes whose warp has other rows, nothing written.
 * `shared_warp`: such lanes; the other rows must not decide how this one is summed.
 * ------------------------------------------------------------------------------------------------------------ */

/* A member's vectors are numbered from 0 on. */
struct held_target {
    unsigned owner; /* the member that has it */
    target_place here;
};

template <class team> DEVICE held_target held_target_of(const team &members, int64_t target, int shift)
{
    const unsigned place = target < 0 ? 0 : (unsigned)target + (unsigned)shift;
    const unsigned vector = place / pack_columns;
    const unsigned round = team_rounds(members, vector);
    const unsigned owner = vector - round * team_members(members);
    const bool is_here = target >= 0 && owner == team_member(members);
    return {owner, {is_here ? (int)round : -1, (int)(place % pack_columns)}};
}

/* The target's logit comes from the member that has it: to load it would be one more wait for memory, after that for the target. It is
 * offered before the exchange of the maxima and taken after it. */
DEVICE void offer_target(lanes_team &, const held_target &, float)
{
}

DEVICE float take_target(const lanes_team &members, const held_target &target, float offered)
{
    return team_value(members, offered, target.owner);
}

DEVICE void offer_target(block_team &members, const held_target &target, float offered)
{
    if (target.here.vector >= 0)
        members.slots[max_slot + 1][0] = offered;
}

DEVICE float take_target(const block_team &members, const held_target &, float)
{
    return members.slots[max_slot + 1][0];
}

/* Without a branch. */
DEVICE void put_words(vector16 &to, const vector16 &from, bool condition)
{
#pragma unroll
    for (int i = 0; i < pack_words; i++)
        to.word[i] = condition ? from.word[i] : to.word[i];
}

template <int packs> DEVICE vector16 vector_at(const vector16 (&pack)[packs], const target_place &target)
{
    vector16 vector = pack[0];
#pragma unroll
    for (int k = 1; k < packs; k++)
        put_words(vector, pack[k], target.vector == k);
    return vector;
}

template <int packs, bool shifted, class team>
DEVICE void put_zeros(const team &members, element *to, const row_span &span)
{
#pragma unroll
    for (int k = 0; k < packs; k++)
        if (span_has(span, k))
            put_pack<shifted>(members, to, span, k, pack_of(0));
}

template <int packs, bool shifted, bool shared_warp, class team>
DEVICE void run_held(team &members, const tki_xent_params &p, int64_t row)
{
    const target_words words = load_target(p, row);
    const int64_t cols = row < p.rows ? p.cols : 0;
    const tensor_row from = {p.logits, p.rows, p.cols, cols > 0 ? row : 0};
    const row_span span = span_of<shifted>(members, from, cols > 0);
    element *to = place_for(members, {p.grad_logits, p.rows, p.cols, from.row}, span);
    vector16 pack[packs];
    take_row<packs, shifted>(members, 0, pack, from, span, (uint32_t)minus_infinity_word);
    end_taking(members);
    const int64_t target = target_of(p, row, words);
    if (target < 0) {
        if (team_member(members) == 0)
            note_target(p, row, target);
        if (target == ignored_target)
            put_zeros<packs, shifted>(members, to, span);
        if (target == bad_target)
            keep_row(members, p, row);
        if (!shared_warp)
            return;
    }
    const held_target there = held_target_of(members, target, span.shift);
    vector16 with_target = pack_of(0);
    if (shared_warp || there.here.vector >= 0)
        with_target = vector_at(pack, there.here);
    const float offered = from_element(pack_element(with_target, (unsigned)there.here.place));
    offer_target(members, there, offered);
    const float max = team_larger(members, packs_larger(pack), max_slot);
    const float x_target = take_target(members, there, offered);
    const row_origin origin = origin_at(max);
    float all[2] = {0.0f, 0.0f};
    if (p.share_raised > 0) {
        place_sums lowered = {};
#pragma unroll
        for (int k = 0; k < packs; k++) {
            if (span_has(span, k)) {
                vector16 row_only = pack[k];
                if (shifted && !are_all(places_of(span, k)))
                    keep_places(row_only, places_of(span, k), word_of(max));
                sum_distances(lowered, row_only, max);
            }
        }
        all[1] = sum_of_member<shifted>(members, lowered, span.shift, 1);
        forget_origins(pack);
    }
    pack_replace(with_target, (unsigned)there.here.place, (element)minus_infinity_word);
#pragma unroll
    for (int k = 0; k < packs; k++)
        put_words(pack[k], with_target, k == there.here.vector);
    place_sums others = {};
#pragma unroll
    for (int k = 0; k < packs; k++)
        if (span_may_have<packs>(members, span, k))
            sum_pack(others, pack[k], origin);
    forget_origins(pack);
    all[0] = sum_of_member<shifted>(members, others, span.shift, 0);
    team_sums(members, all, sum_slot);
    const row_sums totals = {all[0], all[1]};
    forget_origins(pack);
    float raised = totals.others * UNIT;
    if (warp_vote(totals.others < FAR_SUM) != 0) {
        place_sums far_places = {};
#pragma unroll
        for (int k = 0; k < packs; k++)
            sum_far(far_places, pack[k], origin);
        float far[1] = {sum_of_member<shifted>(members, far_places, span.shift, 0)};
        team_sums(members, far, far_slot);
        raised = totals.others < FAR_SUM ? far[0] : raised;
        forget_origins(pack);
    }
    if (shared_warp && target < 0)
        return;
    const row_result result = conclude(p, raised, x_target, max, origin);
#pragma unroll
    for (int k = 0; k < packs; k++)
        if (span_has(span, k))
            put_pack<shifted>(members, to, span, k, pack_gradient(pack[k], origin, result.factor, p));
    put_target(members, p, row, target, there.here, result.gradient);
    if (team_member(members) == 0)
        p.loss[row] = loss_of(p, totals, result.rest, x_target, max);
}

/* ------------------------------------------------------------------------------------------------------------
 * Rows that are read again by each pass
 * ------------------------------------------------------------------------------------------------------------ */

template <class team> DEVICE void write_ignored(const team &members, const tki_xent_params &p, int64_t row)
{
    element *gradient = (element *)p.grad_logits + row * p.cols;
    const row_part part = part_of(members, p.cols);
#pragma unroll 1
    for (int64_t column = part.first; column < part.end; column += part.step)
        store_columns(gradient, column, p.cols, pack_of(0));
}

/* A pack of a row, columns past its end and the target replaced. */
DEVICE vector16 load_others(const element *x, int64_t column, int64_t cols, int64_t target, uint32_t filler)
{
    vector16 pack = load_columns(x, column, cols, filler);
    if (target >= column && target < column + pack_columns)
        pack_replace(pack, (unsigned)(target - column), (element)filler);
    return pack;
}

template <bool shared_warp, class team> DEVICE void run_reread(team &members, const tki_xent_params &p, int64_t row)
{
    const int64_t target = target_of(p, row, load_target(p, row));
    if (target < 0) {
        if (team_member(members) == 0)
            note_target(p, row, target);
        if (target == ignored_target)
            write_ignored(members, p, row);
        if (!shared_warp)
            return;
    }
    const int64_t cols = target < 0 ? 0 : p.cols;
    const uint32_t nothing = (uint32_t)minus_infinity_word;
    const row_part part = part_of(members, cols);
    const element *x = (const element *)p.logits + (target < 0 ? 0 : row * p.cols);
    const float x_target = target < 0 ? 0.0f : from_element(x[target]);
    float largest = -float_infinity();
#pragma unroll 1
    for (int64_t column = part.first; column < part.end; column += part.step)
        largest = larger(largest, pack_larger(load_others(x, column, cols, target, nothing)));
    const float max = larger(team_larger(members, largest, max_slot), x_target);
    const row_origin origin = origin_at(max);
    place_sums others = {}, lowered = {};
#pragma unroll 1
    for (int64_t column = part.first; column < part.end; column += part.step) {
        sum_pack(others, load_others(x, column, cols, target, nothing), origin);
        if (p.share_raised > 0)
            sum_distances(lowered, load_columns(x, column, cols, word_of(max)), max);
    }
    float all[2] = {sum_of_places(others.of), sum_of_places(lowered.of)};
    team_sums(members, all, sum_slot);
    const row_sums totals = {all[0], all[1]};
    float raised = totals.others * UNIT;
    if (shared_warp ? warp_vote(totals.others < FAR_SUM) != 0 : totals.others < FAR_SUM) {
        place_sums far_places = {};
#pragma unroll 1
        for (int64_t column = part.first; column < part.end; column += part.step)
            sum_far(far_places, load_others(x, column, cols, target, nothing), origin);
        float far[1] = {sum_of_places(far_places.of)};
        team_sums(members, far, far_slot);
        raised = totals.others < FAR_SUM ? far[0] : raised;
    }
    if (shared_warp && target < 0)
        return;
    const row_result result = conclude(p, raised, x_target, max, origin);
    if (team_member(members) == 0)
        p.loss[row] = loss_of(p, totals, result.rest, x_target, max);
    element *gradient = (element *)p.grad_logits + row * p.cols;
#pragma unroll 1
    for (int64_t column = part.first; column < part.end; column += part.step) {
        const vector16 pack = load_others(x, column, cols, target, nothing);
        vector16 out = pack_gradient(pack, origin, result.factor, p);
        if (target >= column && target < column + pack_columns)
            pack_replace(out, (unsigned)(target - column), to_element(result.gradient));
        store_columns(gradient, column, cols, out);
    }
}

#endif
