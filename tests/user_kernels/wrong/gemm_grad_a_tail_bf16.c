/* WRONG op=gemm_grad_a kind=tail_dtype_mixup narrow=yes expect=REFUTED : the last n % 8 products decode grad_c as bf16 whatever the dtype, wrong for f16 only */
#include "kernel.h"
static inline float f16_dot8(const uint16_t *g, const uint16_t *b) {
    float s = 0.0f;
    for (int l = 0; l < 8; l++) s += tokitai_from_f16(g[l]) * tokitai_from_f16(b[l]);
    return s;
}
static inline float bf16_dot8(const uint16_t *g, const uint16_t *b) {
    float s = 0.0f;
    for (int l = 0; l < 8; l++) s += tokitai_from_bf16(g[l]) * tokitai_from_bf16(b[l]);
    return s;
}
static float dot(tokitai_call c, const uint16_t *g, const uint16_t *b, int64_t n) {
    float sum = 0.0f;
    int64_t j = 0;
    for (; j + 8 <= n; j += 8) sum += c.dtype == TOKITAI_F16 ? f16_dot8(g + j, b + j) : bf16_dot8(g + j, b + j);
    for (; j < n; j++) sum += tokitai_from_bf16(g[j]) * tokitai_load(c, b, j);
    return sum;
}
int tokitai_gemm_grad_a(const tokitai_call *call, int64_t m, int64_t n, int64_t k, const void *grad_c, const void *b,
                        void *grad_a) {
    for (int64_t i = 0; i < m; i++)
        for (int64_t t = 0; t < k; t++)
            tokitai_store(*call, grad_a, i * k + t,
                          dot(*call, (const uint16_t *)grad_c + i * n, (const uint16_t *)b + t * n, n));
    return 0;
}
