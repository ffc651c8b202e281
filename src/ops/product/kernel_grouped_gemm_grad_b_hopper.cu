/* UNTRUSTED. Of each group a^T grad_c: both factors lie across the sum, which runs over a group's rows. */
#define LEFT_ACROSS true
#define RIGHT_ACROSS true
#include "ops/product/kernel_hopper_grouped.h"
