/* Fuzz target: a file of measured choices. As it is, nearly every one is refused for its hash; so each is also tried with its hash put right.
 * What is taken must be, byte for byte, what would be written, and each of its cases must be found. */
#include <assert.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "compile/tuning_file.h"

static void try_tuning(tki_digest *digest, const char *data, size_t bytes)
{
    tki_tuning tuning;
    char problem[256];
    size_t written;
    if (!tki_tuning_decode(digest, data, bytes, NULL, &tuning, problem, sizeof problem)) {
        assert(problem[0] && !tuning.cases);
        return;
    }
    assert(!problem[0] && tuning.case_count >= 0 && tuning.case_count <= TKI_TUNED_CASES);
    for (int i = 0; i < tuning.case_count; i++)
        assert(tki_tuning_find(&tuning, tuning.cases[i].text) == &tuning.cases[i]);
    char *again = tki_tuning_encode(digest, &tuning, &written);
    assert(again && written == bytes && !memcmp(again, data, bytes));
    free(again);
    tki_tuning_free(&tuning);
}

static void try_sealed(tki_digest *digest, const char *data, size_t bytes)
{
    static const char line[] = "\nhash ";
    enum { PREFIX = sizeof line - 1, HASH = TKI_ARTIFACT_HEX - 1 };
    const char *place = memmem(data, bytes, line, PREFIX);
    char hash[TKI_ARTIFACT_HEX];
    if (!place || (size_t)(place - data) + PREFIX + HASH > bytes)
        return;
    const size_t covered = (size_t)(place - data) + 1;
    char *copy = malloc(bytes);
    if (!copy || !tki_digest_bytes(digest, data, covered, hash)) {
        free(copy);
        return;
    }
    memcpy(copy, data, bytes);
    memcpy(copy + (place - data) + PREFIX, hash, HASH);
    try_tuning(digest, copy, bytes);
    free(copy);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    tk_ctx *ctx;
    tki_digest digest;
    if (tk_ctx_create(&ctx) != TK_OK)
        return 0;
    if (tki_digest_open(ctx, &digest) == TK_OK) {
        try_tuning(&digest, (const char *)data, size);
        try_sealed(&digest, (const char *)data, size);
    }
    tk_ctx_destroy(ctx);
    return 0;
}
