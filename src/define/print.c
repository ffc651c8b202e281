/* DECIDES. The printer: a definition in its normal form, one line for each line, as few brackets as give the same tree. */
#include <stdarg.h>
#include <string.h>

#include "define/syntax.h"

/* Text that grows. */
typedef struct printer {
    tki_reading *reading;
    char *text;
    size_t length, room;
} printer;

static void put(printer *p, const char *text)
{
    const size_t length = strlen(text);
    if (p->length + length >= p->room) {
        p->room = 2 * (p->length + length) + 256;
        char *larger = tki_reading_take(p->reading, p->room);
        memcpy(larger, p->text, p->length);
        p->text = larger;
    }
    memcpy(p->text + p->length, text, length + 1);
    p->length += length;
}

static void put_all(printer *p, const char *const texts[], int count)
{
    for (int i = 0; i < count; i++)
        put(p, texts[i]);
}
#define PUT(p, ...) \
    put_all(p, (const char *const[]){__VA_ARGS__}, sizeof((const char *const[]){__VA_ARGS__}) / sizeof(char *))

static void put_list(printer *p, const tki_syntax *first, const char *separator,
                     void (*one)(printer *p, const tki_syntax *s))
{
    for (const tki_syntax *s = first; s; s = s->next) {
        if (s != first)
            put(p, separator);
        one(p, s);
    }
}

enum { SUM = 1, PRODUCT, SIGNED };

static int strength(const tki_syntax *s)
{
    if (s->kind == TKI_SYNTAX_BINARY)
        return strchr("+-", s->text[0]) ? SUM : PRODUCT;
    return SIGNED;
}

static void put_value(printer *p, const tki_syntax *s);

/* In brackets unless it binds as strongly as that. */
static void put_bound(printer *p, const tki_syntax *s, int least)
{
    const bool brackets = strength(s) < least;
    put(p, brackets ? "(" : "");
    put_value(p, s);
    put(p, brackets ? ")" : "");
}

static void put_test(printer *p, const tki_syntax *s)
{
    put_value(p, s->a);
    PUT(p, " ", s->text, " ");
    put_value(p, s->b);
}

static void put_binder(printer *p, const tki_syntax *s)
{
    put(p, s->text);
    if (!s->a)
        return;
    put(p, " < ");
    put_value(p, s->a);
}

static void put_over(printer *p, const tki_syntax *s)
{
    PUT(p, s->text, "[");
    put_list(p, s->a, ", ", put_binder);
    put(p, s->b ? " | " : "");
    put_list(p, s->b, " and ", put_test);
    PUT(p, s->marked ? " ties lower" : "", "](");
    put_list(p, s->c, ", ", put_value);
    put(p, ")");
}

static void put_read(printer *p, const tki_syntax *s)
{
    PUT(p, s->text, "[");
    put_list(p, s->a, ", ", put_value);
    if (s->b) {
        put(p, " else ");
        put_value(p, s->b);
    }
    put(p, "]");
}

static void put_select(printer *p, const tki_syntax *s)
{
    put(p, "select(");
    put_list(p, s->a, " and ", put_test);
    put(p, ", ");
    put_value(p, s->b);
    put(p, ", ");
    put_value(p, s->c);
    put(p, ")");
}

static void put_value(printer *p, const tki_syntax *s)
{
    switch (s->kind) {
    case TKI_SYNTAX_NEGATE:
        put(p, "-");
        put_bound(p, s->a, SIGNED);
        return;
    case TKI_SYNTAX_BINARY:
        put_bound(p, s->a, strength(s));
        PUT(p, " ", s->text, " ");
        put_bound(p, s->b, strength(s) + 1);
        return;
    case TKI_SYNTAX_SIZE: PUT(p, "size(", s->text, ")"); return;
    case TKI_SYNTAX_CAST:
        PUT(p, "cast(", s->text, ", ");
        put_value(p, s->a);
        put(p, ")");
        return;
    case TKI_SYNTAX_CALL:
        PUT(p, s->text, "(");
        put_list(p, s->a, ", ", put_value);
        put(p, ")");
        return;
    case TKI_SYNTAX_READ: put_read(p, s); return;
    case TKI_SYNTAX_OVER: put_over(p, s); return;
    case TKI_SYNTAX_SELECT: put_select(p, s); return;
    default: put(p, s->text); return;
    }
}

static void put_condition(printer *p, const tki_syntax *s)
{
    put(p, s->text);
    if (s->a)
        PUT(p, s->marked ? " != " : " == ", s->a->text);
}

static void put_range(printer *p, const tki_syntax *s)
{
    PUT(p, " in ", (const char[]){s->text[0], 0});
    put_value(p, s->a);
    put(p, ", ");
    put_value(p, s->b);
    put(p, s->text + 1);
}

static void put_tensor(printer *p, const tki_syntax *s)
{
    PUT(p, s->text, "[");
    put_list(p, s->a, ", ", put_value);
    put(p, "]");
    if (s->b)
        PUT(p, ": ", s->b->text);
    if (s->c && s->c->kind == TKI_SYNTAX_RANGE)
        put_range(p, s->c);
    else if (s->c)
        PUT(p, " over ", s->c->text);
    put(p, s->d ? " if " : "");
    put_list(p, s->d, " and ", put_condition);
}

static void put_attribute(printer *p, const tki_syntax *s)
{
    PUT(p, s->text, ": ", s->b->text, s->a ? "(" : "");
    put_list(p, s->a, ", ", put_value);
    put(p, s->a ? ")" : "");
    if (s->c)
        put_range(p, s->c);
    if (s->d) {
        put(p, " = ");
        put_value(p, s->d);
    }
}

static void put_assignment(printer *p, const tki_syntax *s)
{
    put(p, s->c ? "if " : "");
    put_list(p, s->c, " and ", put_condition);
    PUT(p, s->c ? ": " : "", s->text, s->marked ? "[" : "");
    put_list(p, s->a, ", ", put_binder);
    PUT(p, s->marked ? "]" : "", " = ");
    put_value(p, s->b);
}

static void put_special_values(printer *p, const tki_syntax *s)
{
    PUT(p, s->text, " = ");
    put_list(p, s->a, " or ", put_value);
}

static void put_line(printer *p, const tki_syntax *s)
{
    put(p, "    ");
    switch (s->kind) {
    case TKI_SYNTAX_WHERE:
        put(p, "where ");
        put_list(p, s->a, ", ", put_test);
        break;
    case TKI_SYNTAX_SPECIAL:
        put(p, "special ");
        put_list(p, s->a, " and ", put_special_values);
        put(p, ": ");
        put_special_values(p, s->b);
        break;
    case TKI_SYNTAX_GRADIENT:
        PUT(p, "gradient of ", s->text, "(");
        put_list(p, s->a, ", ", put_value);
        put(p, " by ");
        put_list(p, s->b, ", ", put_value);
        put(p, ")");
        break;
    case TKI_SYNTAX_BOUND:
        PUT(p, "bound ERR", s->text[0] ? " " : "", s->text, " = ");
        put_value(p, s->a);
        break;
    default: put_assignment(p, s); break;
    }
}

const char *tki_print_definition(tki_reading *r, const tki_syntax *s)
{
    printer p = {.reading = r, .text = tki_reading_print(r, "%s", "")};
    PUT(&p, "op ", s->text, "(");
    put_list(&p, s->a, ", ", put_tensor);
    put(&p, s->b ? "; " : "");
    put_list(&p, s->b, ", ", put_attribute);
    put(&p, ") -> ");
    put_list(&p, s->c, ", ", put_tensor);
    put(&p, "\n");
    put_list(&p, s->d, "\n", put_line);
    put(&p, s->d ? "\n" : "");
    return p.text;
}

const char *tki_print_value(tki_reading *r, const tki_syntax *value)
{
    printer p = {.reading = r, .text = tki_reading_print(r, "%s", "")};
    (value->kind == TKI_SYNTAX_TEST ? put_test : put_value)(&p, value);
    return p.text;
}
