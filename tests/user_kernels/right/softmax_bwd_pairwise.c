/* RIGHT op=softmax_bwd kind=pairwise_double expect=HELD : the dot product by recursive halves in double, rows split over threads */
#include <pthread.h>
#include "kernel.h"
static double dot(const tokitai_call *c, const uint16_t *g, const uint16_t *y, int64_t n) {
    if (n > 64) return dot(c, g, y, n / 2) + dot(c, g + n / 2, y + n / 2, n - n / 2);
    double s = 0;
    for (int64_t j = 0; j < n; j++) s += (double)tokitai_load(*c, g, j) * tokitai_load(*c, y, j);
    return s;
}
typedef struct {
    const tokitai_call *call;
    int64_t begin, end, cols;
    const uint16_t *g, *y;
    uint16_t *out;
} job;
static void *work(void *p) {
    const job *w = p;
    for (int64_t r = w->begin; r < w->end; r++) {
        const int64_t at = r * w->cols;
        const double s = dot(w->call, w->g + at, w->y + at, w->cols);
        for (int64_t j = at; j < at + w->cols; j++)
            tokitai_store(*w->call, w->out, j,
                          (float)(tokitai_load(*w->call, w->y, j) * (tokitai_load(*w->call, w->g, j) - s)));
    }
    return NULL;
}
int tokitai_softmax_bwd(const tokitai_call *call, int64_t rows, int64_t cols, const void *grad_output, const void *y,
                        void *grad_input) {
    job jobs[8];
    pthread_t id[8];
    int started[8] = {0};
    const int64_t threads = call->threads < 8 ? call->threads : 8;
    for (int64_t t = 0; t < threads; t++)
        jobs[t] = (job){call, rows * t / threads, rows * (t + 1) / threads, cols, grad_output, y, grad_input};
    for (int64_t t = 1; t < threads; t++)
        started[t] = jobs[t].begin < jobs[t].end && pthread_create(&id[t], NULL, work, &jobs[t]) == 0;
    for (int64_t t = 0; t < threads; t++)
        if (!started[t]) work(&jobs[t]);
    for (int64_t t = 1; t < threads; t++)
        if (started[t]) pthread_join(id[t], NULL);
    return 0;
}
