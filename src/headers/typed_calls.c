/* RECORDS. typed_calls.c: each typed call fills a case and runs it. */
#include <string.h>

#include "headers/headers.h"
#include "model/case.h"

enum { SIGNATURE = 4096 };

static void write_options(FILE *out, const tk_contract *contract)
{
    fputs("    if (options) {\n", out);
    for (int i = 0; i < contract->attribute_count; i++) {
        const tk_attribute *attribute = &contract->attributes[i];
        const bool real = attribute->type == TK_ATTRIBUTE_REAL;
        if (attribute->seen_by_kernel)
            fprintf(out, "        made.attributes[%d].%s = %soptions->%s;\n", i, real ? "real" : "integer",
                    real ? "(double)" : "", attribute->name);
    }
    fputs("    }\n", out);
}

static void write_call(FILE *out, const tk_contract *contract, int place)
{
    char signature[SIGNATURE];
    tk_contract_signature(contract, signature, sizeof signature);
    fprintf(out, "%.*s\n{\n", (int)strlen(signature) - 1, signature);
    fprintf(out, "    tk_case made = tk_case_init(tk_contract_at(%d), dtype);\n", place);
    if (tk_contract_takes_index(contract))
        fputs("    made.index_dtype = index_dtype;\n", out);
    for (int d = 0; d < contract->dim_count; d++)
        fprintf(out, "    made.dims[%d] = %s;\n", d, contract->dim_names[d]);
    if (tki_seen_attributes(contract))
        write_options(out, contract);
    fputs("    return tk_run(ctx, &made, (void *[]){", out);
    for (int p = 0; p < contract->param_count; p++)
        fprintf(out, contract->params[p].output ? "%s%s" : "%stki_input(%s)", p ? ", " : "",
                contract->params[p].name);
    fputs("});\n}\n", out);
}

void generate_typed_calls(FILE *out)
{
    const tk_contract *contract;
    fputs("/* Made from the contracts by headers/typed_calls.c. */\n#include \"model/lowering.h\"\n", out);
    for (int i = 0; (contract = generate_contract_at(i)); i++) {
        fputc('\n', out);
        write_call(out, contract, i);
    }
}
