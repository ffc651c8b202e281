/* SHOWS. One parser for all commands: from a table of options to argp and to the members of a structure. */
#include "cli/options.h"

#include <argp.h>
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/attribute_options.h"
#include "cli/cli.h"
#include "cli/common_arguments.h"
#include "cli/parse.h"

#define arguments cli_limits
const cli_option cli_limit_options[] = {
    CLI_ROW(CLI_SIZE, "memory", "SIZE", limits.memory_bytes,
            "Memory limit of each process of a kernel file and of its compiler, such as 512M or 4G. Default: three "
            "quarters of the machine's memory, which is also the most that is allowed",
            .least = TK_LEAST_MEMORY),
    CLI_ROW(CLI_INT, "tasks", "COUNT", limits.tasks,
            "Limit of threads and processes of a kernel file. Default: 1024. If the system cannot enforce it, the "
            "certificate says 'not limited'",
            .least = 1, .most = TK_MOST_TASKS),
    CLI_ROW(CLI_SIZE, "output-size", "SIZE", limits.output_bytes,
            "Size limit of a file that a kernel file or its compiler writes. Default: 1G", .least = TK_LEAST_OUTPUT),
    CLI_ROW(CLI_INT, "folder-depth", "COUNT", limits.folder_depth,
            "Nesting limit of directories of a kernel or of headers. Default: 16", .least = 1,
            .most = TK_MOST_FOLDER_DEPTH),
    CLI_ROW(
        CLI_FLAG, "allow-weak-sandbox", NULL, allow_weak_sandbox,
        "Compile and run kernel files even if this system cannot restrict their access to files and system calls. "
        "The verdict then says 'confinement weak' and what was missing. Without this option it is UNKNOWN"),
    {0},
};
#undef arguments

static int add_rows(const cli_option *options, size_t place, const char *with, int group, cli_row *rows, int count)
{
    for (const cli_option *o = options; o->kind != CLI_END && count < CLI_MOST_ROWS; o++) {
        const char *needs = o->with ? o->with : with;
        if (o->kind == CLI_ROWS) {
            count = add_rows(o->rows, place + o->place, needs, group, rows, count);
            continue;
        }
        if (o->kind == CLI_ATTRIBUTES) {
            static const cli_option heading[] = {CLI_HEADING("Attributes of ops:"), {0}};
            count = add_rows(heading, 0, NULL, group, rows, count);
            group++;
            count = add_rows(cli_attribute_options(), place + o->place, needs, group, rows, count);
            continue;
        }
        group += o->kind == CLI_GROUP;
        rows[count++] = (cli_row){.option = o, .place = place + o->place, .with = needs, .group = group};
    }
    return count;
}

int cli_rows_of(const cli_command *command, cli_row rows[CLI_MOST_ROWS])
{
    return add_rows(command->options, 0, NULL, 1, rows, 0);
}

/* What one call of cli_parse() works with. */
typedef struct parsing {
    const cli_command *command;
    void *arguments;
    cli_row rows[CLI_MOST_ROWS];
    int count;
    cli_words words;
} parsing;

enum { FIRST_KEY = 256 };

static cli_row *row_of(parsing *p, int key)
{
    for (int i = 0; i < p->count; i++)
        if (p->rows[i].option->name && key == (p->rows[i].option->letter ? p->rows[i].option->letter : FIRST_KEY + i))
            return &p->rows[i];
    return NULL;
}

static bool is_in_range(const cli_option *o, double value)
{
    return value >= o->least && (o->most == 0 || value <= o->most);
}

static bool read_whole(const cli_option *o, const char *text, int64_t *value)
{
    uint64_t wide;
    if (cli_parse_unsigned(text, &wide) && wide <= INT64_MAX)
        *value = (int64_t)wide;
    else if (!cli_parse_signed(text, value))
        return false;
    return is_in_range(o, (double)*value);
}

/* -1 after a complaint. */
static int find_choice(const char *who, const cli_option *o, const char *text)
{
    char words[128], *rest = NULL;
    const char *names[8];
    int count = 0;
    snprintf(words, sizeof words, "%s", o->argument);
    for (char *word = strtok_r(words, "|", &rest); word && count < 8; word = strtok_r(NULL, "|", &rest)) {
        if (!strcmp(word, text))
            return count;
        names[count++] = word;
    }
    cli_complain_unknown(who, o->name, text, names, count);
    return -1;
}

/* False: the text is not a value of the option. */
static bool read_value(const char *who, const cli_option *o, char *text, void *place)
{
    int64_t whole;
    float seconds;
    cli_texts *texts = place;
    switch (o->kind) {
    case CLI_FLAG: *(bool *)place = true; return true;
    case CLI_TEXT: *(const char **)place = text; return true;
    case CLI_CHOICE:
        *(int *)place = find_choice(who, o, text);
        if (*(int *)place < 0)
            exit(CLI_BAD);
        return true;
    case CLI_TEXTS: texts->list[texts->count++] = text; return true;
    case CLI_ATTRIBUTE: cli_attribute_give(o, text, place); return true;
    case CLI_INT:
        if (!read_whole(o, text, &whole))
            return false;
        *(int *)place = (int)whole;
        return true;
    case CLI_INT64: return read_whole(o, text, place);
    case CLI_SIZE: return cli_parse_size(text, place) && is_in_range(o, (double)*(int64_t *)place);
    case CLI_SECONDS:
        if (!cli_parse_float(text, &seconds) || seconds < (float)o->least || seconds > (float)o->most)
            return false;
        *(double *)place = (double)seconds;
        return true;
    case CLI_END:
    case CLI_GROUP:
    case CLI_ROWS:
    case CLI_ATTRIBUTES: break;
    }
    return false;
}

static void take(struct argp_state *state, parsing *p, cli_row *row, char *text)
{
    const cli_option *o = row->option;
    void *place = (char *)p->arguments + row->place;
    const bool repeats = o->kind == CLI_FLAG || o->kind == CLI_TEXTS;
    if (row->given && !repeats)
        argp_error(state, "--%s is given twice", o->name);
    if (o->kind == CLI_TEXTS && ((cli_texts *)place)->count >= (o->most > 0 ? (int)o->most : CLI_MOST_TEXTS))
        argp_error(state, "--%s may be given %d times at most", o->name, ((cli_texts *)place)->count);
    row->given = true;
    if (read_value(state->name, o, text, place))
        return;
    if (o->kind == CLI_SIZE)
        argp_error(state, "--%s must be a size of at least %.15gK, such as 512M or 4G, not '%.80s'", o->name,
                   o->least > 1024 ? o->least / 1024 : 1, text);
    else if (o->most > 0)
        argp_error(state, "--%s must be a number from %.15g to %.15g, not '%.80s'", o->name, o->least, o->most, text);
    else
        argp_error(state, "--%s must be a number of at least %.15g, not '%.80s'", o->name, o->least, text);
}

/* Whether a name is one of these words. */
static bool has_word(const char *words, const char *name)
{
    const size_t length = strlen(name);
    for (const char *at = words; (at = strstr(at, name)); at += length)
        if ((at == words || at[-1] == ' ' || at[-1] == '!') && (!at[length] || at[length] == ' '))
            return true;
    return false;
}

/* "--kernel, --kernels or --program" */
static const char *join_names(const char *words, char *text, size_t size)
{
    size_t used = 0;
    for (const char *at = words; *at && used < size; at += strcspn(at, " ")) {
        at += *at == ' ';
        const bool last = !strchr(at, ' ');
        used += (size_t)snprintf(text + used, size - used, "%s--%.*s",
                                 used == 0 ? ""
                                 : last    ? " or "
                                           : ", ",
                                 (int)strcspn(at, " "), at);
    }
    return text;
}

static void check_row(struct argp_state *state, const parsing *p, const cli_row *row)
{
    const cli_option *o = row->option;
    char names[256];
    bool accompanied = !row->with;
    if (!row->given && o->required)
        argp_error(state, "--%s %s is missing", o->name, o->argument);
    for (int i = 0; i < p->count && row->given; i++) {
        const cli_row *other = &p->rows[i];
        if (other == row || !other->given)
            continue;
        accompanied = accompanied || has_word(row->with, other->option->name);
        if (o->excludes && has_word(o->excludes, other->option->name) != (o->excludes[0] == '!'))
            argp_error(state, "--%s and --%s exclude each other", o->name, other->option->name);
    }
    if (row->given && !accompanied)
        argp_error(state, "--%s needs %s", o->name, join_names(row->with, names, sizeof names));
}

/* The form of the arguments that begins with this word; NULL if there are several, and none does. */
static const char *find_form(const char *forms, const char *word)
{
    if (!strchr(forms, '\n'))
        return forms;
    for (const char *form = forms; form; form = strchr(form, '\n') ? strchr(form, '\n') + 1 : NULL) {
        const size_t length = strcspn(form, " \n");
        if (word && strlen(word) == length && !memcmp(form, word, length))
            return form;
    }
    return NULL;
}

static void check_words(struct argp_state *state, const parsing *p)
{
    const char *forms = p->command->arguments ? p->command->arguments : "";
    const char *form = find_form(forms, p->words.count ? p->words.list[0] : NULL);
    int count = 0;
    if (!form && p->words.count)
        return; /* the command knows its words */
    if (!form) {
        char firsts[256] = "";
        for (form = forms; form; form = strchr(form, '\n') ? strchr(form, '\n') + 1 : NULL)
            snprintf(firsts + strlen(firsts), sizeof firsts - strlen(firsts), "%s%.*s", *firsts ? ", " : "",
                     (int)strcspn(form, " \n"), form);
        argp_error(state, "an argument is missing: one of %s", firsts);
        return;
    }
    for (const char *at = form; *at && *at != '\n'; at += *at == ' ') {
        const size_t length = strcspn(at, " \n");
        if (p->words.count <= count && *at != '[')
            argp_error(state, "an argument is missing: %.*s", (int)length, at);
        count = memmem(at, length, "...", 3) ? INT32_MAX : count + 1;
        at += length;
    }
    if (p->words.count > count)
        argp_error(state, "one argument too many: '%.80s'", p->words.list[count]);
}

static error_t parse_key(int key, char *text, struct argp_state *state)
{
    parsing *p = state->input;
    cli_row *row = row_of(p, key);
    if (row)
        take(state, p, row, text);
    else if (key == ARGP_KEY_ARGS)
        p->words = (cli_words){state->argv + state->next, state->argc - state->next};
    else if (key != ARGP_KEY_END)
        return ARGP_ERR_UNKNOWN;
    for (int i = 0; i < p->count && key == ARGP_KEY_END; i++)
        check_row(state, p, &p->rows[i]);
    if (key == ARGP_KEY_END)
        check_words(state, p);
    return 0;
}

void cli_parse(const cli_command *command, int argc, char **argv, void *arguments)
{
    parsing p = {.command = command, .arguments = arguments};
    struct argp_option options[CLI_MOST_ROWS + 2] = {0};
    char forms[512];
    size_t used = (size_t)snprintf(forms, sizeof forms, "%s", command->arguments ? command->arguments : "");
    cli_define_ops(argc, argv);
    p.count = cli_rows_of(command, p.rows);
    for (int i = 0; i < p.count; i++) {
        const cli_option *o = p.rows[i].option;
        options[i] = (struct argp_option){.name = o->name,
                                          .key = !o->name    ? 0
                                                 : o->letter ? o->letter
                                                             : FIRST_KEY + i,
                                          .arg = o->argument,
                                          .flags = o->help ? 0 : OPTION_HIDDEN,
                                          .doc = o->help,
                                          .group = p.rows[i].group};
        if (o->required && used < sizeof forms)
            used += (size_t)snprintf(forms + used, sizeof forms - used, " --%s=%s", o->name, o->argument);
    }
    options[p.count] = (struct argp_option){.doc = "Help:", .group = -1};
    const struct argp argp = {.options = options, .parser = parse_key, .args_doc = forms, .doc = command->doc};
    if (cli_parse_argp(&argp, argc, argv, 0, &p) != 0)
        exit(CLI_BAD);
    if (command->arguments)
        *(cli_words *)((char *)arguments + command->words) = p.words;
}
