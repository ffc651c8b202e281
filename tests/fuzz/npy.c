/* Headers of .npy files: whatever is accepted has sizes that fill the file. */
#include <stdlib.h>

#include "tensors/npy.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    tki_npy npy;
    if (tki_npy_parse(data, size, &npy))
        return 0;
    if (npy.rank < 0 || npy.rank > TKI_NPY_MAX_RANK || npy.size < 1 || npy.data_at > size || npy.elements < 0 ||
        (uint64_t)npy.elements * (uint64_t)npy.size != size - npy.data_at)
        abort();
    return 0;
}
