/* WRONG op=gemm kind=partial_rounding narrow=yes expect=REFUTED : between panels of 512 terms the partial sums are kept in c, in 16 bits, so sums with k > 512 are rounded more than once */
#include "elements.h"
#define KC 512
#define NR 16
static uint16_t put(int f16, float v) { return f16 ? tokitai_to_f16(v) : tokitai_to_bf16(v); }
int tokitai_gemm(const tokitai_call *call, int64_t m, int64_t n, int64_t k, const void *a, const void *b, void *c) {
    const int f16 = call->dtype == TOKITAI_F16;
    const uint16_t *pa = a, *pb = b;
    uint16_t *pc = c;
    float(*panel)[NR] = malloc(KC * sizeof *panel);
    if (!panel) return 1;
    int64_t t0 = 0;
    do {
        const int64_t depth = k - t0 < KC ? k - t0 : KC;
        for (int64_t j0 = 0; j0 < n; j0 += NR) {
            const int64_t width = n - j0 < NR ? n - j0 : NR;
            for (int64_t t = 0; t < depth; t++)
                for (int64_t l = 0; l < NR; l++)
                    panel[t][l] = l < width ? as_float(f16, pb[(t0 + t) * n + j0 + l]) : 0;
            for (int64_t i = 0; i < m; i++) {
                uint16_t *to = pc + i * n + j0;
                float sum[NR] = {0};
                if (t0 > 0)
                    for (int64_t l = 0; l < width; l++) sum[l] = as_float(f16, to[l]);
                for (int64_t t = 0; t < depth; t++) {
                    const float x = as_float(f16, pa[i * k + t0 + t]);
                    for (int l = 0; l < NR; l++) sum[l] += x * panel[t][l];
                }
                for (int64_t l = 0; l < width; l++) to[l] = put(f16, sum[l]);
            }
        }
        t0 += KC;
    } while (t0 < k);
    free(panel);
    return 0;
}
