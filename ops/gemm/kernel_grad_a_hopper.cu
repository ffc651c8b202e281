/* UNTRUSTED. grad_c[m,n] b[k,n]^T: both factors lie along the sum. */
#define LEFT_ACROSS false
#define RIGHT_ACROSS false
#include "ops/gemm/kernel_hopper.h"
