/* WRONG op=xent kind=sign_of_zero expect=REFUTED : sign of zero, ignored rows are 0 times the scale; negative scale: -0 */
#define CLEAR tokitai_store(c, grad_logits, b + j, 0.0f * c.scale)
#include "xent_fused.h"
