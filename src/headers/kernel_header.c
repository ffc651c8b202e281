/* CHOOSES. tokitai_kernel_ops.h: the functions of user kernels, and the attributes that they are given. */
#include "headers/headers.h"
#include "model/signature.h"

static void write_members(FILE *out)
{
    const tk_attribute *members[TK_MAX_ATTRIBUTES];
    const int count = generate_call_members(members);
    fputs("/* Members of tokitai_call:\n", out);
    for (int i = 0; i < count; i++) {
        const int column = fprintf(out, " *   %s:", members[i]->name);
        generate_wrapped(out, 5, column, members[i]->text);
        fputs("\n", out);
    }
    fputs(" */\n#define TOKITAI_CALL_ATTRIBUTES", out);
    for (int i = 0; i < count; i++)
        fprintf(out, "%s \\\n    %s %s", i ? ";" : "", members[i]->type == TK_ATTRIBUTE_REAL ? "float" : "int64_t",
                members[i]->name);
    fputs("\n\n", out);
}

static void write_comment(FILE *out, const tk_contract *contract)
{
    fprintf(out, "/* %s: %s.", contract->name, contract->summary);
    for (int p = 0; p < contract->param_count; p++)
        if (contract->params[p].output && contract->params[p].may_alias >= 0)
            fprintf(out, " %s may be the same buffer as %s.", contract->params[p].name,
                    contract->params[contract->params[p].may_alias].name);
    for (int i = 0; i < contract->attribute_count; i++)
        if (contract->attributes[i].seen_by_kernel)
            fprintf(out, "\n *   call->%s", contract->attributes[i].name);
    fputs(" */\n", out);
}

void generate_kernel_header(FILE *out)
{
    const tk_contract *contract;
    fputs("/* The function of each op that a user kernel may define. tokitai_kernel.h, which says what they are, "
          "includes this file; it is made\n"
          " * from the contracts when Tokitai is built. */\n"
          "#ifndef TOKITAI_KERNEL_OPS_H\n#define TOKITAI_KERNEL_OPS_H\n\n"
          "#include <stdint.h>\n\n",
          out);
    write_members(out);
    fputs("#ifdef __cplusplus\nextern \"C\" {\n#endif\n\nstruct tokitai_call;\n\n", out);
    for (int i = 0; (contract = generate_contract_at(i)); i++) {
        char begin[256];
        if (!tki_has_abi_1(contract))
            continue;
        snprintf(begin, sizeof begin, "int tokitai_%s(", contract->name);
        write_comment(out, contract);
        generate_declaration(out, contract,
                             &(generate_function){.begin = begin,
                                                  .first = "const struct tokitai_call *call",
                                                  .index_dtype = "call->index_dtype"});
        fputs("\n", out);
    }
    fputs("#ifdef __cplusplus\n}\n#endif\n\n#endif\n", out);
}
