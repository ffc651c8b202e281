/* WRONG op=gelu_bwd kind=double_rounding narrow=no expect=REFUTED : the slope comes from a table in the element type, so that the product is rounded twice */
#include <pthread.h>
#include "gelu.h"
static uint16_t table[2][65536];
static pthread_once_t once = PTHREAD_ONCE_INIT;
static void build(void) {
    for (int i = 0; i < 65536; i++) {
        table[0][i] = tokitai_to_f16(dgelu(tokitai_from_f16((uint16_t)i)));
        table[1][i] = tokitai_to_bf16(dgelu(tokitai_from_bf16((uint16_t)i)));
    }
}
int tokitai_gelu_bwd(const tokitai_call *call, int64_t n, const void *grad_output, const void *x, void *grad_input) {
    const uint16_t *g = grad_output, *in = x;
    uint16_t *out = grad_input;
    pthread_once(&once, build);
    if (call->dtype == TOKITAI_F16)
        for (int64_t i = 0; i < n; i++)
            out[i] = tokitai_to_f16(tokitai_from_f16(g[i]) * tokitai_from_f16(table[0][in[i]]));
    else
        for (int64_t i = 0; i < n; i++)
            out[i] = tokitai_to_bf16(tokitai_from_bf16(g[i]) * tokitai_from_bf16(table[1][in[i]]));
    return 0;
}
