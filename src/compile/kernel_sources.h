/* RECORDS. The kernel sources inside the library. cmake/embed_kernels.cmake writes the table at build time. */
#pragma once

#include "compile/digest.h"

typedef struct tki_source_file {
    const char *path; /* "ops/gelu/kernel.cu"; NULL ends the table */
    const char *text; /* [bytes], a zero behind it */
    size_t bytes;
} tki_source_file;

extern const tki_source_file tki_source_files[];

enum { TKI_SOURCE_HEADERS = 24, TKI_SOURCE_NAME = 128 };

/* A kernel and everything it includes, each once, in the order in which a compiler meets them. */
typedef struct tki_source_set {
    const tki_source_file *source;
    int header_count;
    struct {
        const tki_source_file *file;
        char name[TKI_SOURCE_NAME]; /* as the #include says it, which is how a run-time compiler looks it up */
    } headers[TKI_SOURCE_HEADERS];
} tki_source_set;

/* TK_BAD_ARGUMENT if the table has no such kernel, TK_INTERNAL if it includes what the table does not have. */
TK_MUST_USE tk_status tki_source_gather(tk_ctx *ctx, const tki_source_file *table, const char *path,
                                        tki_source_set *set);

/* SHA-256 of the files' bytes, one after the other: the kernel, then its headers. */
bool tki_source_hash(tki_digest *digest, const tki_source_set *set, char hex[TKI_DIGEST_HEX]);
