/* CHOOSES. A typed call takes the types, the sizes in contract order, then the tensors in contract order, with the options between inputs and
 * outputs. A user kernel takes the call, the sizes and the tensors. */
#include "model/signature.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "model/case.h"

const char *tki_element_type(const tk_param *param)
{
    static const char *const types[] = {
        [TK_F32] = "float", [TK_I32] = "int32_t", [TK_I64] = "int64_t", [TK_U64] = "uint64_t"};
    const char *type = param->kind == TK_KIND_FIXED ? types[param->dtype] : NULL;
    return type ? type : "void";
}

bool tki_has_abi_1(const tk_contract *contract)
{
    for (int i = 0; i < contract->attribute_count; i++)
        if (contract->attributes[i].seen_by_kernel && !contract->attributes[i].abi_1_offset)
            return false;
    return true;
}

int tki_first_output(const tk_contract *contract)
{
    int p = 0;
    while (p < contract->param_count && !contract->params[p].output)
        p++;
    return p;
}

__attribute__((format(printf, 3, 4))) static void append(char *text, size_t size, const char *format, ...)
{
    const size_t used = strlen(text);
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text + used, size - used, format, arguments);
    va_end(arguments);
}

/* `options`: the position of the tensor that they stand before; -1: there are none. */
static void append_rest(const tk_contract *contract, int options, char *text, size_t size)
{
    for (int d = 0; d < contract->dim_count; d++)
        append(text, size, ", int64_t %s", contract->dim_names[d]);
    for (int p = 0; p < contract->param_count; p++) {
        const tk_param *param = &contract->params[p];
        if (p == options)
            append(text, size, ", const tk_%s_options *options", contract->name);
        append(text, size, ", %s%s *%s", param->output ? "" : "const ", tki_element_type(param), param->name);
    }
    append(text, size, ");");
}

void tk_contract_signature(const tk_contract *contract, char *text, size_t size)
{
    if (!size)
        return;
    snprintf(text, size, "tk_status tk_%s(tk_ctx *ctx, tk_dtype dtype%s", contract->name,
             tk_contract_takes_index(contract) ? ", tk_dtype index_dtype" : "");
    append_rest(contract, tki_seen_attributes(contract) ? tki_first_output(contract) : -1, text, size);
}

void tk_contract_kernel_signature(const tk_contract *contract, char *text, size_t size)
{
    if (!size)
        return;
    /* Ops that are made at run time have what ABI 2 has not: reals that are no fp32 numbers, a type for each tensor. */
    if (contract->op || !tki_has_abi_1(contract)) {
        snprintf(text, size, "TOKITAI_KERNEL%s(%s)", contract->op ? "3" : "", contract->name);
        return;
    }
    snprintf(text, size, "int tokitai_%s(const tokitai_call *call", contract->name);
    append_rest(contract, -1, text, size);
}

void tk_contract_condition(const tk_contract *contract, int param, char *text, size_t size)
{
    if (!size)
        return;
    text[0] = 0;
    uint64_t left = contract->params[param].when_choices;
    if (!left)
        return;
    const tk_attribute *attribute = &contract->attributes[contract->params[param].when_attribute];
    snprintf(text, size, "with %s", attribute->name);
    const char *between = " ";
    for (int i = 0; i < attribute->choice_count; i++) {
        if (!(contract->params[param].when_choices >> i & 1))
            continue;
        left &= left - 1;
        append(text, size, "%s%s", between, attribute->choices[i].id);
        between = left & (left - 1) ? ", " : " or ";
    }
}
