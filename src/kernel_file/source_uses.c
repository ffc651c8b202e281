/* CHOOSES. A scanner of tokens for C and its relatives, before and after preprocessing. Dates and paths are known by what they became, however
 * the source spelt them. */
#include "kernel_file/source_uses.h"

#include <ctype.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "isolate/worker_process.h"

static const struct {
    const char *name, *meaning;
} words[TKI_USES] = {
    [TKI_USE_DATE] = {"date", "asks for the date or time of its compilation"},
    [TKI_USE_PATH] = {"path", "has the path of its file in it (__FILE__, assert)"},
    [TKI_USE_PRESENCE] = {"has_include", "asks which files there are (__has_include)"},
    [TKI_USE_INCLUDE] = {"include",
                         "includes a file by an absolute or computed path, or through a folder above its own"},
    [TKI_USE_DATA] = {"data", "takes in other files as data (#embed, .incbin)"},
    [TKI_USE_ASSEMBLER] = {"assembler", "has the assembler choose or repeat"},
    [TKI_USE_FOLDING] = {"folding", "asks what the optimiser knows (__builtin_constant_p)"},
    [TKI_USE_WEAK] = {"weak", "refers to symbols that a program may have or not have"},
    [TKI_USE_BUILD] = {"build", "names what instrumented builds call"},
};

const char *tki_use_name(tki_use use)
{
    return words[use].name;
}

const char *tki_use_meaning(const char *name)
{
    for (int i = 0; i < TKI_USES; i++)
        if (!strcmp(words[i].name, name))
            return words[i].meaning;
    return NULL;
}

typedef struct span {
    const char *at, *end;
} span;

static bool is_word(char letter)
{
    return isalnum((unsigned char)letter) || letter == '_' || letter == '$';
}

static bool equals(span s, const char *text)
{
    const size_t length = strlen(text);
    return (size_t)(s.end - s.at) == length && !memcmp(s.at, text, length);
}

static bool contains(span s, const char *text)
{
    return memmem(s.at, (size_t)(s.end - s.at), text, strlen(text)) != NULL;
}

static bool equals_any(span s, const char *const list[])
{
    while (*list && !equals(s, *list))
        list++;
    return *list != NULL;
}

static bool contains_any(span s, const char *const list[])
{
    while (*list && !contains(s, *list))
        list++;
    return *list != NULL;
}

/* ------------------------------------------------------------------------------------------------------------
 * Tokens
 * ------------------------------------------------------------------------------------------------------------ */

typedef enum kind { WORD, STRING, SIGN, LINE_END, NO_MORE } kind;

/* The next token; of a string the letters between its quotes. Comments and blanks are passed over. */
static kind next_token(span *rest, span *token)
{
    const char *p = rest->at, *end = rest->end;
    for (;;) {
        if (end - p > 1 && p[0] == '/' && p[1] == '/') {
            while (p < end && *p != '\n')
                p++;
        } else if (end - p > 1 && p[0] == '/' && p[1] == '*') {
            const char *close = memmem(p + 2, (size_t)(end - p - 2), "*/", 2);
            p = close ? close + 2 : end;
        } else if (p < end && isspace((unsigned char)*p) && *p != '\n') {
            p++;
        } else {
            break;
        }
    }
    token->at = p;
    kind k = p == end ? NO_MORE : *p == '\n' ? LINE_END : is_word(*p) ? WORD : *p == '"' ? STRING : SIGN;
    if (k == WORD) {
        while (p < end && is_word(*p))
            p++;
    } else if (k == STRING || (k == SIGN && *p == '\'')) {
        const char quote = *p++;
        token->at = p;
        while (p < end && *p != quote && *p != '\n')
            p += *p == '\\' && end - p > 1 ? 2 : 1;
        token->end = p;
        rest->at = p + (p < end && *p == quote);
        return k;
    } else if (k != NO_MORE) {
        p++;
    }
    token->end = rest->at = p;
    return k;
}

/* ------------------------------------------------------------------------------------------------------------
 * As it was written
 * ------------------------------------------------------------------------------------------------------------ */

static const char *const presence[] = {"__has_include", "__has_include_next", "__has_embed", NULL};

/* Lines that a backslash joins become one, and the other spellings of # and backslash are gone. Returns the length. */
static size_t join_lines(const char *text, size_t bytes, char *joined)
{
    static const struct {
        const char *spelt;
        char is;
    } others[] = {{"\?\?/", '\\'}, {"\?\?=", '#'}, {"%:", '#'}};
    size_t used = 0;
    for (size_t i = 0; i < bytes;) {
        char letter = text[i];
        size_t length = 1;
        for (size_t k = 0; k < sizeof others / sizeof *others; k++)
            if (bytes - i >= strlen(others[k].spelt) && !memcmp(text + i, others[k].spelt, strlen(others[k].spelt))) {
                letter = others[k].is;
                length = strlen(others[k].spelt);
            }
        size_t behind = i + length;
        while (letter == '\\' && behind < bytes &&
               (text[behind] == ' ' || text[behind] == '\t' || text[behind] == '\r'))
            behind++;
        if (letter == '\\' && behind < bytes && text[behind] == '\n') {
            i = behind + 1;
            continue;
        }
        joined[used++] = letter;
        i += length;
    }
    return used;
}

/* Is the word made of two that stand in the text, as ## joins them? */
static bool is_pasted(span all, const char *word)
{
    const size_t length = strlen(word);
    for (size_t split = 1; split < length; split++) {
        bool head = false, tail = false;
        span rest = all, token;
        for (kind k; (k = next_token(&rest, &token)) != NO_MORE;) {
            const size_t size = (size_t)(token.end - token.at);
            head |= k == WORD && size == split && !memcmp(token.at, word, split);
            tail |= k == WORD && size == length - split && !memcmp(token.at, word + split, size);
        }
        if (head && tail)
            return true;
    }
    return false;
}

/* Behind #include, #include_next, #import or #embed. */
static void look_at_path(span rest, unsigned *uses)
{
    span token;
    const kind k = next_token(&rest, &token);
    if (k == SIGN && *token.at == '<') {
        token.at++;
        const char *close = memchr(token.at, '>', (size_t)(rest.end - token.at));
        token.end = close ? close : rest.end;
    } else if (k != STRING) {
        *uses |= 1u << TKI_USE_INCLUDE;
        return;
    }
    if (token.at < token.end && (*token.at == '/' || contains(token, "..")))
        *uses |= 1u << TKI_USE_INCLUDE;
}

void tki_uses_of_source(const char *text, size_t bytes, unsigned *uses)
{
    static const char *const includes[] = {"include", "include_next", "import", NULL};
    char *joined = malloc(bytes + 1);
    if (!joined) { /* the more is said */
        *uses |= 1u << TKI_USE_PRESENCE;
        return;
    }
    span all = {joined, joined + join_lines(text, bytes, joined)}, rest = all, token;
    bool line_begins = true, directive = false;
    for (kind k; (k = next_token(&rest, &token)) != NO_MORE;) {
        if (k == WORD && equals_any(token, presence))
            *uses |= 1u << TKI_USE_PRESENCE;
        if (directive && k == WORD && equals(token, "embed"))
            *uses |= 1u << TKI_USE_DATA;
        if (directive && k == WORD && equals_any(token, includes))
            look_at_path(rest, uses);
        directive = k == SIGN && line_begins && *token.at == '#';
        line_begins = k == LINE_END;
    }
    if (contains(all, "##"))
        for (int i = 0; presence[i]; i++)
            *uses |= is_pasted(all, presence[i]) ? 1u << TKI_USE_PRESENCE : 0;
    free(joined);
}

/* ------------------------------------------------------------------------------------------------------------
 * Preprocessed
 * ------------------------------------------------------------------------------------------------------------ */

/* # 12 "source/kernel/file.c" 2 or, from some compilers, #line 12 "..." *file: of the kernel's own; empty if it is none. */
static bool is_marker(const char *line, const char *end, span *file)
{
    static const char *const folders[] = {TKI_SOURCE_LINK "/kernel/", TKI_SOURCE_LINK "/include"};
    const char *p = line + 1;
    if (*line != '#')
        return false;
    while (p < end && *p == ' ')
        p++;
    if (end - p > 5 && !memcmp(p, "line ", 5))
        p += 5;
    if (p == end || !isdigit((unsigned char)*p))
        return false;
    const char *name = memchr(p, '"', (size_t)(end - p));
    const char *close = name ? memchr(name + 1, '"', (size_t)(end - name - 1)) : NULL;
    *file = (span){end, end};
    for (size_t i = 0; i < sizeof folders / sizeof *folders && close; i++)
        if ((size_t)(close - name - 1) > strlen(folders[i]) && !memcmp(name + 1, folders[i], strlen(folders[i])))
            *file = (span){name + 1, close};
    return true;
}

/* The next line; its end is behind it. */
static const char *line_end(const char *line, const char *end)
{
    const char *newline = memchr(line, '\n', (size_t)(end - line));
    return newline ? newline + 1 : end;
}

bool tki_text_next_file(const char **at, const char *end, char *name, size_t size)
{
    while (*at < end) {
        span file = {0};
        const char *line = *at;
        *at = line_end(line, end);
        const int length = is_marker(line, *at, &file) ? (int)(file.end - file.at) : 0;
        if (length && (size_t)length < size) {
            snprintf(name, size, "%.*s", length - (int)strlen(TKI_SOURCE_LINK) - 1,
                     file.at + strlen(TKI_SOURCE_LINK) + 1);
            return true;
        }
    }
    return false;
}

size_t tki_text_own_parts(char *text, size_t bytes)
{
    size_t used = 0;
    span file = {0};
    for (const char *line = text, *next, *end = text + bytes; line < end; line = next) {
        next = line_end(line, end);
        if (is_marker(line, next, &file) || file.at == file.end)
            continue;
        memmove(text + used, line, (size_t)(next - line));
        used += (size_t)(next - line);
    }
    return used;
}

/* What is called by code that a compiler has inserted. */
static const char *const build_names[] = {"__sanitizer_", "__gcov", "llvm_gc", "__llvm_profile", "__llvm_prf", NULL};

/* An escape like \x2e or \056; returns how many letters it took. */
static size_t unescape(const char *at, const char *end, char *letter)
{
    char digits[4] = "";
    size_t i = 2;
    if (end - at > 2 && at[1] == 'x') {
        for (; at + i < end && i < 4 && isxdigit((unsigned char)at[i]); i++)
            digits[i - 2] = at[i];
        *letter = (char)strtol(digits, NULL, 16);
        return i;
    }
    for (i = 1; at + i < end && i < 4 && at[i] >= '0' && at[i] < '8'; i++)
        digits[i - 1] = at[i];
    *letter = i > 1 ? (char)strtol(digits, NULL, 8) : at[1] == 'n' ? '\n' : at[1];
    return i > 1 ? i : 2;
}

static void look_at_string(span s, unsigned *uses)
{
    static const char *const dates[] = {TKI_FIXED_DATE, TKI_FIXED_TIME, TKI_FIXED_STAMP, NULL};
    static const char *const paths[] = {TKI_SOURCE_LINK "/kernel/", TKI_SOURCE_LINK "/include", NULL};
    static const char *const data[] = {"incbin", ".include", NULL};
    static const char *const choices[] = {".if", ".macro", ".irp", ".rept", ".altmacro", NULL};
    *uses |= contains_any(s, dates) ? 1u << TKI_USE_DATE : 0;
    *uses |= contains_any(s, paths) ? 1u << TKI_USE_PATH : 0;
    *uses |= contains_any(s, data) ? 1u << TKI_USE_DATA : 0;
    *uses |= contains_any(s, choices) ? 1u << TKI_USE_ASSEMBLER : 0;
    *uses |= contains_any(s, build_names) ? 1u << TKI_USE_BUILD : 0;
}

void tki_uses_of_text(const char *text, size_t bytes, unsigned *uses)
{
    static const char *const folding[] = {"__builtin_constant_p",          "__builtin_object_size",
                                          "__builtin_dynamic_object_size", "__builtin_return_address",
                                          "__builtin_frame_address",       NULL};
    char *own = malloc(bytes + 1), *joined = malloc(bytes + 1); /* of neighbouring strings */
    if (!own || !joined) {
        *uses |= 1u << TKI_USE_BUILD;
        free(own);
        free(joined);
        return;
    }
    memcpy(own, text, bytes);
    span rest = {own, own + tki_text_own_parts(own, bytes)}, token;
    size_t used = 0;
    for (bool more = true; more;) {
        const kind k = next_token(&rest, &token);
        more = k != NO_MORE;
        if (k == STRING) {
            for (const char *p = token.at; p < token.end;)
                if (*p == '\\' && token.end - p > 1)
                    p += unescape(p, token.end, &joined[used++]);
                else
                    joined[used++] = *p++;
        } else if (k != LINE_END && used) {
            look_at_string((span){joined, joined + used}, uses);
            used = 0;
        }
        if (k != WORD)
            continue;
        *uses |= equals(token, "__builtin_FILE") ? 1u << TKI_USE_PATH : 0;
        *uses |= equals_any(token, folding) ? 1u << TKI_USE_FOLDING : 0;
        *uses |= contains_any(token, build_names) ? 1u << TKI_USE_BUILD : 0;
    }
    free(own);
    free(joined);
}

/* ------------------------------------------------------------------------------------------------------------
 * The library
 * ------------------------------------------------------------------------------------------------------------ */

void tki_uses_of_symbol(const char *name, bool weak_and_undefined, unsigned *uses)
{
    /* Of every library, and of every C++ one. */
    static const char *const usual[] = {"__gmon_start__", "_ITM_", "__cxa_", "_ZGT", "pthread_", "__pthread_", NULL};
    const span s = {name, name + strlen(name)};
    bool known = false;
    for (int i = 0; usual[i]; i++)
        known |= !strncmp(name, usual[i], strlen(usual[i]));
    *uses |= weak_and_undefined && !known ? 1u << TKI_USE_WEAK : 0;
    *uses |= contains_any(s, build_names) ? 1u << TKI_USE_BUILD : 0;
}
