/* WRONG op=gelu_bwd kind=truncation narrow=no expect=REFUTED : the conversion to f16 rounds toward zero; bf16 is right */
#include "avx2.h"
AVX2 int tokitai_gelu_bwd(const tokitai_call *call, int64_t n, const void *grad_output, const void *x,
                          void *grad_input) {
    const uint16_t *g = grad_output, *in = x;
    uint16_t *out = grad_input;
    const int f16 = call->dtype == TOKITAI_F16;
    for (int64_t i = 0; i < n; i += 8) {
        const size_t bytes = (size_t)(n - i < 8 ? n - i : 8) * 2;
        uint16_t a[8] = {0}, b[8] = {0};
        memcpy(a, g + i, bytes);
        memcpy(b, in + i, bytes);
        const __m256 v = bwd8(load8(a, f16), load8(b, f16));
        if (f16) _mm_storeu_si128((__m128i *)a, _mm256_cvtps_ph(v, _MM_FROUND_TO_ZERO));
        else store8(a, v, f16);
        memcpy(out + i, a, bytes);
    }
    return 0;
}
