/* WRONG op=xent kind=cancellation expect=REFUTED : cancellation, the target's gradient is p - 1 in fp32; confident rows, and fine digits elsewhere */
#define GRADIENT                                                                                   \
    for (int64_t j = 0; j < cols; j++) {                                                           \
        const float p = expf(tokitai_load(c, logits, b + j) - m) / z;                              \
        tokitai_store(c, grad_logits, b + j, c.scale * (p - eps / cols - (j == t ? 1 - eps : 0))); \
    }
#include "xent_fused.h"
