/* SHOWS. tokitai new-kernel: a file to begin with. It holds a correct kernel, slow and plain, rather than an empty body: it can be
 * certified as it is, and every step from there to a fast one can be, too. */
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/cli.h"
#include "cli/common_arguments.h"
#include "cli/templates.h"

typedef struct arguments {
    cli_words words;
    const char *who, *backend, *out;
    bool force;
} arguments;

static const cli_option option_list[] = {
    CLI_BACKEND("BACKEND", ": cpu (C), cuda or hip. Default: cpu"),
    CLI_ROW(CLI_TEXT, "out", "FILE", out, "File to write; - is standard output. Default: OP.c, OP.cu or OP.hip"),
    CLI_FORCE(""),
    {0},
};

/* One op's part of a template: a comment, ITEM(op, i), and the body of the function that computes the i-th row of the last output. */
typedef struct part {
    const char *comment, *head, *body, *end;
    char item[32]; /* "i" */
} part;

static bool find_in(const char *text, const tk_contract *contract, part *found)
{
    char op[64];
    const char *paragraph = text;
    for (const char *line = text; line; line = strchr(line, '\n')) {
        line += *line == '\n';
        if (*line == '\n')
            paragraph = line + 1;
        if (sscanf(line, "ITEM(%63[a-z0-9_], %31[a-z_])", op, found->item) != 2 || strcmp(op, contract->name) != 0)
            continue;
        found->comment = paragraph;
        found->head = line;
        found->body = strchr(line, '\n');
        found->end = found->body ? strstr(found->body, "\n}\n") : NULL;
        return found->end != NULL;
    }
    return false;
}

static bool find_template(const tk_contract *contract, part *found)
{
    for (const cli_template *t = cli_templates; t->path; t++)
        if (find_in(t->text, contract, found))
            return true;
    return false;
}

static void print_comment(FILE *out, const tk_contract *contract)
{
    fprintf(out, "/* %s: %s.\n *\n *   %s\n *   %s\n *\n", contract->name, contract->summary, contract->formula,
            contract->bound);
    for (int i = 0; i < contract->clause_count; i++)
        fprintf(out, " * %s: %s\n", contract->clauses[i].id, contract->clauses[i].text);
    fputs(" */\n", out);
}

__attribute__((format(printf, 3, 4))) static void append(char *text, size_t size, const char *format, ...)
{
    const size_t used = strlen(text);
    va_list values;
    va_start(values, format);
    vsnprintf(text + used, size - used, format, values);
    va_end(values);
}

/* Where the typed form has no place for an attribute, the item gets it behind the tensors. */
static bool passes(const tk_contract *contract, int attribute, bool typed)
{
    return !typed && contract->attributes[attribute].seen_by_kernel;
}

/* ", n, x, y": the sizes and tensors, to be passed on. */
static void format_arguments(const tk_contract *contract, bool typed, char *text, size_t size)
{
    text[0] = 0;
    for (int i = 0; i < contract->dim_count + contract->param_count; i++)
        append(text, size, ", %s",
               i < contract->dim_count ? contract->dim_names[i] : contract->params[i - contract->dim_count].name);
    for (int i = 0; i < contract->attribute_count; i++)
        if (passes(contract, i, typed))
            append(text, size, ", %s", contract->attributes[i].name);
}

/* Are there types that the forms before ABI 3 do not know? */
static bool needs_abi_3(const tk_contract *contract)
{
    for (int i = 0; i < contract->type_count; i++)
        if (contract->types[i].dtype > TK_U64 || contract->types[i].result_dtype > TK_U64)
            return true;
    return false;
}

/* "tensors[0].dtype", of the first tensor of a kind; `otherwise` where there is none. */
static void append_type(const tk_contract *contract, tk_kind kind, const char *otherwise, char *text, size_t size)
{
    int p = 0;
    while (p < contract->param_count && contract->params[p].kind != kind)
        p++;
    if (p < contract->param_count)
        append(text, size, "tensors[%d].dtype", p);
    else
        append(text, size, "%s", otherwise);
}

/* ", int64_t n, const void *x, void *y)", and what declares them in a function of the general form. */
static void format_general(const tk_contract *contract, char *parameters, char *declared, size_t size)
{
    const bool third = needs_abi_3(contract);
    parameters[0] = declared[0] = 0;
    if (third) {
        char value[64] = "";
        append_type(contract, TK_KIND_VALUE, "TOKITAI_F32", value, sizeof value);
        append(declared, size, "    const tokitai_tensor3 *tensors = call->tensors;\n");
        append(declared, size, "    const tokitai_call types = tokitai_types3(%s, ", value);
        append_type(contract, TK_KIND_INDEX, "TOKITAI_I32", declared, size);
        append(declared, size, ", ");
        append_type(contract, TK_KIND_RESULT, value, declared, size);
        append(declared, size, ");\n");
    }
    for (int d = 0; d < contract->dim_count; d++) {
        int p = 0, axis = 0;
        while (p < contract->param_count &&
               (contract->params[p].when_choices || contract->params[p].dim[axis] != d)) {
            axis = axis + 1 < contract->params[p].rank ? axis + 1 : 0;
            p += axis == 0;
        }
        append(parameters, size, ", int64_t %s", contract->dim_names[d]);
        append(declared, size, "    const int64_t %s = tensors[%d].shape[%d];\n", contract->dim_names[d], p, axis);
    }
    for (int p = 0; p < contract->param_count; p++) {
        const char *constant = contract->params[p].output ? "" : "const ";
        append(parameters, size, ", %svoid *%s", constant, contract->params[p].name);
        append(declared, size, "    %svoid *%s = tensors[%d].data;\n", constant, contract->params[p].name, p);
    }
    for (int i = 0; i < contract->attribute_count; i++) {
        const tk_attribute *attribute = &contract->attributes[i];
        const bool real = attribute->type == TK_ATTRIBUTE_REAL;
        if (!passes(contract, i, false))
            continue;
        append(parameters, size, ", %s %s", real ? "float" : "int64_t", attribute->name);
        append(declared, size, "    const %s %s = %stokitai_%s%s(call, \"%s\");\n", real ? "float" : "int64_t",
               attribute->name, real && third ? "(float)" : "", real ? "real" : "integer", third ? "3" : "",
               attribute->name);
    }
    append(parameters, size, ")");
}

/* One thread of a GPU, or one turn of a loop, for each row of the last output. */
static void print_kernel(FILE *out, const tk_contract *contract, const tk_backend_info *backend, const part *item)
{
    char signature[CLI_SIGNATURE_SIZE], passed[CLI_SIGNATURE_SIZE];
    char general[CLI_SIGNATURE_SIZE], declared[CLI_SIGNATURE_SIZE] = "";
    tk_contract_kernel_signature(contract, signature, sizeof signature);
    const char *parameters = strchr(signature, ','); /* behind the call */
    const bool third = needs_abi_3(contract), typed = parameters && !third;
    const char *types = third ? "types" : "*call";
    if (typed) {
        signature[strlen(signature) - 1] = 0; /* the semicolon */
    } else {
        if (third)
            snprintf(signature, sizeof signature, "TOKITAI_KERNEL3(%s)", contract->name);
        format_general(contract, general, declared, sizeof general);
        parameters = general;
    }
    format_arguments(contract, typed, passed, sizeof passed);
    const char *name = contract->name;
    const char *items = contract->dim_names[contract->params[contract->param_count - 1].dim[0]];
    if (backend->kernel_header)
        fprintf(out, "#include <%s>\n", backend->kernel_header);
    fputs("#include <math.h>\n\n#include <tokitai_kernel.h>\n\n", out);
    fprintf(out, "%.*sTOKITAI_DEVICE void %s_item(tokitai_call call%.*s, int64_t %s)%.*s\n}\n\n",
            (int)(item->head - item->comment), item->comment, name, (int)strlen(parameters) - 1, parameters,
            item->item, (int)(item->end - item->body), item->body);
    if (!backend->is_gpu) {
        fprintf(out, "%s\n{\n%s", signature, declared);
        fprintf(out, "    for (int64_t item = 0; item < %s; item++)\n        %s_item(%s%s, item);\n", items, name,
                types, passed);
        fputs("    return 0;\n}\n", out);
        return;
    }
    fprintf(out, "static __global__ void %s_kernel(tokitai_call call%s\n{\n", name, parameters);
    fputs("    int64_t item = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;\n", out);
    fprintf(out, "    if (item < %s)\n        %s_item(call%s, item);\n}\n\n", items, name, passed);
    fprintf(out, "%s\n{\n%s", signature, declared);
    fprintf(out, "    if (%s == 0)\n        return 0;\n", items);
    fprintf(out, "    %s_kernel<<<(unsigned)((%s + 127) / 128), 128, 0, (%sStream_t)call->stream>>>(%s%s);\n", name,
            items, backend->name, types, passed);
    fprintf(out, "    return %sGetLastError() == %sSuccess ? 0 : 1;\n}\n", backend->name, backend->name);
}

/* Created exclusively unless `force`, so that nobody's work is written over. */
static FILE *open_out(const char *path, bool force)
{
    int file = open(path, O_WRONLY | O_CREAT | O_NOFOLLOW | O_CLOEXEC | (force ? O_TRUNC : O_EXCL), 0666);
    FILE *out = file >= 0 ? fdopen(file, "w") : NULL;
    if (!out && file >= 0)
        close(file);
    return out;
}

/* A whole file, `source`; or the item of a template with what it needs. */
static void print_file(FILE *out, const tk_contract *contract, const tk_backend_info *backend, const part *item,
                       const char *source)
{
    if (source) {
        fputs(source, out);
        return;
    }
    print_comment(out, contract);
    print_kernel(out, contract, backend, item);
}

static cli_exit write_kernel(const arguments *a, const tk_contract *contract, const tk_backend_info *backend,
                             const char *path, const part *item, const char *source)
{
    bool to_terminal = !strcmp(path, "-");
    FILE *out = to_terminal ? stdout : open_out(path, a->force);
    if (!out && errno == EEXIST) {
        cli_complain(a->who, "'%.200s' exists; --force replaces it", path);
        return CLI_BAD;
    }
    if (!out) {
        cli_complain(a->who, "cannot write '%.200s': %s", path, strerror(errno));
        return CLI_BAD;
    }
    print_file(out, contract, backend, item, source);
    if (to_terminal)
        return CLI_HOLDS;
    bool failed = ferror(out) != 0;
    failed |= fclose(out) != 0;
    if (failed) {
        cli_complain(a->who, "cannot write '%.200s': %s", path, strerror(errno));
        return CLI_BAD;
    }
    fputs("wrote ", stdout);
    cli_print(CLI_PLAIN, path);
    fputs("; now: tokitai certify ", stdout);
    cli_print(CLI_PLAIN, a->words.list[0]);
    fputs(" --kernel ", stdout);
    cli_print(CLI_PLAIN, path);
    putchar('\n');
    return CLI_HOLDS;
}

/* Plain loops of a definition. */
static cli_exit write_plain(const arguments *a, const tk_contract *contract, const tk_backend_info *backend,
                            const char *path)
{
    char *source;
    tk_ctx *ctx = cli_open(a->who);
    const tk_contract *known = ctx ? cli_op_in(a->who, ctx, contract) : NULL;
    cli_exit result = CLI_UNKNOWN;
    if (known && tk_op_plain_kernel(ctx, known, backend->name, &source) == TK_OK) {
        result = write_kernel(a, known, backend, path, NULL, source);
        free(source);
    } else if (known) {
        cli_complain(a->who, "%s", tk_ctx_message(ctx));
    }
    tk_ctx_destroy(ctx);
    return result;
}

static cli_exit run(int argc, char **argv)
{
    tk_backend_info backend;
    arguments a = {.who = argv[0], .backend = "cpu"};
    cli_parse(&cli_new_kernel, argc, argv, &a);
    const tk_contract *contract = cli_find_op(a.who, a.words.list[0]);
    if (!contract || !cli_find_backend(a.who, a.backend, &backend))
        return CLI_BAD;
    char path[72];
    snprintf(path, sizeof path, "%s%s", contract->name, backend.kernel_ending);
    if (tk_contract_definition(contract))
        return write_plain(&a, contract, &backend, a.out ? a.out : path);
    part item;
    if (!find_template(contract, &item)) {
        cli_complain(a.who, "%s has no template", contract->name);
        return CLI_UNKNOWN;
    }
    return write_kernel(&a, contract, &backend, a.out ? a.out : path, &item, NULL);
}

const cli_command cli_new_kernel = {
    .name = "new-kernel",
    .summary = "write a correct kernel file to start from",
    .arguments = "OP",
    .words = offsetof(arguments, words),
    .options = option_list,
    .run = run,
    .doc = "Writes a kernel file of OP that is correct, slow and plain. 'tokitai certify OP --kernel FILE' certifies "
           "it as it is, and again after every step towards a fast one. OP may be FILE.op, or FILE.op:NAME of a file "
           "with several definitions: the kernel is then made from the definition."
           "\vExit status: 0; 2 the op is unknown, the file exists, or it cannot be written.",
};
