/* WRONG op=softmax_bwd kind=thread_partition narrow=yes expect=REFUTED : the share of a thread is rows / threads rounded to nearest and not up, so that with 3 threads and more the last rows may stay unwritten */
#include <pthread.h>
#include "kernel.h"
typedef struct {
    const tokitai_call *call;
    int64_t begin, end, cols;
    const uint16_t *g, *y;
    uint16_t *out;
} share;
static void *run(void *p) {
    const share *w = p;
    const tokitai_call c = *w->call;
    for (int64_t r = w->begin; r < w->end; r++) {
        const uint16_t *g = w->g + r * w->cols, *v = w->y + r * w->cols;
        float a = 0, b = 0;
        for (int64_t j = 0; j < w->cols / 2; j++) a += tokitai_load(c, g, j) * tokitai_load(c, v, j);
        for (int64_t j = w->cols / 2; j < w->cols; j++) b += tokitai_load(c, g, j) * tokitai_load(c, v, j);
        for (int64_t j = 0; j < w->cols; j++)
            tokitai_store(c, w->out + r * w->cols, j, tokitai_load(c, v, j) * (tokitai_load(c, g, j) - (a + b)));
    }
    return NULL;
}
int tokitai_softmax_bwd(const tokitai_call *call, int64_t rows, int64_t cols, const void *grad_output, const void *y,
                        void *grad_input) {
    share shares[16];
    pthread_t id[16];
    int64_t threads = call->threads < 16 ? call->threads : 16;
    if (threads > rows) threads = rows > 0 ? rows : 1;
    const int64_t each = (rows + threads / 2) / threads;
    for (int64_t t = 0; t < threads; t++) {
        const int64_t begin = t * each < rows ? t * each : rows;
        shares[t] = (share){call, begin, begin + each < rows ? begin + each : rows, cols, grad_output, y, grad_input};
    }
    for (int64_t t = 1; t < threads; t++)
        if (pthread_create(&id[t], NULL, run, &shares[t])) return 1;
    run(&shares[0]);
    for (int64_t t = 1; t < threads; t++) pthread_join(id[t], NULL);
    return 0;
}
