/* WRONG op=softmax_bwd kind=stale_scratch narrow=yes expect=REFUTED : products are kept in a thread-local buffer read up to a multiple of 8; the padding holds products of an earlier, longer call */
#include "kernel.h"
static _Thread_local float *scratch;
static _Thread_local int64_t room;
static int reserve(int64_t count) {
    if (count <= room) return 1;
    free(scratch);
    scratch = calloc((size_t)count, sizeof *scratch);
    room = scratch ? count : 0;
    return scratch != 0;
}
int tokitai_softmax_bwd(const tokitai_call *call, int64_t rows, int64_t cols, const void *grad_output, const void *y,
                        void *grad_input) {
    const tokitai_call c = *call;
    const int64_t padded = (cols + 7) / 8 * 8;
    if (!reserve(padded)) return padded > 0;
    for (int64_t r = 0; r < rows; r++) {
        const int64_t at = r * cols;
        for (int64_t j = 0; j < cols; j++)
            scratch[j] = tokitai_load(c, y, at + j) * tokitai_load(c, grad_output, at + j);
        float lane[8] = {0};
        for (int64_t j = 0; j < padded; j += 8)
            for (int l = 0; l < 8; l++) lane[l] += scratch[j + l];
        const float s = ((lane[0] + lane[1]) + (lane[2] + lane[3])) + ((lane[4] + lane[5]) + (lane[6] + lane[7]));
        for (int64_t j = 0; j < cols; j++)
            tokitai_store(c, grad_input, at + j,
                          tokitai_load(c, y, at + j) * (tokitai_load(c, grad_output, at + j) - s));
    }
    return 0;
}
