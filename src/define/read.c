/* DECIDES. Reading a text of definitions: parser and checker, and how they fail. */
#include <string.h>

#include "define/syntax.h"

void tki_reading_refuse(tki_reading *r, tki_position position, const tki_complaint *what)
{
    *r->error = (tki_definition_error){.position = position, .what = *what};
    for (int i = 0; i < TKI_WRONG_NAMES; i++) {
        r->error->what.names[i] = NULL;
        if (what->names[i])
            strncpy(r->error->names[i], what->names[i], TKI_WRONG_NAME - 1);
    }
    r->status = TK_BAD_ARGUMENT;
    longjmp(r->failed, 1);
}

static void *given(tki_reading *r, void *memory)
{
    if (memory)
        return memory;
    r->status = TK_NO_MEMORY;
    longjmp(r->failed, 1);
}

void *tki_reading_take(tki_reading *r, size_t bytes)
{
    return given(r, tki_arena_take(r->arena, bytes));
}

char *tki_reading_print(tki_reading *r, const char *format, ...)
{
    va_list values;
    va_start(values, format);
    char *text = tki_arena_vprint(r->arena, format, values);
    va_end(values);
    return given(r, text);
}

/* A function of its own, since what a jump leaves behind must not be in the locals of who comes back from it. */
static void read_all(tki_reading *r, const char *text, size_t size, tki_definitions *made)
{
    if (setjmp(r->failed) != 0)
        return;
    const tki_syntax *first = tki_parse(r, text, size);
    for (const tki_syntax *s = first; s; s = s->next)
        made->count++;
    tki_definition *list = tki_reading_take(r, (size_t)made->count * sizeof *list);
    made->list = list;
    for (const tki_syntax *s = first; s; s = s->next) {
        for (const tki_syntax *before = first; before != s; before = before->next)
            if (!strcmp(before->text, s->text))
                tki_reading_fail(r, s->position, TKI_WRONG_DEFINED_TWICE, .names = {s->text},
                                 .numbers = {before->position.line});
        tki_check_definition(r, s, list++);
    }
}

tk_status tki_definitions_read(const char *text, size_t size, tki_definitions *made, tki_definition_error *error)
{
    *made = (tki_definitions){0};
    *error = (tki_definition_error){0};
    tki_reading r = {.arena = tki_arena_create(), .error = error, .locale = newlocale(LC_NUMERIC_MASK, "C", NULL)};
    made->arena = r.arena;
    if (!r.arena || !r.locale)
        r.status = TK_NO_MEMORY;
    else
        read_all(&r, text, size, made);
    if (r.locale)
        freelocale(r.locale);
    if (r.status != TK_OK)
        tki_definitions_free(made);
    return r.status;
}

void tki_definitions_free(tki_definitions *made)
{
    tki_arena_destroy(made->arena);
    *made = (tki_definitions){0};
}

const tki_definition *tki_definition_named(const tki_definitions *made, const char *name)
{
    for (int i = 0; i < made->count; i++)
        if (!strcmp(made->list[i].name, name))
            return &made->list[i];
    return NULL;
}
