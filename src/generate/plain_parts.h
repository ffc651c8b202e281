/* UNTRUSTED. What the parts of the generator share: expressions (plain_values.c), loops (plain_loops.c), files (plain.c). */
#pragma once

#include <stdarg.h>
#include <stdio.h>

#include "define/definition.h"

enum { TKI_PLAIN_MOST_BYTES = 1 << 20, TKI_PLAIN_MOST_TENSORS = TKI_MOST_LINES + TK_MAX_PARAMS };

typedef struct generating {
    FILE *out;
    const tki_definition *d;
    const char
        *gpu; /* "cuda" or "hip": an element of a tensor is computed by one thread, which keeps no arrays; NULL: C */
    int indent;
    bool bound[TKI_MOST_INDICES]; /* by a loop around */
    int ready[TKI_MOST_NODES];    /* reductions that have been computed in the loops around */
    int ready_count;
    bool kept[TKI_PLAIN_MOST_TENSORS]; /* tensors that lines read */
} generating;

/* What is written is a tree of what may be shared, so that its size has to be watched. */
static inline bool is_too_large(const generating *g)
{
    return ftell(g->out) > TKI_PLAIN_MOST_BYTES;
}

__attribute__((format(printf, 2, 3))) static inline void put(generating *g, const char *format, ...)
{
    va_list values;
    va_start(values, format);
    vfprintf(g->out, format, values);
    va_end(values);
}

static inline void begin(generating *g)
{
    put(g, "%*s", 4 * g->indent, "");
}

/* A line of its own. */
__attribute__((format(printf, 2, 3))) static inline void say(generating *g, const char *format, ...)
{
    va_list values;
    begin(g);
    va_start(values, format);
    vfprintf(g->out, format, values);
    va_end(values);
    fputc('\n', g->out);
}

/* Expressions. */
void tki_put_int(generating *g, int i);
void tki_put_index(generating *g, int index);
void tki_put_value(generating *g, int node);
void tki_put_condition(generating *g, const tki_condition *condition);
const char *tki_relation_text(tki_relation relation);

/* Which functions read and write a tensor: "real" of real_at(). */
const char *tki_numbers_of(const tki_def_tensor *t);

/* Where the elements of a reduction's array are: row-major over the indices that it binds. */
void tki_put_place(generating *g, const tki_def_node *n, const int *at);

/* Does it have one: are its values elements of its own axes, or a place? */
bool tki_has_array(const generating *g, const tki_def_node *n);

/* The lines of a tensor, each where its condition holds; on a GPU those of the element whose indices are there. */
void tki_write_tensor(generating *g, int tensor);
