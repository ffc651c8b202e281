/* DECIDES. Cases: sizes, types and buffers of one run, and the checks that every run passes before anything is launched. */
#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/context.h"
#include "model/attributes.h"
#include "model/case.h"
#include "model/format.h"
#include "model/op.h"

bool tki_is_name(const char *name, size_t most)
{
    if (!name || !islower((unsigned char)name[0]) || strlen(name) > most)
        return false;
    for (; *name; name++)
        if (!islower((unsigned char)*name) && !isdigit((unsigned char)*name) && *name != '_')
            return false;
    return true;
}

size_t tk_dtype_size(tk_dtype dtype)
{
    return tki_is_dtype(dtype) ? (size_t)tki_format_bytes(tki_format_of(dtype)) : 0;
}

const char *tk_dtype_name(tk_dtype dtype)
{
    return tki_is_dtype(dtype) ? tki_format_of(dtype).name : "unknown";
}

const char *tk_determinism_name(tk_determinism level)
{
    static const char *const names[] = {"none", "run_to_run", "batch_invariant", "cross_device"};
    return (unsigned)level < sizeof names / sizeof *names ? names[level] : "unknown";
}

void tk_types_name(tk_types types, char *text, size_t size)
{
    const bool mixed = types.result_dtype != types.dtype;
    snprintf(text, size, "%s%s%s", tk_dtype_name(types.dtype), mixed ? "-" : "",
             mixed ? tk_dtype_name(types.result_dtype) : "");
}

static bool find_dtype(const char *text, size_t length, tk_dtype *dtype)
{
    for (*dtype = 0; tki_is_dtype(*dtype); (*dtype)++)
        if (strlen(tk_dtype_name(*dtype)) == length && !memcmp(tk_dtype_name(*dtype), text, length))
            return true;
    return false;
}

bool tk_types_parse(const char *text, tk_types *types)
{
    const size_t first = strcspn(text, "-");
    const char *second = text[first] ? text + first + 1 : text;
    return find_dtype(text, first, &types->dtype) && find_dtype(second, strlen(second), &types->result_dtype);
}

int tki_next_index_param(const tk_contract *contract, int after)
{
    for (int p = after + 1; p < contract->param_count; p++)
        if (contract->params[p].kind == TK_KIND_INDEX && !contract->params[p].output)
            return p;
    return -1;
}

bool tk_contract_takes_index(const tk_contract *contract)
{
    for (int p = 0; p < contract->param_count && !contract->tensor_types; p++)
        if (contract->params[p].kind == TK_KIND_INDEX)
            return true;
    return false;
}

bool tki_indices_point_somewhere(const tk_case *c)
{
    bool all = true;
    for (int p = -1; (p = tki_next_index_param(c->contract, p)) >= 0;)
        all &= tki_index_values(c, p) > 0 || tk_case_elements(c, p) == 0;
    return all;
}

bool tki_has_valid_indices(const tk_case *c)
{
    for (int p = 0; p < c->contract->param_count; p++) {
        const tk_param *param = &c->contract->params[p];
        if (param->kind != TK_KIND_INDEX || tk_case_elements(c, p) == 0 || tki_index_values(c, p) > 0)
            continue;
        const int also = tki_index_attribute(c->contract, p);
        const int64_t value = also >= 0 ? c->attributes[also].integer : 0;
        if (also < 0 || !tki_index_fits(tk_case_param_dtype(c, p), value))
            return false;
    }
    return true;
}

int tki_index_attribute(const tk_contract *contract, int param)
{
    return contract->params[param].also ? tk_attribute_find(contract, contract->params[param].also) : -1;
}

int64_t tki_index_values(const tk_case *c, int param)
{
    const tk_param *p = &c->contract->params[param];
    return c->dims[p->indexed_dim] + (p->rule == TK_INDICES_ENDS);
}

bool tki_index_is_valid(const tk_case *c, int param, int64_t before, int64_t index)
{
    const int also = tki_index_attribute(c->contract, param);
    const int64_t least = c->contract->params[param].rule == TK_INDICES_ENDS ? before : 0;
    return (index >= least && index < tki_index_values(c, param)) ||
           (also >= 0 && index == c->attributes[also].integer);
}

int64_t tki_first_bad_index(const tk_case *c, int param, const void *data)
{
    const tk_dtype dtype = tk_case_param_dtype(c, param);
    int64_t before = 0;
    for (int64_t i = 0; i < tk_case_elements(c, param); i++) {
        const int64_t index = tki_index_at(dtype, data, i);
        if (!tki_index_is_valid(c, param, before, index))
            return i;
        before = index;
    }
    return -1;
}

int tki_seen_attributes(const tk_contract *contract)
{
    int count = 0;
    for (int i = 0; i < contract->attribute_count; i++)
        count += contract->attributes[i].seen_by_kernel;
    return count;
}

int tki_attribute_of_role(const tk_contract *contract, tk_role role)
{
    for (int i = 0; i < contract->attribute_count; i++)
        if (contract->attributes[i].role == role)
            return i;
    return -1;
}

int tki_choice_of_role(const tk_contract *contract, const tk_value attributes[], tk_role role)
{
    const int i = tki_attribute_of_role(contract, role);
    return i < 0 ? 0 : (int)attributes[i].integer;
}

void tki_set_role(const tk_contract *contract, tk_value attributes[], tk_role role, int choice)
{
    const int i = tki_attribute_of_role(contract, role);
    if (i >= 0)
        attributes[i].integer = choice;
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

bool tki_attribute_allows(const tk_attribute *attribute, tk_value value)
{
    switch (attribute->type) {
    case TK_ATTRIBUTE_CHOICE: return value.integer >= 0 && value.integer < attribute->choice_count;
    case TK_ATTRIBUTE_INTEGER:
        return value.integer >= attribute->least.integer && value.integer <= attribute->most.integer;
    case TK_ATTRIBUTE_REAL: break;
    }
    return value.real >= attribute->least.real && value.real <= attribute->most.real &&
           (!attribute->fp32 || (double)(float)value.real == value.real);
}

/* With as few digits as give the number again. */
static void print_real(const tk_attribute *attribute, double value, char *text, size_t size)
{
    for (int digits = 6; digits <= 17; digits++) {
        snprintf(text, size, "%.*g", digits, value);
        const double again = strtod(text, NULL);
        if (attribute->fp32 ? (float)again == (float)value : again == value)
            return;
    }
}

void tk_attribute_print(const tk_attribute *attribute, tk_value value, char *text, size_t size)
{
    switch (attribute->type) {
    case TK_ATTRIBUTE_CHOICE:
        snprintf(text, size, "%s",
                 tki_attribute_allows(attribute, value) ? attribute->choices[value.integer].id : "unknown");
        return;
    case TK_ATTRIBUTE_INTEGER: snprintf(text, size, "%lld", (long long)value.integer); return;
    case TK_ATTRIBUTE_REAL: print_real(attribute, value.real, text, size); return;
    }
}

bool tk_attribute_parse(const tk_attribute *attribute, const char *text, tk_value *value)
{
    char *end = NULL;
    errno = 0;
    switch (attribute->type) {
    case TK_ATTRIBUTE_CHOICE: value->integer = tk_choice_find(attribute, text); return value->integer >= 0;
    case TK_ATTRIBUTE_INTEGER: value->integer = strtoll(text, &end, 0); break;
    case TK_ATTRIBUTE_REAL: value->real = attribute->fp32 ? (double)strtof(text, &end) : strtod(text, &end); break;
    }
    /* No blanks before it: strtoll() and strtod() would skip them. A subnormal number sets errno and is a number. */
    const bool number = end != text && !*end && !strchr(" \t\n\v\f\r", text[0]);
    const bool fits = attribute->type == TK_ATTRIBUTE_REAL || !errno;
    return number && fits && tki_attribute_allows(attribute, *value);
}

tk_case tk_case_init(const tk_contract *contract, tk_dtype dtype)
{
    tk_case c = {.contract = contract, .dtype = dtype, .result_dtype = dtype, .index_dtype = TK_I32};
    for (int i = 0; i < contract->attribute_count; i++)
        c.attributes[i] = contract->attributes[i].initial;
    return c;
}

int tki_case_types(const tk_case *c)
{
    int i = c->contract->type_count - 1;
    while (i >= 0 &&
           (c->contract->types[i].dtype != c->dtype || c->contract->types[i].result_dtype != c->result_dtype))
        i--;
    return i;
}

tk_dtype tk_case_param_dtype(const tk_case *c, int param)
{
    const tk_param *p = &c->contract->params[param];
    const int assignment = c->contract->tensor_types ? tki_case_types(c) : -1;
    if (assignment >= 0)
        return c->contract->tensor_types[assignment * c->contract->param_count + param];
    switch (p->kind) {
    case TK_KIND_VALUE: return c->dtype;
    case TK_KIND_INDEX: return c->index_dtype;
    case TK_KIND_RESULT: return c->result_dtype;
    case TK_KIND_FIXED: break;
    }
    return p->dtype;
}

tk_dtype tki_kind_dtype(const tk_case *c, tk_kind kind)
{
    for (int p = 0; p < c->contract->param_count; p++)
        if (c->contract->params[p].kind == kind)
            return tk_case_param_dtype(c, p);
    return kind == TK_KIND_RESULT ? c->result_dtype : c->dtype;
}

bool tk_case_has(const tk_case *c, int param)
{
    const tk_param *p = &c->contract->params[param];
    if (!p->when_choices)
        return true;
    const int64_t choice = c->attributes[p->when_attribute].integer;
    return choice >= 0 && choice < TK_MAX_CHOICES && (p->when_choices >> choice & 1);
}

int64_t tk_case_elements(const tk_case *c, int param)
{
    const tk_param *p = &c->contract->params[param];
    int64_t count = tk_case_has(c, param);
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

bool tk_case_is_finite(const tk_case *c)
{
    const double most = 0x1p32;
    double domain = 1;
    for (int p = 0; p < c->contract->param_count; p++)
        domain *= c->contract->params[p].output ? 1 : ldexp(1, tki_pattern_bits(tk_case_param_dtype(c, p)));
    for (int i = 0; i < c->contract->attribute_count; i++) {
        const tk_attribute *attribute = &c->contract->attributes[i];
        const bool choice = attribute->type == TK_ATTRIBUTE_CHOICE;
        if (attribute->seen_by_kernel && !choice)
            return false; /* of numbers trials take a few */
        domain *= attribute->seen_by_kernel ? attribute->choice_count : 1;
    }
    return c->contract->elementwise && domain <= most;
}

/* "f16, bf16, f16-f32", cut to fit. */
static void list_types(const tk_contract *contract, char *text, size_t size)
{
    size_t length = 0;
    for (int i = 0; i < contract->type_count && length < size; i++) {
        char name[32];
        tk_types_name(contract->types[i], name, sizeof name);
        length += (size_t)snprintf(text + length, size - length, "%s%s", i ? ", " : "", name);
    }
}

static tk_status fail_attribute(tk_ctx *ctx, const tk_case *c, int i)
{
    const tk_attribute *attribute = &c->contract->attributes[i];
    char value[32], least[32], most[32];
    if (attribute->type == TK_ATTRIBUTE_CHOICE)
        return tki_fail(ctx, TK_BAD_ARGUMENT, "%s: %s has no choice %lld", c->contract->name, attribute->name,
                        (long long)c->attributes[i].integer);
    tk_attribute_print(attribute, c->attributes[i], value, sizeof value);
    tk_attribute_print(attribute, attribute->least, least, sizeof least);
    tk_attribute_print(attribute, attribute->most, most, sizeof most);
    return tki_fail(ctx, TK_BAD_ARGUMENT, "%s: %s is %s; it must lie in [%s, %s]", c->contract->name, attribute->name,
                    value, least, most);
}

bool tki_case_may_saturate(const tk_case *c)
{
    for (int p = 0; p < c->contract->param_count; p++)
        if (c->contract->params[p].output && tki_may_saturate(tk_case_param_dtype(c, p)))
            return true;
    return false;
}

static tk_status check_attributes(tk_ctx *ctx, const tk_case *c)
{
    const int overflow = tki_attribute_of_role(c->contract, TK_ROLE_OVERFLOW);
    if (overflow >= 0 && c->attributes[overflow].integer != c->contract->attributes[overflow].initial.integer &&
        !tki_case_may_saturate(c))
        return tki_fail(ctx, TK_BAD_ARGUMENT, "%s: overflow is for results of f8_e4m3 and f8_e5m2; these are %s",
                        c->contract->name, tk_dtype_name(c->result_dtype));
    for (int i = 0; i < c->contract->attribute_count; i++) {
        const tk_attribute *attribute = &c->contract->attributes[i];
        if (!tki_attribute_allows(attribute, c->attributes[i]))
            return fail_attribute(ctx, c, i);
    }
    return TK_OK;
}

static tk_status check_types(tk_ctx *ctx, const tk_case *c)
{
    if (tki_case_types(c) < 0) {
        char taken[256];
        list_types(c->contract, taken, sizeof taken);
        return tki_fail(ctx, TK_BAD_ARGUMENT, "%s: the types are %s and %s; it takes %s", c->contract->name,
                        tk_dtype_name(c->dtype), tk_dtype_name(c->result_dtype), taken);
    }
    if (tk_contract_takes_index(c->contract) && c->index_dtype != TK_I32 && c->index_dtype != TK_I64)
        return tki_fail(ctx, TK_BAD_ARGUMENT, "%s: index type is %s; it takes i32 and i64", c->contract->name,
                        tk_dtype_name(c->index_dtype));
    return check_attributes(ctx, c);
}

bool tki_case_is_settled(const tk_case *c)
{
    tk_case derived = *c;
    if (c->contract->derive)
        c->contract->derive(&derived);
    for (int d = 0; d < c->contract->dim_count; d++)
        if (derived.dims[d] != c->dims[d] || c->dims[d] < 0)
            return false;
    return !c->contract->refusal || !c->contract->refusal(c);
}

static bool settle_as_it_is(tk_case *c)
{
    if (c->contract->derive)
        c->contract->derive(c);
    return tki_case_is_settled(c);
}

bool tki_case_settle(tk_case *c)
{
    enum { MOST_STEPS = 32, MOST_MULTIPLE = 256 };
    const tk_case asked = *c;
    if (settle_as_it_is(c))
        return true;
    for (int step = 1; step <= MOST_STEPS; step++)
        for (int d = 0; d < c->contract->dim_count; d++)
            for (int sign = 1; sign >= -1 && !tki_is_derived(c->contract, d); sign -= 2) {
                *c = asked;
                c->dims[d] += sign * step;
                if (c->dims[d] >= 0 && settle_as_it_is(c))
                    return true;
            }
    for (int64_t multiple = 1; multiple <= MOST_MULTIPLE; multiple *= 2) {
        *c = asked;
        for (int d = 0; d < c->contract->dim_count; d++)
            if (!tki_is_derived(c->contract, d) && asked.dims[d] <= INT64_MAX - multiple)
                c->dims[d] = asked.dims[d] < 1 ? multiple : (asked.dims[d] + multiple - 1) / multiple * multiple;
        if (settle_as_it_is(c))
            return true;
    }
    *c = asked;
    return false;
}

static tk_status check_sizes(tk_ctx *ctx, const tk_case *c)
{
    const tk_contract *contract = c->contract;
    if (contract->op && !tki_contract_is_known(ctx, contract))
        return tki_fail(ctx, TK_BAD_ARGUMENT, "%s: a copy of a registered contract, or one of another context",
                        contract->name);
    for (int d = 0; d < contract->dim_count; d++)
        if (c->dims[d] < 0)
            return tki_fail(ctx, TK_BAD_ARGUMENT, "%s: %s is %lld; sizes cannot be negative", contract->name,
                            contract->dim_names[d], (long long)c->dims[d]);
    tk_case derived = *c;
    if (contract->derive)
        contract->derive(&derived);
    for (int d = 0; d < contract->dim_count; d++)
        if (derived.dims[d] != c->dims[d] && !tki_is_derived(contract, d))
            return tki_fail(ctx, TK_BAD_ARGUMENT, "%s: its derive() sets %s, which it does not list in `derived`",
                            contract->name, contract->dim_names[d]);
    for (int d = 0; d < contract->dim_count; d++)
        if (derived.dims[d] != c->dims[d] || derived.dims[d] < 0)
            return tki_fail(ctx, TK_BAD_ARGUMENT, "%s: %s is %lld; it must be %s, which is %lld here", contract->name,
                            contract->dim_names[d], (long long)c->dims[d], contract->derived[d],
                            (long long)derived.dims[d]);
    for (int p = 0; p < contract->param_count; p++)
        if (tk_case_elements(c, p) < 0)
            return tki_fail(ctx, TK_BAD_ARGUMENT, "%s: the size of %s in bytes does not fit in 63 bits",
                            contract->name, contract->params[p].name);
    const char *reason = contract->refusal ? contract->refusal(c) : NULL;
    return reason ? tki_fail(ctx, TK_BAD_ARGUMENT, "%s: %s", contract->name, reason) : TK_OK;
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

tk_status tki_fail_index(tk_ctx *ctx, const tk_contract *contract, int param, int64_t position, int64_t value,
                         int64_t range)
{
    const tki_fault fault = {.kind = TKI_FAULT_INDEX, .tensor = param, .offset = position};
    const char *name = param >= 0 ? contract->params[param].name : "index";
    tk_status status;
    if (range >= 0 && fault.tensor >= 0 && contract->params[fault.tensor].rule == TK_INDICES_ENDS)
        status = tki_fail(ctx, TK_BAD_INDEX, "%s: %s[%lld] = %lld is outside [0, %lld], or less than the one before",
                          contract->name, name, (long long)position, (long long)value, (long long)range);
    else if (range >= 0)
        status = tki_fail(ctx, TK_BAD_INDEX, "%s: %s[%lld] = %lld is outside [0, %lld)", contract->name, name,
                          (long long)position, (long long)value, (long long)range);
    else
        status = tki_fail(ctx, TK_BAD_INDEX, "%s: %s[%lld] is out of range", contract->name, name,
                          (long long)position);
    ctx->fault = fault;
    return status;
}
