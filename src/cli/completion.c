/* SHOWS. What the last word of a command line may become, for the shell (completion.bash). */
#include <stdio.h>
#include <string.h>

#include "bench/bench.h"
#include "cli/bench_gpu.h"
#include "cli/cli.h"
#include "cli/common_arguments.h"

static void print_word(const char *word, void *data)
{
    (void)data;
    puts(word);
}

static void list_planted(const tk_contract *contract,
                         bool (*at)(const tk_contract *, int, const char **, const char **))
{
    const char *name;
    const char *what;
    for (int i = 0; at(contract, i, &name, &what); i++)
        puts(name);
}

/* Families, peers, backends, or those of them that are GPUs; false if it is another kind. */
static bool list_common(const char *kind)
{
    const char *name, *found;
    bool present;
    const char *what;
    tk_backend_info backend;
    const bool families = !strcmp(kind, "families"), gpus = !strcmp(kind, "gpus"), peers = !strcmp(kind, "peers");
    for (int i = 0; peers && bench_peer_at(i, &name, &found, &present); i++)
        puts(name);
    for (int i = 0; peers && (name = bench_gpu_peer_at(i)); i++)
        puts(name);
    for (int i = 0; families && (name = tk_family_at(i, &what)); i++)
        puts(name);
    if (!gpus && strcmp(kind, "backends") != 0)
        return families || peers;
    for (int i = 0; tk_backend_at(i, &backend); i++)
        if (backend.is_gpu || !gpus)
            puts(backend.name);
    return true;
}

void cli_list_words(const char *kind, const char *op)
{
    const tk_contract *contract, *ops[CLI_MOST_OPS];
    cli_types_text types[CLI_MOST_TYPES];
    int count = 0;
    if (list_common(kind))
        return;
    const char *name, *text;
    for (int i = 0; !strcmp(kind, "definitions") && (name = tk_definition_at(i, &text)); i++)
        puts(name);
    for (int i = 0; (contract = tk_contract_at(i)) && count < CLI_MOST_OPS; i++)
        if (!op || !strcmp(op, contract->name))
            ops[count++] = contract;
    const int listed = !strcmp(kind, "types") ? cli_list_types(ops, count, types) : 0;
    for (int i = 0; i < listed; i++)
        puts(types[i].text);
    for (int i = 0; i < count; i++) {
        contract = ops[i];
        if (!strcmp(kind, "ops"))
            puts(contract->name);
        if (!strcmp(kind, "variants"))
            list_planted(contract, tk_variant_at);
        if (!strcmp(kind, "mutants"))
            list_planted(contract, tk_mutant_at);
        tk_lowering_info info;
        if (!strcmp(kind, "lowerings"))
            for (int l = 0; tk_lowering_at(contract, l, &info); l++)
                cli_each_id(contract, l, print_word, NULL);
    }
}

/* What the words in capitals of options and arguments stand for; '/': see cli_complete(). */
static const struct {
    const char *name, *words;
} kinds[] = {
    {"BACKEND", "backends"},  {"CERT", "/files .json"},
    {"COMMAND", "/programs"}, {"DIR", "/folders"},
    {"FAMILY", "families"},   {"GPU", "gpus"},
    {"ID", "lowerings"},      {"KEY", "/files"},
    {"MUTANT", "mutants"},    {"OP", "ops"},
    {"OP", "definitions"},    {"PEER", "peers"},
    {"PROGRAM", "/programs"}, {"SHARD", "/files @(.safetensors|.json)"},
    {"TYPE", "types"},        {"VARIANT", "variants"},
    {"A", "/files"},          {"B", "/files"},
};

/* One of the alternatives of an argument: "quick", "TYPE", "FILE.svg", "[OP...]". */
static void complete_one(const char *word, size_t length, const char *op)
{
    char name[64];
    while (length && (*word == '[' || !strncmp(word, "NAME=]", 6))) {
        const size_t skipped = *word == '[' ? 1 : 6;
        word += skipped;
        length -= skipped;
    }
    snprintf(name, sizeof name, "%.*s", (int)length, word);
    name[strcspn(name, "],")] = 0;
    if (!strncmp(name, "FILE", 4))
        printf("/files %s\n", name + 4);
    else if (name[0] >= 'a' && name[0] <= 'z')
        puts(name);
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        const size_t known = strlen(kinds[i].name);
        if (strncmp(name, kinds[i].name, known) != 0 || (name[known] && name[known] != '.'))
            continue;
        if (kinds[i].words[0] == '/')
            puts(kinds[i].words);
        else
            cli_list_words(kinds[i].words, op);
    }
}

static void complete_argument(const char *argument, const char *op)
{
    for (; *argument && *argument != ' ' && *argument != '\n'; argument += *argument == '|') {
        const size_t length = strcspn(argument, "| \n");
        complete_one(argument, length, op);
        argument += length;
    }
}

/* The `place`-th argument without a name; the last one is repeated. */
static void complete_word(const char *forms, const char *first, int place)
{
    for (const char *form = forms; form; form = strchr(form, '\n') ? strchr(form, '\n') + 1 : NULL) {
        const char *word = form;
        const bool chosen = strlen(first) == strcspn(form, " \n") && !memcmp(form, first, strlen(first));
        if (place && strchr(forms, '\n') && !chosen)
            continue;
        for (int i = 0; i < place && word[strcspn(word, " \n")] == ' '; i++)
            word += strcspn(word, " ") + 1;
        complete_argument(word, NULL);
    }
}

static const cli_option *find_option(const cli_row rows[], int count, const char *word)
{
    for (int i = 0; i < count; i++) {
        const cli_option *o = rows[i].option;
        const bool by_name = o->name && !strncmp(word, "--", 2) && !strcmp(word + 2, o->name);
        const bool by_letter = o->letter && word[0] == '-' && word[1] == o->letter && !word[2];
        if ((by_name || by_letter) && o->argument)
            return o;
    }
    return NULL;
}

/* The shell gives "--dtype=bf" as three words. */
static int drop_equals(int count, char **words)
{
    int kept = 0;
    for (int i = 0; i < count; i++)
        if (strcmp(words[i], "=") != 0)
            words[kept++] = words[i];
        else if (i + 1 == count)
            words[kept++] = words[i] + 1;
    return kept;
}

void cli_complete(int count, char **words)
{
    cli_row rows[CLI_MOST_ROWS];
    count = drop_equals(count, words);
    const cli_command *command = NULL;
    for (int i = 0; count > 1 && cli_command_at(i); i++)
        if (!strcmp(cli_command_at(i)->name, words[0]))
            command = cli_command_at(i);
    for (int i = 0; (count <= 1 || !strcmp(words[0], "help")) && cli_command_at(i); i++)
        puts(cli_command_at(i)->name);
    if (count <= 1)
        puts("help\n--help\n--version");
    if (!command)
        return;
    const int row_count = cli_rows_of(command, rows);
    const char *op = NULL, *first = NULL;
    int place = 0;
    for (int i = 1; i < count - 1; i++) {
        if (find_option(rows, row_count, words[i - 1]) || words[i][0] == '-')
            continue;
        first = first ? first : words[i];
        place++;
        op = op || !tk_contract_find(words[i]) ? op : words[i];
    }
    const cli_option *option = count > 2 ? find_option(rows, row_count, words[count - 2]) : NULL;
    for (int i = 0; i < row_count && !option && words[count - 1][0] == '-'; i++)
        if (rows[i].option->name && rows[i].option->help)
            printf("--%s\n", rows[i].option->name);
    if (option)
        complete_argument(option->argument, op);
    else if (words[count - 1][0] == '-')
        puts("--help");
    else
        complete_word(command->arguments ? command->arguments : "", first ? first : "", place);
}
