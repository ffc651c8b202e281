/* UNTRUSTED. grad_y[m,n] w[n,k], and what follows: the right factor lies across the sum. */
#define LEFT_ACROSS 0
#define RIGHT_ACROSS 1
#include "ops/product/kernel_hopper_linear.h"

WIDE(derivative, times_derivative)
PRODUCTS(derivative, times_derivative)
