/* WRONG op=gemm_grad_b kind=f16_subnormal_half_up narrow=yes expect=REFUTED : fp16 results below 2^-14 are rounded by adding half and shifting: ties go up instead of to even */
#include "kernel.h"
static uint16_t narrow_f16(float value) {
    union tokitai_float f;
    f.value = value;
    const uint32_t sign = f.bits >> 16 & 0x8000, x = f.bits & 0x7fffffffu;
    if (x > 0x7f800000u) return (uint16_t)(sign | 0x7e00);
    if (x >= 0x477ff000u) return (uint16_t)(sign | 0x7c00);
    if (x >= 0x38800000u) return (uint16_t)(sign | ((x - (112u << 23) + 0xfff + (x >> 13 & 1)) >> 13));
    if (x < 0x33000000u) /* below half of the smallest */
        return (uint16_t)sign;
    const int shift = 126 - (int)(x >> 23);
    const uint32_t mantissa = (x & 0x7fffff) | 0x800000;
    return (uint16_t)(sign | ((mantissa + (1u << (shift - 1))) >> shift));
}
int tokitai_gemm_grad_b(const tokitai_call *call, int64_t m, int64_t n, int64_t k, const void *grad_c, const void *a,
                        void *grad_b) {
    const uint16_t *g = grad_c, *pa = a;
    uint16_t *out = grad_b;
    const int f16 = call->dtype == TOKITAI_F16;
    float *acc = malloc((size_t)(n + 1) * sizeof(float));
    for (int64_t t = 0; t < k; t++) {
        memset(acc, 0, (size_t)n * sizeof(float));
        for (int64_t i = 0; i < m; i++) {
            const float x = f16 ? tokitai_from_f16(pa[i * k + t]) : tokitai_from_bf16(pa[i * k + t]);
            for (int64_t j = 0; j < n; j++)
                acc[j] += x * (f16 ? tokitai_from_f16(g[i * n + j]) : tokitai_from_bf16(g[i * n + j]));
        }
        for (int64_t j = 0; j < n; j++) out[t * n + j] = f16 ? narrow_f16(acc[j]) : tokitai_to_bf16(acc[j]);
    }
    free(acc);
    return 0;
}
