/* What a text made fit for its destination must be, by strict readers that share nothing with core/escape.c. */
#ifndef TESTS_FUZZ_ESCAPE_H
#define TESTS_FUZZ_ESCAPE_H

#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "core/escape.h"

/* The character that begins here, and its bytes; 0 where none does. By the table of well-formed sequences in the Unicode standard. */
static inline size_t read_character(const unsigned char *p, unsigned long *code)
{
    static const struct {
        unsigned char first[2], second[2];
        size_t bytes;
    } rows[] = {{{0x01, 0x7f}, {0, 0}, 1},       {{0xc2, 0xdf}, {0x80, 0xbf}, 2}, {{0xe0, 0xe0}, {0xa0, 0xbf}, 3},
                {{0xe1, 0xec}, {0x80, 0xbf}, 3}, {{0xed, 0xed}, {0x80, 0x9f}, 3}, {{0xee, 0xef}, {0x80, 0xbf}, 3},
                {{0xf0, 0xf0}, {0x90, 0xbf}, 4}, {{0xf1, 0xf3}, {0x80, 0xbf}, 4}, {{0xf4, 0xf4}, {0x80, 0x8f}, 4}};
    for (size_t r = 0; r < sizeof rows / sizeof *rows; r++) {
        if (p[0] < rows[r].first[0] || p[0] > rows[r].first[1])
            continue;
        *code = p[0] & (unsigned[]){0, 0x7f, 0x1f, 0x0f, 0x07}[rows[r].bytes];
        for (size_t i = 1; i < rows[r].bytes; i++) {
            if (i == 1 ? p[1] < rows[r].second[0] || p[1] > rows[r].second[1] : (p[i] & 0xc0) != 0x80)
                return 0;
            *code = *code << 6 | (p[i] & 0x3fu);
        }
        return rows[r].bytes;
    }
    return 0;
}

/* What must never be seen raw: controls, what turns or hides text, no characters. */
static inline bool is_dangerous(unsigned long code)
{
    return code < 0x20 || (code >= 0x7f && code < 0xa0) || code == 0xad || code == 0x61c || code == 0x180e ||
           (code >= 0x200b && code <= 0x200f) || (code >= 0x2028 && code <= 0x202e) ||
           (code >= 0x2060 && code <= 0x206f) || code == 0xfeff || (code >= 0xfff9 && code <= 0xfffb) ||
           (code >= 0xe0000 && code <= 0xe0fff) || (code & 0xfffe) == 0xfffe;
}

/* UTF-8 in which all is seen, but for the characters that are `let_through`. */
static inline bool is_visible(const char *text, const char *let_through)
{
    unsigned long code;
    for (const unsigned char *p = (const unsigned char *)text; *p;) {
        if (*p >= ' ' && *p <= '~') { /* nearly all of a page, by the short way */
            p++;
            continue;
        }
        const size_t bytes = read_character(p, &code);
        if (!bytes || (is_dangerous(code) && !(code < 0x80 && strchr(let_through, (int)code))))
            return false;
        p += bytes;
    }
    return true;
}

static inline bool is_xml_text(const char *text)
{
    static const char *const entities[] = {"&lt;", "&gt;", "&amp;", "&quot;", "&#10;", "&#9;"};
    for (const char *p = text; *p; p++) {
        bool good = *p != '<' && *p != '>' && *p != '"';
        if (*p == '&') {
            good = false;
            for (size_t i = 0; i < sizeof entities / sizeof *entities; i++)
                good |= !strncmp(p, entities[i], strlen(entities[i]));
        }
        if (!good)
            return false;
    }
    return is_visible(text, "");
}

static inline bool is_ascii_word(int c)
{
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

/* One line without markup: read as CommonMark reads it, a backslash before punctuation first. */
static inline bool is_markdown_text(const char *text)
{
    const size_t length = strlen(text);
    size_t digits = 0;
    if (!is_visible(text, "") || (*text && strchr(" >#", *text)))
        return false;
    if (*text && strchr("+-=", *text) && !is_ascii_word(text[strspn(text, "+-=")]))
        return false;
    while (text[digits] >= '0' && text[digits] <= '9')
        digits++;
    if (digits && text[digits] && strchr(".)", text[digits]) && !is_ascii_word(text[digits + 1]))
        return false;
    for (size_t i = 0; i < length; i++) {
        if (text[i] == '\\') {
            if (!text[i + 1] || is_ascii_word(text[i + 1]) || text[i + 1] == ' ' || text[i + 1] & 0x80)
                return false; /* a lone one: every backslash is to be written as two */
            i++;
        } else if (strchr("`*[]|<~$@#", text[i])) {
            return false;
        } else if (text[i] == '&') {
            static const char *const entities[] = {"&lt;", "&amp;", "&gt;", "&#32;"};
            size_t k = 0;
            while (k < 4 && strncmp(text + i, entities[k], strlen(entities[k])) != 0)
                k++;
            if (k == 4)
                return false;
            i += strlen(entities[k]) - 1;
        } else if (text[i] == '_') {
            const size_t run = strspn(text + i, "_");
            if (i == 0 || !is_ascii_word(text[i - 1]) || !is_ascii_word(text[i + run]))
                return false;
            i += run - 1;
        } else if (!strncmp(text + i, "://", 3) ||
                   (text[i] == '.' && i >= 3 && !strncasecmp(text + i - 3, "www", 3))) {
            return false;
        }
    }
    return true;
}

/* A fence, a text in which there is none as long, the same fence. */
static inline bool is_markdown_code(const char *text)
{
    const size_t length = strlen(text), fence = strspn(text, "`");
    if (!fence || length < 2 * fence + 1 || !is_visible(text, ""))
        return false;
    for (const char *p = text + fence; *p;) {
        const size_t run = strspn(p, "`");
        if (run == fence)
            return !p[run]; /* the first that closes is the last */
        p += run ? run : 1;
    }
    return false;
}

static inline bool is_markdown_block(const char *text)
{
    const size_t fence = strspn(text, "`");
    const char *first = strchr(text, '\n');
    const char *second = first ? strchr(first + 1, '\n') : NULL;
    if (fence < 3 || !second || !is_visible(text, "\n"))
        return false;
    for (const char *p = first; p < second;) {
        const size_t run = strspn(p, "`");
        if (run >= fence)
            return false;
        p += run ? run : 1;
    }
    return strspn(second + 1, "`") == fence && !strcmp(second + 1 + fence, "\n");
}

/* What `put` writes of the text; free() it. */
static inline char *written(void (*put)(FILE *, const char *, size_t), const char *text, size_t most)
{
    char *result = NULL;
    size_t size;
    FILE *out = open_memstream(&result, &size);
    if (!out)
        abort();
    put(out, text, most);
    if (fclose(out))
        abort();
    return result;
}

#endif
