/* Fuzz target: the output of a compiler, read for what kernels use and for warnings. */
#include <assert.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "artifact/resources.h"

enum { MOST = 3 };

static void check(const tki_kernel_resources *kernels, int count)
{
    assert(count >= 0 && count <= MOST);
    for (int i = 0; i < count; i++) {
        const tki_kernel_resources *k = &kernels[i];
        size_t length = strnlen(k->name, sizeof k->name);
        assert(length > 0 && length < sizeof k->name);
        /* It goes into a line of the cache entry, between blanks. */
        for (size_t c = 0; c < length; c++)
            assert((unsigned char)k->name[c] > ' ' && k->name[c] != 127);
        assert(k->registers >= 0 && k->shared_bytes >= 0 && k->stack_bytes >= 0 && k->spill_store_bytes >= 0 &&
               k->spill_load_bytes >= 0);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    tki_kernel_resources kernels[MOST];
    char warnings[64];
    char *text = calloc(size + 1, 1);
    if (!text)
        return 0;
    if (size > 0)
        memcpy(text, data, size);
    check(kernels, tki_resources_of_ptxas(text, kernels, MOST));
    check(kernels, tki_resources_of_clang(text, kernels, MOST));
    tki_log_warnings(text, warnings, sizeof warnings);
    for (const char *p = warnings; *p; p++)
        assert((unsigned char)*p >= ' ' && *p != 127);
    free(text);
    return 0;
}
