/* WRONG op=softmax_bwd kind=fp32_index narrow=yes expect=REFUTED : the mask of the last vector compares column numbers in fp32 */
#include "kernel.h"
int tokitai_softmax_bwd(const tokitai_call *call, int64_t rows, int64_t cols, const void *g, const void *y,
                        void *gi) {
    for (int64_t r = 0; r < rows; r++) {
        const int64_t b = r * cols;
        float lane[8] = {0}, s = 0;
        for (int64_t k = 0; k < cols; k += 8)
            for (int l = 0; l < 8; l++)
                if ((float)(k + l) < (float)cols && k + l < cols)
                    lane[l] += tokitai_load(*call, y, b + k + l) * tokitai_load(*call, g, b + k + l);
        for (int l = 0; l < 8; l++) s += lane[l];
        for (int64_t j = b; j < b + cols; j++)
            tokitai_store(*call, gi, j, tokitai_load(*call, y, j) * (tokitai_load(*call, g, j) - s));
    }
    return 0;
}
