/* SHOWS. tokitai ops: the operations, and one contract in full. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/attribute_options.h"
#include "cli/cli.h"
#include "cli/common_arguments.h"
#include "cli/ops_definition.h"
#include "cli/ops_proof.h"
#include "cli/parse.h"

typedef struct arguments {
    cli_words ops;
    const char *list, *graph;
    bool json, families, proof, lint;
} arguments;

static const cli_option option_list[] = {
    CLI_JSON,
    CLI_ROW(CLI_FLAG, "families", NULL, families, "List the families of inputs that 'tokitai certify' uses",
            .excludes = "proof"),
    CLI_ROW(CLI_FLAG, "proof", NULL, proof,
            "Print what each clause of OP rests on: the theorems with their statements, files and hashes, the axioms "
            "that they may assume, and what is only tested. Without OP, list all theorems"),
    CLI_ROW(CLI_FLAG, "lint", NULL, lint,
            "Of a definition: forms that cancel, primitives out of range, bounds so wide that wrong kernels pass, "
            "what nothing depends on, and gradients that are none, each with line and column; on small drawn inputs",
            .excludes = "families proof"),
    CLI_ROW(CLI_TEXT, "graph", "FILE.svg", graph,
            "Of a definition: draw its values with their shares of the error bound on such inputs",
            .excludes = "families proof"),
    CLI_ROW(CLI_TEXT, "list", "KIND", list, NULL), /* for scripts: bare words, one to a line */
    {0},
};

/* ------------------------------------------------------------------------------------------------------------
 * Pieces of text
 * ------------------------------------------------------------------------------------------------------------ */

/* "grad_output[rows, cols]" */
static void format_param(const tk_contract *contract, const tk_param *param, char *text, size_t size)
{
    size_t used = (size_t)snprintf(text, size, "%s", param->name);
    for (int axis = 0; axis < param->rank && used < size; axis++)
        used += (size_t)snprintf(text + used, size - used, "%s%s%s", axis ? ", " : "[",
                                 contract->dim_names[param->dim[axis]], axis + 1 < param->rank ? "" : "]");
}

static tk_dtype dtype_of(const tk_param *param, tk_types types)
{
    return param->kind == TK_KIND_VALUE ? types.dtype : types.result_dtype;
}

/* "f16 or bf16": the types that a tensor can have, each once. */
static void format_kind(const tk_contract *contract, const tk_param *param, char *text, size_t size)
{
    const bool fixed = param->kind == TK_KIND_FIXED;
    size_t length = 0;
    snprintf(text, size, "%s", fixed ? tk_dtype_name(param->dtype) : "i32 or i64");
    for (int i = 0; i < contract->type_count && !fixed && param->kind != TK_KIND_INDEX && length < size; i++) {
        const tk_dtype dtype = dtype_of(param, contract->types[i]);
        bool again = false;
        for (int k = 0; k < i; k++)
            again |= dtype_of(param, contract->types[k]) == dtype;
        if (!again)
            length += (size_t)snprintf(text + length, size - length, "%s%s", i ? " or " : "", tk_dtype_name(dtype));
    }
}

static bool finite_at(const tk_contract *contract, int i)
{
    const tk_case c = cli_case_of(contract, contract->types[i], TK_I32);
    return tk_case_is_finite(&c);
}

/* "f16, bf16, f16-f32", cut to fit. */
static void list_types(const tk_contract *contract, bool only_finite, char *text, size_t size)
{
    size_t length = 0;
    text[0] = 0;
    for (int i = 0; i < contract->type_count && length < size; i++) {
        if (!only_finite || finite_at(contract, i))
            length += (size_t)snprintf(text + length, size - length, "%s%s", length ? ", " : "",
                                       cli_name_types(contract->types[i]).text);
    }
}

static int lowering_count(const tk_contract *contract)
{
    tk_lowering_info info;
    int count = 0;
    while (tk_lowering_at(contract, count, &info))
        count++;
    return count;
}

/* ------------------------------------------------------------------------------------------------------------
 * JSON
 * ------------------------------------------------------------------------------------------------------------ */

/* {"epilogue": ["bias", "bias_gelu"]} */
static json_t *json_condition(const tk_contract *contract, const tk_param *param)
{
    const tk_attribute *attribute = &contract->attributes[param->when_attribute];
    json_t *choices = json_array();
    for (int i = 0; i < attribute->choice_count; i++)
        if (param->when_choices >> i & 1)
            json_array_append_new(choices, json_string(attribute->choices[i].id));
    return json_pack("{s:o}", attribute->name, choices);
}

static json_t *json_params(const tk_contract *contract)
{
    json_t *list = json_array();
    for (int i = 0; i < contract->param_count; i++) {
        const tk_param *param = &contract->params[i];
        json_t *shape = json_array();
        for (int axis = 0; axis < param->rank; axis++)
            json_array_append_new(shape, json_string(contract->dim_names[param->dim[axis]]));
        json_t *item = json_pack("{s:s, s:s, s:s, s:o}", "name", param->name, "direction",
                                 param->output ? "out" : "in", "type",
                                 param->kind == TK_KIND_VALUE    ? "value"
                                 : param->kind == TK_KIND_INDEX  ? "index"
                                 : param->kind == TK_KIND_RESULT ? "result"
                                                                 : tk_dtype_name(param->dtype),
                                 "shape", shape);
        if (param->may_alias >= 0)
            json_object_set_new(item, "may_share_buffer_with", json_string(contract->params[param->may_alias].name));
        if (param->when_choices)
            json_object_set_new(item, "when", json_condition(contract, param));
        json_array_append_new(list, item);
    }
    return list;
}

static json_t *json_clauses(const tk_contract *contract)
{
    json_t *list = json_array();
    for (int i = 0; i < contract->clause_count; i++)
        json_array_append_new(
            list, json_pack("{s:s, s:s}", "id", contract->clauses[i].id, "text", contract->clauses[i].text));
    return list;
}

static const char *const attribute_types[] = {"choice", "real", "integer"};

static json_t *json_value(const tk_attribute *attribute, tk_value value)
{
    return attribute->type == TK_ATTRIBUTE_REAL ? json_real(value.real) : json_integer(value.integer);
}

static json_t *json_attributes(const tk_contract *contract)
{
    json_t *list = json_array();
    for (int i = 0; i < contract->attribute_count; i++) {
        const tk_attribute *attribute = &contract->attributes[i];
        json_t *item = json_pack("{s:s, s:s, s:s, s:b, s:b}", "name", attribute->name, "text", attribute->text,
                                 "type", attribute_types[attribute->type], "from_device",
                                 attribute->role == TK_ROLE_MATRIX_UNIT, "seen_by_kernel",
                                 (int)attribute->seen_by_kernel);
        json_t *choices = json_array();
        for (int k = 0; k < attribute->choice_count; k++)
            json_array_append_new(choices, json_pack("{s:s, s:i, s:s}", "name", attribute->choices[k].id, "value", k,
                                                     "text", attribute->choices[k].text));
        json_object_set_new(item, "choices", choices);
        if (attribute->type != TK_ATTRIBUTE_CHOICE) {
            json_object_set_new(item, "default", json_value(attribute, attribute->initial));
            json_object_set_new(item, "least", json_value(attribute, attribute->least));
            json_object_set_new(item, "most", json_value(attribute, attribute->most));
        }
        json_array_append_new(list, item);
    }
    return list;
}

static void append_id(const char *id, void *list)
{
    json_array_append_new(list, json_string(id));
}

static json_t *json_lowerings(const tk_contract *contract)
{
    json_t *list = json_array();
    tk_lowering_info info;
    for (int i = 0; tk_lowering_at(contract, i, &info); i++) {
        json_t *ids = json_array();
        cli_each_id(contract, i, append_id, ids);
        json_array_append_new(list, json_pack("{s:s, s:s, s:s, s:s?, s:o}", "backend", info.backend, "variant",
                                              info.variant, "determinism", tk_determinism_name(info.determinism),
                                              "promise", info.promise, "ids", ids));
    }
    return list;
}

/* Wrong ones with the level whose trials reject them, or correct ones. */
static json_t *json_planted(const tk_contract *contract, bool wrong)
{
    json_t *list = json_array();
    const char *name;
    const char *what;
    for (int i = 0; (wrong ? tk_mutant_at : tk_variant_at)(contract, i, &name, &what); i++) {
        json_t *item = json_pack("{s:s, s:s}", "name", name, "what", what);
        if (wrong)
            json_object_set_new(item, "level", json_string(tk_level_name(tk_mutant_level(contract, name))));
        if (wrong && tk_mutant_is_of_f32(contract, name))
            json_object_set_new(item, "only_f32_results", json_true());
        json_array_append_new(list, item);
    }
    return list;
}

static json_t *json_types(const tk_contract *contract, bool only_finite)
{
    json_t *list = json_array();
    for (int i = 0; i < contract->type_count; i++) {
        if (!only_finite || finite_at(contract, i))
            json_array_append_new(list, json_string(cli_name_types(contract->types[i]).text));
    }
    return list;
}

static json_t *json_contract(const tk_contract *contract)
{
    json_t *sizes = json_array();
    char signature[CLI_SIGNATURE_SIZE], kernel[CLI_SIGNATURE_SIZE];
    tk_contract_signature(contract, signature, sizeof signature);
    tk_contract_kernel_signature(contract, kernel, sizeof kernel);
    for (int d = 0; d < contract->dim_count; d++)
        json_array_append_new(sizes, json_string(contract->dim_names[d]));
    return json_pack("{s:s, s:s*, s:s, s:s, s:s, s:s?, s:s, s:s, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o}",
                     "name", contract->name, "definition", tk_contract_definition(contract), "summary",
                     contract->summary, "formula", contract->formula, "bound", contract->bound, "notes",
                     contract->notes, "signature", signature, "kernel", kernel, "sizes", sizes, "parameters",
                     json_params(contract), "types", json_types(contract, false), "finite_types",
                     json_types(contract, true), "attributes", json_attributes(contract), "clauses",
                     json_clauses(contract), "lowerings", json_lowerings(contract), "mutants",
                     json_planted(contract, true), "variants", json_planted(contract, false));
}

/* ------------------------------------------------------------------------------------------------------------
 * Text
 * ------------------------------------------------------------------------------------------------------------ */

static void print_field(const char *name, const char *text)
{
    printf("  %-9s ", name);
    cli_wrap(12, 12, text);
}

static void print_types(const tk_contract *contract)
{
    char all[256], finite[256], text[512];
    int count = 0;
    for (int i = 0; i < contract->type_count; i++)
        count += finite_at(contract, i);
    list_types(contract, false, all, sizeof all);
    list_types(contract, true, finite, sizeof finite);
    print_field("types", all);
    snprintf(text, sizeof text, "finite%s%s: --level exhaustive tries every input value",
             count < contract->type_count ? " for " : "", count < contract->type_count ? finite : "");
    if (count)
        print_field("domain", text);
}

static void print_params(const tk_contract *contract)
{
    cli_heading("Parameters");
    for (int i = 0; i < contract->param_count; i++) {
        const tk_param *param = &contract->params[i];
        char shaped[96], kind[64];
        format_param(contract, param, shaped, sizeof shaped);
        format_kind(contract, param, kind, sizeof kind);
        printf("  %-3s  %-26s %s", param->output ? "out" : "in", shaped, kind);
        if (param->kind == TK_KIND_RESULT && !param->output)
            fputs(", the type of the results", stdout);
        if (param->rule == TK_INDICES_ENDS)
            printf(", ascending, each in [0, %s]", contract->dim_names[param->indexed_dim]);
        else if (param->kind == TK_KIND_INDEX)
            printf(", each in [0, %s)", contract->dim_names[param->indexed_dim]);
        if (param->may_alias >= 0)
            printf(", may be the buffer of %s", contract->params[param->may_alias].name);
        char condition[256];
        tk_contract_condition(contract, i, condition, sizeof condition);
        printf("%s%s", condition[0] ? ", only " : "", condition);
        putchar('\n');
    }
}

static void print_range(const tk_attribute *attribute)
{
    char initial[32], least[32], most[32];
    tk_attribute_print(attribute, attribute->initial, initial, sizeof initial);
    tk_attribute_print(attribute, attribute->least, least, sizeof least);
    tk_attribute_print(attribute, attribute->most, most, sizeof most);
    printf("      %-11s  from %s to %s; passed to kernels\n", initial, least, most);
}

static void print_attributes(const tk_contract *contract)
{
    cli_heading("Attributes; * marks the default, a number is the value of a choice in kernels and calls");
    for (int i = 0; i < contract->attribute_count; i++) {
        const tk_attribute *attribute = &contract->attributes[i];
        char option[CLI_ATTRIBUTE_NAME];
        cli_attribute_option(attribute->name, option);
        int column = printf("  %s%s: ", attribute->role == TK_ROLE_MATRIX_UNIT ? "" : "--", option);
        cli_wrap(6, column, attribute->text);
        for (int k = 0; k < attribute->choice_count; k++) {
            /* What a kernel and a call's options have for it. */
            const bool numbered = attribute->seen_by_kernel;
            int used = printf("    %c %-11s  ", k == attribute->initial.integer ? '*' : ' ',
                              attribute->choices[k].id);
            used += numbered ? printf("%d  ", k) : 0;
            cli_wrap(used, used, attribute->choices[k].text);
        }
        if (attribute->type != TK_ATTRIBUTE_CHOICE)
            print_range(attribute);
    }
}

static void print_clauses(const tk_contract *contract)
{
    int width = 0;
    for (int i = 0; i < contract->clause_count; i++)
        if ((int)strlen(contract->clauses[i].id) > width)
            width = (int)strlen(contract->clauses[i].id);
    cli_heading("Clauses");
    for (int i = 0; i < contract->clause_count; i++) {
        printf("  %-*s  ", width, contract->clauses[i].id);
        cli_wrap(width + 4, width + 4, contract->clauses[i].text);
    }
}

static void print_id(const char *id, void *data)
{
    (void)data;
    printf("  %s\n", id);
}

static void print_lowerings(const tk_contract *contract)
{
    cli_heading("Lowerings, fastest first");
    tk_lowering_info info;
    int count = 0;
    for (; tk_lowering_at(contract, count, &info); count++) {
        cli_each_id(contract, count, print_id, NULL);
        printf("      determinism: %s\n", tk_determinism_name(info.determinism));
        if (info.promise) {
            fputs("      promises: ", stdout);
            cli_wrap(6, 16, info.promise);
        }
    }
    if (count == 0)
        puts("  none");
}

/* The planted kernels of one sort. */
static void print_planted(const tk_contract *contract, const char *heading,
                          bool (*at)(const tk_contract *, int, const char **, const char **))
{
    cli_heading(heading);
    const char *name;
    const char *what;
    int width = 0;
    int count = 0;
    for (; at(contract, count, &name, &what); count++)
        if ((int)strlen(name) > width)
            width = (int)strlen(name);
    for (int i = 0; at(contract, i, &name, &what); i++) {
        printf("  %-*s  ", width, name);
        cli_wrap(width + 4, width + 4, what);
    }
    if (count == 0)
        puts("  none");
}

/* A C declaration, broken after commas only. */
static void print_signature(const char *text)
{
    enum { INDENT = 6, WIDTH = 100 };
    int column = 2;
    fputs("  ", stdout);
    while (*text) {
        int length = (int)strcspn(text, ",");
        length += text[length] == ',';
        if (column > INDENT && column + length > WIDTH) {
            printf("\n%*s", INDENT, "");
            column = INDENT;
            text += *text == ' ';
            length -= text[-1] == ' ';
        }
        column += printf("%.*s", length, text);
        text += length;
    }
    putchar('\n');
}

/* As it is printed: what is hashed, and what certificates have. */
static void print_definition(const tk_contract *contract)
{
    cli_heading("Definition");
    for (const char *line = tk_contract_definition(contract); *line; line = strchr(line, '\n') + 1)
        printf("  %.*s\n", (int)strcspn(line, "\n"), line);
}

static void print_contract(const tk_contract *contract)
{
    char sizes[96];
    cli_print(CLI_BOLD, contract->name);
    printf(": %s\n\n", contract->summary);
    cli_list_sizes(contract, sizes, sizeof sizes);
    print_field("formula", contract->formula);
    print_field("bound", contract->bound);
    if (contract->notes)
        print_field("notes", contract->notes);
    print_field("sizes", sizes);
    print_types(contract);
    if (tk_contract_definition(contract))
        print_definition(contract);
    print_params(contract);
    print_attributes(contract);
    print_clauses(contract);
    print_lowerings(contract);
    char text[CLI_SIGNATURE_SIZE];
    if (!tk_contract_definition(contract)) {
        cli_heading("C");
        tk_contract_signature(contract, text, sizeof text);
        print_signature(text);
    }
    cli_heading("User kernel: #include <tokitai_kernel.h>, certify with --kernel FILE");
    tk_contract_kernel_signature(contract, text, sizeof text);
    print_signature(text);
    puts("      host memory on cpu; device memory and the stream call->stream on cuda and hip; returns 0");
    print_planted(contract, "Mutants: kernels with a known error, which the judge must reject", tk_mutant_at);
    print_planted(contract, "Variants: right kernels that compute in another way, which must hold", tk_variant_at);
}

static void print_definitions(void)
{
    char names[8192] = "";
    size_t used = 0;
    const char *name, *text;
    for (int i = 0; (name = tk_definition_at(i, &text)) && used < sizeof names; i++)
        used += (size_t)snprintf(names + used, sizeof names - used, "%s%s", i ? ", " : "", name);
    printf("  ");
    cli_wrap(2, 2, names);
}

static void print_table(void)
{
    cli_table table = cli_table_of("OP|SIZES|#LOWERINGS|MEANING");
    char sizes[96];
    const tk_contract *contract;
    for (int i = 0; (contract = tk_contract_at(i)); i++) {
        cli_list_sizes(contract, sizes, sizeof sizes);
        cli_table_fit(&table, 0, contract->name);
        cli_table_fit(&table, 1, sizes);
    }
    cli_table_head(&table);
    for (int i = 0; (contract = tk_contract_at(i)); i++) {
        char count[16];
        cli_list_sizes(contract, sizes, sizeof sizes);
        snprintf(count, sizeof count, "%d", lowering_count(contract));
        cli_table_row(&table, (cli_cell[]){{contract->name, CLI_PLAIN},
                                           {sizes, CLI_PLAIN},
                                           {count, CLI_PLAIN},
                                           {contract->summary, CLI_PLAIN}});
    }
    cli_heading("Definitions, with a derived bound and plain loops as their first kernel");
    print_definitions();
    puts("\n'tokitai ops OP' prints a contract in full.");
}

/* ------------------------------------------------------------------------------------------------------------
 * The command
 * ------------------------------------------------------------------------------------------------------------ */

static cli_exit list_families(bool json)
{
    const char *name;
    const char *what;
    if (json) {
        json_t *list = json_array();
        for (int i = 0; (name = tk_family_at(i, &what)); i++)
            json_array_append_new(list, json_pack("{s:s, s:s}", "name", name, "what", what));
        return cli_print_json(list);
    }
    cli_table table = cli_table_of("FAMILY|INPUTS");
    for (int i = 0; (name = tk_family_at(i, &what)); i++)
        cli_table_fit(&table, 0, name);
    cli_table_head(&table);
    for (int i = 0; (name = tk_family_at(i, &what)); i++)
        cli_table_row(&table, (cli_cell[]){{name, CLI_PLAIN}, {what, CLI_PLAIN}});
    return CLI_HOLDS;
}

static cli_exit run(int argc, char **argv)
{
    arguments a = {0};
    cli_parse(&cli_ops, argc, argv, &a);
    const char *op = a.ops.count ? a.ops.list[0] : NULL;
    if (a.list) {
        cli_list_words(a.list, op);
        return CLI_HOLDS;
    }
    if (a.families && op) {
        cli_complain(argv[0], "--families excludes OP");
        return CLI_BAD;
    }
    if (a.families)
        return list_families(a.json);
    if (op) {
        const tk_contract *contract = cli_find_op(argv[0], op);
        if (!contract)
            return CLI_BAD;
        if (a.proof)
            return cli_ops_proof(contract, a.json);
        const cli_exit drawn = a.graph ? cli_ops_graph(argv[0], a.graph, contract) : CLI_HOLDS;
        if (a.lint)
            return cli_worse(drawn, cli_ops_lint(argv[0], op, contract, a.json));
        if (a.graph)
            return drawn;
        if (a.json)
            return cli_print_json(json_contract(contract));
        print_contract(contract);
        return CLI_HOLDS;
    }
    if (a.proof)
        return cli_ops_proof(NULL, a.json);
    if (!a.json) {
        print_table();
        return CLI_HOLDS;
    }
    json_t *list = json_array();
    for (int i = 0; tk_contract_at(i); i++)
        json_array_append_new(list, json_contract(tk_contract_at(i)));
    return cli_print_json(list);
}

const cli_command cli_ops = {
    .name = "ops",
    .summary = "list the operations, or print one contract in full",
    .arguments = "[OP]",
    .words = offsetof(arguments, ops),
    .options = option_list,
    .run = run,
    .doc = "Without OP, lists the operations: name, sizes, number of lowerings, meaning. With OP, prints its "
           "contract in full: formula, error bound, parameters with their shapes, clauses with their ids, lowerings "
           "with their ids and what they promise beyond the contract, the C declaration, that of a user kernel, and "
           "the mutants that the judge must reject. OP may be FILE.op, or FILE.op:NAME of a file with several "
           "definitions; its definition is printed too."
           "\vExit status: 0; 1 --lint found something; 2 the op is unknown.",
};
