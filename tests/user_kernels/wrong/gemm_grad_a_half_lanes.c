/* WRONG op=gemm_grad_a kind=partial_rounding narrow=no expect=REFUTED : the eight lanes of the accumulator are rounded to 16 bits before they are added up */
#include "kernel.h"
typedef float v8 __attribute__((vector_size(32)));
typedef struct {
    uint16_t lane[8];
} half8;
static inline void round_lanes(const v8 *sum, half8 *out, int f16) {
    for (int l = 0; l < 8; l++) out->lane[l] = f16 ? tokitai_to_f16((*sum)[l]) : tokitai_to_bf16((*sum)[l]);
}
int tokitai_gemm_grad_a(const tokitai_call *call, int64_t m, int64_t n, int64_t k, const void *grad_c, const void *b,
                        void *grad_a) {
    const int64_t padded = (n + 7) & ~(int64_t)7;
    const int f16 = call->dtype == TOKITAI_F16;
    float *wide = calloc((size_t)(padded * (k + 1) + 1), sizeof *wide);
    if (!wide) return 1;
    float *row = wide + padded * k;
    for (int64_t t = 0; t < k; t++)
        for (int64_t j = 0; j < n; j++) wide[t * padded + j] = tokitai_load(*call, b, t * n + j);
    for (int64_t i = 0; i < m; i++) {
        for (int64_t j = 0; j < n; j++) row[j] = tokitai_load(*call, grad_c, i * n + j);
        for (int64_t t = 0; t < k; t++) {
            v8 sum = {0}, x, y;
            for (int64_t j = 0; j < padded; j += 8) {
                memcpy(&x, row + j, sizeof x);
                memcpy(&y, wide + t * padded + j, sizeof y);
                sum += x * y;
            }
            half8 lanes;
            round_lanes(&sum, &lanes, f16);
            float total = 0;
            for (int l = 0; l < 8; l++) total += tokitai_load(*call, lanes.lane, l);
            tokitai_store(*call, grad_a, i * k + t, total);
        }
    }
    free(wide);
    return 0;
}
