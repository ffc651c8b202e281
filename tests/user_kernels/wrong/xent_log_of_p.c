/* WRONG op=xent kind=loss_as_log expect=REFUTED : loss as -log(p): p underflows; target more than about 90 below the maximum gives inf or few digits */
#define BEFORE_LOSS                                                             \
    const float xt = tokitai_load(c, logits, b + t), z = others + expf(xt - m); \
    const float lp = -logf(expf(xt - m) / z);
#define LOSS (eps < 1 ? (1 - eps) * lp : 0) + (eps > 0 ? eps / cols * (sd + cols * logf(z)) : 0)
#include "xent_fused.h"
