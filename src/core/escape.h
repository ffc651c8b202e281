/* RECORDS. Text from outside, made fit for where it goes: compiler logs, loader errors, names of files and functions, members of a
 * certificate from elsewhere, what drivers say. One function for each destination. A character that would not be seen as itself is written out: `\x1b`
 * for a byte (control characters, DEL, what is not UTF-8), `\u{202e}` for a character (C1, bidirectional, zero-width and format
 * characters, marks that are laid over others, private use). A backslash stays as it is, so nothing changes what is escaped already.
 * Letters of scripts that run from right to left are text. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "core/export.h"

enum { TKI_TEXT_MOST = 1 << 16 }; /* bytes of a text that are shown where nothing else limits it */

/* Bytes of the UTF-8 character that begins here, 0 if none does. */
TKI_EXPORT size_t tki_utf8_next(const char *text, size_t length, uint32_t *code);

/* Is this character seen as itself? A blank is, a line feed is not. */
bool tki_is_shown(uint32_t code);

/* One line, for a terminal or a message. Writes at most `size` bytes with the end, and no part of a character; returns how many bytes of
 * the text were taken. tki_escape_lines() keeps line feeds and tabs. */
TKI_EXPORT size_t tki_escape_line(const char *text, size_t length, char *place, size_t size);
TKI_EXPORT size_t tki_escape_lines(const char *text, size_t length, char *place, size_t size);

/* The same for a text in a place of `size` bytes; what no longer fits is cut. */
TKI_EXPORT void tki_escape_in_place(char *text, size_t size);

/* Each of these shows at most `most` bytes of the text, then "[cut]". */

/* For a terminal; one line. */
TKI_EXPORT void tki_put_terminal(FILE *out, const char *text, size_t most);

/* For a shell: one word, quoted if it has to be. As $'...', which dash does not know, where not all of it would be shown. */
TKI_EXPORT void tki_put_shell_word(FILE *out, const char *word);

/* For XML and SVG: between tags, or in an attribute between double quotes. */
TKI_EXPORT void tki_put_xml(FILE *out, const char *text, size_t most);

/* For Markdown (CommonMark and GitHub's): in a paragraph, heading, list item or cell of a table; one line that holds no markup, link or
 * HTML and begins no block. */
TKI_EXPORT void tki_put_markdown(FILE *out, const char *text, size_t most);

/* For Markdown, as a span of code; not in a table. */
TKI_EXPORT void tki_put_markdown_code(FILE *out, const char *text, size_t most);

/* For Markdown, as a block of code with one line. */
TKI_EXPORT void tki_put_markdown_block(FILE *out, const char *language, const char *text, size_t most);

/* Columns that the text takes on a terminal. */
TKI_EXPORT int tki_terminal_width(const char *text);

/* For a JSON string: UTF-8, whatever the bytes are, and otherwise as it is. free() it; NULL: no memory. */
TKI_EXPORT char *tki_utf8(const char *text);

/* A whole JSON document, on its way to where it may be looked at: the same document, with what would not be shown as \uXXXX. */
TKI_EXPORT void tki_put_json(FILE *out, const char *document, size_t length);
