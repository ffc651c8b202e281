/* DECIDES. The words and signs of a text. */
#include "define/lexer.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Not those of the locale. */
static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool is_hex_digit(char c)
{
    return is_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

/* 0 past the end; a byte 0 in the text is no character of the language either. */
static char peek(const tki_lexer *l, size_t ahead)
{
    return ahead < (size_t)(l->end - l->at) ? l->at[ahead] : 0;
}

static void advance(tki_lexer *l)
{
    if (*l->at++ == '\n') {
        l->position.line++;
        l->position.column = 1;
    } else {
        l->position.column++;
    }
}

static void take(tki_lexer *l, tki_token *token)
{
    const size_t length = strlen(token->text);
    if (length == TKI_MOST_TOKEN)
        tki_reading_fail(l->reading, token->position,
                         token->kind == TKI_TOKEN_NUMBER ? TKI_WRONG_LONG_NUMBER : TKI_WRONG_LONG_NAME,
                         .numbers = {TKI_MOST_TOKEN});
    token->text[length] = *l->at;
    advance(l);
}

static void skip_space(tki_lexer *l)
{
    while (l->at < l->end) {
        const char c = *l->at;
        if (c == '#') {
            while (l->at < l->end && *l->at != '\n')
                advance(l);
        } else if (c == ' ' || c == '\t' || (c == '\r' && peek(l, 1) == '\n') || (c == '\n' && l->brackets > 0)) {
            advance(l);
        } else {
            return;
        }
    }
}

static void take_digits(tki_lexer *l, tki_token *token, bool (*is)(char))
{
    if (!is(peek(l, 0)))
        tki_reading_fail(l->reading, l->position, TKI_WRONG_NO_DIGIT, .names = {token->text});
    while (is(peek(l, 0)))
        take(l, token);
}

static void take_exponent(tki_lexer *l, tki_token *token)
{
    take(l, token);
    if (peek(l, 0) == '+' || peek(l, 0) == '-')
        take(l, token);
    take_digits(l, token, is_digit);
}

/* A number as a double; what is not between its smallest normal and its largest number has no use. */
static void check_number(tki_lexer *l, const tki_token *token)
{
    const double value = strtod_l(token->text, NULL, l->reading->locale);
    if (isinf(value))
        tki_reading_fail(l->reading, token->position, TKI_WRONG_NUMBER_TOO_LARGE, .names = {token->text});
    const char *end = strpbrk(token->text, token->text[1] == 'x' ? "p" : "e");
    const size_t digits = end ? (size_t)(end - token->text) : strlen(token->text);
    if (fabs(value) < 0x1p-1022 && strspn(token->text, "0.x") < digits)
        tki_reading_fail(l->reading, token->position, TKI_WRONG_NUMBER_TOO_SMALL, .names = {token->text});
    if (token->text[1] == 'x' && digits > 2 + 13 + (strchr(token->text, '.') ? 1 : 0))
        tki_reading_fail(l->reading, token->position, TKI_WRONG_TOO_MANY_HEX_DIGITS, .names = {token->text});
}

static void take_number(tki_lexer *l, tki_token *token)
{
    token->kind = TKI_TOKEN_NUMBER;
    const bool hex = peek(l, 0) == '0' && (peek(l, 1) == 'x' || peek(l, 1) == 'X');
    if (hex) {
        take(l, token);
        take(l, token);
    }
    take_digits(l, token, hex ? is_hex_digit : is_digit);
    if (peek(l, 0) == '.') {
        take(l, token);
        take_digits(l, token, hex ? is_hex_digit : is_digit);
    }
    const char c = peek(l, 0);
    if (hex && c != 'p' && c != 'P')
        tki_reading_fail(l->reading, l->position, TKI_WRONG_NO_HEX_EXPONENT, .names = {token->text});
    if (hex || c == 'e' || c == 'E')
        take_exponent(l, token);
    if (is_letter(peek(l, 0)))
        tki_reading_fail(l->reading, l->position, TKI_WRONG_NUMBER_RUNS_ON, .names = {token->text});
    for (char *p = token->text; *p; p++)
        if (is_letter(*p))
            *p = (char)(*p | 0x20);
    check_number(l, token);
}

static bool take_if(tki_lexer *l, tki_token *token, const char *sign)
{
    const size_t length = strlen(sign);
    if ((size_t)(l->end - l->at) < length || memcmp(l->at, sign, length) != 0)
        return false;
    for (size_t i = 0; i < length; i++)
        take(l, token);
    return true;
}

static void take_sign(tki_lexer *l, tki_token *token)
{
    static const char *const signs[] = {"->", "==", "!=", "<=", ">=", "//", "=", "<", ">", "+", "-",
                                        "*",  "/",  "%",  "(",  ")",  "[",  "]", ",", ";", ":", "|"};
    token->kind = TKI_TOKEN_SIGN;
    for (size_t i = 0; i < sizeof signs / sizeof *signs; i++) {
        if (!take_if(l, token, signs[i]))
            continue;
        l->brackets += strchr("([", token->text[0]) ? 1 : 0;
        l->brackets -= strchr(")]", token->text[0]) && l->brackets > 0 ? 1 : 0;
        return;
    }
    const unsigned char c = (unsigned char)*l->at;
    const bool visible = c > ' ' && c < 0x7f;
    tki_reading_fail(l->reading, l->position, visible ? TKI_WRONG_CHARACTER : TKI_WRONG_BYTE,
                     .names = {tki_reading_print(l->reading, visible ? "%c" : "%02x", c)});
}

void tki_lexer_next(tki_lexer *l, tki_token *token)
{
    skip_space(l);
    *token = (tki_token){.position = l->position};
    if (l->at == l->end)
        return;
    if (*l->at == '\n') {
        token->kind = TKI_TOKEN_LINE_END;
        advance(l);
    } else if (is_letter(*l->at)) {
        token->kind = TKI_TOKEN_WORD;
        while (is_letter(peek(l, 0)) || is_digit(peek(l, 0)))
            take(l, token);
    } else if (is_digit(*l->at)) {
        take_number(l, token);
    } else {
        take_sign(l, token);
    }
}
