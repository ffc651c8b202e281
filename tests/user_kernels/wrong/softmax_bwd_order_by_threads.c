/* WRONG op=softmax_bwd kind=bits_depend_on_the_number_of_threads expect=REFUTED : bits depend on the number of threads, one partial sum each; cols >= 1024, wide rows */
#include "threads.h"
typedef struct {
    tokitai_call c;
    const uint16_t *g, *y;
    int64_t cols;
    int parts;
    float part[16];
} args;
static void add(void *p, int64_t b, int64_t e) {
    args *a = p;
    for (int64_t t = b; t < e; t++) {
        float s = 0;
        for (int64_t j = a->cols * t / a->parts; j < a->cols * (t + 1) / a->parts; j++)
            s += tokitai_load(a->c, a->g, j) * tokitai_load(a->c, a->y, j);
        a->part[t] = s;
    }
}
int tokitai_softmax_bwd(const tokitai_call *call, int64_t rows, int64_t cols, const void *grad_output, const void *y,
                        void *grad_input) {
    const int threads = cols < 1024 ? 1 : call->threads < 16 ? call->threads : 16;
    for (int64_t r = 0; r < rows; r++) {
        args a = {*call, (const uint16_t *)grad_output + r * cols, (const uint16_t *)y + r * cols, cols, threads,
                  {0}};
        float s = 0;
        parallel_for(threads, threads, add, &a);
        for (int t = 0; t < threads; t++) s += a.part[t];
        for (int64_t j = 0; j < cols; j++)
            tokitai_store(*call, grad_input, r * cols + j,
                          tokitai_load(*call, a.y, j) * (tokitai_load(*call, a.g, j) - s));
    }
    return 0;
}
