/* CHOOSES. Ops of programs: registered in a context, found there, and given their lowerings. */
#include <string.h>

#include "core/context.h"
#include "drivers/backend.h"
#include "model/case.h"
#include "model/made_op.h"

static void free_made_ops(tk_ctx *ctx)
{
    for (tki_made_op *op = ctx->made_ops, *next; op; op = next) {
        next = op->next;
        tki_made_op_free(op);
    }
    ctx->made_ops = NULL;
}

/* An implementation has no way to say which index is bad, so that it is not given one. */
static tk_status check_indices(const tki_call *call)
{
    const tk_case *c = call->c;
    for (int p = -1; (p = tki_next_index_param(c->contract, p)) >= 0;) {
        const int64_t i = tki_first_bad_index(c, p, call->buffers[p]);
        if (i >= 0)
            return tki_fail_index(call->ctx, c->contract, p, i,
                                  tki_index_at(tk_case_param_dtype(c, p), call->buffers[p], i),
                                  c->dims[c->contract->params[p].indexed_dim]);
    }
    return TK_OK;
}

static tk_status launch(const tki_call *call)
{
    const tk_implementation *implementation = call->lowering->kernels;
    tk_status status = check_indices(call);
    if (status != TK_OK)
        return status;
    const int result = implementation->run(call->c, call->buffers, implementation->user_data);
    return result == 0 ? TK_OK
                       : tki_fail(call->ctx, TK_UNAVAILABLE, "%s: implementation %s returned %d",
                                  call->c->contract->name, implementation->name, result);
}

static const char *wrong_implementations(int count, const tk_implementation list[])
{
    if (count < 0 || count > TK_MAX_IMPLEMENTATIONS || (count && !list))
        return "implementation_count is out of range, or `implementations` is NULL";
    for (int i = 0; i < count; i++) {
        if (!tki_is_name(list[i].name, TKI_MOST_NAME) || !list[i].run)
            return "an implementation has no function, or its name is not of lower-case letters, digits and _";
        for (int k = 0; k < i; k++)
            if (!strcmp(list[i].name, list[k].name))
                return "two implementations have the same name";
        if ((unsigned)list[i].determinism > TK_CROSS_DEVICE)
            return "`determinism` of an implementation is out of range";
        if (!list[i].source != !list[i].compiler || !list[i].source != !list[i].options)
            return "`source`, `compiler` and `options` of an implementation must be set together";
    }
    return NULL;
}

/* Their lowerings, and the end. */
static const tki_lowering *make_lowerings(tki_made_op *op, int count, const tk_implementation list[])
{
    tki_lowering *lowerings = tki_made_op_keep(op, NULL, ((size_t)count + 1) * sizeof *lowerings);
    tk_implementation *kept = tki_made_op_keep(op, list, (size_t)count * sizeof *list);
    for (int i = 0; i < count && !op->is_incomplete; i++) {
        kept[i].name = tki_made_op_keep_text(op, list[i].name);
        kept[i].promise = tki_made_op_keep_text(op, list[i].promise);
        kept[i].source = tki_made_op_keep_text(op, list[i].source);
        kept[i].compiler = tki_made_op_keep_text(op, list[i].compiler);
        kept[i].options = tki_made_op_keep_text(op, list[i].options);
        lowerings[i] = (tki_lowering){.backend = &tki_backends[TKI_CPU],
                                      .variant = kept[i].name,
                                      .refusal = kept[i].refusal,
                                      .launch = launch,
                                      .kernels = &kept[i],
                                      .determinism = kept[i].determinism,
                                      .promise = kept[i].promise,
                                      .promises_bound = kept[i].promises_bound};
    }
    return lowerings;
}

const tk_contract *tk_ctx_contract_find(const tk_ctx *ctx, const char *name)
{
    for (const tki_made_op *op = ctx && name ? ctx->made_ops : NULL; op; op = op->next)
        if (!op->unnamed && !strcmp(op->contract.name, name))
            return &op->contract;
    return tk_contract_find(name);
}

static tk_status register_op(tk_ctx *ctx, const tk_contract *contract, int count,
                             const tk_implementation implementations[], bool unnamed, const tk_contract **registered)
{
    if (!ctx)
        return TK_BAD_ARGUMENT;
    if (!contract || !registered)
        return tki_fail(ctx, TK_BAD_ARGUMENT, "no contract, or no pointer for the registered one");
    const char *wrong = tki_wrong_contract(contract);
    if (!wrong)
        wrong = wrong_implementations(count, implementations);
    if (wrong)
        return tki_fail(ctx, TK_BAD_ARGUMENT, "the contract of %.63s cannot be registered: %s",
                        contract->name ? contract->name : "nothing", wrong);
    if (unnamed ? tk_contract_find(contract->name) : tk_ctx_contract_find(ctx, contract->name))
        return tki_fail(ctx, TK_BAD_ARGUMENT, "an op %s exists already", contract->name);
    tki_made_op *op = tki_made_op_create(contract);
    if (op)
        op->op.lowerings = make_lowerings(op, count, implementations);
    if (!op || op->is_incomplete) {
        tki_made_op_free(op);
        return tki_fail(ctx, TK_NO_MEMORY, "no memory for the contract of %s", contract->name);
    }
    op->unnamed = unnamed;
    op->next = ctx->made_ops;
    ctx->made_ops = op;
    ctx->free_made_ops = free_made_ops;
    *registered = &op->contract;
    return TK_OK;
}

tk_status tk_contract_register(tk_ctx *ctx, const tk_contract *contract, int count,
                               const tk_implementation implementations[], const tk_contract **registered)
{
    return register_op(ctx, contract, count, implementations, false, registered);
}

tk_status tki_contract_register_unnamed(tk_ctx *ctx, const tk_contract *contract, const tk_contract **registered)
{
    return register_op(ctx, contract, 0, NULL, true, registered);
}
