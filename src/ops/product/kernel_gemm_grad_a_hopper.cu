/* UNTRUSTED. grad_c[m,n] b[k,n]^T: both factors lie along the sum. */
#define LEFT_ACROSS 0
#define RIGHT_ACROSS 0
#include "ops/product/kernel_hopper.h"
