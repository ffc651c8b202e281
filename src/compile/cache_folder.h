/* CHOOSES. The folder of artifacts: $TOKITAI_CACHE, else $XDG_CACHE_HOME/tokitai/artifacts, else ~/.cache/tokitai/artifacts.
 *
 * KEY.artifact is an entry; KEY.lock is there while one process builds it, KEY.artifact.XXXXXX while it is written. When all entries
 * together are larger than TOKITAI_CACHE_LIMIT (bytes, or with K, M or G; 1 GiB if not set), those that were not used for the longest
 * time go first, but none that a process holds. The time of last use is the file's time of modification. KEY.tuning (tuning.h) is small
 * and stays until it is cleared. KEY.mutants (trials/kept_mutants.h) are small too, and have a limit of their own. */
#pragma once

#include <time.h>

#include "compile/cache_entry.h"
#include "core/export.h"

enum { TKI_MOST_ENTRY = 1 << 29 };                          /* bytes that an entry can have */
extern const char tki_store_artifact[], tki_store_tuning[]; /* endings of names */
#define TKI_STORE_MUTANTS ".mutants"                        /* another */

typedef struct tki_store {
    char folder[3072]; /* "" if there can be none */
    char problem[448]; /* why nothing can be kept in it; "" so far */
    bool distrusted;   /* others could write to it: what lies there is not to be used */
    bool closed;       /* it was to be made, and cannot be entered: nothing lies there for us */
    int64_t limit;
} tki_store;

/* Finds the folder; makes it with `make`, for its user alone. One that another user owns or everybody may write to is distrusted, for what
 * lies there is run on the device, and its hashes can be made by anyone. One that its group may write to is not: where every user has a
 * group of their own that is the usual umask, elsewhere it is the choice of people who share a cache. */
TKI_EXPORT void tki_store_open(tk_ctx *ctx, tki_store *store, bool make);

typedef enum tki_store_result { TKI_STORE_FOUND, TKI_STORE_ABSENT, TKI_STORE_DAMAGED } tki_store_result;

/* Reads, checks and holds the entry with this key. If it is damaged `problem` says how. */
tki_store_result tki_store_load(tk_ctx *ctx, const tki_store *store, tki_digest *digest, const char *key,
                                tki_compiled_kernel *artifact, char *problem, size_t problem_size);

/* Opens and reads the file of an entry; a link or anything else that is not a regular file is refused. The descriptor, which is the
 * caller's, or -1 with errno and what is wrong. */
int tki_store_read(tk_ctx *ctx, const char *path, char **data, size_t *bytes, char *problem, size_t problem_size);

/* Writes the entry, holds it, and makes room. Sets artifact->path, or store->problem. */
void tki_store_save(tk_ctx *ctx, tki_store *store, tki_digest *digest, tki_compiled_kernel *artifact);

/* Waits until no other process builds this key. -1 if there can be no lock, or another process has had it for too long. */
int tki_store_lock(const tki_store *store, const char *key, double seconds);
void tki_store_unlock(const tki_store *store, const char *key, int lock);

/* A small file KEY ENDING, whole; free() *data. One with more than `most` bytes, that another user than this one or root owns, or that others may
 * write to, is damaged. With `use` its time of last use is now. */
TKI_EXPORT tki_store_result tki_store_get(tk_ctx *ctx, const tki_store *store, const char *key, const char *ending,
                                          size_t most, bool use, char **data, size_t *bytes, char *problem,
                                          size_t problem_size);

/* Writes it, for its user alone, and removes those of that ending that were used longest ago while all together have more than `limit`
 * bytes, or than the store may have. Sets store->problem. */
TKI_EXPORT void tki_store_put(tk_ctx *ctx, tki_store *store, const char *key, const char *ending, const char *data,
                              size_t bytes, int64_t limit);

typedef struct tki_store_file {
    char name[80]; /* within the folder */
    int64_t bytes;
    struct timespec used;
} tki_store_file;

/* All files with this ending, those used last first; free() them. */
TKI_EXPORT TK_MUST_USE tk_status tki_store_list(tk_ctx *ctx, const tki_store *store, const char *ending,
                                                tki_store_file **files, int *count);

/* KEY of KEY.artifact, KEY.tuning or KEY.mutants; false if the name is not of this form. */
TKI_EXPORT bool tki_store_key_of(const char *name, const char *ending, char key[TKI_DIGEST_HEX]);

/* Removes the entry unless a process holds it and `force` is not given; the number of bytes, or -1 with errno. */
int64_t tki_store_remove(const tki_store *store, const char *name, bool force);

/* Removes locks and temporary files, these after some minutes, of builds that were ended, of the keys that begin with `key`. */
void tki_store_sweep(const tki_store *store, const char *key);
