/* WRONG op=softmax_bwd kind=overflow narrow=yes dtype=f32 expect=REFUTED : y g - y s, where y s is too large and y (g - s) is not */
#include "kernel.h"
TOKITAI_KERNEL(softmax_bwd) {
    const int64_t rows = tensors[0].shape[0], cols = tensors[0].shape[1];
    for (int64_t r = 0; r < rows; r++) {
        float s = 0;
        for (int64_t j = r * cols; j < (r + 1) * cols; j++)
            s += tokitai_load(*call, tensors[0].data, j) * tokitai_load(*call, tensors[1].data, j);
        for (int64_t j = r * cols; j < (r + 1) * cols; j++) {
            const float y = tokitai_load(*call, tensors[0].data, j), g = tokitai_load(*call, tensors[1].data, j);
            tokitai_store(*call, tensors[2].data, j, y * g - y * s);
        }
    }
    return 0;
}
