/* WRONG op=gemm kind=gemv_capped_chunks narrow=yes expect=REFUTED : m == 1: each thread takes a chunk of columns capped at its buffer of 4096 sums, once: columns from 4096 * threads on are not written */
#include "elements.h"
#include "threads.h"
enum { ROOM = 4096 };
struct work {
    const uint16_t *a, *b;
    uint16_t *c;
    int64_t n, k, chunk;
    int dt;
};
static void gemv(void *arg, int id, int count) {
    struct work *w = arg;
    const int64_t j0 = id * w->chunk, j1 = id == count - 1 && w->n - j0 <= ROOM ? w->n
                                           : j0 + w->chunk < w->n               ? j0 + w->chunk
                                                                                : w->n;
    float acc[ROOM];
    for (int64_t j = j0; j < j1; j++) acc[j - j0] = 0;
    for (int64_t t = 0; t < w->k; t++) {
        const float x = up(w->a[t], w->dt);
        for (int64_t j = j0; j < j1; j++) acc[j - j0] += x * up(w->b[t * w->n + j], w->dt);
    }
    for (int64_t j = j0; j < j1; j++) w->c[j] = down(acc[j - j0], w->dt);
}
int tokitai_gemm(const tokitai_call *call, int64_t m, int64_t n, int64_t k, const void *a, const void *b, void *c) {
    const uint16_t *pa = a, *pb = b;
    const int dt = call->dtype;
    if (m == 1) { /* decoding: one token */
        struct work w = {a, b, c, n, k, (n + call->threads - 1) / call->threads, dt};
        if (w.chunk > ROOM) w.chunk = ROOM;
        team_run(call->threads, gemv, &w);
        return 0;
    }
    for (int64_t i = 0; i < m; i++)
        for (int64_t j = 0; j < n; j++) {
            float s = 0;
            for (int64_t t = 0; t < k; t++) s += up(pa[i * k + t], dt) * up(pb[t * n + j], dt);
            ((uint16_t *)c)[i * n + j] = down(s, dt);
        }
    return 0;
}
