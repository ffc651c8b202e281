/* WRONG op=gemm_grad_a kind=index_overflow narrow=yes expect=REFUTED : the number of blocks of 256 terms is kept in eight bits, so sums over n > 65280 terms lose whole blocks */
#include "kernel.h"
#define BLOCK 256
typedef struct {
    uint8_t blocks; /* of BLOCK terms, the last one shorter */
    uint8_t unroll;
    int32_t dtype;
} plan;
static float get(int32_t dtype, uint16_t v) {
    return dtype == TOKITAI_F16 ? tokitai_from_f16(v) : tokitai_from_bf16(v);
}
static float block(const plan *p, const uint16_t *x, const uint16_t *y, int64_t count) {
    float s[8] = {0};
    int64_t j = 0;
    for (; j + p->unroll <= count; j += p->unroll)
        for (int l = 0; l < p->unroll; l++) s[l] += get(p->dtype, x[j + l]) * get(p->dtype, y[j + l]);
    for (; j < count; j++) s[0] += get(p->dtype, x[j]) * get(p->dtype, y[j]);
    return ((s[0] + s[1]) + (s[2] + s[3])) + ((s[4] + s[5]) + (s[6] + s[7]));
}
int tokitai_gemm_grad_a(const tokitai_call *call, int64_t m, int64_t n, int64_t k, const void *grad_c, const void *b,
                        void *grad_a) {
    const plan p = {(uint8_t)((n + BLOCK - 1) / BLOCK), n >= 8 ? 8 : 1, call->dtype};
    const uint16_t *g = grad_c, *w = b;
    for (int64_t i = 0; i < m; i++)
        for (int64_t t = 0; t < k; t++) {
            float sum = 0;
            for (int x = 0; x < p.blocks; x++) {
                const int64_t from = (int64_t)x * BLOCK, count = n - from < BLOCK ? n - from : BLOCK;
                sum += block(&p, g + i * n + from, w + t * n + from, count);
            }
            tokitai_store(*call, grad_a, i * k + t, sum);
        }
    return 0;
}
