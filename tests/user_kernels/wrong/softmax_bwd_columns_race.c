/* WRONG op=softmax_bwd kind=race expect=REFUTED : race, threads add to one sum without a lock; few rows, cols >= 4096, several threads */
#include "threads.h"
typedef struct {
    tokitai_call c;
    const uint16_t *g, *y;
    uint16_t *o;
    float sum;
} args;
static void add(void *p, int64_t b, int64_t e) {
    args *a = p;
    for (int64_t j = b; j < e; j++) a->sum += tokitai_load(a->c, a->g, j) * tokitai_load(a->c, a->y, j);
}
static void finish(void *p, int64_t b, int64_t e) {
    args *a = p;
    for (int64_t j = b; j < e; j++)
        tokitai_store(a->c, a->o, j, tokitai_load(a->c, a->y, j) * (tokitai_load(a->c, a->g, j) - a->sum));
}
int tokitai_softmax_bwd(const tokitai_call *call, int64_t rows, int64_t cols, const void *grad_output, const void *y,
                        void *grad_input) {
    for (int64_t r = 0; r < rows; r++) {
        args a = {*call, (const uint16_t *)grad_output + r * cols, (const uint16_t *)y + r * cols,
                  (uint16_t *)grad_input + r * cols, 0};
        parallel_for(cols < 4096 ? 1 : call->threads, cols, add, &a);
        parallel_for(cols < 4096 ? 1 : call->threads, cols, finish, &a);
    }
    return 0;
}
