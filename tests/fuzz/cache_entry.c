/* Fuzz target: an entry of the kernel cache. As it is, nearly every one is refused for its hash; so each is also tried with the
 * hash of its header put right. What is taken must be, byte for byte, what would be written. */
#include <assert.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "compile/cache_entry.h"

static void try_entry(tki_digest *digest, const char *data, size_t bytes)
{
    tki_artifact artifact;
    char problem[256];
    size_t written;
    if (!tki_entry_decode(digest, data, bytes, NULL, true, &artifact, problem, sizeof problem)) {
        assert(problem[0] && !artifact.image);
        return;
    }
    assert(!problem[0] && artifact.image && artifact.image_bytes < bytes);
    assert(artifact.kernel_count >= 0 && artifact.kernel_count <= TKI_ARTIFACT_KERNELS);
    char *again = tki_entry_encode(digest, &artifact, &written);
    assert(again && written == bytes && !memcmp(again, data, bytes));
    free(again);
    tki_artifact_free(&artifact);
}

static void try_sealed(tki_digest *digest, const char *data, size_t bytes)
{
    static const char line[] = "\nheader ";
    enum { PREFIX = sizeof line - 1, HASH = TKI_ARTIFACT_HEX - 1 };
    const char *place = memmem(data, bytes, line, PREFIX);
    char hash[TKI_ARTIFACT_HEX];
    if (!place || (size_t)(place - data) + PREFIX + HASH > bytes)
        return;
    size_t covered = (size_t)(place - data) + 1;
    char *copy = malloc(bytes);
    if (!copy || !tki_digest_bytes(digest, data, covered, hash)) {
        free(copy);
        return;
    }
    memcpy(copy, data, bytes);
    memcpy(copy + (place - data) + PREFIX, hash, HASH);
    try_entry(digest, copy, bytes);
    free(copy);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    tk_ctx *ctx;
    tki_digest digest;
    if (tk_ctx_create(&ctx) != TK_OK)
        return 0;
    if (tki_digest_open(ctx, &digest) == TK_OK) {
        try_entry(&digest, (const char *)data, size);
        try_sealed(&digest, (const char *)data, size);
    }
    tk_ctx_destroy(ctx);
    return 0;
}
