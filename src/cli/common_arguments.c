/* SHOWS. Arguments that several commands take. */
#include "cli/common_arguments.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"

void cli_complain_unknown(const char *who, const char *what, const char *word, const char *const names[], int count)
{
    char text[1024] = "";
    const char *nearest = cli_nearest(word, names, count);
    if (nearest)
        snprintf(text, sizeof text, "; did you mean '%s'?", nearest);
    else if (count == 0)
        snprintf(text, sizeof text, "; none exists");
    for (int i = 0; i < count && !nearest; i++) {
        size_t used = strlen(text);
        snprintf(text + used, sizeof text - used, "%s%s", i ? ", " : "; choose from: ", names[i]);
    }
    cli_complain(who, "unknown %s '%.80s'%s", what, word, text);
}

/* Ops that are given by files: in a context of their own, which lives as long as the program. Contexts that use one define it again. */
static tk_ctx *defining;
static const tk_contract *defined[CLI_MOST_OPS];
static int defined_count;

const tk_contract *cli_defined_at(int i)
{
    return i < defined_count ? defined[i] : NULL;
}

tk_ctx *cli_defining(void)
{
    return defining;
}

static void keep(const tk_contract *contract)
{
    for (int i = 0; i < defined_count; i++)
        if (defined[i] == contract)
            return;
    if (defined_count < CLI_MOST_OPS)
        defined[defined_count++] = contract;
}

/* Where the file's name ends in FILE.op or FILE.op:NAME; 0 if it is neither. */
static size_t definition_file(const char *word)
{
    const char *colon = strrchr(word, ':');
    const size_t length = colon ? (size_t)(colon - word) : strlen(word);
    return length > 3 && !memcmp(word + length - 3, ".op", 3) ? length : 0;
}

/* NULL: nobody is told. */
#define complain(who, ...) ((who) ? cli_complain(who, __VA_ARGS__) : (void)0)

static const tk_contract *define_op(const char *who, const char *from, const char *text, size_t size,
                                    const char *name)
{
    const tk_contract *contract = NULL;
    if (!defining && tk_ctx_create(&defining) != TK_OK)
        complain(who, "out of memory");
    else if (tk_op_define(defining, text, size, name, &contract) != TK_OK)
        complain(who, "'%.200s': %s", from, tk_ctx_message(defining));
    else
        keep(contract);
    return contract;
}

static const tk_contract *define_by_file(const char *who, const char *word, size_t length)
{
    enum { MOST = 1 << 17 }; /* more than what a text may have */
    char *path = strndup(word, length), *text = malloc(MOST);
    FILE *in = path ? fopen(path, "rb") : NULL;
    const size_t size = in && text ? fread(text, 1, MOST, in) : 0;
    const tk_contract *contract = NULL;
    if (!in || !text || ferror(in))
        complain(who, "cannot read '%.200s': %s", path ? path : word, strerror(errno));
    else
        contract = define_op(who, path, text, size, word[length] ? word + length + 1 : NULL);
    if (in)
        fclose(in);
    free(text);
    free(path);
    return contract;
}

/* By a file, or one of those that come with the library; NULL if the word is neither, or cannot be defined. */
static const tk_contract *find_defined(const char *who, const char *word)
{
    const char *text = tk_definition_find(word);
    if (definition_file(word) > 0)
        return define_by_file(who, word, definition_file(word));
    return text ? define_op(who, word, text, strlen(text), word) : NULL;
}

void cli_define_ops(int count, char *const words[])
{
    for (int i = 0; i < count; i++)
        find_defined(NULL, words[i]);
}

const tk_contract *cli_op_in(const char *who, tk_ctx *ctx, const tk_contract *contract)
{
    const char *text = tk_contract_definition(contract);
    const tk_contract *same = contract;
    if (text && tk_op_define(ctx, text, strlen(text), NULL, &same) != TK_OK) {
        cli_complain(who, "%s: %s", contract->name, tk_ctx_message(ctx));
        return NULL;
    }
    return same;
}

const tk_contract *cli_find_op(const char *who, const char *name)
{
    const tk_contract *contract = tk_contract_find(name);
    const char *names[CLI_MOST_OPS], *text;
    int count = 0;
    if (!contract)
        contract = find_defined(who, name);
    if (contract || definition_file(name) > 0 || tk_definition_find(name))
        return contract;
    for (; count < CLI_MOST_OPS && tk_contract_at(count); count++)
        names[count] = tk_contract_at(count)->name;
    for (int i = 0; count < CLI_MOST_OPS && tk_definition_at(i, &text); i++)
        names[count++] = tk_definition_at(i, &text);
    cli_complain_unknown(who, "op", name, names, count);
    return NULL;
}

int cli_choose_ops(const char *who, char *const names[], int count, const tk_contract *ops[CLI_MOST_OPS])
{
    int chosen = 0;
    for (int i = 0; i < count; i++) {
        const tk_contract *op = cli_find_op(who, names[i]);
        bool known = false;
        if (!op)
            return 0;
        for (int j = 0; j < chosen; j++)
            known |= ops[j] == op;
        if (!known && chosen < CLI_MOST_OPS)
            ops[chosen++] = op;
    }
    for (; count == 0 && chosen < CLI_MOST_OPS && tk_contract_at(chosen); chosen++)
        ops[chosen] = tk_contract_at(chosen);
    return chosen;
}

int cli_list_types(const tk_contract *const ops[], int count, cli_types_text names[CLI_MOST_TYPES])
{
    int listed = 0;
    for (int i = 0; i < count; i++)
        for (int t = 0; t < ops[i]->type_count && listed < CLI_MOST_TYPES; t++) {
            const cli_types_text name = cli_name_types(ops[i]->types[t]);
            bool again = false;
            for (int k = 0; k < listed; k++)
                again |= !strcmp(names[k].text, name.text);
            if (!again)
                names[listed++] = name;
        }
    return listed;
}

bool cli_choose_types(const char *who, const char *text, const tk_contract *const ops[], int count, cli_types *types)
{
    cli_types_text names[CLI_MOST_TYPES];
    const char *texts[CLI_MOST_TYPES + 1];
    *types = (cli_types){0};
    bool good = !text || (cli_parse_types(text, types) && !types->one);
    for (int i = 0; i < count && !good && types->one; i++)
        for (int t = 0; t < ops[i]->type_count; t++)
            good |= cli_types_have(types, ops[i]->types[t]);
    if (good)
        return true;
    const int listed = cli_list_types(ops, count, names);
    for (int i = 0; i < listed; i++)
        texts[i] = names[i].text;
    texts[listed] = "all";
    cli_complain_unknown(who, "dtype", text, texts, listed + 1);
    return false;
}

unsigned cli_index_dtypes(int choice, unsigned otherwise)
{
    return choice < 0 ? otherwise : choice == 2 ? 1u << TK_I32 | 1u << TK_I64 : 1u << (choice ? TK_I64 : TK_I32);
}

bool cli_choose_shape(const char *who, const char *text, const tk_contract *const ops[], int count,
                      const cli_attributes *attributes, int64_t fewest, cli_shape *shape)
{
    cli_error error;
    bool good = !text || cli_parse_shape(text, shape, &error);
    for (int i = 0; text && i < count && good; i++) {
        tk_case c = tk_case_init(ops[i], TK_F16);
        c.index_dtype = TK_I64; /* the wider one */
        cli_settings_apply(attributes->given, attributes->count, &c);
        good = cli_shape_fit(shape, &c, &error);
        for (int k = 0; k < ops[i]->param_count && good; k++) {
            const char *name = ops[i]->params[k].name;
            int64_t elements = tk_case_elements(&c, k); /* negative: they overflow */
            if (elements < 0)
                good = cli_error_set(&error, "makes %s too large to be addressed", name);
            else if (elements < fewest && tk_case_has(&c, k))
                good = cli_error_set(&error, "leaves %s without elements", name);
        }
    }
    if (!good)
        cli_complain(who, "--shape '%.80s' %s", text, error.text);
    return good;
}

bool cli_choose_seed(const char *who, const char *text, uint64_t *seed)
{
    bool good = !text || cli_parse_unsigned(text, seed);
    if (!good)
        cli_complain(who, "--seed must be a number from 0 to 2^64 - 1, decimal or 0x, not '%.80s'", text);
    return good;
}

bool cli_choose_alignment(const char *who, const char *text, int *alignment)
{
    bool good = !text || (cli_parse_count(text, 0, 256, alignment) && !(*alignment & (*alignment - 1)));
    if (!good)
        cli_complain(who, "--alignment must be 0 or a power of two from 1 to 256, not '%.80s'", text);
    return good;
}

enum { MOST_BACKENDS = 16 };

static bool find_backend(const char *who, const char *text, const char *end, tk_backend_info *backend)
{
    const char *names[MOST_BACKENDS];
    int count = 0;
    if (tk_backend_at(tk_backend_find(text, end), backend))
        return true;
    for (tk_backend_info info; count < MOST_BACKENDS && tk_backend_at(count, &info); count++)
        names[count] = info.name;
    cli_complain_unknown(who, "backend", text, names, count);
    return false;
}

bool cli_find_backend(const char *who, const char *name, tk_backend_info *backend)
{
    return find_backend(who, name, "", backend);
}

bool cli_choose_backend(const char *who, const char *text, const char *lowering, const char **device,
                        tk_backend_info *backend)
{
    tk_backend_info of_lowering;
    const bool named = tk_backend_at(tk_backend_find(lowering, "."), &of_lowering);
    *device = text ? text : named ? of_lowering.name : "cpu";
    if (!find_backend(who, *device, ":", backend))
        return false;
    if (named && of_lowering.name != backend->name) {
        cli_complain(who, "--lowering must be of backend '%s', not %.100s", backend->name, lowering);
        return false;
    }
    return true;
}

void cli_each_id(const tk_contract *op, int lowering, void (*visit)(const char *id, void *data), void *data)
{
    const tk_dtype widest = tk_contract_takes_index(op) ? TK_I64 : TK_I32;
    for (int t = 0; t < op->type_count; t++) {
        tk_case c = cli_case_of(op, op->types[t], TK_I32);
        if (tk_dtype_size(c.dtype) == 1) /* user kernels alone have 8 bits */
            continue;
        for (c.index_dtype = TK_I32; c.index_dtype <= widest; c.index_dtype++) {
            char id[CLI_ID_SIZE];
            if (tk_lowering_id(&c, lowering, id, sizeof id))
                visit(id, data);
        }
    }
}
