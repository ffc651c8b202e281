/* WRONG op=gemm_grad_a kind=rank1_half_up narrow=yes expect=REFUTED : bf16 and n == 1: the fast path for one product rounds ties away from zero by adding 0x8000 */
#include "avx2.h"
#include "elements.h"
AVX2 static void rank1_bf16(const uint16_t *g, const uint16_t *w, uint16_t *out, int64_t m, int64_t k) {
    for (int64_t i = 0; i < m; i++) {
        const __m256 x = _mm256_set1_ps(tokitai_from_bf16(g[i]));
        int64_t t = 0;
        for (; t + 8 <= k; t += 8) {
            const __m256 p = _mm256_mul_ps(x, ld8(w + t, 1));
            const __m256i u = _mm256_castps_si256(p);
            __m256i r = _mm256_srli_epi32(_mm256_add_epi32(u, _mm256_set1_epi32(0x8000)), 16);
            r = _mm256_blendv_epi8(r, _mm256_set1_epi32(0x7fc0),
                                   _mm256_castps_si256(_mm256_cmp_ps(p, p, _CMP_UNORD_Q)));
            _mm_storeu_si128((__m128i *)(out + i * k + t),
                             _mm_packus_epi32(_mm256_castsi256_si128(r), _mm256_extracti128_si256(r, 1)));
        }
        for (; t < k; t++) out[i * k + t] = tokitai_to_bf16(tokitai_from_bf16(g[i]) * tokitai_from_bf16(w[t]));
    }
}
int tokitai_gemm_grad_a(const tokitai_call *call, int64_t m, int64_t n, int64_t k, const void *grad_c, const void *b,
                        void *grad_a) {
    const int bf = call->dtype == TOKITAI_BF16;
    const uint16_t *g = grad_c, *w = b;
    uint16_t *out = grad_a;
    if (n == 1 && bf) {
        rank1_bf16(g, w, out, m, k);
        return 0;
    }
    for (int64_t i = 0; i < m; i++)
        for (int64_t t = 0; t < k; t++) {
            float s0 = 0, s1 = 0;
            int64_t j = 0;
            for (; j + 1 < n; j += 2) {
                s0 += ld1(g[i * n + j], bf) * ld1(w[t * n + j], bf);
                s1 += ld1(g[i * n + j + 1], bf) * ld1(w[t * n + j + 1], bf);
            }
            if (j < n) s0 += ld1(g[i * n + j], bf) * ld1(w[t * n + j], bf);
            out[i * k + t] = st1(s0 + s1, bf);
        }
    return 0;
}
