/* RIGHT op=gelu_fwd kind=full_table expect=HELD : a table of all 65536 results for each dtype, built once in double under pthread_once; lookups only */
#include <pthread.h>
#include "kernel.h"
static uint16_t tables[2][65536];
static pthread_once_t once = PTHREAD_ONCE_INIT;
static void build(void) {
    for (int k = 0; k < 2; k++)
        for (int i = 0; i < 65536; i++) {
            const double x = k ? tokitai_from_bf16((uint16_t)i) : tokitai_from_f16((uint16_t)i);
            const double y = x / (1.0 + exp(-1.5957691216057307117597842397375 * x * (1.0 + 0.044715 * x * x)));
            tables[k][i] = k ? tokitai_to_bf16((float)y) : tokitai_to_f16((float)y);
        }
}
int tokitai_gelu_fwd(const tokitai_call *call, int64_t n, const void *x, void *y) {
    pthread_once(&once, build);
    const uint16_t *table = tables[call->dtype == TOKITAI_BF16];
    const uint16_t *in = x;
    uint16_t *out = y;
    for (int64_t i = n; i-- > 0;) out[i] = table[in[i]];
    return 0;
}
