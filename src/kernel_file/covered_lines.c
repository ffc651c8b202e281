/* CHOOSES. Reads gcov's annotated source: "    count:number:text", a count of - where there is no code, ##### where it never ran. */
#include "kernel_file/covered_lines.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_LINES = 1 << 20, MOST_SOURCES = 64 };

/* Of a line, in the order in which one outweighs the other: of several functions from one line one that ran is enough. */
enum { NO_CODE, MISSED, RUN };

/* Splits "  count : number : text"; NULL where a line of output is not of that form. */
static const char *split(const char *line, size_t length, char *kind, int64_t *number)
{
    const char *end = line + length, *colon = memchr(line, ':', length);
    const char *second = colon ? memchr(colon + 1, ':', (size_t)(end - colon - 1)) : NULL;
    if (!second)
        return NULL;
    while (line < colon && *line == ' ')
        line++;
    *kind = *line == '-'                    ? NO_CODE
            : *line == '#' || *line == '='  ? MISSED
            : isdigit((unsigned char)*line) ? RUN
                                            : NO_CODE;
    for (colon++; colon < second && *colon == ' ';)
        colon++;
    *number = 0;
    for (; colon < second && isdigit((unsigned char)*colon) && *number < MOST_LINES; colon++)
        *number = 10 * *number + (*colon - '0');
    return colon == second ? second + 1 : NULL;
}

/* The name in `folder` of the source that a line announces; NULL for another line, or another folder's source. *begins: it announces one. */
static const char *source_name(const char *text, size_t length, const char *folder, size_t *name_length, bool *begins)
{
    static const char label[] = "Source:";
    const size_t before = sizeof label - 1, inner = strlen(folder);
    *begins = length >= before && !memcmp(text, label, before);
    if (!*begins || length <= before + inner || memcmp(text + before, folder, inner) != 0)
        return NULL;
    *name_length = length - before - inner;
    return text + before + inner;
}

/* A stretch of missed lines goes on over lines without code. */
static bool collect(const char *kinds, int64_t count, int file, tki_lines *lines)
{
    int64_t last = 0; /* missed line, with no line that ran behind it */
    for (int64_t i = 1; i <= count; i++) {
        lines->count += kinds[i] != NO_CODE;
        lines->run += kinds[i] == RUN;
        if (kinds[i] == RUN)
            last = 0;
        if (kinds[i] != MISSED)
            continue;
        if (!last) {
            tki_line_range *more = realloc(lines->missed, (size_t)(lines->missed_count + 1) * sizeof *more);
            if (!more)
                return false;
            lines->missed = more;
            more[lines->missed_count++] = (tki_line_range){.file = file, .first = i};
        }
        lines->missed[lines->missed_count - 1].last = last = i;
    }
    return true;
}

/* A line of gcov's. */
typedef struct gcov_line {
    char kind;
    int64_t number; /* 0 if it is none of a source's */
    bool begins;    /* it announces a source, `name` in the folder; NULL: of another */
    const char *name;
    size_t name_length;
} gcov_line;

/* Reads a line and goes on to the next. */
static gcov_line next_line(const char **text, const char *folder)
{
    gcov_line line = {0};
    const size_t length = strcspn(*text, "\n");
    const char *rest = split(*text, length, &line.kind, &line.number);
    if (rest && line.number == 0)
        line.name = source_name(rest, length - (size_t)(rest - *text), folder, &line.name_length, &line.begins);
    if (!rest)
        line.number = 0;
    *text += length + ((*text)[length] == '\n');
    return line;
}

/* The lines of one file, whose number is given. */
static bool read_file(const char *text, const char *folder, int file, char *kinds, tki_lines *lines)
{
    int64_t count = 0;
    bool ours = false;
    const char *wanted = lines->files[file];
    memset(kinds, 0, MOST_LINES + 1);
    while (*text) {
        const gcov_line line = next_line(&text, folder);
        if (line.begins)
            ours = line.name && line.name_length == strlen(wanted) && !memcmp(line.name, wanted, line.name_length);
        else if (ours && line.number > 0 && line.number <= MOST_LINES && line.kind > kinds[line.number]) {
            kinds[line.number] = line.kind;
            count = line.number > count ? line.number : count;
        }
    }
    return collect(kinds, count, file, lines);
}

static bool add_file(tki_lines *lines, const char *name, size_t length)
{
    for (int i = 0; i < lines->file_count; i++)
        if (strlen(lines->files[i]) == length && !memcmp(lines->files[i], name, length))
            return true;
    if (lines->file_count == MOST_SOURCES)
        return true;
    char **more = realloc(lines->files, ((size_t)lines->file_count + 1) * sizeof *more);
    if (more)
        lines->files = more;
    if (!more || !(more[lines->file_count] = strndup(name, length)))
        return false;
    lines->file_count++;
    return true;
}

/* The files that are told of; the one that is compiled stands first in any case. */
static bool list_files(const char *text, const char *folder, const char *file, tki_lines *lines, bool *any)
{
    bool good = add_file(lines, file, strlen(file));
    while (*text && good) {
        const gcov_line line = next_line(&text, folder);
        if (line.name) {
            *any = true;
            good = add_file(lines, line.name, line.name_length);
        }
    }
    return good;
}

bool tki_lines_read(const char *text, const char *folder, const char *file, tki_lines *lines)
{
    *lines = (tki_lines){0};
    char *kinds = malloc(MOST_LINES + 1);
    bool any = false;
    bool good = kinds && list_files(text, folder, file, lines, &any) && any;
    for (int i = 0; i < lines->file_count && good; i++)
        good = read_file(text, folder, i, kinds, lines);
    free(kinds);
    if (!good)
        tki_lines_free(lines);
    return good;
}

void tki_lines_free(tki_lines *lines)
{
    for (int i = 0; i < lines->file_count; i++)
        free(lines->files[i]);
    free(lines->files);
    free(lines->missed);
    *lines = (tki_lines){0};
}
