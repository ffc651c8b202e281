/* Fuzz target: an entry of the kernel cache. As it is, nearly every one is refused for its hash; so each is also tried with the
 * hash of its header put right. What is taken must be, byte for byte, what would be written. */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "compile/cache_entry.h"
#include "tests/fuzz/sealed.h"

static void try_entry(tki_digest *digest, const char *data, size_t bytes)
{
    tki_compiled_kernel artifact;
    char problem[256];
    size_t written;
    if (!tki_entry_decode(digest, data, bytes, NULL, true, &artifact, problem, sizeof problem)) {
        assert(problem[0] && !artifact.image);
        return;
    }
    assert(!problem[0] && artifact.image && artifact.image_bytes < bytes);
    assert(artifact.kernel_count >= 0 && artifact.kernel_count <= TKI_COMPILED_KERNELS);
    char *again = tki_entry_encode(digest, &artifact, &written);
    assert(again && written == bytes && !memcmp(again, data, bytes));
    free(again);
    tki_compiled_kernel_free(&artifact);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    return try_with_digest(data, size, "\nheader ", try_entry);
}
