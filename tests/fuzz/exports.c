/* Fuzz target: the dynamic symbols of a shared library that a stranger brings. Nothing outside the bytes may be read, and only ops that
 * there are may be found. */
#include <assert.h>
#include <stdint.h>

#include "verify/kernel_file.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    uint64_t ops;
    uint64_t known = (UINT64_C(1) << tk_contract_count()) - 1;
    bool library = tki_exported_ops(data, size, &ops);
    assert((ops & ~known) == 0);
    assert(library || ops == 0);
    return 0;
}
