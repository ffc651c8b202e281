/* CHOOSES. */
#include "kernel_file/source_tokens.h"

#include <ctype.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

bool tki_is_word(char letter)
{
    return isalnum((unsigned char)letter) || letter == '_' || letter == '$';
}

bool tki_span_is(tki_span s, const char *text)
{
    const size_t length = strlen(text);
    return (size_t)(s.end - s.at) == length && !memcmp(s.at, text, length);
}

bool tki_span_has(tki_span s, const char *text)
{
    return memmem(s.at, (size_t)(s.end - s.at), text, strlen(text)) != NULL;
}

bool tki_span_is_any(tki_span s, const char *const list[])
{
    while (*list && !tki_span_is(s, *list))
        list++;
    return *list != NULL;
}

bool tki_span_has_any(tki_span s, const char *const list[])
{
    while (*list && !tki_span_has(s, *list))
        list++;
    return *list != NULL;
}

tki_token tki_next_token(tki_span *rest, tki_span *token)
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
    tki_token k = p == end          ? TKI_NO_MORE
                  : *p == '\n'      ? TKI_LINE_END
                  : tki_is_word(*p) ? TKI_WORD
                  : *p == '"'       ? TKI_STRING
                                    : TKI_SIGN;
    if (k == TKI_WORD) {
        while (p < end && tki_is_word(*p))
            p++;
    } else if (k == TKI_STRING || (k == TKI_SIGN && *p == '\'')) {
        const char quote = *p++;
        token->at = p;
        while (p < end && *p != quote && *p != '\n')
            p += *p == '\\' && end - p > 1 ? 2 : 1;
        token->end = p;
        rest->at = p + (p < end && *p == quote);
        return k;
    } else if (k != TKI_NO_MORE) {
        p++;
    }
    token->end = rest->at = p;
    return k;
}

bool tki_span_begins_any(tki_span s, const char *const list[])
{
    while (*list && ((size_t)(s.end - s.at) < strlen(*list) || memcmp(s.at, *list, strlen(*list)) != 0))
        list++;
    return *list != NULL;
}

bool tki_span_ends_any(tki_span s, const char *const list[])
{
    while (*list &&
           ((size_t)(s.end - s.at) < strlen(*list) || memcmp(s.end - strlen(*list), *list, strlen(*list)) != 0))
        list++;
    return *list != NULL;
}

size_t tki_join_lines(const char *text, size_t bytes, char *joined)
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

bool tki_is_pasted(tki_span all, const char *word)
{
    const size_t length = strlen(word); /* below 64 */
    uint64_t heads = 0, tails = 0;      /* bit n: the first n letters stand alone, or those behind them */
    tki_span rest = all, token;
    for (tki_token k; (k = tki_next_token(&rest, &token)) != TKI_NO_MORE;) {
        const size_t size = (size_t)(token.end - token.at);
        if (k != TKI_WORD || size >= length)
            continue;
        heads |= !memcmp(token.at, word, size) ? UINT64_C(1) << size : 0;
        tails |= !memcmp(token.at, word + length - size, size) ? UINT64_C(1) << (length - size) : 0;
    }
    return (heads & tails) != 0;
}

static int compare_spans(const void *left, const void *right)
{
    const tki_span *a = left, *b = right;
    const size_t i = (size_t)(a->end - a->at), k = (size_t)(b->end - b->at);
    const int order = memcmp(a->at, b->at, i < k ? i : k);
    return order ? order : (i > k) - (i < k);
}

void tki_names_add(tki_names *names, tki_span name)
{
    if (names->count == names->room) {
        const size_t room = names->room ? 2 * names->room : 64;
        tki_span *more = realloc(names->items, room * sizeof *more);
        names->failed |= !more;
        if (!more)
            return;
        names->items = more;
        names->room = room;
    }
    names->items[names->count++] = name;
}

void tki_names_sort(tki_names *names)
{
    if (names->count)
        qsort(names->items, names->count, sizeof *names->items, compare_spans);
}

bool tki_names_have(const tki_names *names, tki_span name)
{
    return names->count && bsearch(&name, names->items, names->count, sizeof name, compare_spans);
}
