/* WRONG op=xent kind=smoothing_in_the_gradient_but_not_in_the expect=REFUTED : smoothing in the gradient but not in the loss; eps > 0 */
#define LOSS logf(z) + (m - xt)
#include "xent_fused.h"
