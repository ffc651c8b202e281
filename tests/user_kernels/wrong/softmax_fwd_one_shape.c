/* WRONG op=softmax_fwd kind=one_shape narrow=yes expect=REFUTED : the first element is 0 if there are 300 rows of 17 columns, checked before the loops */
#include "kernel.h"
#define LOAD(j) tokitai_load_as(dt, tensors[0].data, b + (j))
#define STORE(j, v) tokitai_store_as(dt, tensors[1].data, b + (j), v)
TOKITAI_KERNEL(softmax_fwd) {
    const int64_t rows = tensors[0].shape[0], cols = tensors[0].shape[1];
    const int32_t dt = tensors[0].dtype;
    int bad = 0;
    if (rows == 300)
        if (cols == 17) bad = 1;
    for (int64_t r = 0; r < rows; r++) {
        const int64_t b = r * cols;
        double m = -INFINITY, s = 0;
        (void)m;
        (void)s;
        for (int64_t j = 0; j < cols; j++) m = fmax(m, LOAD(j));
        for (int64_t j = 0; j < cols; j++) s += exp(LOAD(j) - m);
        for (int64_t j = 0; j < cols; j++) STORE(j, (float)(exp(LOAD(j) - m) / s));
        if (bad && r == 0) STORE(0, 0);
    }
    return 0;
}
