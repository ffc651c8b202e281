/* CHOOSES. kernel_calls.c: for the worker, a function for each op that calls a user kernel of it, and where its attributes lie in tokitai_call. */
#include <ctype.h>

#include "headers/headers.h"
#include "model/format.h"
#include "model/signature.h"

static void write_caller(FILE *out, const tk_contract *contract)
{
    fprintf(
        out,
        "static int call_%s(void *function, const tokitai_call *call, const int64_t *sizes, void *const *tensors)\n"
        "{\n"
        "    return ((__typeof__(tokitai_%s) *)function)(call",
        contract->name, contract->name);
    for (int d = 0; d < contract->dim_count; d++)
        fprintf(out, ", sizes[%d]", d);
    for (int p = 0; p < contract->param_count; p++)
        fprintf(out, ", tensors[%d]", p);
    fputs(");\n}\n\n", out);
}

static void write_members(FILE *out)
{
    const tk_attribute *members[TK_MAX_ATTRIBUTES];
    const int count = generate_call_members(members);
    for (int i = 0; i < count; i++)
        fprintf(out, "_Static_assert(offsetof(tokitai_call, %s) == %d, \"ABI 1\");\n", members[i]->name,
                members[i]->abi_1_offset);
    for (tk_dtype dtype = 0; tki_is_dtype(dtype); dtype++) {
        char name[32];
        snprintf(name, sizeof name, "%s", tk_dtype_name(dtype));
        for (char *at = name; *at; at++)
            *at = (char)toupper((unsigned char)*at);
        fprintf(out, "_Static_assert((int)TOKITAI_%s == %d, \"tokitai_kernel.h has other types\");\n", name,
                (int)dtype);
    }
    fputs("\nconst tki_call_member tki_call_members[] = {\n", out);
    for (int i = 0; i < count; i++)
        fprintf(out, "    {\"%s\", %s, offsetof(tokitai_call, %s)},\n", members[i]->name,
                members[i]->type == TK_ATTRIBUTE_REAL ? "true" : "false", members[i]->name);
    fputs("    {0},\n};\n", out);
}

void generate_kernel_calls(FILE *out)
{
    const tk_contract *contract;
    fputs("/* Made from the contracts by headers/kernel_calls.c. */\n"
          "#include <stddef.h>\n\n"
          "#include \"worker/worker_calls.h\"\n\n",
          out);
    for (int i = 0; (contract = generate_contract_at(i)); i++)
        if (tki_has_abi_1(contract))
            write_caller(out, contract);
    fputs("const tki_kernel_call tki_kernel_calls[] = {\n", out);
    for (int i = 0; (contract = generate_contract_at(i)); i++)
        if (tki_has_abi_1(contract))
            fprintf(out, "    {\"%s\", %d, %d, call_%s},\n", contract->name, contract->dim_count,
                    contract->param_count, contract->name);
    fputs("    {0},\n};\n\n", out);
    write_members(out);
}
