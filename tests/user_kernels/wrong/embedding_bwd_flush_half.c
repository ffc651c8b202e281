/* WRONG op=embedding_bwd kind=subnormal_flush narrow=yes expect=REFUTED : the fast conversion of the sums to f16 has no branch for subnormals and stores zero for results below 2^-14 */
#include "kernel.h"
/* without the slow branches of the general one */
static inline uint16_t fast_half(float value) {
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    const uint16_t sign = (uint16_t)(bits >> 16 & 0x8000);
    bits &= 0x7fffffffu;
    const uint32_t rounded = (bits - (112u << 23) + 0x0fff + (bits >> 13 & 1)) >> 13;
    if (bits > 0x7f800000u) return (uint16_t)(sign | 0x7e00);
    if (bits >= 0x477ff000u) return (uint16_t)(sign | 0x7c00);
    return (uint16_t)(bits < 0x38800000u ? sign : sign | rounded);
}
int tokitai_embedding_bwd(const tokitai_call *call, int64_t queries, int64_t dim, int64_t vocab,
                          const void *grad_output, const void *index, void *grad_weight) {
    const int64_t n = vocab * dim;
    float *acc = calloc((size_t)n + 1, sizeof *acc);
    if (acc == NULL) return 1;
    for (int64_t i = 0; i < queries; i++) {
        float *to = acc + tokitai_load_index(*call, index, i) * dim;
        for (int64_t j = 0; j < dim; j++) to[j] += tokitai_load(*call, grad_output, i * dim + j);
    }
    uint16_t *out = grad_weight;
    if (call->dtype == TOKITAI_F16)
        for (int64_t k = 0; k < n; k++) out[k] = fast_half(acc[k]);
    else
        for (int64_t k = 0; k < n; k++) out[k] = tokitai_to_bf16(acc[k]);
    free(acc);
    return 0;
}
