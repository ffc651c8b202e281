/* RIGHT op=gemm kind=b_packed_into_fp32_panels_of_eight_colum expect=HELD : B packed into fp32 panels of eight columns, on the heap */
#include "kernel.h"
int tokitai_gemm(const tokitai_call *call, int64_t m, int64_t n, int64_t k, const void *a, const void *b, void *c) {
    float *pack = malloc(((size_t)k * 8 + 8) * sizeof *pack);
    for (int64_t j0 = 0; j0 < n; j0 += 8) {
        const int64_t w = n - j0 < 8 ? n - j0 : 8;
        for (int64_t t = 0; t < k; t++)
            for (int64_t j = 0; j < 8; j++) pack[t * 8 + j] = j < w ? tokitai_load(*call, b, t * n + j0 + j) : 0;
        for (int64_t i = 0; i < m; i++) {
            float s[8] = {0};
            for (int64_t t = 0; t < k; t++) {
                const float v = tokitai_load(*call, a, i * k + t);
                for (int j = 0; j < 8; j++) s[j] += v * pack[t * 8 + j];
            }
            for (int64_t j = 0; j < w; j++) tokitai_store(*call, c, i * n + j0 + j, s[j]);
        }
    }
    free(pack);
    return 0;
}
