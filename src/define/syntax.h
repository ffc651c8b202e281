/* DECIDES. A definition as it is written: the tree that the parser makes, the printer prints, and the checker gives a meaning. */
#pragma once

#include <locale.h>
#include <setjmp.h>

#include "define/arena.h"
#include "define/definition.h"

typedef enum tki_syntax_kind {
    /* Values. */
    TKI_SYNTAX_NUMBER, /* text */
    TKI_SYNTAX_INF,
    TKI_SYNTAX_NAME,   /* text: a tensor with its own axes, an index, an attribute; in `where` a size */
    TKI_SYNTAX_READ,   /* text[a, ... else b] */
    TKI_SYNTAX_SIZE,   /* size(text) */
    TKI_SYNTAX_CALL,   /* text(a, ...) */
    TKI_SYNTAX_OVER,   /* text[a, ... | b and ... ties lower](c, ...): binders, tests, arguments */
    TKI_SYNTAX_BINDER, /* text, or text < a */
    TKI_SYNTAX_CAST,   /* cast(text, a) */
    TKI_SYNTAX_SELECT, /* select(a and ..., b, c): tests, values */
    TKI_SYNTAX_NEGATE, /* - a */
    TKI_SYNTAX_BINARY, /* a text b */
    TKI_SYNTAX_TEST,   /* a text b, where text is a relation; in `where` also = */
    /* The head. */
    TKI_SYNTAX_DEFINITION, /* op text(a; b) -> c, and lines d; further definitions are `next` */
    TKI_SYNTAX_TENSOR,     /* text[a]: b in or over c if d */
    TKI_SYNTAX_ATTRIBUTE,  /* text: b in c = d, with choices a */
    TKI_SYNTAX_RANGE,      /* text is the two brackets, a and b the ends */
    TKI_SYNTAX_CONDITION,  /* text, or text == a, or, marked, text != a */
    /* Lines. */
    TKI_SYNTAX_WHERE,    /* a: tests */
    TKI_SYNTAX_ASSIGN,   /* if c: text[a] = b; marked where it has brackets */
    TKI_SYNTAX_SPECIAL,  /* special a and ...: b; each of kind VALUES */
    TKI_SYNTAX_VALUES,   /* text = a or ... */
    TKI_SYNTAX_GRADIENT, /* gradient of text(a by b) */
    TKI_SYNTAX_BOUND     /* bound ERR text = a; text is "" for the only output */
} tki_syntax_kind;

typedef struct tki_syntax {
    tki_syntax_kind kind;
    bool marked;
    int depth; /* of values: how deep they are nested */
    const char *text;
    struct tki_syntax *a, *b, *c, *d;
    struct tki_syntax *next; /* in a list */
    tki_position position;
} tki_syntax;

/* What reading a text shares. A failure leaves by `failed`, so that what is written here reads straight. */
typedef struct tki_reading {
    tki_arena *arena;
    tki_definition_error *error;
    tk_status status;
    locale_t locale; /* "C": numbers have a point everywhere */
    jmp_buf failed;
} tki_reading;

__attribute__((noreturn)) void tki_reading_refuse(tki_reading *r, tki_position position, const tki_complaint *what);
/* With the kind, and .names, .numbers or .phrase where its sentence has some. */
#define tki_reading_fail(r, position, ...) tki_reading_refuse(r, position, &(tki_complaint){.kind = __VA_ARGS__})
void *tki_reading_take(tki_reading *r, size_t bytes); /* does not return without memory */
__attribute__((format(printf, 2, 3))) char *tki_reading_print(tki_reading *r, const char *format, ...);

/* Words with a meaning of their own, which nothing can be named. */
bool tki_word_is_reserved(const char *word);

/* A primitive of values or the name of a reduction; -1 if it is none. */
int tki_primitive_find(const char *word);
int tki_over_find(const char *word);

tki_syntax *tki_parse(tki_reading *r, const char *text, size_t size);

/* The normal form of one definition, ended by a line feed. */
const char *tki_print_definition(tki_reading *r, const tki_syntax *definition);
const char *tki_print_value(tki_reading *r, const tki_syntax *value);

/* The checker. */
void tki_check_definition(tki_reading *r, const tki_syntax *syntax, tki_definition *made);

/* What the contract points to lives as long as the arena and the definition. */
void tki_make_contract(tki_reading *r, const tki_definition *definition, tk_contract *contract);

/* Its texts: made without them, it says nothing. */
void tki_say_contract(tki_reading *r, const tki_definition *definition, tk_contract *contract);
