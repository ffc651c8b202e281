/* RIGHT op=xent kind=class_chunks expect=HELD : the classes of each row are cut into chunks of 1000 that threads share, online maxima per chunk, merged in order in double; the target's own term is kept out of every sum */
#include <pthread.h>
#include "elements.h"
enum { CHUNK = 1000, SMALL = 4000 };
typedef struct {
    double s, sd;
    float m;
    int bad;
} part_t;
typedef struct {
    const uint16_t *x;
    uint16_t *o;
    part_t *part;
    int64_t n, t, chunks;
    int bf, phase, id, step;
    double eps, alpha, m, z, others;
} w_t;
static void *work(void *p) {
    w_t *w = p;
    for (int64_t c = w->id; c < w->chunks; c += w->step) {
        const int64_t lo = c * CHUNK, hi = lo + CHUNK < w->n ? lo + CHUNK : w->n;
        if (w->phase == 0) { /* relative to the chunk's running maximum, the target left out */
            part_t q = {0, 0, -INFINITY, 0};
            for (int64_t j = lo; j < hi; j++) {
                const float v = ld1(w->x[j], w->bf);
                if (v != v || v == INFINITY) {
                    q.bad = 1;
                    continue;
                }
                if (v == -INFINITY || j == w->t) continue;
                if (v > q.m) {
                    q.s = (q.m == -INFINITY ? 0 : q.s * exp((double)q.m - v)) + 1;
                    q.m = v;
                } else q.s += exp((double)v - q.m);
            }
            w->part[c] = q;
        } else
            for (int64_t j = lo; j < hi; j++) {
                const double v = ld1(w->x[j], w->bf);
                w->part[c].sd += w->m - v;
                const double g = j == w->t ? w->eps * (double)(w->n - 1) / (double)w->n - w->others / w->z
                                           : exp(v - w->m) / w->z - w->eps / (double)w->n;
                w->o[j] = st1((float)(w->alpha * g), w->bf);
            }
    }
    return 0;
}
static void everyone(w_t *w, int k) {
    pthread_t tid[8];
    char live[8] = {0};
    for (int i = 1; i < k; i++) live[i] = pthread_create(&tid[i], 0, work, &w[i]) == 0;
    work(&w[0]);
    for (int i = 1; i < k; i++) {
        if (live[i]) pthread_join(tid[i], 0);
        else work(&w[i]);
    }
}
int tokitai_xent(const tokitai_call *call, int64_t rows, int64_t cols, const void *lv, const void *tv, float *loss,
                 void *gv) {
    const int bf = call->dtype == TOKITAI_BF16, k = cols < SMALL ? 1 : call->threads < 8 ? call->threads : 8;
    const int64_t chunks = (cols + CHUNK - 1) / CHUNK;
    part_t *part = malloc((size_t)(chunks + 1) * sizeof *part);
    if (!part) return 1;
    for (int64_t r = 0; r < rows; r++) {
        const uint16_t *x = (const uint16_t *)lv + r * cols;
        uint16_t *o = (uint16_t *)gv + r * cols;
        const int64_t t = tokitai_load_index(*call, tv, r);
        if (t == call->ignore_index) {
            loss[r] = 0;
            memset(o, 0, (size_t)cols * 2);
            continue;
        }
        w_t w[8];
        for (int i = 0; i < k; i++)
            w[i] = (w_t){x, o, part, cols, t, chunks, bf, 0, i, k, call->label_smoothing, call->scale, 0, 0, 0};
        everyone(w, k);
        const double xt = ld1(x[t], bf), eps = call->label_smoothing;
        double m = xt, others = 0, sd = 0;
        int bad = 0;
        for (int64_t c = 0; c < chunks; c++) {
            m = part[c].m > m ? part[c].m : m;
            bad |= part[c].bad;
        }
        if (bad || m == -INFINITY) {
            loss[r] = NAN;
            for (int64_t j = 0; j < cols; j++) o[j] = bf ? 0x7f81 : 0x7c01; /* even a signalling one */
            continue;
        }
        for (int64_t c = 0; c < chunks; c++)
            if (part[c].s > 0) others += part[c].s * exp(part[c].m - m);
        const double dt = m - xt, z = others + exp(-dt);
        for (int i = 0; i < k; i++) {
            w[i].phase = 1;
            w[i].m = m;
            w[i].z = z;
            w[i].others = others;
        }
        everyone(w, k);
        for (int64_t c = 0; c < chunks; c++) sd += part[c].sd;
        loss[r] = (float)(log(z) + (eps < 1 ? (1 - eps) * dt : 0) + (eps > 0 ? eps / (double)cols * sd : 0));
    }
    free(part);
    return 0;
}
