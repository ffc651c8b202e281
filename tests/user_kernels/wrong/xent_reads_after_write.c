/* WRONG op=xent kind=the_target_s_logit_is_read_after_the_gra expect=REFUTED : the target's logit is read after the gradient has been written; in place */
#define BEFORE_LOSS                                                                                    \
    const float z = others + expf(tokitai_load(c, logits, b + t) - m);                                 \
    for (int64_t j = 0; j < cols; j++)                                                                 \
        tokitai_store(c, grad_logits, b + j,                                                           \
                      c.scale * (j == t ? eps * (float)(cols - 1) / cols - others / z                  \
                                        : expf(tokitai_load(c, logits, b + j) - m) / z - eps / cols)); \
    const float xt = tokitai_load(c, logits, b + t);
#define GRADIENT
#include "xent_fused.h"
