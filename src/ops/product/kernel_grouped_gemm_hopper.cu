/* UNTRUSTED. Of each group c = a b: the right factor lies across the sum. */
#define LEFT_ACROSS false
#define RIGHT_ACROSS true
#include "ops/product/kernel_hopper_grouped.h"
