/* A user's kernel takes the call, the sizes in contract order, then the tensors in contract order. */
#include "cli/kernel_abi.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

__attribute__((format(printf, 3, 4))) static void append(char *text, size_t size, const char *format, ...)
{
    size_t used = strlen(text);
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text + used, size - used, format, arguments);
    va_end(arguments);
}

void cli_kernel_parameters(const tk_contract *contract, char *text, size_t size)
{
    text[0] = '\0';
    for (int d = 0; d < contract->dim_count; d++)
        append(text, size, ", int64_t %s", contract->dim_names[d]);
    for (int p = 0; p < contract->param_count; p++)
        append(text, size, ", %s%s *%s", contract->params[p].output ? "" : "const ",
               contract->params[p].kind == TK_KIND_FIXED && contract->params[p].dtype == TK_F32 ? "float" : "void",
               contract->params[p].name);
}

void cli_kernel_arguments(const tk_contract *contract, char *text, size_t size)
{
    text[0] = '\0';
    for (int d = 0; d < contract->dim_count; d++)
        append(text, size, ", %s", contract->dim_names[d]);
    for (int p = 0; p < contract->param_count; p++)
        append(text, size, ", %s", contract->params[p].name);
}

void cli_kernel_prototype(const tk_contract *contract, char *text, size_t size)
{
    char parameters[CLI_PROTOTYPE_SIZE];
    cli_kernel_parameters(contract, parameters, sizeof parameters);
    snprintf(text, size, "int tokitai_%s(const tokitai_call *call%s);", contract->name, parameters);
}
