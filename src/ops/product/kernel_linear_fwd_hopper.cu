/* UNTRUSTED. x[m,k] w[n,k]^T, and what follows: both factors lie along the sum. */
#define LEFT_ACROSS 0
#define RIGHT_ACROSS 0
#include "ops/product/kernel_hopper_linear.h"

PRODUCTS(terms, add_terms)
WIDE(gelu, add_gelu)
PRODUCTS(gelu, add_gelu)
