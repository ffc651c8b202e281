/* SHOWS. Memory that a client passes as a memfd. The descriptor is untrusted: what is mapped has a size that cannot shrink, so that no
 * access can fault, and what is read from it may change at any time. */
#pragma once

#include <sys/types.h>

#include "tokitai.h"

/* Mappings are kept, so that a client that passes the same memory again is served without mapping it anew. */
enum { TKI_SHARED_KEPT = 4 };

typedef struct tki_shared {
    void *data; /* NULL: none */
    size_t bytes;
    bool writable;
    dev_t device;
    ino_t inode;
    uint64_t used; /* when, by the set's count */
} tki_shared;

typedef struct tki_shared_set {
    tki_shared kept[TKI_SHARED_KEPT];
    uint64_t uses;
} tki_shared_set;

/* Maps the whole file, or finds it mapped. The descriptor stays the caller's. TK_BAD_ARGUMENT: no memfd, not sealed against
 * shrinking, empty, or not to be mapped so. Valid until TKI_SHARED_KEPT others have been asked for. */
TK_MUST_USE tk_status tki_shared_map(tk_ctx *ctx, tki_shared_set *set, int file, bool writable,
                                     const tki_shared **shared);
void tki_shared_unmap(tki_shared_set *set);
