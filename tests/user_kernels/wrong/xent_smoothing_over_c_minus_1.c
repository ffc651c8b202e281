/* WRONG op=xent kind=smoothing_spread_over_the_other_c_1_clas expect=REFUTED : smoothing spread over the other C - 1 classes; eps > 0 */
#define BEFORE_LOSS                                                             \
    const float xt = tokitai_load(c, logits, b + t), z = others + expf(xt - m); \
    const float off = cols > 1 ? eps / (cols - 1) : 0;
#define LOSS logf(z) + (1 - eps) * (m - xt) + (eps > 0 ? off * (sd - (m - xt)) : 0)
#define GRADIENT                             \
    for (int64_t j = 0; j < cols; j++)       \
        tokitai_store(c, grad_logits, b + j, \
                      c.scale * (j == t ? eps - others / z : expf(tokitai_load(c, logits, b + j) - m) / z - off));
#include "xent_fused.h"
