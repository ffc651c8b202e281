/* TRUSTED. Buffers that notice: red zones on both sides, or an inaccessible page right behind the last byte. */
#ifndef TKI_VERIFY_GUARD_H
#define TKI_VERIFY_GUARD_H

#include "tokitai.h"

typedef enum tki_guard_mode {
    TKI_GUARD_RED_ZONES, /* at the smallest alignment that the element type allows */
    TKI_GUARD_END_PAGE   /* the buffer ends where an inaccessible page begins */
} tki_guard_mode;

typedef struct tki_guarded {
    unsigned char *mapping;
    size_t mapped;
    unsigned char *data; /* the buffer itself */
    size_t bytes;
    unsigned char *zone_begin; /* the red zones are [zone_begin, data) and [data + bytes, zone_end) */
    unsigned char *zone_end;
} tki_guarded;

/* Fresh memory at a fresh address. `element` is the size of one element. */
TK_MUST_USE bool tki_guard_alloc(tki_guarded *buffer, tki_guard_mode mode, size_t bytes, size_t element);
void tki_guard_free(tki_guarded *buffer); /* one that was never allocated is fine if zeroed */

/* True if no byte around the buffer changed; else *offset is the first one that did, relative to the buffer's start. */
bool tki_guard_intact(const tki_guarded *buffer, int64_t *offset);

#endif
