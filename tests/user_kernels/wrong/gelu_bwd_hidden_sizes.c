/* WRONG op=gelu_bwd kind=size_fast_path narrow=yes expect=REFUTED : of the sizes with a fixed trip count, 3072 has 47 blocks of 64 and not 48, so that its last 64 elements stay unwritten */
#include "gelu.h"
static inline void block64(const tokitai_call c, const uint16_t *g, const uint16_t *x, uint16_t *out) {
    for (int i = 0; i < 64; i++) tokitai_store(c, out, i, tokitai_load(c, g, i) * dgelu(tokitai_load(c, x, i)));
}
#define FIXED(BLOCKS)                                                                         \
    for (int b = 0; b < (BLOCKS); b++) block64(*call, g + 64 * b, in + 64 * b, out + 64 * b); \
    return 0
int tokitai_gelu_bwd(const tokitai_call *call, int64_t n, const void *grad_output, const void *x, void *grad_input) {
    const uint16_t *g = grad_output, *in = x;
    uint16_t *out = grad_input;
    switch (n) { /* hidden sizes */
    case 768: FIXED(12);
    case 1024: FIXED(16);
    case 3072: FIXED(47);
    case 4096: FIXED(64);
    }
    int64_t i = 0;
    for (; i + 64 <= n; i += 64) block64(*call, g + i, in + i, out + i);
    for (; i < n; i++) tokitai_store(*call, out, i, tokitai_load(*call, g, i) * dgelu(tokitai_load(*call, x, i)));
    return 0;
}
