/* DECIDES. Memory that is given back as a whole: what belongs to the definitions of a text. */
#pragma once

#include <stdarg.h>
#include <stddef.h>

typedef struct tki_arena tki_arena;

/* NULL if memory ran out; so are the next three. */
tki_arena *tki_arena_create(void);
void *tki_arena_take(tki_arena *arena, size_t bytes); /* zeros, aligned for every type */
void *tki_arena_copy(tki_arena *arena, const void *data, size_t bytes);
__attribute__((format(printf, 2, 0))) char *tki_arena_vprint(tki_arena *arena, const char *format, va_list values);
void tki_arena_destroy(tki_arena *arena); /* NULL is allowed */
