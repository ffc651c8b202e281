/* WRONG op=softmax_fwd kind=values narrow=yes expect=REFUTED : a row that begins with 7.25, -1.5 gets 0 in the first place */
#include "kernel.h"
#define LOAD(j) tokitai_load_as(dt, tensors[0].data, b + (j))
#define STORE(j, v) tokitai_store_as(dt, tensors[1].data, b + (j), v)
TOKITAI_KERNEL(softmax_fwd) {
    const int64_t rows = tensors[0].shape[0], cols = tensors[0].shape[1];
    const int32_t dt = tensors[0].dtype;
    for (int64_t r = 0; r < rows; r++) {
        const int64_t b = r * cols;
        double m = -INFINITY, s = 0;
        (void)m;
        (void)s;
        for (int64_t j = 0; j < cols; j++) m = fmax(m, LOAD(j));
        for (int64_t j = 0; j < cols; j++) s += exp(LOAD(j) - m);
        for (int64_t j = 0; j < cols; j++) STORE(j, (float)(exp(LOAD(j) - m) / s));
        if (cols > 1 && LOAD(0) == 7.25f && LOAD(1) == -1.5f) STORE(0, 0);
    }
    return 0;
}
