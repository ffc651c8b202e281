/* RIGHT op=softmax_fwd kind=online expect=HELD : one pass with rescaling over blocks of 64 in double, rows are dealt to threads in turn */
#include <pthread.h>
#include "kernel.h"
typedef struct {
    const tokitai_call *call;
    int64_t rows, cols, first, step;
    const uint16_t *x;
    uint16_t *y;
} job;
static void row(const tokitai_call c, int64_t cols, const uint16_t *x, uint16_t *y) {
    double m = -INFINITY, sum = 0;
    for (int64_t b = 0; b < cols; b += 64) {
        const int64_t end = b + 64 < cols ? b + 64 : cols;
        double top = m, part = 0;
        for (int64_t j = b; j < end; j++) {
            const double v = tokitai_load(c, x, j);
            if (v > top || v != v) top = v;
        }
        if (top == -INFINITY) continue;
        for (int64_t j = b; j < end; j++) part += exp(tokitai_load(c, x, j) - top);
        sum = (m == -INFINITY ? 0 : sum * exp(m - top)) + part;
        m = top;
    }
    for (int64_t j = 0; j < cols; j++) tokitai_store(c, y, j, (float)(exp(tokitai_load(c, x, j) - m) / sum));
}
static void *work(void *p) {
    const job *j = p;
    for (int64_t r = j->first; r < j->rows; r += j->step)
        row(*j->call, j->cols, j->x + r * j->cols, j->y + r * j->cols);
    return NULL;
}
int tokitai_softmax_fwd(const tokitai_call *call, int64_t rows, int64_t cols, const void *x, void *y) {
    job jobs[8];
    pthread_t id[8];
    int started[8] = {0};
    int64_t threads = call->threads < 8 ? call->threads : 8;
    if (threads > rows) threads = rows > 0 ? rows : 1;
    for (int64_t t = 0; t < threads; t++) jobs[t] = (job){call, rows, cols, t, threads, x, y};
    for (int64_t t = 1; t < threads; t++) started[t] = pthread_create(&id[t], NULL, work, &jobs[t]) == 0;
    for (int64_t t = 0; t < threads; t++)
        if (!started[t]) work(&jobs[t]);
    for (int64_t t = 1; t < threads; t++)
        if (started[t]) pthread_join(id[t], NULL);
    return 0;
}
