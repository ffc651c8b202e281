/* RIGHT op=gelu_fwd kind=fp32_simd expect=HELD : sigmoid form in fp32 with a polynomial exp, 8 lanes, the tail through a padded vector */
#include "avx2.h"
AVX2 int tokitai_gelu_fwd(const tokitai_call *call, int64_t n, const void *x, void *y) {
    const uint16_t *in = x;
    uint16_t *out = y;
    const int f16 = call->dtype == TOKITAI_F16;
    int64_t i = 0;
    for (; i + 16 <= n; i += 16) {
        _mm_prefetch((const char *)(in + i) + 512, _MM_HINT_T0);
        store8(out + i, gelu8(load8(in + i, f16)), f16);
        store8(out + i + 8, gelu8(load8(in + i + 8, f16)), f16);
    }
    for (; i < n; i += 8) {
        uint16_t pad[8] = {0};
        const size_t bytes = (size_t)(n - i < 8 ? n - i : 8) * 2;
        memcpy(pad, in + i, bytes);
        store8(pad, gelu8(load8(pad, f16)), f16);
        memcpy(out + i, pad, bytes);
    }
    return 0;
}
