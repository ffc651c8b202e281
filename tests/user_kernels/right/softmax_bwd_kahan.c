/* RIGHT op=softmax_bwd kind=kahan_fallback expect=HELD : compensated fp32 dot product; where it is not finite the plain sum decides, threads take row slices */
#include <pthread.h>
#include "kernel.h"
typedef struct {
    tokitai_call call;
    int64_t begin, end, cols;
    const uint16_t *g, *y;
    uint16_t *out;
} slice;
static float dot(const slice *s, const uint16_t *g, const uint16_t *y) {
    float sum = 0.0f, lost = 0.0f;
    for (int64_t j = 0; j < s->cols; j++) {
        const float term = tokitai_load(s->call, g, j) * tokitai_load(s->call, y, j) - lost;
        const float next = sum + term;
        lost = (next - sum) - term;
        sum = next;
    }
    if (isfinite(sum)) return sum;
    sum = 0.0f;
    for (int64_t j = 0; j < s->cols; j++) sum += tokitai_load(s->call, g, j) * tokitai_load(s->call, y, j);
    return sum;
}
static void *work(void *arg) {
    const slice *s = arg;
    for (int64_t r = s->begin; r < s->end; r++) {
        const uint16_t *g = s->g + r * s->cols, *y = s->y + r * s->cols;
        const float total = dot(s, g, y);
        for (int64_t j = 0; j < s->cols; j++)
            tokitai_store(s->call, s->out, r * s->cols + j,
                          tokitai_load(s->call, y, j) * (tokitai_load(s->call, g, j) - total));
    }
    return 0;
}
int tokitai_softmax_bwd(const tokitai_call *call, int64_t rows, int64_t cols, const void *grad_output, const void *y,
                        void *grad_input) {
    enum { MOST = 8 };
    slice s[MOST];
    pthread_t id[MOST];
    int64_t parts = call->threads < MOST ? call->threads : MOST;
    if (parts > rows) parts = rows;
    if (rows * cols < 2048 || parts < 1) parts = 1;
    int64_t running = 1;
    for (int64_t t = 0; t < parts; t++)
        s[t] = (slice){*call, rows * t / parts, rows * (t + 1) / parts, cols, grad_output, y, grad_input};
    while (running < parts && pthread_create(&id[running], 0, work, &s[running]) == 0) running++;
    work(&s[0]);
    for (int64_t t = running; t < parts; t++) work(&s[t]);
    for (int64_t t = 1; t < running; t++) pthread_join(id[t], 0);
    return 0;
}
