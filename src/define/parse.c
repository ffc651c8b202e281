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

static const char *what_is_there(const parser *p)
{
    switch (p->token.kind) {
    case TKI_TOKEN_END: return "the end of the text";
    case TKI_TOKEN_LINE_END: return "the end of the line";
    default: return p->token.text;
    }
}

__attribute__((noreturn)) static void expected(parser *p, const char *what)
{
    tki_reading_fail(p->reading, p->token.position, "expected %s, but there is %s", what, what_is_there(p));
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
static void expect(parser *p, const char *text, const char *what)
{
    if (!accept(p, text))
        expected(p, what);
}

static tki_syntax *make(parser *p, tki_syntax_kind kind, const char *text)
{
    if (++p->syntax > TKI_MOST_SYNTAX)
        tki_reading_fail(p->reading, p->token.position, "the definition has more than %d words and signs",
                         TKI_MOST_SYNTAX);
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

static void check_word(parser *p, const char *what, size_t most)
{
    if (p->token.kind != TKI_TOKEN_WORD)
        expected(p, what);
    if (!tki_is_name(p->token.text, most))
        tki_reading_fail(p->reading, p->token.position,
                         "%s is no name: lower-case letters, digits and _, a letter first, %d bytes at most",
                         p->token.text, (int)most);
}

static void check_name(parser *p, const char *what, size_t most)
{
    check_word(p, what, most);
    if (tki_word_is_reserved(p->token.text))
        tki_reading_fail(p->reading, p->token.position, "expected %s, but %s is a word of the language", what,
                         p->token.text);
}

static tki_syntax *name(parser *p, tki_syntax_kind kind, const char *what)
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
        tki_reading_fail(p->reading, p->token.position, "more than %d brackets and signs are nested",
                         TKI_MOST_NESTING);
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
        tki_reading_fail(p->reading, made->position, "more than %d brackets and signs are nested", TKI_MOST_NESTING);
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
        expected(p, "a relation: == != < <= > >=");
    tki_syntax *made = take(p, TKI_SYNTAX_TEST);
    made->a = left;
    made->b = sum(p);
    return nested(p, made);
}

static tki_syntax *binder(parser *p)
{
    tki_syntax *made = name(p, TKI_SYNTAX_BINDER, "the name of an index");
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
        expect(p, "lower", "lower");
        made->marked = true;
    }
    expect(p, "]",
           made->marked ? "]"
           : made->b    ? "an operator, a relation, and, ties lower or ]"
                        : ", | ties lower or ]");
    expect(p, "(", "( and what is reduced");
    made->c = list(p, ",", sum);
    expect(p, ")", "an operator, a comma or )");
    return made;
}

static void close_call(parser *p)
{
    expect(p, ")", "an operator, a comma or )");
}

static tki_syntax *cast(parser *p, tki_syntax *made)
{
    made->kind = TKI_SYNTAX_CAST;
    if (p->token.kind != TKI_TOKEN_WORD)
        expected(p, "a format");
    made->text = tki_reading_print(p->reading, "%s", p->token.text);
    next(p);
    expect(p, ",", "a comma");
    made->a = sum(p);
    close_call(p);
    return made;
}

static tki_syntax *select_value(parser *p, tki_syntax *made)
{
    made->kind = TKI_SYNTAX_SELECT;
    made->a = list(p, "and", test);
    expect(p, ",", "an operator, and, or a comma");
    made->b = sum(p);
    expect(p, ",", "an operator or a comma");
    made->c = sum(p);
    expect(p, ")", "an operator or )");
    return made;
}

static tki_syntax *size_of(parser *p, tki_syntax *made)
{
    made->kind = TKI_SYNTAX_SIZE;
    check_name(p, "the name of a size, or of a tensor with one axis", TKI_MOST_NAME);
    made->text = tki_reading_print(p->reading, "%s", p->token.text);
    next(p);
    expect(p, ")", ")");
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
        expected(p, "[ and the axes");
    expect(p, "(", both ? "( or [" : "(");
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
    tki_syntax *made = name(p, TKI_SYNTAX_NAME, "a value: a number, a name, a function or (");
    if (!accept(p, "["))
        return made;
    made->kind = TKI_SYNTAX_READ;
    made->a = list(p, ",", sum);
    if (accept(p, "else"))
        made->b = sum(p);
    expect(p, "]", made->b ? "an operator or ]" : "an operator, a comma, else or ]");
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
        expect(p, ")", "an operator or )");
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
    check_word(p, "the name of a choice", TKI_MOST_NAME);
    return take(p, TKI_SYNTAX_NAME);
}

static tki_syntax *condition_term(parser *p)
{
    tki_syntax *made = name(p, TKI_SYNTAX_CONDITION, "the name of an attribute");
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
    return is(p, "inf") ? take(p, TKI_SYNTAX_INF) : name(p, TKI_SYNTAX_NAME, "a number, inf or the name of a size");
}

static tki_syntax *range(parser *p)
{
    if (!is(p, "[") && !is(p, "("))
        expected(p, "a range: [ or (");
    tki_syntax *made = make(p, TKI_SYNTAX_RANGE, "");
    const char *open = is(p, "[") ? "[" : "(";
    next(p);
    made->a = range_end(p);
    expect(p, ",", "a comma");
    made->b = range_end(p);
    if (!is(p, "]") && !is(p, ")"))
        expected(p, "] or )");
    made->text = tki_reading_print(p->reading, "%s%s", open, p->token.text);
    next(p);
    return made;
}

static tki_syntax *axis(parser *p)
{
    return name(p, TKI_SYNTAX_NAME, "the name of an axis");
}

static tki_syntax *type_name(parser *p)
{
    if (p->token.kind != TKI_TOKEN_WORD)
        expected(p, "a type");
    return take(p, TKI_SYNTAX_NAME);
}

/* name axes [":" type], which inputs and outputs share */
static tki_syntax *tensor(parser *p, const char *what)
{
    tki_syntax *made = name(p, TKI_SYNTAX_TENSOR, what);
    expect(p, "[", "[ and the axes");
    made->a = list(p, ",", axis);
    expect(p, "]", "a comma or ]");
    if (accept(p, ":"))
        made->b = type_name(p);
    return made;
}

static tki_syntax *input(parser *p)
{
    tki_syntax *made = tensor(p, "the name of an input");
    if (accept(p, "in"))
        made->c = range(p);
    if (accept(p, "if"))
        made->d = condition(p);
    return made;
}

static tki_syntax *output(parser *p)
{
    tki_syntax *made = tensor(p, "the name of an output");
    if (accept(p, "over"))
        made->c = name(p, TKI_SYNTAX_NAME, "the name of an input");
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
        expected(p, "a number");
    return take(p, TKI_SYNTAX_NUMBER);
}

static tki_syntax *attribute(parser *p)
{
    tki_syntax *made = name(p, TKI_SYNTAX_ATTRIBUTE, "the name of an attribute");
    expect(p, ":", ": and the attribute's type");
    if (!is(p, "real") && !is(p, "int") && !is(p, "choice"))
        expected(p, "real, int or choice");
    const bool choices = is(p, "choice");
    made->b = take(p, TKI_SYNTAX_NAME);
    if (choices) {
        expect(p, "(", "( and the choices");
        made->a = list(p, ",", choice);
        expect(p, ")", "a comma or )");
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
        expected(p, "= or a relation: == != < <= > >=");
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
    tki_syntax *made = name(p, TKI_SYNTAX_ASSIGN,
                            only_if ? "a name"
                                    : "a line: a name, if, where, special, gradient, bound, or the next op");
    made->marked = accept(p, "[");
    if (made->marked) {
        made->a = list(p, ",", binder);
        expect(p, "]", "a comma or ]");
    }
    expect(p, "=", made->marked ? "=" : "[ or =");
    made->b = sum(p);
    made->c = only_if;
    return made;
}

static tki_syntax *special_value(parser *p)
{
    if (is(p, "-")) {
        tki_syntax *made = take(p, TKI_SYNTAX_NEGATE);
        if (!is(p, "inf"))
            expected(p, "inf");
        made->a = take(p, TKI_SYNTAX_INF);
        return made;
    }
    const bool zero = p->token.kind == TKI_TOKEN_NUMBER && !strcmp(p->token.text, "0");
    if (!zero && !is(p, "nan") && !is(p, "inf"))
        expected(p, "nan, inf, -inf or 0");
    return take(p, zero ? TKI_SYNTAX_NUMBER : is(p, "inf") ? TKI_SYNTAX_INF : TKI_SYNTAX_NAME);
}

static tki_syntax *special_values(parser *p)
{
    tki_syntax *made = name(p, TKI_SYNTAX_VALUES, "the name of a tensor");
    expect(p, "=", "=");
    made->a = list(p, "or", special_value);
    return made;
}

static tki_syntax *special(parser *p)
{
    tki_syntax *made = take(p, TKI_SYNTAX_SPECIAL);
    made->a = list(p, "and", special_values);
    expect(p, ":", "or, and, or :");
    made->b = special_values(p);
    return made;
}

static tki_syntax *tensor_name(parser *p)
{
    return name(p, TKI_SYNTAX_NAME, "the name of a tensor");
}

static tki_syntax *gradient(parser *p)
{
    tki_syntax *made = take(p, TKI_SYNTAX_GRADIENT);
    expect(p, "of", "of");
    check_word(p, "the name of an op", TKI_MOST_TOKEN);
    made->text = tki_reading_print(p->reading, "%s", p->token.text);
    next(p);
    expect(p, "(", "(");
    made->a = list(p, ",", tensor_name);
    expect(p, "by", "a comma or by");
    made->b = list(p, ",", tensor_name);
    expect(p, ")", "a comma or )");
    return made;
}

static tki_syntax *bound(parser *p)
{
    tki_syntax *made = take(p, TKI_SYNTAX_BOUND);
    expect(p, "ERR", "ERR");
    made->text = "";
    if (!is(p, "=")) {
        check_name(p, "= or the name of an output", TKI_MOST_NAME);
        made->text = tki_reading_print(p->reading, "%s", p->token.text);
        next(p);
    }
    expect(p, "=", "=");
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
    expect(p, ":", "== != and, or :");
    return assignment(p, only_if);
}

static void end_line(parser *p, const char *what)
{
    if (p->token.kind != TKI_TOKEN_LINE_END && p->token.kind != TKI_TOKEN_END)
        expected(p, what);
    while (p->token.kind == TKI_TOKEN_LINE_END)
        next(p);
}

static tki_syntax *definition(parser *p)
{
    p->syntax = 0;
    expect(p, "op", "op");
    check_word(p, "the name of the op", TKI_MOST_TOKEN);
    tki_syntax *made = take(p, TKI_SYNTAX_DEFINITION);
    expect(p, "(", "( and the inputs");
    made->a = list(p, ",", input);
    if (accept(p, ";"))
        made->b = list(p, ",", attribute);
    expect(p, ")", made->b ? "a comma or )" : "a comma, ; or )");
    expect(p, "->", "->");
    made->c = list(p, ",", output);
    end_line(p, "a comma or the end of the line");
    tki_syntax **last = &made->d;
    for (int lines = 0; p->token.kind != TKI_TOKEN_END && !is(p, "op"); last = &(*last)->next) {
        if (++lines > TKI_MOST_LINES)
            tki_reading_fail(p->reading, p->token.position, "the definition has more than %d lines", TKI_MOST_LINES);
        *last = line(p);
        end_line(p, (*last)->kind == TKI_SYNTAX_WHERE ? "an operator, a comma or the end of the line"
                                                      : "an operator or the end of the line");
    }
    return made;
}

tki_syntax *tki_parse(tki_reading *r, const char *text, size_t size)
{
    parser p = {r, {r, text, text + size, {1, 1}, 0}, {0}, 0, 0};
    if (size > TKI_MOST_TEXT)
        tki_reading_fail(r, p.lexer.position, "the text has %zu bytes; at most %d are read", size, TKI_MOST_TEXT);
    next(&p);
    while (p.token.kind == TKI_TOKEN_LINE_END)
        next(&p);
    tki_syntax *first = definition(&p), **last = &first->next;
    for (int count = 1; p.token.kind != TKI_TOKEN_END; last = &(*last)->next) {
        if (++count > TKI_MOST_OPS)
            tki_reading_fail(r, p.token.position, "the text has more than %d definitions", TKI_MOST_OPS);
        *last = definition(&p);
    }
    return first;
}
