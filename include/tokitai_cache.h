/* The cache of compiled GPU kernels, of libtokitai. Read tokitai.h first: its rules hold here too.
 *
 * The library contains its GPU kernels as source and compiles each on first use, with NVRTC or HIPRTC, otherwise
 * with nvcc, hipcc or clang. The result is stored in a directory of the user, one file each, named by the SHA-256
 * of all that it depends on, and verified before every load. Nothing here needs a GPU.
 */
#ifndef TOKITAI_CACHE_H
#define TOKITAI_CACHE_H

#include "tokitai.h"

#if defined(__GNUC__)
#pragma GCC visibility push(default)
#endif

#ifdef __cplusplus
extern "C" {
#endif

enum { TK_MAX_KERNELS = 48 };

/* The resources of one kernel, as reported by the compiler. */
typedef struct tk_kernel_resources {
    char name[64];
    int registers;    /* of one thread */
    int shared_bytes; /* of one block, static */
    int stack_bytes;
    int spill_store_bytes;
    int spill_load_bytes;
} tk_kernel_resources;

typedef struct tk_cache_entry {
    char key[65];
    char path[4096];   /* its file; "" if it could not be stored */
    int64_t bytes;     /* of the file; tk_cache_build(): of the image */
    int64_t last_used; /* seconds since 1970 */
    char damage[256];  /* the defect; then nothing below is set. "" if it is intact */
    char backend[8];   /* "cuda", "hip" */
    char source[128];  /* "ops/gelu/kernel.cu" */
    tk_types types;
    char architecture[32]; /* "sm_90", "gfx942" */
    char compiler[256];    /* "NVRTC 13.0" */
    char options[1024];
    char warnings[512]; /* of the compiler; "" if none */
    char note[512];     /* further remarks; "" if none */
    int kernel_count;
    tk_kernel_resources kernels[TK_MAX_KERNELS];
    bool was_cached; /* tk_cache_build(): it was in the cache */
    double seconds;  /* tk_cache_build(): to find or build it */
} tk_cache_entry;

/* The cache directory, whether or not it exists. */
TK_MUST_USE tk_status tk_cache_folder(tk_ctx *ctx, char *path, size_t size);

/* Return false to stop. */
typedef bool (*tk_cache_visitor)(const tk_cache_entry *entry, void *user_data);

/* Visits every entry, the most recently used first. Headers are always checked, images only with `whole`. An entry
 * is damaged if a load would not accept it: also one that is a symbolic link, or is in a directory that belongs to
 * another user than this one or root, or that its group or everybody may write to. */
TK_MUST_USE tk_status tk_cache_each(tk_ctx *ctx, bool whole, tk_cache_visitor visitor, void *user_data);

/* What 'tokitai tune' measured of a lowering on a device: the fastest of its choices, case by case. */
typedef struct tk_tuning {
    char key[65];
    char path[4096];
    int64_t bytes;
    int64_t written;  /* seconds since 1970 */
    char damage[256]; /* the defect, for which it is ignored; then nothing below is set. "" if it is intact */
    char lowering[128];
    char device[128];
    char architecture[32];
    char source[128];
    bool is_current; /* of the kernel's present source; what was measured of another one is not used */
    int case_count;
} tk_tuning;

typedef bool (*tk_tuning_visitor)(const tk_tuning *tuning, void *user_data); /* return false to stop */

/* Visits every tuning in the cache directory, the latest first. */
TK_MUST_USE tk_status tk_tuning_each(tk_ctx *ctx, tk_tuning_visitor visitor, void *user_data);

/* Removes the entries, tunings and verdicts on mutants (tokitai_verify.h) whose key begins with `key`, or all if it is
 * NULL, and the leftovers of interrupted builds; a partial file is removed when it is ten minutes old, since another machine may still be writing it.
 * Programs that have loaded an entry can continue to use it. TK_IO if some cannot be removed: the others are, each
 * that remains is a note, and the message has the first. */
TK_MUST_USE tk_status tk_cache_clear(tk_ctx *ctx, const char *key, int *removed, int64_t *bytes);

/* The i-th kernel source; NULL past the end. */
const char *tk_cache_source_at(int i);

/* The i-th types that a source is compiled for, which are those of the ops it computes; false past the end. */
bool tk_cache_types_at(const char *source, int i, tk_types *types);

/* Compiles a source for an architecture, or finds it in the cache. TK_UNAVAILABLE without a compiler,
 * TK_UNSUPPORTED if the source is for other architectures, TK_INTERNAL with the compiler's output if it does not
 * compile. */
TK_MUST_USE tk_status tk_cache_build(tk_ctx *ctx, const char *backend, const char *source, const char *architecture,
                                     tk_types types, tk_cache_entry *entry);

#ifdef __cplusplus
}
#endif

#if defined(__GNUC__)
#pragma GCC visibility pop
#endif

#endif
