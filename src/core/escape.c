/* RECORDS. Text from outside, made fit for where it goes. */
#include "core/escape.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { PIECE = 16 }; /* a character as it is shown, with an end: at most "\u{10ffff}" */

size_t tki_utf8_next(const char *text, size_t length, uint32_t *code)
{
    static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
    const unsigned char *p = (const unsigned char *)text;
    if (length == 0)
        return 0;
    *code = p[0];
    if (p[0] < 0x80)
        return 1;
    const size_t bytes = p[0] >= 0xf0 ? 4 : p[0] >= 0xe0 ? 3 : 2;
    if (p[0] < 0xc2 || p[0] > 0xf4 || bytes > length)
        return 0;
    *code = p[0] & (0x7fu >> bytes);
    for (size_t i = 1; i < bytes; i++) {
        if ((p[i] & 0xc0) != 0x80)
            return 0;
        *code = *code << 6 | (p[i] & 0x3fu);
    }
    const bool good = *code >= least[bytes] && *code <= 0x10ffff && (*code < 0xd800 || *code > 0xdfff);
    return good ? bytes : 0;
}

bool tki_is_shown(uint32_t code)
{
    /* In order. Unicode 15: categories Cc, Cf, Zl, Zp, Co; what may be ignored by default; marks for any script; the noncharacters of
     * the first plane. */
    static const uint32_t hidden[][2] = {
        {0x00, 0x1f},       {0x7f, 0x9f},       {0xad, 0xad},       {0x300, 0x36f},     {0x600, 0x605},
        {0x61c, 0x61c},     {0x6dd, 0x6dd},     {0x70f, 0x70f},     {0x890, 0x891},     {0x8e2, 0x8e2},
        {0x115f, 0x1160},   {0x17b4, 0x17b5},   {0x180b, 0x180f},   {0x1ab0, 0x1aff},   {0x1dc0, 0x1dff},
        {0x200b, 0x200f},   {0x2028, 0x202e},   {0x2060, 0x206f},   {0x20d0, 0x20ff},   {0x3164, 0x3164},
        {0xe000, 0xf8ff},   {0xfdd0, 0xfdef},   {0xfe00, 0xfe0f},   {0xfe20, 0xfe2f},   {0xfeff, 0xfeff},
        {0xffa0, 0xffa0},   {0xfff0, 0xfffb},   {0xfffe, 0xffff},   {0x110bd, 0x110bd}, {0x110cd, 0x110cd},
        {0x13430, 0x1345f}, {0x1bca0, 0x1bca3}, {0x1d165, 0x1d182}, {0xe0000, 0xfffff}, {0x100000, 0x10ffff},
    };
    for (size_t i = 0; i < sizeof hidden / sizeof *hidden && code >= hidden[i][0]; i++)
        if (code <= hidden[i][1])
            return false;
    return code <= 0x10ffff && (code & 0xfffe) != 0xfffe; /* the last two of every plane are no characters */
}

/* The next character, as it is shown; returns how many bytes of the text it takes. */
static size_t next_piece(const char *text, size_t length, char piece[PIECE], bool *as_it_is)
{
    uint32_t code;
    const size_t bytes = tki_utf8_next(text, length, &code);
    *as_it_is = bytes && tki_is_shown(code);
    if (*as_it_is)
        memcpy(piece, text, bytes);
    if (*as_it_is)
        piece[bytes] = 0;
    else if (!bytes || code < 0x80)
        snprintf(piece, PIECE, "\\x%02x", (unsigned char)*text);
    else
        snprintf(piece, PIECE, "\\u{%x}", (unsigned)code);
    return bytes ? bytes : 1;
}

/* ------------------------------------------------------------------------------------------------------------
 * Terminals and messages
 * ------------------------------------------------------------------------------------------------------------ */

static size_t escape(const char *text, size_t length, bool lines, char *place, size_t size)
{
    size_t at = 0, used = 0, bytes;
    char piece[PIECE];
    bool as_it_is;
    for (; size && at < length; at += bytes, used += strlen(piece)) {
        bytes = next_piece(text + at, length - at, piece, &as_it_is);
        if (lines && (text[at] == '\n' || text[at] == '\t'))
            snprintf(piece, sizeof piece, "%c", text[at]);
        if (strlen(piece) >= size - used)
            break;
        memcpy(place + used, piece, strlen(piece));
    }
    if (size)
        place[used] = 0;
    return at;
}

size_t tki_escape_line(const char *text, size_t length, char *place, size_t size)
{
    return escape(text, length, false, place, size);
}

size_t tki_escape_lines(const char *text, size_t length, char *place, size_t size)
{
    return escape(text, length, true, place, size);
}

void tki_escape_in_place(char *text, size_t size)
{
    const size_t length = strlen(text);
    char *from = text + size - 1 - length; /* moved to the end, so that it can grow from the beginning */
    char piece[PIECE];
    bool as_it_is;
    size_t used = 0;
    memmove(from, text, length);
    for (size_t at = 0, bytes; at < length; at += bytes, used += strlen(piece)) {
        bytes = next_piece(from + at, length - at, piece, &as_it_is);
        if (text + used + strlen(piece) > from + at + bytes)
            break;
        memcpy(text + used, piece, strlen(piece));
    }
    text[used] = 0;
}

int tki_terminal_width(const char *text)
{
    const size_t length = strlen(text);
    char piece[PIECE];
    bool as_it_is;
    int width = 0;
    for (size_t at = 0; at < length;) {
        at += next_piece(text + at, length - at, piece, &as_it_is);
        width += as_it_is ? 1 : (int)strlen(piece);
    }
    return width;
}

/* ------------------------------------------------------------------------------------------------------------
 * Streams. A text that is cut is not cut within a character.
 * ------------------------------------------------------------------------------------------------------------ */

static void put_cut(FILE *out, size_t at, size_t length, const char *mark)
{
    if (at < length)
        fprintf(out, at ? " %s" : "%s", mark);
}

void tki_put_terminal(FILE *out, const char *text, size_t most)
{
    const size_t length = strlen(text);
    char piece[PIECE];
    bool as_it_is;
    size_t at = 0;
    while (at < length && at < most) {
        at += next_piece(text + at, length - at, piece, &as_it_is);
        fputs(piece, out);
    }
    put_cut(out, at, length, "[cut]");
}

void tki_put_shell_word(FILE *out, const char *word)
{
    static const char plain[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-+=./:,";
    const size_t length = strlen(word);
    char piece[PIECE];
    bool as_it_is, shown = true;
    for (size_t at = 0; at < length; shown &= as_it_is)
        at += next_piece(word + at, length - at, piece, &as_it_is);
    const bool quoted = !length || strspn(word, plain) < length;
    fputs(quoted ? &"$'"[shown] : "", out);
    for (size_t at = 0, bytes; at < length; at += bytes) {
        bytes = next_piece(word + at, length - at, piece, &as_it_is);
        if (!as_it_is)
            for (size_t i = 0; i < bytes; i++)
                fprintf(out, "\\x%02x", (unsigned char)word[at + i]);
        else if (word[at] == '\'')
            fputs(shown ? "'\\''" : "\\'", out);
        else
            fprintf(out, word[at] == '\\' && !shown ? "\\%s" : "%s", piece);
    }
    fputs(quoted ? "'" : "", out);
}

void tki_put_xml(FILE *out, const char *text, size_t most)
{
    const size_t length = strlen(text);
    char piece[PIECE];
    bool as_it_is;
    size_t at = 0;
    while (at < length && at < most) {
        const char c = text[at];
        const char *entity = c == '<'    ? "&lt;"
                             : c == '>'  ? "&gt;"
                             : c == '&'  ? "&amp;"
                             : c == '"'  ? "&quot;"
                             : c == '\n' ? "&#10;"
                             : c == '\t' ? "&#9;"
                                         : NULL;
        at += next_piece(text + at, length - at, piece, &as_it_is);
        fputs(entity ? entity : piece, out);
    }
    put_cut(out, at, length, "[cut]");
}

/* ------------------------------------------------------------------------------------------------------------
 * Markdown
 * ------------------------------------------------------------------------------------------------------------ */

static bool is_word(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

/* Underscores between letters or digits are no emphasis. */
static bool is_within_word(const char *text, size_t at, size_t length)
{
    size_t before = at, behind = at;
    while (before > 0 && text[before] == '_')
        before--;
    while (behind < length && text[behind] == '_')
        behind++;
    return is_word(text[before]) && behind < length && is_word(text[behind]);
}

/* A list, a line across the page or the underline of a heading: what begins one is not followed by a letter or digit. */
static bool begins_block(const char *text, size_t at, size_t length)
{
    const bool number = text[at] == '.' || text[at] == ')';
    const size_t behind = number ? at + 1 : strspn(text, "-+=");
    if (number ? at == 0 || at != strspn(text, "0123456789") : at > 0)
        return false;
    return behind >= length || !is_word(text[behind]);
}

/* Would a block or a link begin with this character, where it stands? */
static bool begins_something(const char *text, size_t at, size_t length)
{
    switch (text[at]) {
    case '-':
    case '+':
    case '=':
    case ')': return begins_block(text, at, length);
    case '.': return begins_block(text, at, length) || (at >= 3 && !strncasecmp(text + at - 3, "www", 3));
    case ':': return length - at > 2 && text[at + 1] == '/' && text[at + 2] == '/';
    case '_': return !is_within_word(text, at, length);
    default: return text[at] && strchr("\\`*[]#|~$@", text[at]);
    }
}

void tki_put_markdown(FILE *out, const char *text, size_t most)
{
    const size_t length = strlen(text), end = length < most ? length : most;
    char piece[PIECE];
    bool as_it_is;
    size_t at = 0, bytes;
    for (; at < end; at += bytes) {
        const char c = text[at];
        bytes = next_piece(text + at, length - at, piece, &as_it_is);
        if (!as_it_is || begins_something(text, at, end))
            fprintf(out, "\\%s", piece);
        else if (c == '<' || c == '&' || (at == 0 && (c == '>' || c == ' '))) /* not every reader knows `\<` */
            fputs(c == '<' ? "&lt;" : c == '&' ? "&amp;" : c == '>' ? "&gt;" : "&#32;", out);
        else
            fputs(piece, out);
    }
    put_cut(out, at, length, "\\[cut\\]");
}

/* One backtick more than stand side by side in the text. */
static size_t fence_of(const char *text, size_t least)
{
    size_t longest = 0;
    for (const char *p = text; *p;) {
        const size_t run = strspn(p, "`");
        longest = run > longest ? run : longest;
        p += run ? run : 1;
    }
    return longest + 1 > least ? longest + 1 : least;
}

static void put_fence(FILE *out, size_t count)
{
    while (count--)
        fputc('`', out);
}

void tki_put_markdown_code(FILE *out, const char *text, size_t most)
{
    const size_t fence = fence_of(text, 1);
    const size_t length = strlen(text);
    /* One blank at both ends is taken off again, from what is not all blanks. */
    const bool all_blank = strspn(text, " ") == length;
    const bool padded = !length || text[0] == '`' || text[length - 1] == '`' ||
                        (!all_blank && text[0] == ' ' && text[length - 1] == ' ');
    put_fence(out, fence);
    fputs(padded ? " " : "", out);
    tki_put_terminal(out, text, most);
    fputs(padded && length ? " " : "", out);
    put_fence(out, fence);
}

void tki_put_markdown_block(FILE *out, const char *language, const char *text, size_t most)
{
    const size_t fence = fence_of(text, 3);
    put_fence(out, fence);
    fprintf(out, "%s\n", language);
    tki_put_terminal(out, text, most);
    fputc('\n', out);
    put_fence(out, fence);
    fputc('\n', out);
}

/* ------------------------------------------------------------------------------------------------------------
 * JSON
 * ------------------------------------------------------------------------------------------------------------ */

char *tki_utf8(const char *text)
{
    const size_t length = strlen(text);
    char *copy = malloc(4 * length + 1);
    char *to = copy;
    uint32_t code;
    for (size_t at = 0; copy && at < length;) {
        const size_t bytes = tki_utf8_next(text + at, length - at, &code);
        if (bytes)
            to = mempcpy(to, text + at, bytes);
        else
            to += sprintf(to, "\\x%02x", (unsigned char)text[at]);
        at += bytes ? bytes : 1;
    }
    if (copy)
        *to = 0;
    return copy;
}

void tki_put_json(FILE *out, const char *document, size_t length)
{
    uint32_t code;
    for (size_t at = 0; at < length;) {
        size_t bytes = tki_utf8_next(document + at, length - at, &code);
        if (!bytes) {
            bytes = 1;
            fputs("\\ufffd", out);
        } else if (code == '\n' || tki_is_shown(code)) {
            fwrite(document + at, 1, bytes, out);
        } else if (code < 0x10000) {
            fprintf(out, "\\u%04x", (unsigned)code);
        } else {
            code -= 0x10000;
            fprintf(out, "\\u%04x\\u%04x", 0xd800 | (unsigned)(code >> 10), 0xdc00 | (unsigned)(code & 0x3ff));
        }
        at += bytes;
    }
}
