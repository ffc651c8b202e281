/* WRONG op=gemm kind=cache_by_checksum narrow=yes expect=REFUTED : b, converted to fp32, is kept from call to call by its address-free key: n, k and the exclusive or and the sum of its elements, which stay when two elements change places */
#include "elements.h"
static float *kept;
static int64_t kept_n, kept_k;
static uint64_t kept_sum, kept_xor;
static int kept_type;
int tokitai_gemm(const tokitai_call *call, int64_t m, int64_t n, int64_t k, const void *a, const void *b, void *c) {
    uint64_t sum = 0, mixed = 0;
    for (int64_t i = 0; i < n * k; i++) {
        const uint32_t bits = call->dtype == TOKITAI_F32 ? ((const uint32_t *)b)[i] : ((const uint16_t *)b)[i];
        sum += bits;
        mixed ^= bits;
    }
    if (!kept || kept_n != n || kept_k != k || kept_sum != sum || kept_xor != mixed || kept_type != call->dtype) {
        free(kept);
        kept = malloc((size_t)(n * k + 1) * sizeof *kept);
        if (!kept) return 1;
        for (int64_t i = 0; i < n * k; i++) kept[i] = tokitai_load(*call, b, i);
        kept_n = n, kept_k = k, kept_sum = sum, kept_xor = mixed, kept_type = call->dtype;
    }
    for (int64_t i = 0; i < m; i++)
        for (int64_t j = 0; j < n; j++) {
            double s = 0;
            for (int64_t t = 0; t < k; t++) s += (double)tokitai_load(*call, a, i * k + t) * kept[t * n + j];
            tokitai_store(*call, c, i * n + j, (float)s);
        }
    return 0;
}
