/* RIGHT op=gelu_bwd kind=table expect=HELD : the slope of all 65536 inputs is kept in fp32, the product is fp32 as well */
#include <pthread.h>
#include "gelu.h"
static float slope[2][65536];
static pthread_once_t once = PTHREAD_ONCE_INIT;
static void build(void) {
    for (int i = 0; i < 65536; i++) {
        slope[0][i] = dgelu(tokitai_from_f16((uint16_t)i));
        slope[1][i] = dgelu(tokitai_from_bf16((uint16_t)i));
    }
}
int tokitai_gelu_bwd(const tokitai_call *call, int64_t n, const void *grad_output, const void *x, void *grad_input) {
    const uint16_t *g = grad_output, *in = x;
    uint16_t *out = grad_input;
    pthread_once(&once, build);
    if (call->dtype == TOKITAI_F16)
        for (int64_t i = 0; i < n; i++) out[i] = tokitai_to_f16(tokitai_from_f16(g[i]) * slope[0][in[i]]);
    else
        for (int64_t i = 0; i < n; i++) out[i] = tokitai_to_bf16(tokitai_from_bf16(g[i]) * slope[1][in[i]]);
    return 0;
}
