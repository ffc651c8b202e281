/* WRONG op=gelu_fwd kind=aligned_loads_and_stores_without_a_look expect=REFUTED : aligned loads and stores without a look at the address; n >= 8 and a buffer not at a multiple of 16: crash */
#include <emmintrin.h>
#include "gelu.h"
int tokitai_gelu_fwd(const tokitai_call *call, int64_t n, const void *x, void *y) {
    int64_t i = 0;
    for (; i + 8 <= n; i += 8) {
        union {
            __m128i v;
            uint16_t u[8];
        } b;
        b.v = _mm_load_si128((const __m128i *)((const uint16_t *)x + i));
        for (int k = 0; k < 8; k++) {
            const float v = tokitai_load(*call, b.u, k);
            tokitai_store(*call, b.u, k, v * sigma2z(v, 0));
        }
        _mm_stream_si128((__m128i *)((uint16_t *)y + i), b.v);
    }
    _mm_sfence();
    for (; i < n; i++) {
        const float v = tokitai_load(*call, x, i);
        tokitai_store(*call, y, i, v * sigma2z(v, 0));
    }
    return 0;
}
