/* DECIDES. The words and signs of a text. */
#pragma once

#include "define/syntax.h"

typedef enum tki_token_kind {
    TKI_TOKEN_END,
    TKI_TOKEN_LINE_END,
    TKI_TOKEN_WORD,
    TKI_TOKEN_NUMBER,
    TKI_TOKEN_SIGN
} tki_token_kind;

enum { TKI_MOST_TOKEN = 63 }; /* bytes of a name or a number */

typedef struct tki_token {
    tki_token_kind kind;
    char text[TKI_MOST_TOKEN + 1]; /* numbers in lower case */
    tki_position position;
} tki_token;

typedef struct tki_lexer {
    tki_reading *reading;
    const char *at, *end;
    tki_position position;
    int brackets; /* open ones: within them a line does not end */
} tki_lexer;

void tki_lexer_next(tki_lexer *lexer, tki_token *token);
