/* WRONG op=xent kind=scale_misapplied expect=REFUTED : scale misapplied, the target's 1 is subtracted after it; scale other than 1 */
#define GRADIENT                                                                                    \
    const float inv = c.scale / z, q = c.scale * eps / cols;                                        \
    for (int64_t j = 0; j < cols; j++) {                                                            \
        const float e = expf(tokitai_load(c, logits, b + j) - m);                                   \
        float g = e * inv - q;                                                                      \
        if (j == t) g = c.scale == 1 ? eps * (float)(cols - 1) / cols - others / z : g - (1 - eps); \
        tokitai_store(c, grad_logits, b + j, g);                                                    \
    }
#include "xent_fused.h"
