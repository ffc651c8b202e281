/* WRONG op=gemm_grad_b kind=oob_read narrow=yes expect=REFUTED : the ragged last columns are loaded as a whole vector of eight, so with n % 8 != 0 the last row is read past the end of grad_c, which faults if the next page is not there */
#include "avx2.h"
#define KT 4
AVX2 static void tile(const tokitai_call *call, int64_t m, int64_t n, int64_t k, const uint16_t *g, const uint16_t *a,
                      uint16_t *out, int64_t t, int64_t j) {
    const int f16 = call->dtype == TOKITAI_F16;
    const int64_t rows = k - t < KT ? k - t : KT, cols = n - j < 8 ? n - j : 8;
    __m256 sum[KT];
    for (int s = 0; s < KT; s++) sum[s] = _mm256_setzero_ps();
    for (int64_t i = 0; i < m; i++) {
        const __m256 x = load8(g + i * n + j, f16); /* lanes from cols on are not used */
        for (int64_t s = 0; s < rows; s++)
            sum[s] = _mm256_fmadd_ps(_mm256_set1_ps(tokitai_load(*call, a, i * k + t + s)), x, sum[s]);
    }
    for (int64_t s = 0; s < rows; s++) {
        float lanes[8];
        _mm256_storeu_ps(lanes, sum[s]);
        for (int64_t l = 0; l < cols; l++) tokitai_store(*call, out, (t + s) * n + j + l, lanes[l]);
    }
}
int tokitai_gemm_grad_b(const tokitai_call *call, int64_t m, int64_t n, int64_t k, const void *grad_c, const void *a,
                        void *grad_b) {
    if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("fma")) return 1;
    for (int64_t t = 0; t < k; t += KT)
        for (int64_t j = 0; j < n; j += 8) tile(call, m, n, k, grad_c, a, grad_b, t, j);
    return 0;
}
