/* For targets that refuse nearly every input for the hash in it: the input as it is, and with that hash put right, as somebody would who
 * edits with care. */
#ifndef TKI_FUZZ_SEALED_H
#define TKI_FUZZ_SEALED_H

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "compile/compiled_kernel.h"
#include "compile/digest.h"

typedef void try_function(tki_digest *digest, const char *data, size_t bytes);

/* The hash stands behind the word in `line`, and is of all that is before. */
static inline void try_sealed(tki_digest *digest, const char *data, size_t bytes, const char *line, try_function *try)
{
    enum { HASH = TKI_DIGEST_HEX - 1 };
    const size_t prefix = strlen(line);
    const char *place = memmem(data, bytes, line, prefix);
    char hash[TKI_DIGEST_HEX];
    if (!place || (size_t)(place - data) + prefix + HASH > bytes)
        return;
    const size_t covered = (size_t)(place - data) + 1;
    char *copy = malloc(bytes);
    if (!copy || !tki_digest_bytes(digest, data, covered, hash)) {
        free(copy);
        return;
    }
    memcpy(copy, data, bytes);
    memcpy(copy + (place - data) + prefix, hash, HASH);
    try(digest, copy, bytes);
    free(copy);
}

static inline int try_with_digest(const uint8_t *data, size_t size, const char *line, try_function *try)
{
    tk_ctx *ctx;
    tki_digest digest;
    if (tk_ctx_create(&ctx) != TK_OK)
        return 0;
    if (tki_digest_open(ctx, &digest) == TK_OK) {
        try(&digest, (const char *)data, size);
        try_sealed(&digest, (const char *)data, size, line, try);
    }
    tk_ctx_destroy(ctx);
    return 0;
}

#endif
