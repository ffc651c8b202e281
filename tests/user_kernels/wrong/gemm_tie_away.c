/* WRONG op=gemm kind=rounding narrow=yes expect=REFUTED : bf16 results are rounded by adding half a unit, so an exact tie goes away from zero and not to the even neighbour */
#include "kernel.h"
typedef float v8 __attribute__((vector_size(32)));
static uint16_t narrow(float value) {
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    if ((bits & 0x7fffffffu) >= 0x7f800000u) return tokitai_to_bf16(value);
    return (uint16_t)((bits + 0x8000u) >> 16);
}
int tokitai_gemm(const tokitai_call *call, int64_t m, int64_t n, int64_t k, const void *a, const void *b, void *c) {
    const int f16 = call->dtype == TOKITAI_F16;
    const int64_t groups = (n + 7) / 8;
    float *wide = calloc((size_t)(8 * groups * k + 1), sizeof *wide);
    if (!wide) return 1;
    for (int64_t t = 0; t < k; t++)
        for (int64_t j = 0; j < n; j++) wide[(j / 8 * k + t) * 8 + j % 8] = tokitai_load(*call, b, t * n + j);
    uint16_t *to = c;
    for (int64_t g = 0; g < groups; g++)
        for (int64_t i = 0; i < m; i++) {
            v8 sum = {0};
            for (int64_t t = 0; t < k; t++) {
                v8 line;
                memcpy(&line, wide + (g * k + t) * 8, sizeof line);
                sum += tokitai_load(*call, a, i * k + t) * line;
            }
            for (int64_t l = 0; l < 8 && 8 * g + l < n; l++)
                to[i * n + 8 * g + l] = f16 ? tokitai_to_f16(sum[l]) : narrow(sum[l]);
        }
    free(wide);
    return 0;
}
