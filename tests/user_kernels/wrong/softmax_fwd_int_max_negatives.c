/* WRONG op=softmax_fwd kind=int_max_negatives narrow=yes expect=REFUTED : the maximum is taken of the patterns as signed integers, which orders negative numbers the wrong way: a row of negative elements only that spread over more than 88 (or hold -inf) overflows */
#pragma GCC target("avx2,fma,f16c")
#include "avx2.h"
#include "elements.h"
int tokitai_softmax_fwd(const tokitai_call *call, int64_t rows, int64_t cols, const void *xv, void *yv) {
    const uint16_t *x = xv;
    uint16_t *y = yv;
    const int bf = call->dtype == TOKITAI_BF16;
    const uint16_t inf = bf ? 0x7f80 : 0x7c00;
    for (int64_t r = 0; r < rows; r++, x += cols, y += cols) {
        int16_t top = INT16_MIN;
        int64_t j = 0, special = 0, masked = 0;
        if (cols >= 16) {
            __m256i acc = _mm256_set1_epi16(INT16_MIN);
            for (; j + 16 <= cols; j += 16) acc = _mm256_max_epi16(acc, _mm256_loadu_si256((const __m256i *)(x + j)));
            int16_t lane[16];
            _mm256_storeu_si256((__m256i *)lane, acc);
            for (int k = 0; k < 16; k++) top = lane[k] > top ? lane[k] : top;
        }
        for (; j < cols; j++) top = (int16_t)x[j] > top ? (int16_t)x[j] : top;
        for (j = 0; j < cols; j++) {
            special |= (x[j] & 0x7fff) > inf || x[j] == inf;
            masked += x[j] == (inf | 0x8000);
        }
        if (special || masked == cols) {
            for (j = 0; j < cols; j++) y[j] = 0x7fff;
            continue;
        }
        const float m = ld1((uint16_t)top, bf);
        float s[4] = {0};
        for (j = 0; j < cols; j++) s[j & 3] += expf(ld1(x[j], bf) - m);
        const float z = (s[0] + s[1]) + (s[2] + s[3]);
        for (j = 0; j < cols; j++) y[j] = st1(expf(ld1(x[j], bf) - m) / z, bf);
    }
    return 0;
}
