/* WRONG op=xent kind=smoothing_term_multiplied_by_eps_0 expect=REFUTED : smoothing term multiplied by eps = 0, not left out: NaN; eps = 0 and a logit of -inf */
#define ADD_SPREAD sd += m - v;
#define LOSS logf(z) + (eps < 1 ? (1 - eps) * (m - xt) : 0) + eps / cols *sd
#include "xent_fused.h"
