/* TRUSTED. Reads gcov's annotated source: "    count:number:text", a count of - where there is no code, ##### where it never ran. */
#include "verify/lines.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_LINES = 1 << 20 };

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
    *kind = *line == '-' ? NO_CODE : *line == '#' || *line == '=' ? MISSED : isdigit((unsigned char)*line) ? RUN : -1;
    for (colon++; colon < second && *colon == ' ';)
        colon++;
    *number = 0;
    for (; colon < second && isdigit((unsigned char)*colon) && *number < MOST_LINES; colon++)
        *number = 10 * *number + (*colon - '0');
    return colon == second ? second + 1 : NULL;
}

static bool is_source(const char *text, size_t length, const char *source)
{
    static const char label[] = "Source:";
    const size_t begin = sizeof label - 1;
    return length == begin + strlen(source) && !memcmp(text, label, begin) &&
           !memcmp(text + begin, source, length - begin);
}

/* A stretch of missed lines goes on over lines without code. */
static bool collect(const char *kinds, int64_t count, tki_lines *lines)
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
            more[lines->missed_count++].first = i;
        }
        lines->missed[lines->missed_count - 1].last = last = i;
    }
    return true;
}

bool tki_lines_read(const char *text, const char *source, tki_lines *lines)
{
    *lines = (tki_lines){0};
    char *kinds = calloc(MOST_LINES + 1, 1);
    int64_t count = 0;
    bool ours = false, any = false;
    while (*text && kinds) {
        size_t length = strcspn(text, "\n");
        char kind;
        int64_t number;
        const char *rest = split(text, length, &kind, &number);
        if (rest && number == 0 && length - (size_t)(rest - text) >= 7 && !memcmp(rest, "Source:", 7))
            any |= ours = is_source(rest, length - (size_t)(rest - text), source);
        else if (rest && ours && number > 0 && number <= MOST_LINES && kind > kinds[number]) {
            kinds[number] = kind;
            count = number > count ? number : count;
        }
        text += length + (text[length] == '\n');
    }
    bool good = kinds && any && collect(kinds, count, lines);
    free(kinds);
    if (!good)
        tki_lines_free(lines);
    return good;
}

void tki_lines_free(tki_lines *lines)
{
    free(lines->missed);
    *lines = (tki_lines){0};
}

void tki_lines_print(const tki_lines *lines, char *text, size_t size)
{
    static const char cut[] = ", ...";
    size_t used = 0;
    text[0] = 0;
    for (int i = 0; i < lines->missed_count; i++) {
        char range[64];
        const tki_line_range *r = &lines->missed[i];
        snprintf(range, sizeof range, r->first == r->last ? "%s%lld" : "%s%lld-%lld", i ? ", " : "",
                 (long long)r->first, (long long)r->last);
        if (used + strlen(range) + sizeof cut > size) {
            snprintf(text + used, size - used, "%s", cut);
            return;
        }
        used += (size_t)snprintf(text + used, size - used, "%s", range);
    }
}
