/* WRONG op=gemm kind=stale_cache expect=REFUTED : stale cache, the packed B is kept by address and shape; the same address with other weights */
#include "kernel.h"
static const void *whose;
static int64_t kk, nn;
static int type = -1;
static float *pack;
int tokitai_gemm(const tokitai_call *call, int64_t m, int64_t n, int64_t k, const void *a, const void *b, void *c) {
    if (b != whose || k != kk || n != nn || call->dtype != type) { /* weights do not change between calls */
        free(pack);
        pack = malloc((size_t)(k * n) * 4 + 4);
        for (int64_t t = 0; t < k; t++)
            for (int64_t j = 0; j < n; j++) pack[j * k + t] = tokitai_load(*call, b, t * n + j);
        whose = b, kk = k, nn = n, type = call->dtype;
    }
    for (int64_t i = 0; i < m; i++)
        for (int64_t j = 0; j < n; j++) {
            float s = 0;
            for (int64_t t = 0; t < k; t++) s += tokitai_load(*call, a, i * k + t) * pack[j * k + t];
            tokitai_store(*call, c, i * n + j, s);
        }
    return 0;
}
