/* CHOOSES. The inputs of a trial, drawn by its family or given in the options. */
#include <string.h>

#include "core/context.h"
#include "exact/round.h"
#include "judge/trial_inputs.h"
#include "model/case.h"
#include "trials/levels.h"

static tk_status copy_given_inputs(tk_ctx *ctx, const tk_case *c, const tk_certify_options *options,
                                   tki_inputs *inputs)
{
    for (int p = 0; p < c->contract->param_count; p++) {
        const tk_param *param = &c->contract->params[p];
        const tk_given_input *given = NULL;
        for (int i = 0; i < options->input_count; i++)
            if (!strcmp(options->inputs[i].name, param->name))
                given = &options->inputs[i];
        if (param->output)
            continue;
        int64_t count = tk_case_elements(c, p);
        if (!given && count > 0)
            return tki_fail(ctx, TK_BAD_ARGUMENT, "%s: input '%s' is missing", c->contract->name, param->name);
        if (given && given->count != count)
            return tki_fail(ctx, TK_BAD_ARGUMENT, "%s: input '%s' has %lld elements; its shape needs %lld",
                            c->contract->name, param->name, (long long)given->count, (long long)count);
        const tk_dtype dtype = tk_case_param_dtype(c, p);
        const size_t element = tk_dtype_size(dtype);
        for (int64_t i = 0; i < count; i++) {
            int64_t index = (int64_t)given->bits[i];
            if (param->kind == TK_KIND_INDEX &&
                !tki_index_is_valid(c, p, i > 0 ? (int64_t)given->bits[i - 1] : 0, index))
                return tki_fail_index(ctx, c->contract, p, i, index, c->dims[param->indexed_dim]);
            if (param->kind != TK_KIND_INDEX && element < sizeof *given->bits && given->bits[i] >> 8 * element)
                return tki_fail(ctx, TK_BAD_ARGUMENT, "%s: %s[%lld] is not a %zu-bit pattern", c->contract->name,
                                param->name, (long long)i, 8 * element);
            memcpy((char *)inputs->data[p] + (size_t)i * element, &given->bits[i], element);
        }
    }
    return tki_inputs_check_domain(ctx, c, (const void *const *)inputs->data);
}

tk_status tki_inputs_make(tk_ctx *ctx, const tki_trial *trial, const tk_certify_options *options, tki_inputs *inputs)
{
    tk_status status = tki_inputs_alloc(ctx, &trial->c, inputs);
    if (status != TK_OK)
        return status;
    if (trial->family == TKI_GIVEN_INPUTS)
        status = copy_given_inputs(ctx, &trial->c, options, inputs);
    else
        tki_trial_fill(trial, inputs->data);
    if (status != TK_OK)
        tki_inputs_free(inputs);
    return status;
}
