/* TRUSTED. On what a certificate rests: the kernel's source, compiler and options, the artifact, the machine. */
#ifndef TKI_VERIFY_PROVENANCE_H
#define TKI_VERIFY_PROVENANCE_H

#include "core/hash.h"
#include "tokitai.h"

typedef struct tki_provenance {
    char artifact_path[4096]; /* the object file that holds the kernel: the library, or the program if it is static */
    char artifact_hash[TKI_HASH_HEX];
    const char *source; /* "ops/gelu/kernel_cpu.c"; NULL for a function that we did not build */
    const char *source_hash;
    const char *compiler;
    char options[2048];
    tk_device device;
} tki_provenance;

/* `source` and `variant` are those of a lowering, or NULL; `code` is an address inside the kernel's object file. */
TK_MUST_USE tk_status tki_provenance_find(tk_ctx *ctx, const char *source, const char *variant, uintptr_t code,
                                          tki_provenance *provenance);

/* SHA-256 of contract, subject, artifact, options and device: what a certificate is found again by. */
TK_MUST_USE bool tki_provenance_key(const tki_provenance *provenance, const tk_contract *contract,
                                    const char *subject, char key[TKI_HASH_HEX]);

#endif
