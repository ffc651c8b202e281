/* padic_gemm: the modulus, and for each element a sum that the kernel that includes this defines before. */
#include "kernel.h"
typedef unsigned __int128 wide;
#ifndef AT_FIRST
#define AT_FIRST
#endif
TOKITAI_KERNEL(padic_gemm) {
    const int64_t m = tensors[0].shape[0], n = tensors[1].shape[1], k = tensors[0].shape[1];
    const uint64_t *a = tensors[0].data, *b = tensors[1].data;
    uint64_t *c = tensors[2].data;
    const uint64_t p = (uint64_t)tokitai_integer(call, "prime");
    const int64_t N = tokitai_integer(call, "precision");
    wide mod = 1;
    for (int64_t i = 0; i < N; i++) mod *= p;
    AT_FIRST
    for (int64_t i = 0; i < m; i++)
        for (int64_t j = 0; j < n; j++) {
            wide s = 0;
            TAKE_SUM
            c[i * n + j] = (uint64_t)s;
        }
    return 0;
}
