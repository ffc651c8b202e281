/* RIGHT op=softmax_bwd kind=int128_exact expect=HELD : fp16 products are integers times 2^-48, added exactly in 128 bits; bf16 in long double, from the middle outwards */
#include "elements.h"
int tokitai_softmax_bwd(const tokitai_call *call, int64_t rows, int64_t cols, const void *gv, const void *yv,
                        void *ov) {
    const uint16_t *g = gv, *y = yv;
    uint16_t *o = ov;
    const int bf = call->dtype == TOKITAI_BF16;
    for (int64_t r = 0; r < rows; r++, g += cols, y += cols, o += cols) {
        float special = 0;
        int any = 0;
        long double sum = 0;
        if (!bf) {
            __int128 fix = 0;
            for (int64_t j = 0; j < cols; j++) {
                const float p = tokitai_from_f16(y[j]), q = tokitai_from_f16(g[j]), t = p * q;
                if (t - t != 0) {
                    special += t;
                    any = 1;
                    continue;
                }
                fix += (__int128)(int64_t)(p * 0x1p24f) * (int64_t)(q * 0x1p24f);
            }
            sum = ldexpl((long double)fix, -48);
        } else {
            const int64_t mid = cols / 2;
            for (int64_t k = 0; k < cols; k++) {
                const int64_t j = k & 1 ? mid - 1 - k / 2 : mid + k / 2;
                const int64_t i = j < 0 ? cols - 1 : j;
                const double t = (double)tokitai_from_bf16(y[i]) * tokitai_from_bf16(g[i]);
                if (t - t != 0) {
                    special += (float)t;
                    any = 1;
                } else sum += t;
            }
        }
        const double s = any ? special : (double)sum;
        for (int64_t j = 0; j < cols; j++) o[j] = st1((float)(ld1(y[j], bf) * (ld1(g[j], bf) - s)), bf);
    }
    return 0;
}
