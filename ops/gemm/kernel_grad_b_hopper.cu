/* UNTRUSTED. a[m,k]^T grad_c[m,n]: both factors lie across the sum. */
#define LEFT_ACROSS true
#define RIGHT_ACROSS true
#include "ops/gemm/kernel_hopper.h"
