/* WRONG op=gelu_bwd kind=cache_uninitialised_tag narrow=yes expect=REFUTED : a direct-mapped memo starts with tag 0, so that patterns 0x0000 to 0x0fff of x hit empty entries and give 0 */
#include "gelu.h"
typedef struct {
    double slope[4096];
    uint8_t tag[4096];
} memo;
int tokitai_gelu_bwd(const tokitai_call *call, int64_t n, const void *grad_output, const void *x, void *grad_input) {
    const uint16_t *in = x;
    memo cache; /* values of activations repeat a lot */
    memset(&cache, 0, sizeof cache);
    for (int64_t i = 0; i < n; i++) {
        const unsigned slot = in[i] & 4095, tag = in[i] >> 12;
        if (cache.tag[slot] != tag) {
            cache.tag[slot] = (uint8_t)tag;
            cache.slope[slot] = slope_in_double(tokitai_load(*call, in, i));
        }
        tokitai_store(*call, grad_input, i, (float)(tokitai_load(*call, grad_output, i) * cache.slope[slot]));
    }
    return 0;
}
