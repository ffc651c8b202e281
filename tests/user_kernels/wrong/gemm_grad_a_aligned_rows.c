/* WRONG op=gemm_grad_a kind=alignment narrow=yes expect=REFUTED : when grad_c and b both begin at a multiple of 32 bytes and n >= 64, the aligned path takes whole groups of 16 only and drops the last n % 16 terms */
#include "avx2.h"
AVX2 static float dot16(const uint16_t *x, const uint16_t *y, int64_t count, int f16) {
    __m256 s0 = _mm256_setzero_ps(), s1 = s0;
    for (int64_t j = 0; j + 16 <= count; j += 16) {
        s0 = _mm256_fmadd_ps(load8(x + j, f16), load8(y + j, f16), s0);
        s1 = _mm256_fmadd_ps(load8(x + j + 8, f16), load8(y + j + 8, f16), s1);
    }
    s0 = _mm256_add_ps(s0, s1);
    __m128 h = _mm_add_ps(_mm256_castps256_ps128(s0), _mm256_extractf128_ps(s0, 1));
    h = _mm_add_ps(h, _mm_movehl_ps(h, h));
    return _mm_cvtss_f32(_mm_add_ss(h, _mm_shuffle_ps(h, h, 1)));
}
static float tail(const uint16_t *x, const uint16_t *y, int64_t from, int64_t count, int f16) {
    float s = 0;
    for (int64_t j = from; j < count; j++)
        s += f16 ? tokitai_from_f16(x[j]) * tokitai_from_f16(y[j])
                 : tokitai_from_bf16(x[j]) * tokitai_from_bf16(y[j]);
    return s;
}
int tokitai_gemm_grad_a(const tokitai_call *call, int64_t m, int64_t n, int64_t k, const void *grad_c, const void *b,
                        void *grad_a) {
    if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("fma")) return 1;
    const int f16 = call->dtype == TOKITAI_F16;
    const uint16_t *g = grad_c, *w = b;
    const int aligned = (((uintptr_t)g | (uintptr_t)w) & 31) == 0 &&
                        n >= 64; /* rows are padded to whole vectors then */
    for (int64_t i = 0; i < m; i++)
        for (int64_t t = 0; t < k; t++) {
            float sum = dot16(g + i * n, w + t * n, n, f16);
            if (!aligned && n % 16 != 0) sum += tail(g + i * n, w + t * n, n & ~(int64_t)15, n, f16);
            tokitai_store(*call, grad_a, i * k + t, sum);
        }
    return 0;
}
