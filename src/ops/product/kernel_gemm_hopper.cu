/* UNTRUSTED. a[m,k] b[k,n]: the right factor lies across the sum. */
#define LEFT_ACROSS 0
#define RIGHT_ACROSS 1
#include "ops/product/kernel_hopper.h"
