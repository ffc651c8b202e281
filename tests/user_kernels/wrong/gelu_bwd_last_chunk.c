/* WRONG op=gelu_bwd kind=modulo_zero_last_chunk narrow=yes expect=REFUTED : the last chunk has n % 4096 elements, which is none at all when n is a multiple of 4096 */
#include "kernel.h"
enum { CHUNK = 4096 };
static void chunk_of(tokitai_call c, const uint16_t *g, const uint16_t *x, uint16_t *out, int64_t len) {
    float d[CHUNK];
    for (int64_t i = 0; i < len; i++) {
        const double v = tokitai_load(c, x, i);
        const double w = v > 64 ? 64 : v < -64 ? -64 : v;
        const double q = 0.044715 * w * w, e = exp(-1.5957691216057308 * w * (1.0 + q));
        const double sigma = 1.0 / (1.0 + e), rest = 1.0 / (1.0 + exp(1.5957691216057308 * w * (1.0 + q)));
        d[i] = (float)(sigma + sigma * rest * 1.5957691216057308 * w * (1.0 + 3.0 * q));
    }
    for (int64_t i = 0; i < len; i++) tokitai_store(c, out, i, tokitai_load(c, g, i) * d[i]);
}
int tokitai_gelu_bwd(const tokitai_call *call, int64_t n, const void *grad_output, const void *x, void *grad_input) {
    const int64_t chunks = (n + CHUNK - 1) / CHUNK;
    for (int64_t b = 0; b < chunks; b++) {
        const int64_t len = b == chunks - 1 ? n % CHUNK : CHUNK;
        chunk_of(*call, (const uint16_t *)grad_output + b * CHUNK, (const uint16_t *)x + b * CHUNK,
                 (uint16_t *)grad_input + b * CHUNK, len);
    }
    return 0;
}
