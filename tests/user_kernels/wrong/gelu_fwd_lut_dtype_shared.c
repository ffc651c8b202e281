/* WRONG op=gelu_fwd kind=lut_dtype_shared narrow=yes expect=REFUTED : one table and one ready flag for both dtypes: after a call in f16 a call in bf16 (or the reverse) in the same process looks up the other type's table */
#include "gelu.h"
/* Only 65536 inputs: compute each once, then it is a lookup. */
static uint16_t table[65536];
static int ready;
static void build(const tokitai_call *call) {
    for (int i = 0; i < 65536; i++) {
        uint16_t p = (uint16_t)i;
        tokitai_store(*call, &table[i], 0, gelu1(tokitai_load(*call, &p, 0)));
    }
    __atomic_store_n(&ready, 1, __ATOMIC_RELEASE);
}
int tokitai_gelu_fwd(const tokitai_call *call, int64_t n, const void *x, void *y) {
    const uint16_t *in = x;
    uint16_t *out = y;
    if (!__atomic_load_n(&ready, __ATOMIC_ACQUIRE)) build(call);
    int64_t i = 0;
    for (; i + 4 <= n; i += 4) {
        const uint16_t a = table[in[i]], b = table[in[i + 1]], c = table[in[i + 2]], d = table[in[i + 3]];
        out[i] = a;
        out[i + 1] = b;
        out[i + 2] = c;
        out[i + 3] = d;
    }
    for (; i < n; i++) out[i] = table[in[i]];
    return 0;
}
