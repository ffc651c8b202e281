/* Fuzz target: the symbols of a shared library of a user, and its source before and after preprocessing. Nothing outside the
 * bytes may be read, and the list of names has an end. */
#include <assert.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "kernel_file/kernel_file.h"
#include "kernel_file/source_uses.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char ops[256];
    tki_exported_ops(data, size, ops, sizeof ops);
    const size_t length = strnlen(ops, sizeof ops);
    assert(length < sizeof ops && (length == 0 || ops[length - 1] == ' '));
    unsigned uses = 0;
    tki_uses_of_library(data, size, &uses);
    tki_uses_of_source((const char *)data, size, &uses);
    tki_uses_of_conditions((const char *)data, size, &uses);
    tki_uses_of_text((const char *)data, size, &uses);
    assert(uses >> TKI_USES == 0);
    char *own = malloc(size + 1), name[32];
    assert(own);
    memcpy(own, data, size);
    for (const char *at = own; tki_text_next_file(&at, own + size, name, sizeof name);)
        assert(strnlen(name, sizeof name) < sizeof name);
    assert(tki_text_own_parts(own, size) <= size);
    free(own);
    return 0;
}
