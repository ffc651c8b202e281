/* WRONG op=gemm_grad_a kind=conversion narrow=yes expect=REFUTED : fp16 is widened by shifting and rebiasing the exponent, zeros and infinities apart, which gives subnormal inputs a wrong value */
#include "kernel.h"
typedef uint32_t u8x __attribute__((vector_size(32)));
typedef float f8x __attribute__((vector_size(32)));
/* eight at a time, without branches */
static inline void widen8(const uint32_t raw[8], float *to) {
    u8x v;
    memcpy(&v, raw, sizeof v);
    const u8x sign = (v & 0x8000u) << 16, magnitude = v & 0x7fffu;
    const u8x special = (u8x)(magnitude >= 0x7c00u), zero = (u8x)(magnitude == 0u);
    u8x bits = (magnitude << 13) + (112u << 23);
    bits = (bits & ~special) | ((magnitude << 13 | 0x7f800000u) & special);
    bits = (bits & ~zero) | sign;
    memcpy(to, &bits, sizeof bits);
}
static void widen(int f16, const uint16_t *from, int64_t count, float *to) {
    for (int64_t i = 0; i < count; i += 8) {
        uint32_t raw[8] = {0};
        float out[8];
        const int64_t some = count - i < 8 ? count - i : 8;
        for (int64_t l = 0; l < some; l++) raw[l] = from[i + l];
        if (f16) widen8(raw, out);
        else
            for (int64_t l = 0; l < some; l++) out[l] = tokitai_from_bf16((uint16_t)raw[l]);
        memcpy(to + i, out, (size_t)some * sizeof *out);
    }
}
int tokitai_gemm_grad_a(const tokitai_call *call, int64_t m, int64_t n, int64_t k, const void *grad_c, const void *b,
                        void *grad_a) {
    const int f16 = call->dtype == TOKITAI_F16;
    float *wide = malloc((size_t)((m + k) * n + 1) * sizeof *wide);
    if (!wide) return 1;
    float *wide_b = wide + m * n;
    widen(f16, grad_c, m * n, wide);
    widen(f16, b, k * n, wide_b);
    for (int64_t i = 0; i < m; i++)
        for (int64_t t = 0; t < k; t++) {
            f8x sum = {0}, x, y;
            int64_t j = 0;
            for (; j + 8 <= n; j += 8) {
                memcpy(&x, wide + i * n + j, sizeof x);
                memcpy(&y, wide_b + t * n + j, sizeof y);
                sum += x * y;
            }
            float total = ((sum[0] + sum[1]) + (sum[2] + sum[3])) + ((sum[4] + sum[5]) + (sum[6] + sum[7]));
            for (; j < n; j++) total += wide[i * n + j] * wide_b[t * n + j];
            tokitai_store(*call, grad_a, i * k + t, total);
        }
    free(wide);
    return 0;
}
