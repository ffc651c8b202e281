/* Fuzz target: a file of measured choices. As it is, nearly every one is refused for its hash; so each is also tried with its hash put right.
 * What is taken must be, byte for byte, what would be written, and each of its cases must be found. */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "compile/tuning_file.h"
#include "tests/fuzz/sealed.h"

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

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    return try_with_digest(data, size, "\nhash ", try_tuning);
}
