/* DECIDES. The parser: LL(1), a function for each rule of the grammar in docs/definitions.md. */
#include <string.h>

#include "define/lexer.h"
#include "model/op.h"

typedef struct parser {
    tki_reading *reading;
    tki_lexer lexer;
    tki_token token; /* the one that is looked at */
    int nesting;     /* of brackets and signs around it */
    int syntax;      /* nodes of this definition */
} parser;

/* -- Tokens -------------------------------------------------------------------------------------------------------- */

/* `sign`: what could stand here, if it is nothing else. */
__attribute__((noreturn)) static void expected_sign(parser *p, tki_phrase what, const char *sign)
{
    tki_reading_fail(p->reading, p->token.position,
                     p->token.kind == TKI_TOKEN_END        ? TKI_WRONG_EXPECTED_AT_END
                     : p->token.kind == TKI_TOKEN_LINE_END ? TKI_WRONG_EXPECTED_AT_LINE_END
                                                           : TKI_WRONG_EXPECTED,
                     .phrase = what, .names = {p->token.text, sign});
}

__attribute__((noreturn)) static void expected(parser *p, tki_phrase what)
{
    expected_sign(p, what, NULL);
}

static void next(parser *p)
{
    tki_lexer_next(&p->lexer, &p->token);
}

static bool is(const parser *p, const char *text)
{
    return (p->token.kind == TKI_TOKEN_SIGN || p->token.kind == TKI_TOKEN_WORD) && !strcmp(p->token.text, text);
}

static bool accept(parser *p, const char *text)
{
    if (!is(p, text))
        return false;
    next(p);
    return true;
}

/* `what`: all that could stand here. */
static void expect(parser *p, const char *text, tki_phrase what)
{
    if (!accept(p, text))
        expected_sign(p, what, text);
}

static tki_syntax *make(parser *p, tki_syntax_kind kind, const char *text)
{
    if (++p->syntax > TKI_MOST_SYNTAX)
        tki_reading_fail(p->reading, p->token.position, TKI_WRONG_TOO_MANY_WORDS, .numbers = {TKI_MOST_SYNTAX});
    tki_syntax *made = tki_reading_take(p->reading, sizeof *made);
    made->kind = kind;
    made->text = tki_reading_print(p->reading, "%s", text);
    made->position = p->token.position;
    made->depth = 1;
    return made;
}

static tki_syntax *take(parser *p, tki_syntax_kind kind)
{
    tki_syntax *made = make(p, kind, p->token.text);
    next(p);
    return made;
}

static void check_word(parser *p, tki_phrase what, size_t most)
{
    if (p->token.kind != TKI_TOKEN_WORD)
        expected(p, what);
    if (!tki_is_name(p->token.text, most))
        tki_reading_fail(p->reading, p->token.position, TKI_WRONG_NO_NAME, .names = {p->token.text},
                         .numbers = {(long long)most});
}

static void check_name(parser *p, tki_phrase what, size_t most)
{
    check_word(p, what, most);
    if (tki_word_is_reserved(p->token.text))
        tki_reading_fail(p->reading, p->token.position, TKI_WRONG_EXPECTED_NO_WORD, .phrase = what,
                         .names = {p->token.text});
}

static tki_syntax *name(parser *p, tki_syntax_kind kind, tki_phrase what)
{
    check_name(p, what, TKI_MOST_NAME);
    return take(p, kind);
}

/* rule { separator rule } */
static tki_syntax *list(parser *p, const char *separator, tki_syntax *(*rule)(parser *p))
{
    tki_syntax *first = rule(p), *last = first;
    while (accept(p, separator))
        last = last->next = rule(p);
    return first;
}

static void enter(parser *p)
{
    if (++p->nesting > TKI_MOST_NESTING)
        tki_reading_fail(p->reading, p->token.position, TKI_WRONG_TOO_DEEP, .numbers = {TKI_MOST_NESTING});
}

static void leave(parser *p)
{
    p->nesting--;
}

/* -- Values -------------------------------------------------------------------------------------------------------- */

static tki_syntax *sum(parser *p);

static int depth_of(const tki_syntax *first)
{
    int deepest = 0;
    for (; first; first = first->next)
        deepest = first->depth > deepest ? first->depth : deepest;
    return deepest;
}

static tki_syntax *nested(parser *p, tki_syntax *made)
{
    const int parts[] = {depth_of(made->a), depth_of(made->b), depth_of(made->c)};
    for (int i = 0; i < 3; i++)
        made->depth = parts[i] + 1 > made->depth ? parts[i] + 1 : made->depth;
    if (made->depth > TKI_MOST_NESTING)
        tki_reading_fail(p->reading, made->position, TKI_WRONG_TOO_DEEP, .numbers = {TKI_MOST_NESTING});
    return made;
}

static bool is_relation(const parser *p)
{
    return is(p, "==") || is(p, "!=") || is(p, "<") || is(p, "<=") || is(p, ">") || is(p, ">=");
}

/* sum relation sum */
static tki_syntax *test(parser *p)
{
    tki_syntax *left = sum(p);
    if (!is_relation(p))
        expected(p, TKI_EXPECTED_RELATION);
    tki_syntax *made = take(p, TKI_SYNTAX_TEST);
    made->a = left;
    made->b = sum(p);
    return nested(p, made);
}

static tki_syntax *binder(parser *p)
{
    tki_syntax *made = name(p, TKI_SYNTAX_BINDER, TKI_EXPECTED_INDEX);
    if (accept(p, "<"))
        made->a = sum(p);
    return nested(p, made);
}

static tki_syntax *reduction(parser *p, tki_syntax *made)
{
    made->kind = TKI_SYNTAX_OVER;
    made->a = list(p, ",", binder);
    if (accept(p, "|"))
        made->b = list(p, "and", test);
    if (accept(p, "ties")) {
        expect(p, "lower", TKI_EXPECTED_SIGN);
        made->marked = true;
    }
    expect(p, "]",
           made->marked ? TKI_EXPECTED_SIGN
           : made->b    ? TKI_EXPECTED_AFTER_PREDICATE
                        : TKI_EXPECTED_AFTER_BINDERS);
    expect(p, "(", TKI_EXPECTED_REDUCED);
    made->c = list(p, ",", sum);
    expect(p, ")", TKI_EXPECTED_OPERATOR_COMMA_CLOSE);
    return made;
}

static void close_call(parser *p)
{
    expect(p, ")", TKI_EXPECTED_OPERATOR_COMMA_CLOSE);
}

static tki_syntax *cast(parser *p, tki_syntax *made)
{
    made->kind = TKI_SYNTAX_CAST;
    if (p->token.kind != TKI_TOKEN_WORD)
        expected(p, TKI_EXPECTED_FORMAT);
    made->text = tki_reading_print(p->reading, "%s", p->token.text);
    next(p);
    expect(p, ",", TKI_EXPECTED_COMMA);
    made->a = sum(p);
    close_call(p);
    return made;
}

static tki_syntax *select_value(parser *p, tki_syntax *made)
{
    made->kind = TKI_SYNTAX_SELECT;
    made->a = list(p, "and", test);
    expect(p, ",", TKI_EXPECTED_OPERATOR_AND_COMMA);
    made->b = sum(p);
    expect(p, ",", TKI_EXPECTED_OPERATOR_COMMA);
    made->c = sum(p);
    expect(p, ")", TKI_EXPECTED_OPERATOR_CLOSE);
    return made;
}

static tki_syntax *size_of(parser *p, tki_syntax *made)
{
    made->kind = TKI_SYNTAX_SIZE;
    check_name(p, TKI_EXPECTED_SIZE, TKI_MOST_NAME);
    made->text = tki_reading_print(p->reading, "%s", p->token.text);
    next(p);
    expect(p, ")", TKI_EXPECTED_SIGN);
    return made;
}

/* Behind a word that is reserved and can begin a value. */
static tki_syntax *call(parser *p)
{
    tki_syntax *made = take(p, TKI_SYNTAX_CALL);
    if (tki_over_find(made->text) >= 0 && accept(p, "["))
        return reduction(p, made);
    const bool both = tki_over_find(made->text) >= 0 && tki_primitive_find(made->text) >= 0;
    if (tki_over_find(made->text) >= 0 && !both)
        expected(p, TKI_EXPECTED_AXES);
    expect(p, "(", both ? TKI_EXPECTED_OPEN : TKI_EXPECTED_SIGN);
    if (!strcmp(made->text, "cast"))
        return cast(p, made);
    if (!strcmp(made->text, "select"))
        return select_value(p, made);
    if (!strcmp(made->text, "size"))
        return size_of(p, made);
    made->a = list(p, ",", sum);
    close_call(p);
    return made;
}

static bool begins_call(const char *word)
{
    static const char *const calls[] = {"cast", "select", "size", "floor", "relu", "clamp", "pieces", "philox"};
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++)
        if (!strcmp(calls[i], word))
            return true;
    return tki_primitive_find(word) >= 0 || tki_over_find(word) >= 0;
}

static tki_syntax *name_or_read(parser *p)
{
    tki_syntax *made = name(p, TKI_SYNTAX_NAME, TKI_EXPECTED_VALUE);
    if (!accept(p, "["))
        return made;
    made->kind = TKI_SYNTAX_READ;
    made->a = list(p, ",", sum);
    if (accept(p, "else"))
        made->b = sum(p);
    expect(p, "]", made->b ? TKI_EXPECTED_OPERATOR_END : TKI_EXPECTED_SUBSCRIPT_OR_ELSE);
    return made;
}

static tki_syntax *primary(parser *p)
{
    if (p->token.kind == TKI_TOKEN_NUMBER)
        return take(p, TKI_SYNTAX_NUMBER);
    if (is(p, "inf"))
        return take(p, TKI_SYNTAX_INF);
    enter(p);
    tki_syntax *made;
    if (accept(p, "(")) {
        made = sum(p);
        expect(p, ")", TKI_EXPECTED_OPERATOR_CLOSE);
    } else if (p->token.kind == TKI_TOKEN_WORD && begins_call(p->token.text)) {
        made = nested(p, call(p));
    } else {
        made = nested(p, name_or_read(p));
    }
    leave(p);
    return made;
}

/* "-" signed | primary */
static tki_syntax *signed_value(parser *p)
{
    if (!is(p, "-"))
        return primary(p);
    enter(p);
    tki_syntax *made = take(p, TKI_SYNTAX_NEGATE);
    made->a = signed_value(p);
    leave(p);
    return nested(p, made);
}

/* rule { sign rule }, from the left */
static tki_syntax *chain(parser *p, const char *signs, tki_syntax *(*rule)(parser *p))
{
    tki_syntax *made = rule(p);
    while (p->token.kind == TKI_TOKEN_SIGN && strstr(signs, p->token.text)) {
        tki_syntax *operation = take(p, TKI_SYNTAX_BINARY);
        operation->a = made;
        operation->b = rule(p);
        made = nested(p, operation);
    }
    return made;
}

static tki_syntax *product(parser *p)
{
    return chain(p, "* // %", signed_value);
}

static tki_syntax *sum(parser *p)
{
    return chain(p, "+ -", product);
}

/* -- The head ------------------------------------------------------------------------------------------------------ */

/* It may be a word of the language: what a mode does has such a name, as `mean`. */
static tki_syntax *choice(parser *p)
{
    check_word(p, TKI_EXPECTED_CHOICE, TKI_MOST_NAME);
    return take(p, TKI_SYNTAX_NAME);
}

static tki_syntax *condition_term(parser *p)
{
    tki_syntax *made = name(p, TKI_SYNTAX_CONDITION, TKI_EXPECTED_ATTRIBUTE);
    made->marked = is(p, "!=");
    if (accept(p, "==") || accept(p, "!="))
        made->a = choice(p);
    return made;
}

static tki_syntax *condition(parser *p)
{
    return list(p, "and", condition_term);
}

static tki_syntax *range_end(parser *p)
{
    if (is(p, "-")) {
        tki_syntax *made = take(p, TKI_SYNTAX_NEGATE);
        made->a = range_end(p);
        return made;
    }
    if (p->token.kind == TKI_TOKEN_NUMBER)
        return take(p, TKI_SYNTAX_NUMBER);
    return is(p, "inf") ? take(p, TKI_SYNTAX_INF) : name(p, TKI_SYNTAX_NAME, TKI_EXPECTED_RANGE_NUMBER);
}

static tki_syntax *range(parser *p)
{
    if (!is(p, "[") && !is(p, "("))
        expected(p, TKI_EXPECTED_RANGE);
    tki_syntax *made = make(p, TKI_SYNTAX_RANGE, "");
    const char *open = is(p, "[") ? "[" : "(";
    next(p);
    made->a = range_end(p);
    expect(p, ",", TKI_EXPECTED_COMMA);
    made->b = range_end(p);
    if (!is(p, "]") && !is(p, ")"))
        expected(p, TKI_EXPECTED_RANGE_CLOSE);
    made->text = tki_reading_print(p->reading, "%s%s", open, p->token.text);
    next(p);
    return made;
}

static tki_syntax *axis(parser *p)
{
    return name(p, TKI_SYNTAX_NAME, TKI_EXPECTED_AXIS);
}

static tki_syntax *type_name(parser *p)
{
    if (p->token.kind != TKI_TOKEN_WORD)
        expected(p, TKI_EXPECTED_TYPE);
    return take(p, TKI_SYNTAX_NAME);
}

/* name axes [":" type], which inputs and outputs share */
static tki_syntax *tensor(parser *p, tki_phrase what)
{
    tki_syntax *made = name(p, TKI_SYNTAX_TENSOR, what);
    expect(p, "[", TKI_EXPECTED_AXES);
    made->a = list(p, ",", axis);
    expect(p, "]", TKI_EXPECTED_COMMA_END);
    if (accept(p, ":"))
        made->b = type_name(p);
    return made;
}

static tki_syntax *input(parser *p)
{
    tki_syntax *made = tensor(p, TKI_EXPECTED_INPUT);
    if (accept(p, "in"))
        made->c = range(p);
    if (accept(p, "if"))
        made->d = condition(p);
    return made;
}

static tki_syntax *output(parser *p)
{
    tki_syntax *made = tensor(p, TKI_EXPECTED_OUTPUT);
    if (accept(p, "over"))
        made->c = name(p, TKI_SYNTAX_NAME, TKI_EXPECTED_INPUT);
    if (accept(p, "if"))
        made->d = condition(p);
    return made;
}

static tki_syntax *default_number(parser *p)
{
    if (is(p, "-")) {
        tki_syntax *made = take(p, TKI_SYNTAX_NEGATE);
        made->a = default_number(p);
        return made;
    }
    if (p->token.kind != TKI_TOKEN_NUMBER)
        expected(p, TKI_EXPECTED_NUMBER);
    return take(p, TKI_SYNTAX_NUMBER);
}

static tki_syntax *attribute(parser *p)
{
    tki_syntax *made = name(p, TKI_SYNTAX_ATTRIBUTE, TKI_EXPECTED_ATTRIBUTE);
    expect(p, ":", TKI_EXPECTED_ATTRIBUTE_TYPE);
    if (!is(p, "real") && !is(p, "int") && !is(p, "choice"))
        expected(p, TKI_EXPECTED_KIND_OF_ATTRIBUTE);
    const bool choices = is(p, "choice");
    made->b = take(p, TKI_SYNTAX_NAME);
    if (choices) {
        expect(p, "(", TKI_EXPECTED_CHOICES);
        made->a = list(p, ",", choice);
        expect(p, ")", TKI_EXPECTED_COMMA_CLOSE);
    } else if (accept(p, "in")) {
        made->c = range(p);
    }
    if (accept(p, "="))
        made->d = choices ? choice(p) : default_number(p);
    return made;
}

/* -- Lines ----------------------------------------------------------------------------------------------------------- */

static tki_syntax *fact(parser *p)
{
    tki_syntax *left = sum(p);
    if (!is(p, "=") && !is_relation(p))
        expected(p, TKI_EXPECTED_FACT);
    tki_syntax *made = take(p, TKI_SYNTAX_TEST);
    made->a = left;
    made->b = sum(p);
    return nested(p, made);
}

static tki_syntax *where(parser *p)
{
    tki_syntax *made = take(p, TKI_SYNTAX_WHERE);
    made->a = list(p, ",", fact);
    return made;
}

static tki_syntax *assignment(parser *p, tki_syntax *only_if)
{
    tki_syntax *made = name(p, TKI_SYNTAX_ASSIGN, only_if ? TKI_EXPECTED_NAME : TKI_EXPECTED_LINE);
    made->marked = accept(p, "[");
    if (made->marked) {
        made->a = list(p, ",", binder);
        expect(p, "]", TKI_EXPECTED_COMMA_END);
    }
    expect(p, "=", made->marked ? TKI_EXPECTED_SIGN : TKI_EXPECTED_INDICES_OR_VALUE);
    made->b = sum(p);
    made->c = only_if;
    return made;
}

static tki_syntax *special_value(parser *p)
{
    if (is(p, "-")) {
        tki_syntax *made = take(p, TKI_SYNTAX_NEGATE);
        if (!is(p, "inf"))
            expected_sign(p, TKI_EXPECTED_SIGN, "inf");
        made->a = take(p, TKI_SYNTAX_INF);
        return made;
    }
    const bool zero = p->token.kind == TKI_TOKEN_NUMBER && !strcmp(p->token.text, "0");
    if (!zero && !is(p, "nan") && !is(p, "inf"))
        expected(p, TKI_EXPECTED_SPECIAL_VALUE);
    return take(p, zero ? TKI_SYNTAX_NUMBER : is(p, "inf") ? TKI_SYNTAX_INF : TKI_SYNTAX_NAME);
}

static tki_syntax *special_values(parser *p)
{
    tki_syntax *made = name(p, TKI_SYNTAX_VALUES, TKI_EXPECTED_TENSOR);
    expect(p, "=", TKI_EXPECTED_SIGN);
    made->a = list(p, "or", special_value);
    return made;
}

static tki_syntax *special(parser *p)
{
    tki_syntax *made = take(p, TKI_SYNTAX_SPECIAL);
    made->a = list(p, "and", special_values);
    expect(p, ":", TKI_EXPECTED_AFTER_SPECIAL);
    made->b = special_values(p);
    return made;
}

static tki_syntax *tensor_name(parser *p)
{
    return name(p, TKI_SYNTAX_NAME, TKI_EXPECTED_TENSOR);
}

static tki_syntax *gradient(parser *p)
{
    tki_syntax *made = take(p, TKI_SYNTAX_GRADIENT);
    expect(p, "of", TKI_EXPECTED_SIGN);
    check_word(p, TKI_EXPECTED_OP, TKI_MOST_TOKEN);
    made->text = tki_reading_print(p->reading, "%s", p->token.text);
    next(p);
    expect(p, "(", TKI_EXPECTED_SIGN);
    made->a = list(p, ",", tensor_name);
    expect(p, "by", TKI_EXPECTED_COMMA_BY);
    made->b = list(p, ",", tensor_name);
    expect(p, ")", TKI_EXPECTED_COMMA_CLOSE);
    return made;
}

static tki_syntax *bound(parser *p)
{
    tki_syntax *made = take(p, TKI_SYNTAX_BOUND);
    expect(p, "ERR", TKI_EXPECTED_SIGN);
    made->text = "";
    if (!is(p, "=")) {
        check_name(p, TKI_EXPECTED_BOUND, TKI_MOST_NAME);
        made->text = tki_reading_print(p->reading, "%s", p->token.text);
        next(p);
    }
    expect(p, "=", TKI_EXPECTED_SIGN);
    made->a = sum(p);
    return made;
}

static tki_syntax *line(parser *p)
{
    if (is(p, "where"))
        return where(p);
    if (is(p, "special"))
        return special(p);
    if (is(p, "gradient"))
        return gradient(p);
    if (is(p, "bound"))
        return bound(p);
    if (!accept(p, "if"))
        return assignment(p, NULL);
    tki_syntax *only_if = condition(p);
    expect(p, ":", TKI_EXPECTED_AFTER_CONDITION);
    return assignment(p, only_if);
}

static void end_line(parser *p, tki_phrase what)
{
    if (p->token.kind != TKI_TOKEN_LINE_END && p->token.kind != TKI_TOKEN_END)
        expected(p, what);
    while (p->token.kind == TKI_TOKEN_LINE_END)
        next(p);
}

static tki_syntax *definition(parser *p)
{
    p->syntax = 0;
    expect(p, "op", TKI_EXPECTED_SIGN);
    check_word(p, TKI_EXPECTED_THE_OP, TKI_MOST_TOKEN);
    tki_syntax *made = take(p, TKI_SYNTAX_DEFINITION);
    expect(p, "(", TKI_EXPECTED_INPUTS);
    made->a = list(p, ",", input);
    if (accept(p, ";"))
        made->b = list(p, ",", attribute);
    expect(p, ")", made->b ? TKI_EXPECTED_COMMA_CLOSE : TKI_EXPECTED_INPUTS_END);
    expect(p, "->", TKI_EXPECTED_SIGN);
    made->c = list(p, ",", output);
    end_line(p, TKI_EXPECTED_OUTPUTS_END);
    tki_syntax **last = &made->d;
    for (int lines = 0; p->token.kind != TKI_TOKEN_END && !is(p, "op"); last = &(*last)->next) {
        if (++lines > TKI_MOST_LINES)
            tki_reading_fail(p->reading, p->token.position, TKI_WRONG_TOO_MANY_LINES, .numbers = {TKI_MOST_LINES});
        *last = line(p);
        end_line(p, (*last)->kind == TKI_SYNTAX_WHERE ? TKI_EXPECTED_FACTS_END : TKI_EXPECTED_LINE_END);
    }
    return made;
}

tki_syntax *tki_parse(tki_reading *r, const char *text, size_t size)
{
    parser p = {r, {r, text, text + size, {1, 1}, 0}, {0}, 0, 0};
    if (size > TKI_MOST_TEXT)
        tki_reading_fail(r, p.lexer.position, TKI_WRONG_TOO_LONG, .numbers = {(long long)size, TKI_MOST_TEXT});
    next(&p);
    while (p.token.kind == TKI_TOKEN_LINE_END)
        next(&p);
    tki_syntax *first = definition(&p), **last = &first->next;
    for (int count = 1; p.token.kind != TKI_TOKEN_END; last = &(*last)->next) {
        if (++count > TKI_MOST_OPS)
            tki_reading_fail(r, p.token.position, TKI_WRONG_TOO_MANY_OPS, .numbers = {TKI_MOST_OPS});
        *last = definition(&p);
    }
    return first;
}
