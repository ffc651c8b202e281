/* WRONG op=gemm kind=gemv_capped_chunks narrow=yes : m == 1: each thread takes a chunk of columns capped at its buffer of 4096 sums, once: columns from 4096 * threads on are not written */
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <tokitai_kernel.h>

static inline float up(uint16_t h, int dtype)
{
    return dtype == TOKITAI_F16 ? tokitai_from_f16(h) : tokitai_from_bf16(h);
}
static inline uint16_t down(float f, int dtype)
{
    return dtype == TOKITAI_F16 ? tokitai_to_f16(f) : tokitai_to_bf16(f);
}

struct team {
    void (*body)(void *, int, int);
    void *arg;
    int id, count;
};
static void *team_main(void *p)
{
    struct team *t = p;
    t->body(t->arg, t->id, t->count);
    return 0;
}
static void team_run(int count, void (*body)(void *, int, int), void *arg)
{
    pthread_t th[count];
    struct team t[count];
    char up_[count];
    for (int i = 0; i < count; i++) {
        t[i] = (struct team){body, arg, i, count};
        up_[i] = i > 0 && pthread_create(&th[i], 0, team_main, &t[i]) == 0;
    }
    for (int i = 0; i < count; i++)
        if (!up_[i])
            body(arg, i, count);
    for (int i = 1; i < count; i++)
        if (up_[i])
            pthread_join(th[i], 0);
}

enum { ROOM = 4096 };
struct work {
    const uint16_t *a, *b;
    uint16_t *c;
    int64_t n, k, chunk;
    int dt;
};

static void gemv(void *arg, int id, int count)
{
    struct work *w = arg;
    const int64_t j0 = id * w->chunk, j1 = id == count - 1 && w->n - j0 <= ROOM ? w->n
                                           : j0 + w->chunk < w->n               ? j0 + w->chunk
                                                                                : w->n;
    float acc[ROOM];
    for (int64_t j = j0; j < j1; j++)
        acc[j - j0] = 0;
    for (int64_t t = 0; t < w->k; t++) {
        const float x = up(w->a[t], w->dt);
        for (int64_t j = j0; j < j1; j++)
            acc[j - j0] += x * up(w->b[t * w->n + j], w->dt);
    }
    for (int64_t j = j0; j < j1; j++)
        w->c[j] = down(acc[j - j0], w->dt);
}

int tokitai_gemm(const tokitai_call *call, int64_t m, int64_t n, int64_t k, const void *a, const void *b, void *c)
{
    const uint16_t *pa = a, *pb = b;
    const int dt = call->dtype;
    if (m == 1) { /* decoding: one token */
        struct work w = {a, b, c, n, k, (n + call->threads - 1) / call->threads, dt};
        if (w.chunk > ROOM)
            w.chunk = ROOM;
        team_run(call->threads, gemv, &w);
        return 0;
    }
    for (int64_t i = 0; i < m; i++)
        for (int64_t j = 0; j < n; j++) {
            float s = 0;
            for (int64_t t = 0; t < k; t++)
                s += up(pa[i * k + t], dt) * up(pb[t * n + j], dt);
            ((uint16_t *)c)[i * n + j] = down(s, dt);
        }
    return 0;
}
