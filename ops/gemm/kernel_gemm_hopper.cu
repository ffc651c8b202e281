/* UNTRUSTED. a[m,k] b[k,n]: the right factor lies across the sum. */
#define LEFT_ACROSS false
#define RIGHT_ACROSS true
#include "ops/gemm/kernel_hopper.h"
