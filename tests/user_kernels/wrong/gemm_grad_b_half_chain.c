/* WRONG op=gemm_grad_b kind=low_precision narrow=no expect=REFUTED : for fp16, four rows at a time are summed in fp16 and only their sum goes to the fp32 accumulator */
#include "kernel.h"
#define CHAIN 4
#define COLS 24
static inline float half(float v) { return tokitai_from_f16(tokitai_to_f16(v)); }
static void strip(const tokitai_call *call, int64_t m, int64_t n, int64_t k, const void *g, const void *a, void *out,
                  int64_t t, int64_t j0) {
    const int64_t width = n - j0 < COLS ? n - j0 : COLS;
    float sum[COLS] = {0};
    int64_t i = 0;
    if (call->dtype == TOKITAI_F16)
        for (; i + CHAIN <= m; i += CHAIN) {
            float chain[COLS] = {0};
            for (int64_t r = i; r < i + CHAIN; r++) {
                const float x = tokitai_load(*call, a, r * k + t);
                for (int64_t j = 0; j < width; j++)
                    chain[j] = half(chain[j] + x * tokitai_load(*call, g, r * n + j0 + j));
            }
            for (int64_t j = 0; j < width; j++) sum[j] += chain[j];
        }
    for (; i < m; i++) {
        const float x = tokitai_load(*call, a, i * k + t);
        for (int64_t j = 0; j < width; j++) sum[j] += x * tokitai_load(*call, g, i * n + j0 + j);
    }
    for (int64_t j = 0; j < width; j++) tokitai_store(*call, out, t * n + j0 + j, sum[j]);
}
int tokitai_gemm_grad_b(const tokitai_call *call, int64_t m, int64_t n, int64_t k, const void *grad_c, const void *a,
                        void *grad_b) {
    for (int64_t j = 0; j < n; j += COLS)
        for (int64_t t = 0; t < k; t++) strip(call, m, n, k, grad_c, a, grad_b, t, j);
    return 0;
}
