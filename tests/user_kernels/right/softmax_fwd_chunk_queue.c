/* RIGHT op=softmax_fwd kind=chunk_queue expect=HELD : threads take fixed chunks of 2048 columns of any row from a queue, each chunk has a maximum and a double sum of its own, merged in the order of chunks */
#include <pthread.h>
#include "elements.h"
enum { CHUNK = 2048 };
typedef struct {
    double s;
    float m;
    int bad;
} part_t;
typedef struct {
    const uint16_t *x;
    uint16_t *y;
    part_t *part, *row;
    int64_t rows, cols, chunks, total, next;
    int bf, phase;
} plan_t;
static void *worker(void *p) {
    plan_t *w = p;
    for (;;) {
        const int64_t i = __atomic_fetch_add(&w->next, 1, __ATOMIC_RELAXED);
        if (i >= w->total) return 0;
        const int64_t r = i / w->chunks, lo = i % w->chunks * CHUNK, hi = lo + CHUNK < w->cols ? lo + CHUNK : w->cols;
        const uint16_t *x = w->x + r * w->cols;
        uint16_t *y = w->y + r * w->cols;
        if (w->phase == 0) {
            part_t q = {0, -INFINITY, 0};
            for (int64_t j = lo; j < hi; j++) {
                const float v = ld1(x[j], w->bf);
                q.bad |= v != v || v == INFINITY;
                q.m = v > q.m ? v : q.m;
            }
            if (!q.bad && q.m > -INFINITY)
                for (int64_t j = lo; j < hi; j++) q.s += expf(ld1(x[j], w->bf) - q.m);
            w->part[i] = q;
        } else {
            const part_t q = w->row[r];
            for (int64_t j = lo; j < hi; j++)
                y[j] = st1(q.bad ? NAN : (float)(exp((double)ld1(x[j], w->bf) - q.m) / q.s), w->bf);
        }
    }
}
static void everyone(plan_t *w, int threads) {
    pthread_t tid[16];
    int made = 0;
    w->next = 0;
    for (int t = 1; t < threads && t <= 16 && t < w->total; t++)
        if (pthread_create(&tid[made], 0, worker, w) == 0) made++;
    worker(w);
    while (made) pthread_join(tid[--made], 0);
}
int tokitai_softmax_fwd(const tokitai_call *call, int64_t rows, int64_t cols, const void *x, void *y) {
    if (rows == 0 || cols == 0) return 0;
    const int64_t chunks = (cols + CHUNK - 1) / CHUNK;
    plan_t w = {x,
                y,
                malloc((size_t)(rows * chunks) * sizeof(part_t)),
                malloc((size_t)rows * sizeof(part_t)),
                rows,
                cols,
                chunks,
                rows * chunks,
                0,
                call->dtype == TOKITAI_BF16,
                0};
    if (!w.part || !w.row) {
        free(w.part);
        free(w.row);
        return 1;
    }
    everyone(&w, call->threads);
    for (int64_t r = 0; r < rows; r++) {
        part_t q = {0, -INFINITY, 0};
        for (int64_t c = 0; c < chunks; c++) {
            const part_t *k = &w.part[r * chunks + c];
            q.bad |= k->bad;
            q.m = k->m > q.m ? k->m : q.m;
        }
        for (int64_t c = 0; c < chunks; c++)
            if (w.part[r * chunks + c].m > -INFINITY)
                q.s += w.part[r * chunks + c].s * exp((double)w.part[r * chunks + c].m - q.m);
        q.bad |= q.m == -INFINITY;
        w.row[r] = q;
    }
    w.phase = 1;
    everyone(&w, call->threads);
    free(w.part);
    free(w.row);
    return 0;
}
