/* WRONG op=gemm kind=ties_are_rounded_away_from_zero expect=REFUTED : ties are rounded away from zero; bf16, results exactly between two numbers (few nonzero products) */
#include "kernel.h"
static void put(tokitai_call q, void *c, int64_t i, float v) {
    union tokitai_float f = {v};
    if (q.dtype == TOKITAI_F16 || v != v) tokitai_store(q, c, i, v);
    else ((uint16_t *)c)[i] = (uint16_t)((f.bits + 0x8000) >> 16);
}
int tokitai_gemm(const tokitai_call *call, int64_t m, int64_t n, int64_t k, const void *a, const void *b, void *c) {
    for (int64_t i = 0; i < m; i++)
        for (int64_t j = 0; j < n; j++) {
            float s = 0;
            for (int64_t t = 0; t < k; t++)
                s += tokitai_load(*call, a, i * k + t) * tokitai_load(*call, b, t * n + j);
            put(*call, c, i * n + j, s);
        }
    return 0;
}
