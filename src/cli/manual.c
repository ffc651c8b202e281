/* SHOWS. The man page: a template (docs/tokitai.1), and in the place of its comments what the tables of the commands say. */
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "cli/attribute_options.h"
#include "cli/cli.h"
#include "cli/common_arguments.h"

enum { LINE = 4096 };

/* Text of `length` bytes that is no macro, and what ends it: a sentence to a line, minus signs that can be copied. */
static void write_text(FILE *out, const char *text, size_t length, const char *end)
{
    bool begins = true;
    for (size_t i = 0; i < length; i++) {
        if (begins && (text[i] == '.' || text[i] == '\''))
            fputs("\\&", out);
        begins = text[i] == ' ' && i > 0 && strchr(".:;", text[i - 1]) && i + 1 < length &&
                 isupper((unsigned char)text[i + 1]);
        if (text[i] == '-' || text[i] == '\\')
            fputs(text[i] == '-' ? "\\-" : "\\e", out);
        else
            fputc(begins ? '\n' : text[i], out);
    }
    fprintf(out, "%s\n", end);
}

/* Paragraphs, and lines that begin with blanks as they are. */
static void write_paragraphs(FILE *out, const char *text, size_t length)
{
    bool literal = false;
    for (const char *end = text + length, *line = text; line < end;) {
        const size_t bytes = strcspn(line, "\n\v") < (size_t)(end - line) ? strcspn(line, "\n\v")
                                                                          : (size_t)(end - line);
        const bool indented = *line == ' ';
        if (indented != literal)
            fputs(indented ? ".Bd -literal\n" : ".Ed\n", out);
        literal = indented;
        if (bytes)
            write_text(out, line, bytes, "");
        else if (line + 1 < end)
            fputs(".Pp\n", out);
        line += bytes + 1;
    }
    if (literal)
        fputs(".Ed\n", out);
}

/* "i32 | ID": alternatives; words of lower case stand for themselves. */
static void write_argument(FILE *out, const char *argument)
{
    for (; *argument; argument += *argument == '|') {
        const size_t length = strcspn(argument, "|");
        fprintf(out, " %s %.*s%s", islower((unsigned char)*argument) ? "Cm" : "Ar", (int)length, argument,
                argument[length] ? " |" : "");
        argument += length;
    }
}

static void write_option(FILE *out, const cli_option *o)
{
    fputs(".It Fl ", out);
    if (o->letter)
        fprintf(out, "%c , ", o->letter);
    fprintf(out, "-%s", o->name);
    if (o->argument)
        write_argument(out, o->argument);
    fputc('\n', out);
    write_text(out, o->help, strlen(o->help), ".");
}

static void write_options(FILE *out, const cli_command *command)
{
    cli_row rows[CLI_MOST_ROWS];
    const int count = cli_rows_of(command, rows);
    bool listing = false, attributes = false;
    for (int i = 0; i < count; i++) {
        const cli_option *o = rows[i].option;
        attributes |= o->kind == CLI_ATTRIBUTE;
        const bool is_option = o->name && o->help && o->kind != CLI_ATTRIBUTE;
        const bool is_heading = o->kind == CLI_GROUP && i + 1 < count && rows[i + 1].option->kind != CLI_ATTRIBUTE;
        if (listing && is_heading)
            fputs(".El\n", out);
        if (is_heading)
            fputs(".Pp\n", out);
        if (is_heading)
            write_text(out, o->help, strlen(o->help), "");
        if ((is_option && !listing) || is_heading)
            fputs(".Bl -tag -width Ds\n", out);
        listing |= is_option || is_heading;
        if (is_option)
            write_option(out, o);
    }
    if (listing)
        fputs(".El\n", out);
    if (attributes)
        fputs(".Pp\nAttributes of operations are options, too.\n", out);
}

static void write_command(FILE *out, const cli_command *command)
{
    const char *rest = strchr(command->doc, '\v');
    fprintf(out, ".Ss tokitai %s\n", command->name);
    write_paragraphs(out, command->doc, rest ? (size_t)(rest - command->doc) : strlen(command->doc));
    write_options(out, command);
    if (rest)
        fputs(".Pp\n", out);
    if (rest)
        write_paragraphs(out, rest + 1, strlen(rest + 1));
}

static void write_synopsis(FILE *out, const cli_command *command)
{
    const char *form = command->arguments ? command->arguments : "";
    do {
        fprintf(out, ".Nm\n.Cm %s", command->name);
        const bool several = strchr(command->arguments ? command->arguments : "", '\n') != NULL;
        if (several) {
            fprintf(out, " %.*s", (int)strcspn(form, " \n"), form);
            form += strcspn(form, " \n");
            form += *form == ' ';
        }
        fputs("\n.Op Ar OPTION ...\n", out);
        for (; *form && *form != '\n'; form += *form == ' ') {
            const size_t length = strcspn(form, " \n");
            const bool optional = *form == '[', more = memmem(form, length, "...", 3);
            fprintf(out, ".%s%s %.*s%s\n", optional ? "Op " : "", islower((unsigned char)*form) ? "Cm" : "Ar",
                    (int)length - (more ? 3 : 0) - 2 * optional, form + optional, more ? " ..." : "");
            form += length;
        }
    } while (*form++ == '\n');
}

static void write_attributes(FILE *out)
{
    for (const cli_option *o = cli_attribute_options(); o->kind != CLI_END; o++) {
        const tk_attribute *attribute = cli_attribute_of(o);
        write_option(out, o);
        for (int i = 0; i < attribute->choice_count; i++) {
            fprintf(out, ".Cm %s :\n", attribute->choices[i].id);
            write_text(out, attribute->choices[i].text, strlen(attribute->choices[i].text), ".");
        }
        fputs("For", out);
        const char *separator = " ";
        for (int i = 0; tk_contract_at(i); i++) {
            if (tk_attribute_find(tk_contract_at(i), attribute->name) < 0)
                continue;
            fprintf(out, "%s%s", separator, tk_contract_at(i)->name);
            separator = ", ";
        }
        fputs(".\n", out);
    }
}

void cli_print_manual(FILE *template, FILE *out)
{
    char line[LINE];
    while (fgets(line, sizeof line, template)) {
        const bool synopsis = !strcmp(line, ".\\\" synopsis\n"), commands = !strcmp(line, ".\\\" commands\n");
        for (int i = 0; (synopsis || commands) && cli_command_at(i); i++)
            (synopsis ? write_synopsis : write_command)(out, cli_command_at(i));
        if (!strcmp(line, ".\\\" attributes\n"))
            write_attributes(out);
        else if (!synopsis && !commands)
            fputs(line, out);
    }
}
