/* For the linear_ and the grouped_ ops. */
#ifndef STRANGERS_LINEAR_H
#define STRANGERS_LINEAR_H
#include "kernel.h"
static float *floats(int32_t dtype, const void *p, int64_t count) {
    float *f = malloc((size_t)(count + 1) * sizeof *f);
    for (int64_t i = 0; i < count; i++) f[i] = tokitai_load_as(dtype, p, i);
    return f;
}
enum { BIAS, BIAS_GELU, GELU, BIAS_RESIDUAL, RESIDUAL, NONE };
#endif
