/* RIGHT op=gelu_fwd kind=a_table_of_all_65536_patterns_for_each_t expect=HELD : a table of all 65536 patterns for each type, built once in double */
#include <pthread.h>
#include "kernel.h"
static uint16_t table[2][65536];
static pthread_once_t once = PTHREAD_ONCE_INIT;
static void build(void) {
    for (int d = 0; d < 2; d++)
        for (int i = 0; i < 65536; i++) {
            const double v = d ? tokitai_from_bf16(i) : tokitai_from_f16(i);
            const float r = (float)(v / (1 + exp(-2 * 0.7978845608028654 * (v + 0.044715 * v * v * v))));
            table[d][i] = d ? tokitai_to_bf16(r) : tokitai_to_f16(r);
        }
}
int tokitai_gelu_fwd(const tokitai_call *call, int64_t n, const void *x, void *y) {
    pthread_once(&once, build);
    const uint16_t *t = table[call->dtype == TOKITAI_BF16], *in = x;
    uint16_t *out = y;
    for (int64_t i = 0; i < n; i++) out[i] = t[in[i]];
    return 0;
}
