/* Fuzz target: a file with a matrix, text or .npy, as integers and as residues. What is taken has the elements that its
 * shape says, and residues are below the modulus; what is not says why, in visible characters or those of the file. */
#include <assert.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "padic/matrix.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    padic_ring ring;
    assert(!padic_ring_make(&ring, 7, 16));
    for (int integers = 0; integers < 2; integers++) {
        char reason[256] = "";
        padic_matrix m;
        const char *failed = padic_matrix_parse((const char *)data, size, integers ? NULL : &ring, &m, reason,
                                                sizeof reason);
        if (failed) {
            assert(failed == reason && reason[0] && !m.values && !m.rows);
            continue;
        }
        assert(m.rows >= 0 && m.cols >= 0);
        for (int64_t i = 0; i < m.rows * m.cols; i++)
            assert(integers || m.values[i] < ring.modulus);
        padic_matrix_free(&m);
    }
    return 0;
}
