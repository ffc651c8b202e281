/* WRONG op=softmax_bwd kind=intermediate_rounded_to_dtype narrow=no expect=REFUTED : the dot product of the row is rounded to the storage type before it is subtracted */
#include "kernel.h"
int tokitai_softmax_bwd(const tokitai_call *call, int64_t rows, int64_t cols, const void *grad_output, const void *y,
                        void *grad_input) {
    for (int64_t r = 0; r < rows; r++) {
        const int64_t at = r * cols;
        double s = 0.0;
        for (int64_t j = 0; j < cols; j++)
            s += (double)tokitai_load(*call, y, at + j) * tokitai_load(*call, grad_output, at + j);
        uint16_t kept;
        tokitai_store(*call, &kept, 0, (float)s);
        const float dot = tokitai_load(*call, &kept, 0);
        for (int64_t j = 0; j < cols; j++)
            tokitai_store(*call, grad_input, at + j,
                          tokitai_load(*call, y, at + j) * (tokitai_load(*call, grad_output, at + j) - dot));
    }
    return 0;
}
