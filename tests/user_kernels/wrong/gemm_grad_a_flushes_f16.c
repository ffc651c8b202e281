/* WRONG op=gemm_grad_a kind=subnormals_flushed expect=REFUTED : subnormals flushed, fp16 is widened by moving bits alone; fp16 subnormal inputs */
#include "kernel.h"
static float half(uint16_t p) {
    union tokitai_float f;
    const uint32_t e = p >> 10 & 31, sign = (uint32_t)(p & 0x8000) << 16;
    if (e == 0) f.bits = sign;
    else if (e == 31) f.bits = sign | 0x7f800000u | (uint32_t)(p & 0x3ff) << 13;
    else f.bits = sign | (e + 112) << 23 | (uint32_t)(p & 0x3ff) << 13;
    return f.value;
}
static inline float get(int f16, const void *p, int64_t i) {
    const uint16_t v = ((const uint16_t *)p)[i];
    return f16 ? half(v) : tokitai_from_bf16(v);
}
int tokitai_gemm_grad_a(const tokitai_call *call, int64_t m, int64_t n, int64_t k, const void *grad_c, const void *b,
                        void *grad_a) {
    const int f16 = call->dtype == TOKITAI_F16;
    for (int64_t i = 0; i < m; i++)
        for (int64_t t = 0; t < k; t++) {
            float s = 0;
            for (int64_t j = 0; j < n; j++) s += get(f16, grad_c, i * n + j) * get(f16, b, t * n + j);
            tokitai_store(*call, grad_a, i * k + t, s);
        }
    return 0;
}
