/* DECIDES. Memory that is given back as a whole. */
#include "define/arena.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct block {
    struct block *next;
    size_t used, size;
    max_align_t data[];
} block;

struct tki_arena {
    block *blocks; /* the one in use first */
};

enum { BLOCK_BYTES = 1 << 16 };

tki_arena *tki_arena_create(void)
{
    return calloc(1, sizeof(tki_arena));
}

void *tki_arena_take(tki_arena *arena, size_t bytes)
{
    const size_t needed = (bytes + sizeof(max_align_t) - 1) / sizeof(max_align_t) * sizeof(max_align_t);
    if (needed < bytes)
        return NULL;
    block *b = arena->blocks;
    if (!b || b->size - b->used < needed) {
        const size_t size = needed > BLOCK_BYTES ? needed : BLOCK_BYTES;
        b = size < SIZE_MAX - sizeof *b ? calloc(1, sizeof *b + size) : NULL;
        if (!b)
            return NULL;
        b->size = size;
        b->next = arena->blocks;
        arena->blocks = b;
    }
    void *taken = (char *)b->data + b->used;
    b->used += needed;
    return taken;
}

void *tki_arena_copy(tki_arena *arena, const void *data, size_t bytes)
{
    void *taken = tki_arena_take(arena, bytes);
    if (taken && bytes > 0)
        memcpy(taken, data, bytes);
    return taken;
}

char *tki_arena_vprint(tki_arena *arena, const char *format, va_list values)
{
    va_list again;
    va_copy(again, values);
    const int length = vsnprintf(NULL, 0, format, values);
    char *text = length >= 0 ? tki_arena_take(arena, (size_t)length + 1) : NULL;
    if (text)
        vsnprintf(text, (size_t)length + 1, format, again);
    va_end(again);
    return text;
}

void tki_arena_destroy(tki_arena *arena)
{
    for (block *b = arena ? arena->blocks : NULL, *next; b; b = next) {
        next = b->next;
        free(b);
    }
    free(arena);
}
