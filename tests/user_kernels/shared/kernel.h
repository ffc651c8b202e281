/* What nearly every kernel includes. */
#ifndef STRANGERS_KERNEL_H
#define STRANGERS_KERNEL_H
#include <float.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <tokitai_kernel.h>
#endif
