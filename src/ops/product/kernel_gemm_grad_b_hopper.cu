/* UNTRUSTED. a[m,k]^T grad_c[m,n]: both factors lie across the sum. */
#define LEFT_ACROSS 1
#define RIGHT_ACROSS 1
#include "ops/product/kernel_hopper.h"
