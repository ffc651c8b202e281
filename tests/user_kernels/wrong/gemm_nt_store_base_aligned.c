/* WRONG op=gemm kind=nt_store_base_aligned narrow=yes expect=REFUTED : outputs of 2^18 elements or more whose base is 32-byte aligned use streaming stores, though rows of n % 16 != 0 are not aligned: fault */
#include "avx2.h"
#include "elements.h"
AVX2 static void rows16(const uint16_t *a, const uint16_t *b, uint16_t *c, int64_t m, int64_t n, int64_t k, int bf,
                        int stream) {
    const int64_t wide = n & ~(int64_t)15;
    for (int64_t i = 0; i < m; i++) {
        int64_t j = 0;
        for (; j < wide; j += 16) {
            __m256 lo = _mm256_setzero_ps(), hi = _mm256_setzero_ps();
            for (int64_t t = 0; t < k; t++) {
                const __m256 x = _mm256_set1_ps(ld1(a[i * k + t], bf));
                lo = _mm256_fmadd_ps(x, ld8(b + t * n + j, bf), lo);
                hi = _mm256_fmadd_ps(x, ld8(b + t * n + j + 8, bf), hi);
            }
            const __m256i v = _mm256_set_m128i(cvt8(hi, bf), cvt8(lo, bf));
            if (stream) _mm256_stream_si256((__m256i *)(c + i * n + j), v);
            else _mm256_storeu_si256((__m256i *)(c + i * n + j), v);
        }
        for (; j < n; j++) {
            float s = 0;
            for (int64_t t = 0; t < k; t++) s = __builtin_fmaf(ld1(a[i * k + t], bf), ld1(b[t * n + j], bf), s);
            c[i * n + j] = st1(s, bf);
        }
    }
    if (stream) _mm_sfence();
}
int tokitai_gemm(const tokitai_call *call, int64_t m, int64_t n, int64_t k, const void *a, const void *b, void *c) {
    /* past the caches: do not read c's lines for ownership */
    const int stream = m * n >= 1 << 18 && ((uintptr_t)c & 31) == 0;
    rows16(a, b, c, m, n, k, call->dtype == TOKITAI_BF16, stream);
    return 0;
}
