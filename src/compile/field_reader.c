/* CHOOSES. Fields of files that anybody may have written. */
#include "compile/field_reader.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

bool tki_take_line(tki_reader *r, const char **line, size_t *length)
{
    const char *end = r->place < r->end ? memchr(r->place, '\n', (size_t)(r->end - r->place)) : NULL;
    if (!end)
        return false;
    *line = r->place;
    *length = (size_t)(end - r->place);
    r->place = end + 1;
    return true;
}

void tki_take_first_line(tki_reader *r, const char *text)
{
    const char *line;
    size_t length;
    if (!tki_take_line(r, &line, &length) || length != strlen(text) || memcmp(line, text, length) != 0)
        r->wrong = "first line";
}

void tki_take_field(tki_reader *r, const char *name, char *value, size_t size)
{
    const char *line;
    size_t length, prefix = strlen(name);
    value[0] = 0;
    if (r->wrong)
        return;
    bool good = tki_take_line(r, &line, &length) && length > prefix && !memcmp(line, name, prefix) &&
                line[prefix] == ' ' && length - prefix - 1 < size;
    for (size_t i = 0; good && i < length; i++)
        good = (unsigned char)line[i] >= ' ' && line[i] != 127;
    if (!good) {
        r->wrong = name;
        return;
    }
    memcpy(value, line + prefix + 1, length - prefix - 1);
    value[length - prefix - 1] = 0;
}

void tki_take_hash(tki_reader *r, const char *name, char hash[TKI_DIGEST_HEX])
{
    tki_take_field(r, name, hash, TKI_DIGEST_HEX);
    if (!r->wrong && (strlen(hash) != TKI_DIGEST_HEX - 1 || strspn(hash, "0123456789abcdef") != strlen(hash)))
        r->wrong = name;
}

bool tki_read_number(const char **text, uint64_t most, uint64_t *value)
{
    const char *p = *text;
    *value = 0;
    if (*p < '0' || *p > '9' || (*p == '0' && p[1] >= '0' && p[1] <= '9'))
        return false;
    for (; *p >= '0' && *p <= '9'; p++) {
        uint64_t digit = (uint64_t)(*p - '0');
        if (digit > most || *value > (most - digit) / 10)
            return false;
        *value = *value * 10 + digit;
    }
    *text = p;
    return true;
}

uint64_t tki_take_number(tki_reader *r, const char *name, uint64_t most)
{
    char text[32];
    const char *p = text;
    uint64_t value = 0;
    tki_take_field(r, name, text, sizeof text);
    if (!r->wrong && (!tki_read_number(&p, most, &value) || *p))
        r->wrong = name;
    return r->wrong ? 0 : value;
}

bool tki_take_word(const char **at, char *word, size_t size)
{
    const size_t length = strcspn(*at, " ");
    if (length == 0 || length >= size)
        return false;
    memcpy(word, *at, length);
    word[length] = 0;
    *at += length;
    return true;
}

bool tki_reader_ended(const tki_reader *r, char *problem, size_t problem_size)
{
    if (r->wrong)
        return tki_complain(problem, problem_size, "its `%s` is malformed", r->wrong);
    return r->place == r->end || tki_complain(problem, problem_size, "it has data after its end");
}

bool tki_complain(char *problem, size_t size, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(problem, size, format, arguments);
    va_end(arguments);
    return false;
}
