/* DECIDES. Buffers that notice: red zones and inaccessible pages around them, at any place that a caller's array may have. */
#pragma once

#include "tokitai.h"

typedef enum tki_edge {
    TKI_EDGE_NONE,      /* red zones on both sides */
    TKI_EDGE_PAGE_END,  /* it ends where an inaccessible page begins */
    TKI_EDGE_PAGE_START /* it begins with a page; in a worker the one before is inaccessible */
} tki_edge;

enum { TKI_MOST_ALIGNMENT = 256 };

/* Where an array lies. */
typedef struct tki_placement {
    tki_edge edge;
    uint32_t
        alignment; /* TKI_EDGE_NONE: a power of two; its address is an odd multiple of this or of the element's size, whichever is
                           larger; of TKI_MOST_ALIGNMENT any multiple */
    uint32_t offset; /* TKI_EDGE_NONE: which of these places in a page */
} tki_placement;

typedef struct tki_guarded {
    unsigned char *mapping; /* pages, or memory of malloc() where nothing has to be guarded */
    size_t mapped;          /* 0: of malloc() */
    unsigned char *data;    /* the buffer itself */
    size_t bytes;
    unsigned char *zone_begin; /* the red zones are [zone_begin, data) and [data + bytes, zone_end) */
    unsigned char *zone_end;
} tki_guarded;

/* Fresh memory at a fresh address. `element` is the size of one element. */
TK_MUST_USE bool tki_guard_alloc(tki_guarded *buffer, tki_placement placement, size_t bytes, size_t element);

/* At the same place in its page, but with nothing around it: for a buffer that is copied elsewhere before foreign code sees it. */
TK_MUST_USE bool tki_guard_alloc_plain(tki_guarded *buffer, tki_placement placement, size_t bytes, size_t element);

void tki_guard_free(tki_guarded *buffer); /* one that was never allocated is fine if zeroed */

/* True if no byte around the buffer changed; else *offset is the first one that did, relative to the buffer's start. */
bool tki_guard_intact(const tki_guarded *buffer, int64_t *offset);
