/* UNTRUSTED. Of each group c = a b: the right factor lies across the sum. */
#define LEFT_ACROSS false
#define RIGHT_ACROSS true
#include "ops/grouped/kernel_hopper.h"
