/* CHOOSES. Tokens of C and its relatives, before and after preprocessing. The text may be anything. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

typedef struct tki_span {
    const char *at, *end;
} tki_span;

typedef enum tki_token { TKI_WORD, TKI_STRING, TKI_SIGN, TKI_LINE_END, TKI_NO_MORE } tki_token;

/* The next token; of a string the letters between its quotes. Comments and blanks are passed over. */
tki_token tki_next_token(tki_span *rest, tki_span *token);

/* A letter of a word? */
bool tki_is_word(char letter);

bool tki_span_is(tki_span s, const char *text);
bool tki_span_has(tki_span s, const char *text);

/* Lists end with NULL. */
bool tki_span_is_any(tki_span s, const char *const list[]);
bool tki_span_has_any(tki_span s, const char *const list[]);
bool tki_span_begins_any(tki_span s, const char *const list[]);
bool tki_span_ends_any(tki_span s, const char *const list[]);

/* Lines that a backslash joins become one, and the other spellings of # and backslash are gone. Returns the length, which is none above that of
 * the text. */
size_t tki_join_lines(const char *text, size_t bytes, char *joined);

/* Is the word, of less than 64 letters, made of two that stand in the text, as ## joins them? */
bool tki_is_pasted(tki_span all, const char *word);

/* A set of words of a text: all are added, then sorted once, then looked up. */
typedef struct tki_names {
    tki_span *items;
    size_t count, room;
    bool failed;
} tki_names;

void tki_names_add(tki_names *names, tki_span name);
void tki_names_sort(tki_names *names);
bool tki_names_have(const tki_names *names, tki_span name);
