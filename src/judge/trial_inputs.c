/* DECIDES. The arrays that a trial is run on. */
#include "judge/trial_inputs.h"

#include <stdlib.h>
#include <string.h>

#include "core/context.h"
#include "core/random.h"
#include "exact/domain.h"
#include "exact/round.h"
#include "judge/call_setup.h"
#include "model/case.h"

size_t tki_param_bytes(const tk_case *c, int p)
{
    return (size_t)tk_case_elements(c, p) * tk_dtype_size(tk_case_param_dtype(c, p));
}

tk_status tki_inputs_alloc(tk_ctx *ctx, const tk_case *c, tki_inputs *inputs)
{
    *inputs = (tki_inputs){0};
    for (int p = 0; p < c->contract->param_count; p++) {
        if (c->contract->params[p].output)
            continue;
        size_t bytes = tki_param_bytes(c, p);
        /* Zeros: what a family were to leave out must not differ from run to run. */
        inputs->data[p] = calloc(bytes ? bytes : 1, 1);
        if (!inputs->data[p]) {
            tki_inputs_free(inputs);
            return TKI_FAIL_BY(ctx, TKI_FAILED_INPUT_MEMORY, .status = TK_NO_MEMORY, .bytes = bytes);
        }
    }
    return TK_OK;
}

void tki_inputs_free(tki_inputs *inputs)
{
    for (int p = 0; p < TK_MAX_PARAMS; p++)
        free(inputs->data[p]);
    *inputs = (tki_inputs){0};
}

tk_status tki_inputs_check_domain(tk_ctx *ctx, const tk_case *c, const void *const data[])
{
    for (int p = 0; p < c->contract->param_count; p++) {
        const tk_param *param = &c->contract->params[p];
        const tk_dtype dtype = tk_case_param_dtype(c, p);
        const int64_t count = tki_domain_limits(c, p) ? tk_case_elements(c, p) : 0;
        for (int64_t i = 0; i < count; i++) {
            const uint32_t bits = tki_element_bits(dtype, data[p], i);
            if (tki_domain_allows(c, p, bits))
                continue;
            const bool inside = !tki_domain_is_normal(c) || tki_domain_has(dtype, bits);
            return TKI_FAIL_BY(ctx, inside ? TKI_FAILED_RANGE : TKI_FAILED_DOMAIN, .status = TK_BAD_ARGUMENT,
                               .op = c->contract->name, .tensor = param->name, .at = i, .bits = bits,
                               .value = tki_decode(dtype, bits), .least = param->least, .most = param->most);
        }
        for (int64_t i = 0; tki_range_limits(c, p) && i < tk_case_elements(c, p); i++)
            if (!tki_range_allows(param, tki_ranged_at(dtype, data[p], i)))
                return TKI_FAIL_BY(ctx, TKI_FAILED_INTEGER_RANGE, .status = TK_BAD_ARGUMENT, .op = c->contract->name,
                                   .tensor = param->name, .at = i, .integer = tki_ranged_at(dtype, data[p], i),
                                   .least = param->least, .most = param->most);
    }
    return TK_OK;
}

void tki_inputs_set_index(tk_dtype dtype, void *data, int64_t i, int64_t value)
{
    if (dtype == TK_I64)
        ((int64_t *)data)[i] = value;
    else
        ((int32_t *)data)[i] = (int32_t)value;
}

/* Moves indices into a part of the size they point into. */
static bool shift_indices(const tk_case *part, int param, void *data, int64_t count, int64_t begin, int64_t end)
{
    const int also = tki_index_attribute(part->contract, param);
    const tk_dtype dtype = tk_case_param_dtype(part, param);
    for (int64_t i = 0; i < count; i++) {
        int64_t index = tki_index_at(dtype, data, i);
        if (also >= 0 && index == part->attributes[also].integer)
            continue;
        if (index < begin || index >= end)
            return false;
        tki_inputs_set_index(dtype, data, i, index - begin);
    }
    return true;
}

/* The same of ends: groups keep those of their places that are in the part. */
static void cut_ends(tk_dtype dtype, void *data, int64_t count, int64_t begin, int64_t end)
{
    for (int64_t i = 0; i < count; i++) {
        const int64_t at = tki_index_at(dtype, data, i);
        tki_inputs_set_index(dtype, data, i, at < begin ? 0 : at < end ? at - begin : end - begin);
    }
}

void tki_tensor_slice(const tk_case *c, int p, int dim, int64_t begin, const tk_case *part, const void *from,
                      void *to)
{
    const tk_param *param = &c->contract->params[p];
    const int last = param->rank - 1;
    const size_t element = tk_dtype_size(tk_case_param_dtype(c, p));
    const int64_t line = part->dims[param->dim[last]];
    const int64_t lines = line ? tk_case_elements(part, p) / line : 0;
    for (int64_t l = 0; l < lines; l++) {
        int64_t at = param->dim[last] == dim ? begin : 0;
        int64_t rest = l;
        int64_t stride = c->dims[param->dim[last]];
        for (int axis = last - 1; axis >= 0; axis--) {
            const int64_t size = part->dims[param->dim[axis]];
            at += (rest % size + (param->dim[axis] == dim ? begin : 0)) * stride;
            rest /= size;
            stride *= c->dims[param->dim[axis]];
        }
        memcpy((char *)to + (size_t)(l * line) * element, (const char *)from + (size_t)at * element,
               (size_t)line * element);
    }
}

static bool slice(tk_ctx *ctx, const tk_case *c, const tki_inputs *inputs, int dim, int64_t begin, int64_t end,
                  tk_case *part, tki_inputs *part_inputs, tk_status *status)
{
    *part = *c;
    part->dims[dim] = end - begin;
    /* What follows from other sizes cannot be cut by itself, nor those that it follows from. */
    *status = TK_OK;
    if (!tki_case_is_settled(part))
        return false;
    *status = tki_inputs_alloc(ctx, part, part_inputs);
    if (*status != TK_OK)
        return false;
    for (int p = 0; p < c->contract->param_count; p++) {
        const tk_param *param = &c->contract->params[p];
        if (param->output)
            continue;
        tki_tensor_slice(c, p, dim, begin, part, inputs->data[p], part_inputs->data[p]);
        if (param->rule == TK_INDICES_ENDS && param->indexed_dim == dim)
            cut_ends(tk_case_param_dtype(part, p), part_inputs->data[p], tk_case_elements(part, p), begin, end);
        else if (param->kind == TK_KIND_INDEX && param->indexed_dim == dim &&
                 !shift_indices(part, p, part_inputs->data[p], tk_case_elements(part, p), begin, end)) {
            tki_inputs_free(part_inputs);
            return false;
        }
    }
    return true;
}

/* Without its first groups, a case goes on without their places: what is left of the groups stays what it is. */
bool tki_inputs_slice(tk_ctx *ctx, const tk_case *c, const tki_inputs *inputs, int dim, int64_t begin, int64_t end,
                      tk_case *part, tki_inputs *part_inputs, tk_status *status)
{
    int index = tki_index_param(c->contract);
    while (index >= 0 &&
           !(c->contract->params[index].rule == TK_INDICES_ENDS && c->contract->params[index].dim[0] == dim))
        index = tki_next_index_param(c->contract, index);
    const bool groups = index >= 0;
    const int64_t first = groups && begin > 0
                              ? tki_index_at(tk_case_param_dtype(c, index), inputs->data[index], begin - 1)
                              : 0;
    if (first == 0)
        return slice(ctx, c, inputs, dim, begin, end, part, part_inputs, status);
    const int places = c->contract->params[index].indexed_dim;
    tk_case rest;
    tki_inputs rest_inputs;
    if (!slice(ctx, c, inputs, places, first, c->dims[places], &rest, &rest_inputs, status))
        return false;
    const bool cut = slice(ctx, &rest, &rest_inputs, dim, begin, end, part, part_inputs, status);
    tki_inputs_free(&rest_inputs);
    return cut;
}

tk_status tki_inputs_copy(tk_ctx *ctx, const tk_case *c, const tki_inputs *inputs, tki_inputs *copy)
{
    tk_status status = tki_inputs_alloc(ctx, c, copy);
    for (int p = 0; p < c->contract->param_count && status == TK_OK; p++)
        if (inputs->data[p])
            memcpy(copy->data[p], inputs->data[p], tki_param_bytes(c, p));
    return status;
}

bool tki_inputs_change(const tki_trial *trial, tki_inputs *inputs, int *changed, int64_t *position)
{
    const tk_case *c = &trial->c;
    int candidates[TK_MAX_PARAMS];
    int count = 0;
    for (int p = 0; p < c->contract->param_count; p++) {
        const tk_param *param = &c->contract->params[p];
        bool settled = param->kind == TK_KIND_INDEX && tki_index_values(c, p) < 2;
        if (!param->output && !settled && tk_case_elements(c, p) > 0)
            candidates[count++] = p;
    }
    if (!count)
        return false;
    tki_random random = tki_random_stream(tki_trial_calls_seed(trial), 1);
    int p = candidates[tki_random_below(&random, (uint64_t)count)];
    const tk_param *param = &c->contract->params[p];
    const tk_dtype dtype = tk_case_param_dtype(c, p);
    /* The last one more often than its share: a hash that leaves something out begins at the front. */
    const int64_t elements = tk_case_elements(c, p);
    int64_t i = (int64_t)tki_random_below(&random, (uint64_t)elements);
    if (tki_random_below(&random, 4) == 0)
        i = elements - 1;
    if (param->kind == TK_KIND_INDEX) {
        /* An end lies between its neighbours. */
        const int64_t least = param->rule == TK_INDICES_ENDS && i > 0 ? tki_index_at(dtype, inputs->data[p], i - 1)
                                                                      : 0;
        const int64_t size = (param->rule == TK_INDICES_ENDS && i + 1 < elements
                                  ? tki_index_at(dtype, inputs->data[p], i + 1) + 1
                                  : tki_index_values(c, p)) -
                             least;
        int64_t value = least + (int64_t)tki_random_below(&random, (uint64_t)size);
        if (value == tki_index_at(dtype, inputs->data[p], i))
            value = least + (value - least + 1) % size;
        if (size < 2)
            return false;
        tki_inputs_set_index(dtype, inputs->data[p], i, value);
    } else if (tki_range_limits(c, p)) {
        const int64_t value = tki_ranged_at(dtype, inputs->data[p], i);
        tki_put_ranged(dtype, inputs->data[p], i, value + (tki_range_allows(param, value + 1) ? 1 : -1));
    } else if (tki_format_of(dtype).number != TKI_FLOATING) {
        ((unsigned char *)inputs->data[p])[(size_t)i * tk_dtype_size(dtype)] ^= 1;
    } else {
        const uint32_t drawn = tki_round_double(dtype, 8 * tki_random_unit(&random) - 4);
        const uint32_t value = tki_domain_limits(c, p) ? tki_domain_place(c, p, drawn) : drawn;
        const bool same = value == tki_element_bits(dtype, inputs->data[p], i);
        const uint32_t other = value ^ tki_format_of(dtype).sign;
        tki_put_bits(dtype, inputs->data[p], i,
                     same && (!tki_domain_limits(c, p) || tki_domain_allows(c, p, other)) ? other : value);
    }
    *changed = p;
    *position = i;
    return true;
}

/* Where a key that is made of samples is likely to look: the ends, and every eighth place. */
static bool is_sampled(int64_t i, int64_t elements)
{
    enum { END = 16, STEP = 8 };
    return i < END || i >= elements - END || i % STEP == 0;
}

bool tki_inputs_swap(const tki_trial *trial, tki_inputs *inputs, int *changed, int64_t *position)
{
    enum { LEAST = 64, SWAPS = 2, TRIES = 64, APART = 8 };
    const tk_case *c = &trial->c;
    int candidates[TK_MAX_PARAMS], count = 0, swapped = 0;
    for (int p = 0; p < c->contract->param_count; p++)
        if (!c->contract->params[p].output && c->contract->params[p].rule != TK_INDICES_ENDS &&
            tk_case_elements(c, p) >= LEAST)
            candidates[count++] = p;
    if (!count)
        return false;
    tki_random random = tki_random_stream(tki_trial_calls_seed(trial), 2);
    const int p = candidates[tki_random_below(&random, (uint64_t)count)];
    const int64_t elements = tk_case_elements(c, p);
    const size_t bytes = tk_dtype_size(tk_case_param_dtype(c, p));
    for (int i = 0; i < TRIES && swapped < SWAPS; i++) {
        const int64_t a = (int64_t)tki_random_below(&random, (uint64_t)elements);
        const int64_t steps = 1 + (int64_t)tki_random_below(&random, (uint64_t)((elements - 1) / APART));
        const int64_t b = (a + steps * APART) % elements;
        unsigned char *left = (unsigned char *)inputs->data[p] + (size_t)a * bytes, kept[8];
        unsigned char *right = (unsigned char *)inputs->data[p] + (size_t)b * bytes;
        /* Where everything else is alike, what is sampled has to do. */
        if (!memcmp(left, right, bytes) ||
            (i < TRIES / 2 && (is_sampled(a, elements) || is_sampled(b, elements) || b % APART != a % APART)))
            continue;
        memcpy(kept, left, bytes);
        memcpy(left, right, bytes);
        memcpy(right, kept, bytes);
        *position = swapped++ ? *position : a;
    }
    *changed = p;
    return swapped > 0;
}
