/* Cases: sizes, types and buffers of one run, and the checks that every run passes before anything is launched. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/case.h"
#include "core/context.h"

size_t tk_dtype_size(tk_dtype dtype)
{
    switch (dtype) {
    case TK_F16:
    case TK_BF16: return 2;
    case TK_F32:
    case TK_I32: return 4;
    case TK_I64: return 8;
    }
    return 0;
}

const char *tk_dtype_name(tk_dtype dtype)
{
    static const char *const names[] = {"f16", "bf16", "f32", "i32", "i64"};
    return (unsigned)dtype < sizeof names / sizeof *names ? names[dtype] : "unknown";
}

const char *tk_determinism_name(tk_determinism level)
{
    static const char *const names[] = {"none", "run_to_run", "batch_invariant", "cross_device"};
    return (unsigned)level < sizeof names / sizeof *names ? names[level] : "unknown";
}

int tki_index_param(const tk_contract *contract)
{
    for (int p = 0; p < contract->param_count; p++)
        if (contract->params[p].kind == TK_KIND_INDEX)
            return p;
    return -1;
}

bool tk_contract_takes_index(const tk_contract *contract)
{
    return tki_index_param(contract) >= 0;
}

int tk_attribute_find(const tk_contract *contract, const char *name)
{
    for (int i = 0; i < contract->attribute_count; i++)
        if (!strcmp(contract->attributes[i].name, name))
            return i;
    return -1;
}

int tk_choice_find(const tk_attribute *attribute, const char *name)
{
    for (int i = 0; i < attribute->choice_count; i++)
        if (!strcmp(attribute->choices[i].id, name))
            return i;
    return -1;
}

tk_case tk_case_init(const tk_contract *contract, tk_dtype dtype)
{
    return (tk_case){.contract = contract, .dtype = dtype, .index_dtype = TK_I32, .xent = TK_XENT_DEFAULTS};
}

tk_dtype tk_case_param_dtype(const tk_case *c, int param)
{
    switch (c->contract->params[param].kind) {
    case TK_KIND_VALUE: return c->dtype;
    case TK_KIND_INDEX: return c->index_dtype;
    case TK_KIND_F32: return TK_F32;
    }
    return TK_F32;
}

int64_t tk_case_elements(const tk_case *c, int param)
{
    const tk_param *p = &c->contract->params[param];
    int64_t count = 1;
    bool overflow = false;
    /* A zero size makes the product zero even beside a size with which it would overflow on the way. */
    for (int axis = 0; axis < p->rank; axis++) {
        if (c->dims[p->dim[axis]] < 0)
            return -1;
        if (c->dims[p->dim[axis]] == 0)
            count = 0;
    }
    for (int axis = 0; axis < p->rank && count; axis++)
        overflow |= __builtin_mul_overflow(count, c->dims[p->dim[axis]], &count);
    int64_t bytes;
    overflow |= __builtin_mul_overflow(count, (int64_t)tk_dtype_size(tk_case_param_dtype(c, param)), &bytes);
    return overflow ? -1 : count;
}

static tk_status check_types(tk_ctx *ctx, const tk_case *c)
{
    if (c->dtype != TK_F16 && c->dtype != TK_BF16)
        return tki_fail(ctx, TK_BAD_ARGUMENT, "%s: dtype is %s; it takes f16 and bf16", c->contract->name,
                        tk_dtype_name(c->dtype));
    if (tk_contract_takes_index(c->contract) && c->index_dtype != TK_I32 && c->index_dtype != TK_I64)
        return tki_fail(ctx, TK_BAD_ARGUMENT, "%s: index type is %s; it takes i32 and i64", c->contract->name,
                        tk_dtype_name(c->index_dtype));
    if (c->contract->takes_xent_options) {
        if (!(c->xent.label_smoothing >= 0 && c->xent.label_smoothing <= 1))
            return tki_fail(ctx, TK_BAD_ARGUMENT, "%s: label_smoothing is %g; it must lie in [0, 1]",
                            c->contract->name, (double)c->xent.label_smoothing);
        if (!isfinite(c->xent.scale))
            return tki_fail(ctx, TK_BAD_ARGUMENT, "%s: scale is %g; it must be finite", c->contract->name,
                            (double)c->xent.scale);
    }
    for (int i = 0; i < c->contract->attribute_count; i++)
        if (c->attributes[i] >= c->contract->attributes[i].choice_count)
            return tki_fail(ctx, TK_BAD_ARGUMENT, "%s: %s has no choice %d", c->contract->name,
                            c->contract->attributes[i].name, c->attributes[i]);
    return TK_OK;
}

static tk_status check_sizes(tk_ctx *ctx, const tk_case *c)
{
    const tk_contract *contract = c->contract;
    for (int d = 0; d < contract->dim_count; d++)
        if (c->dims[d] < 0)
            return tki_fail(ctx, TK_BAD_ARGUMENT, "%s: %s is %lld; sizes cannot be negative", contract->name,
                            contract->dim_names[d], (long long)c->dims[d]);
    for (int p = 0; p < contract->param_count; p++)
        if (tk_case_elements(c, p) < 0)
            return tki_fail(ctx, TK_BAD_ARGUMENT, "%s: the size of %s in bytes does not fit in 63 bits",
                            contract->name, contract->params[p].name);
    return TK_OK;
}

static tk_status check_buffers(tk_ctx *ctx, const tk_case *c, void *const buffers[])
{
    const tk_contract *contract = c->contract;
    uintptr_t begin[TK_MAX_PARAMS];
    uintptr_t end[TK_MAX_PARAMS];
    for (int p = 0; p < contract->param_count; p++) {
        size_t element = tk_dtype_size(tk_case_param_dtype(c, p));
        begin[p] = (uintptr_t)buffers[p];
        end[p] = begin[p] + (size_t)tk_case_elements(c, p) * element;
        if (begin[p] == end[p])
            continue;
        if (!buffers[p])
            return tki_fail(ctx, TK_BAD_ARGUMENT, "%s: %s is NULL", contract->name, contract->params[p].name);
        if (end[p] < begin[p])
            return tki_fail(ctx, TK_BAD_ARGUMENT, "%s: %s runs past the end of the address space", contract->name,
                            contract->params[p].name);
        if (begin[p] % element)
            return tki_fail(ctx, TK_BAD_ARGUMENT, "%s: %s at %p is not aligned to its %zu-byte elements",
                            contract->name, contract->params[p].name, buffers[p], element);
    }
    for (int out = 0; out < contract->param_count; out++) {
        if (!contract->params[out].output)
            continue;
        for (int p = 0; p < contract->param_count; p++) {
            bool apart = end[p] <= begin[out] || end[out] <= begin[p] || begin[p] == end[p] || begin[out] == end[out];
            bool same_and_allowed = contract->params[out].may_alias == p && begin[p] == begin[out] &&
                                    end[p] == end[out];
            if (p != out && !apart && !same_and_allowed)
                return tki_fail(ctx, TK_BAD_ARGUMENT, "%s: %s overlaps %s", contract->name,
                                contract->params[out].name, contract->params[p].name);
        }
    }
    return TK_OK;
}

tk_status tki_case_check_shape(tk_ctx *ctx, const tk_case *c)
{
    tk_status status = check_types(ctx, c);
    return status == TK_OK ? check_sizes(ctx, c) : status;
}

tk_status tk_case_check(tk_ctx *ctx, const tk_case *c, void *const buffers[])
{
    if (!ctx)
        return TK_BAD_ARGUMENT;
    if (!c || !c->contract || !buffers)
        return tki_fail(ctx, TK_BAD_ARGUMENT, "no case, no contract or no buffers");
    tk_status status = tki_case_check_shape(ctx, c);
    return status == TK_OK ? check_buffers(ctx, c, buffers) : status;
}
