/* The folder of artifacts: $TOKITAI_CACHE, else $XDG_CACHE_HOME/tokitai/artifacts, else ~/.cache/tokitai/artifacts.
 *
 * KEY.artifact is an entry; KEY.lock is there while one process builds it. When all entries together are larger than
 * TOKITAI_CACHE_LIMIT (bytes, or with K, M or G; 1 GiB if not set), those that were not used for the longest time go first, but
 * none that a process holds. The time of last use is the file's time of modification. */
#ifndef TKI_ARTIFACT_STORE_H
#define TKI_ARTIFACT_STORE_H

#include <time.h>

#include "artifact/entry.h"

enum { TKI_MOST_ENTRY = 1 << 29 }; /* bytes that an entry can have */

typedef struct tki_store {
    char folder[3072];
    char problem[256]; /* why nothing can be kept in it; "" so far */
    int64_t limit;
} tki_store;

/* Finds the folder; makes it with `make`. */
void tki_store_open(tk_ctx *ctx, tki_store *store, bool make);

typedef enum tki_store_result { TKI_STORE_FOUND, TKI_STORE_ABSENT, TKI_STORE_DAMAGED } tki_store_result;

/* Reads, checks and holds the entry with this key. If it is damaged `problem` says how. */
tki_store_result tki_store_load(tk_ctx *ctx, const tki_store *store, tki_digest *digest, const char *key,
                                tki_artifact *artifact, char *problem, size_t problem_size);

/* Writes the entry, holds it, and makes room. Sets artifact->path, or store->problem. */
void tki_store_save(tk_ctx *ctx, tki_store *store, tki_digest *digest, tki_artifact *artifact);

/* Waits until no other process builds this key. -1 if there can be no lock, or another process has had it for too long. */
int tki_store_lock(const tki_store *store, const char *key, double seconds);
void tki_store_unlock(const tki_store *store, const char *key, int lock);

typedef struct tki_store_file {
    char name[80]; /* within the folder */
    int64_t bytes;
    struct timespec used;
} tki_store_file;

/* All entries, those used last first; free() them. */
TK_MUST_USE tk_status tki_store_list(tk_ctx *ctx, const tki_store *store, tki_store_file **files, int *count);

/* KEY of KEY.artifact; false if the name is not of this form. */
bool tki_store_key_of(const char *name, char key[TKI_ARTIFACT_HEX]);

/* Removes the entry unless a process holds it and `force` is not given; the number of bytes, or -1. */
int64_t tki_store_remove(const tki_store *store, const char *name, bool force);

#endif
