/* RECORDS. tokitai_ops.h: the typed calls, and the options of those that have some. */
#include <ctype.h>
#include <string.h>

#include "headers/headers.h"
#include "model/case.h"

enum { LINE = 256 };

static void upper(char *text)
{
    for (; *text; text++)
        *text = (char)toupper((unsigned char)*text);
}

/* ------------------------------------------------------------------------------------------------------------
 * Options
 * ------------------------------------------------------------------------------------------------------------ */

/* A constant of C. */
static void print_value(const tk_attribute *attribute, tk_value value, char text[LINE])
{
    if (attribute->type != TK_ATTRIBUTE_REAL) {
        snprintf(text, LINE, value.integer == INT64_MIN ? "INT64_MIN" : "%lld", (long long)value.integer);
        return;
    }
    snprintf(text, LINE, "%.9g", value.real);
    const size_t length = strlen(text);
    snprintf(text + length, LINE - length, "%s", strpbrk(text, ".e") ? "f" : ".0f");
}

/* "from 0 to 1; " where the type allows more. */
static int write_range(FILE *out, const tk_attribute *attribute)
{
    char least[32], most[32];
    const bool real = attribute->type == TK_ATTRIBUTE_REAL;
    if (attribute->type == TK_ATTRIBUTE_CHOICE)
        return fprintf(out, "one of the choices above; ");
    if (real ? attribute->least.real == -0x1.fffffep127 : attribute->least.integer == INT64_MIN)
        return fprintf(out, "%s", real ? "finite; " : "");
    tk_attribute_print(attribute, attribute->least, least, sizeof least);
    tk_attribute_print(attribute, attribute->most, most, sizeof most);
    return fprintf(out, "from %s to %s; ", least, most);
}

/* "enum { TK_LINEAR_FWD_EPILOGUE_BIAS, ... };" */
static void write_choices(FILE *out, const char *macro, const tk_attribute *attribute)
{
    fprintf(out, "enum {\n");
    for (int i = 0; i < attribute->choice_count; i++) {
        char name[LINE];
        snprintf(name, sizeof name, "%s_%s", attribute->name, attribute->choices[i].id);
        upper(name);
        fprintf(out, "    TK_%s_%s = %d, /* %s */\n", macro, name, i, attribute->choices[i].text);
    }
    fputs("};\n\n", out);
}

static void write_options(FILE *out, const tk_contract *contract)
{
    const char *name = contract->name;
    char macro[LINE], value[LINE];
    snprintf(macro, sizeof macro, "%s", name);
    upper(macro);
    for (int i = 0; i < contract->attribute_count; i++)
        if (contract->attributes[i].seen_by_kernel && contract->attributes[i].type == TK_ATTRIBUTE_CHOICE)
            write_choices(out, macro, &contract->attributes[i]);
    fprintf(out, "/* Options of tk_%s(). Start from TK_%s_DEFAULTS. */\ntypedef struct tk_%s_options {\n", name,
            macro, name);
    for (int i = 0; i < contract->attribute_count; i++) {
        const tk_attribute *attribute = &contract->attributes[i];
        if (!attribute->seen_by_kernel)
            continue;
        fputs("    /* ", out);
        write_range(out, attribute);
        fprintf(out, "%s */\n    %s %s;\n", attribute->text,
                attribute->type == TK_ATTRIBUTE_REAL ? "float" : "int64_t", attribute->name);
    }
    fprintf(out, "} tk_%s_options;\n\n#define TK_%s_DEFAULTS ((tk_%s_options){", name, macro, name);
    const char *between = "";
    for (int i = 0; i < contract->attribute_count; i++) {
        const tk_attribute *attribute = &contract->attributes[i];
        if (!attribute->seen_by_kernel)
            continue;
        print_value(attribute, attribute->initial, value);
        fprintf(out, "%s.%s = %s", between, attribute->name, value);
        between = ", ";
    }
    fputs("})\n\n", out);
}

/* ------------------------------------------------------------------------------------------------------------
 * Comments
 * ------------------------------------------------------------------------------------------------------------ */

/* "`dtype` is TK_F16 or TK_BF16." */
static void describe_types(const tk_contract *contract, char text[LINE])
{
    int length = snprintf(text, LINE, "`dtype` is");
    const char *between = "";
    for (int i = 0; i < contract->type_count; i++) {
        if (contract->types[i].dtype != contract->types[i].result_dtype)
            continue;
        char name[16];
        snprintf(name, sizeof name, "%s", tk_dtype_name(contract->types[i].dtype));
        upper(name);
        length += snprintf(text + length, (size_t)(LINE - length), "%s TK_%s", between, name);
        between = " or";
    }
    snprintf(text + length, (size_t)(LINE - length), ".");
}

/* "A target outside [0, cols) that is not ignore_index: TK_BAD_INDEX." */
static void describe_index(const tk_contract *contract, int param, char text[LINE])
{
    const tk_param *index = &contract->params[param];
    const int also = tki_index_attribute(contract, param);
    if (index->rule == TK_INDICES_ENDS) {
        snprintf(text, LINE, "A value of %s outside [0, %s], or less than the one before it: TK_BAD_INDEX.",
                 index->name, contract->dim_names[index->indexed_dim]);
        return;
    }
    snprintf(text, LINE, "A value of %s outside [0, %s)%s%s: TK_BAD_INDEX.", index->name,
             contract->dim_names[index->indexed_dim], also >= 0 ? " that is not " : "",
             also >= 0 ? contract->attributes[also].name : "");
}

static void write_comment(FILE *out, const tk_contract *contract)
{
    char text[LINE];
    fprintf(out, "/* %c%s:\n *    ", toupper((unsigned char)contract->summary[0]), contract->summary + 1);
    generate_wrapped(out, 4, 6, contract->formula);
    int column = fprintf(out, "\n * ") - 1;
    if (contract->notes)
        column = generate_wrapped(out, 1, column, contract->notes);
    for (int p = 0; p < contract->param_count; p++) {
        const tk_param *param = &contract->params[p];
        if (!param->output || param->may_alias < 0)
            continue;
        snprintf(text, sizeof text, "%s may be the same buffer as %s.", param->name,
                 contract->params[param->may_alias].name);
        column = generate_wrapped(out, 1, column, text);
    }
    describe_types(contract, text);
    column = generate_wrapped(out, 1, column, text);
    if (tki_index_param(contract) >= 0)
        column = generate_wrapped(out, 1, column, "`index_dtype` is TK_I32 or TK_I64.");
    for (int p = -1; (p = tki_next_index_param(contract, p)) >= 0;) {
        describe_index(contract, p, text);
        column = generate_wrapped(out, 1, column, text);
    }
    if (tki_seen_attributes(contract))
        generate_wrapped(out, 1, column, "`options` may be NULL for the defaults.");
    fputs(" */\n", out);
}

void generate_public_calls(FILE *out)
{
    const tk_contract *contract;
    fputs("/* One typed call per op, each with its formula and the shapes of its tensors. tokitai.h includes this "
          "file, which is made from\n"
          " * the contracts when the library is built. `tokitai ops OP` prints a contract in full. */\n"
          "#ifndef TOKITAI_OPS_H\n#define TOKITAI_OPS_H\n\n",
          out);
    for (int i = 0; (contract = generate_contract_at(i)); i++) {
        char begin[LINE], options[LINE];
        const bool has_options = tki_seen_attributes(contract) > 0;
        snprintf(begin, sizeof begin, "TK_MUST_USE tk_status tk_%s(", contract->name);
        snprintf(options, sizeof options, "const tk_%s_options *options", contract->name);
        if (has_options)
            write_options(out, contract);
        write_comment(out, contract);
        generate_declaration(out, contract,
                             &(generate_function){.begin = begin,
                                                  .first = tk_contract_takes_index(contract)
                                                               ? "tk_ctx *ctx, tk_dtype dtype, tk_dtype index_dtype"
                                                               : "tk_ctx *ctx, tk_dtype dtype",
                                                  .index_dtype = "index_dtype",
                                                  .options = has_options ? options : NULL});
        fputs("\n", out);
    }
    fputs("#endif\n", out);
}
