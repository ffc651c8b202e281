/* WRONG op=gemm kind=pair_rounded narrow=no expect=REFUTED : two neighbouring products are added and rounded to the storage type before they enter the fp32 sum */
#include "kernel.h"
static float pair(const tokitai_call *call, float p, float q) {
    uint16_t packed;
    tokitai_store(*call, &packed, 0, p + q);
    return tokitai_load(*call, &packed, 0);
}
int tokitai_gemm(const tokitai_call *call, int64_t m, int64_t n, int64_t k, const void *a, const void *b, void *c) {
    for (int64_t i = 0; i < m; i++)
        for (int64_t j = 0; j < n; j++) {
            float acc = 0.0f;
            int64_t t = 0;
            for (; t + 2 <= k; t += 2)
                acc += pair(call, tokitai_load(*call, a, i * k + t) * tokitai_load(*call, b, t * n + j),
                            tokitai_load(*call, a, i * k + t + 1) * tokitai_load(*call, b, (t + 1) * n + j));
            if (t < k) acc += tokitai_load(*call, a, i * k + t) * tokitai_load(*call, b, t * n + j);
            tokitai_store(*call, c, i * n + j, acc);
        }
    return 0;
}
