/* Fuzz target: text from outside on its way to each destination. Whatever comes in, what comes out is valid there (tests/fuzz/escape.h says what
 * that is), and nothing is changed that was fit already. The first byte says how much of the text is shown. */
#include <stdint.h>

#include <jansson.h>

#include "tests/fuzz/escape.h"

static void try_streams(const char *text, size_t most)
{
    char *out = written(tki_put_terminal, text, most);
    assert(is_visible(out, ""));
    if (is_visible(text, "") && strlen(text) <= most) /* what it holds beyond is hidden for other reasons */
        assert(strlen(out) >= strlen(text));
    assert((int)strlen(out) >= tki_terminal_width(out));
    char *again = written(tki_put_terminal, out, SIZE_MAX);
    assert(!strcmp(again, out));
    free(again);
    free(out);
    out = written(tki_put_xml, text, most);
    assert(is_xml_text(out));
    free(out);
    out = written(tki_put_markdown, text, most);
    assert(is_markdown_text(out));
    free(out);
    out = written(tki_put_markdown_code, text, most);
    assert(is_markdown_code(out));
    free(out);
}

static void try_block(const char *text)
{
    char *out = NULL;
    size_t size;
    FILE *stream = open_memstream(&out, &size);
    if (!stream)
        abort();
    tki_put_markdown_block(stream, "sh", text, SIZE_MAX);
    if (fclose(stream))
        abort();
    assert(is_markdown_block(out));
    free(out);
}

/* The shell's reading of one word: 'as it is', '\'', or $'...' with \xNN, \\ and \'. */
static void try_shell(const char *text)
{
    char *out = NULL;
    size_t size;
    FILE *stream = open_memstream(&out, &size);
    if (!stream)
        abort();
    tki_put_shell_word(stream, text);
    if (fclose(stream))
        abort();
    assert(is_visible(out, "") && out[0]);
    char *word = calloc(strlen(out) + 1, 1), *to = word;
    if (!word)
        abort();
    bool dollar = false, quoted = false;
    for (const char *p = out; *p; p++) {
        if (!quoted && p[0] == '$' && p[1] == '\'') {
            dollar = quoted = true;
            p++;
        } else if (dollar && quoted && p[0] == '\\' && p[1] == 'x') {
            *to++ = (char)strtol((char[]){p[2], p[3], 0}, NULL, 16);
            p += 3;
        } else if ((dollar || !quoted) && p[0] == '\\') {
            *to++ = *++p;
        } else if (*p == '\'') {
            quoted = !quoted;
        } else {
            assert(quoted || is_ascii_word(*p) || strchr("_-+=./:,", *p));
            *to++ = *p;
        }
    }
    assert(!quoted && !strcmp(word, text));
    free(word);
    free(out);
}

static void try_places(const char *text, size_t size)
{
    char *place = malloc(size);
    char *copy = malloc(strlen(text) + size + 1);
    if (!place || !copy)
        abort();
    size_t taken = tki_escape_line(text, strlen(text), place, size);
    assert(taken <= strlen(text) && (size == 0 || (strlen(place) < size && is_visible(place, ""))));
    taken = tki_escape_lines(text, strlen(text), place, size);
    assert(taken <= strlen(text) && (size == 0 || (strlen(place) < size && is_visible(place, "\n\t"))));
    strcpy(copy, text);
    tki_escape_in_place(copy, strlen(text) + size + 1);
    assert(strlen(copy) < strlen(text) + size + 1 && is_visible(copy, ""));
    free(copy);
    free(place);
}

static void try_json(const char *text)
{
    char *string = tki_utf8(text);
    json_t *value = string ? json_pack("{s:s}", "text", string) : NULL;
    assert(value);
    char *document = json_dumps(value, JSON_INDENT(1)), *shown = NULL;
    size_t size;
    FILE *stream = open_memstream(&shown, &size);
    if (!document || !stream)
        abort();
    tki_put_json(stream, document, strlen(document));
    if (fclose(stream))
        abort();
    assert(is_visible(shown, "\n"));
    json_t *read = json_loads(shown, 0, NULL);
    assert(read && json_equal(read, value));
    json_decref(read);
    json_decref(value);
    free(document);
    free(shown);
    free(string);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size == 0)
        return 0;
    char *text = calloc(size, 1);
    if (!text)
        return 0;
    memcpy(text, data + 1, size - 1);
    try_streams(text, data[0] < 128 ? data[0] : SIZE_MAX);
    try_block(text);
    try_shell(text);
    try_places(text, data[0]);
    try_json(text);
    free(text);
    return 0;
}
