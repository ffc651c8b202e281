/* UNTRUSTED. grad_y[m,n]^T x[m,k], alone or added to a tensor: both factors lie across the sum. */
#define LEFT_ACROSS 1
#define RIGHT_ACROSS 1
#include "ops/product/kernel_hopper_linear.h"

PRODUCTS(terms, add_terms)
