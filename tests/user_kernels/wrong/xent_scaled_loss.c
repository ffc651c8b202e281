/* WRONG op=xent kind=the_loss_is_scaled_as_well expect=REFUTED : the loss is scaled as well; scale other than 1 */
#define LOSS c.scale *(logf(z) + (eps < 1 ? (1 - eps) * (m - xt) : 0) + (eps > 0 ? eps / cols * sd : 0))
#include "xent_fused.h"
