/* UNTRUSTED. Of each group grad_c b^T: both factors lie along the sum. */
#define LEFT_ACROSS false
#define RIGHT_ACROSS false
#include "ops/product/kernel_hopper_grouped.h"
