/* CHOOSES. Declarations and comments, laid out as people write them. */
#include <string.h>

#include "headers/headers.h"
#include "model/signature.h"

enum { WIDTH = 116, LINE = 256 };

int generate_wrapped(FILE *out, int indent, int column, const char *text)
{
    while (*text) {
        const int length = (int)strcspn(text, " ");
        if (column + 1 + length > WIDTH)
            column = fprintf(out, "\n *%*s", indent, "") - 1;
        else if (column > 2 + indent)
            column += fprintf(out, " ");
        column += fprintf(out, "%.*s", length, text);
        text += length;
        text += strspn(text, " ");
    }
    return column;
}

static void write_arguments(FILE *out, const tk_contract *contract, const generate_function *function)
{
    const int indent = (int)strlen(function->begin);
    int column = fprintf(out, "%s%s", function->begin, function->first);
    for (int d = 0; d < contract->dim_count; d++) {
        char size[LINE];
        const int length = snprintf(size, sizeof size, "int64_t %s", contract->dim_names[d]);
        if (column + 3 + length > WIDTH)
            column = fprintf(out, ",\n%*s%s", indent, "", size) - 2;
        else
            column += fprintf(out, ", %s", size);
    }
    fputs(",\n", out);
}

/* "const void *index, " */
static int name_tensor(const tk_contract *contract, int p, char text[LINE])
{
    const tk_param *param = &contract->params[p];
    return snprintf(text, LINE, "%s%s *%s%s", param->output ? "" : "const ", tki_element_type(param), param->name,
                    p + 1 < contract->param_count ? "," : "");
}

static void write_shape(FILE *out, const tk_contract *contract, int p, const char *index_dtype)
{
    const tk_param *param = &contract->params[p];
    fputs(" /* ", out);
    for (int axis = 0; axis < param->rank; axis++)
        fprintf(out, "%s%s", axis ? ", " : "[", contract->dim_names[param->dim[axis]]);
    fputs("]", out);
    if (param->kind == TK_KIND_INDEX)
        fprintf(out, ", %s", index_dtype);
    if (param->kind == TK_KIND_FIXED)
        fprintf(out, ", %s", tk_dtype_name(param->dtype));
    char condition[LINE];
    tk_contract_condition(contract, p, condition, sizeof condition);
    fprintf(out, "%s%s", condition[0] ? "; " : "", condition);
    fputs(" */", out);
}

void generate_declaration(FILE *out, const tk_contract *contract, const generate_function *function)
{
    const int indent = (int)strlen(function->begin);
    char text[LINE];
    int width = 0;
    for (int p = 0; p + 1 < contract->param_count; p++) {
        const int length = name_tensor(contract, p, text);
        width = length > width ? length : width;
    }
    write_arguments(out, contract, function);
    for (int p = 0; p < contract->param_count; p++) {
        if (function->options && p == tki_first_output(contract))
            fprintf(out, "%*s%s,\n", indent, "", function->options);
        name_tensor(contract, p, text);
        fprintf(out, "%*s%-*s", indent, "", p + 1 < contract->param_count ? width : 0, text);
        write_shape(out, contract, p, function->index_dtype);
        fputs(p + 1 < contract->param_count ? "\n" : ");\n", out);
    }
}
