/* Fuzz target: the dynamic symbols of a shared library that a stranger brings. Nothing outside the bytes may be read, and the list
 * of names has an end. */
#include <assert.h>
#include <stdint.h>
#include <string.h>

#include "kernel_file/kernel_file.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char ops[256];
    tki_exported_ops(data, size, ops, sizeof ops);
    const size_t length = strnlen(ops, sizeof ops);
    assert(length < sizeof ops && (length == 0 || ops[length - 1] == ' '));
    return 0;
}
