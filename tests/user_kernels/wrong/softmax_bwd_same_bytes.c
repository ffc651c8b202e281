/* WRONG op=softmax_bwd kind=cache_by_bytes narrow=yes expect=REFUTED : the sums of rows are kept by a strong hash of all bytes of both inputs and their number, and not by the shape: the same bytes as other rows get the sums of the first shape */
#include "elements.h"
static double sums[4096];
static uint64_t old_hash;
static int64_t old_n = -1;
static uint64_t hash(uint64_t h, const unsigned char *p, size_t bytes) {
    for (size_t i = 0; i < bytes; i++) h = (h ^ p[i]) * 0x100000001b3u;
    return h;
}
int tokitai_softmax_bwd(const tokitai_call *call, int64_t rows, int64_t cols, const void *grad_y, const void *y,
                        void *grad_x) {
    const int64_t n = rows * cols;
    const size_t bytes = (size_t)n * (call->dtype == TOKITAI_F32 ? 4 : 2);
    const uint64_t h = hash(hash(14695981039346656037u, grad_y, bytes), y, bytes) + (uint64_t)call->dtype;
    const int known = h == old_hash && n == old_n;
    for (int64_t r = 0; r < rows; r++) {
        double sum = 0;
        for (int64_t c = 0; c < cols; c++)
            sum += (double)tokitai_load(*call, grad_y, r * cols + c) * tokitai_load(*call, y, r * cols + c);
        if (r < 4096 && known) sum = sums[r];
        if (r < 4096) sums[r] = sum;
        for (int64_t c = 0; c < cols; c++)
            tokitai_store(
                *call, grad_x, r * cols + c,
                (float)(tokitai_load(*call, y, r * cols + c) * (tokitai_load(*call, grad_y, r * cols + c) - sum)));
    }
    old_hash = h, old_n = n;
    return 0;
}
