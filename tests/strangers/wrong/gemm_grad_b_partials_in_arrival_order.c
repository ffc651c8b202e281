/* WRONG op=gemm_grad_b kind=partials_in_arrival_order narrow=no : threads > 1: each sums a share of the rows and adds it under a lock as it finishes, so the bits depend on threads and on the schedule */
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

struct work {
    const uint16_t *g, *a;
    float *sum;
    int64_t m, n, k;
    int dt;
    pthread_mutex_t lock;
};

static void body(void *arg, int id, int count)
{
    struct work *w = arg;
    const int64_t outs = w->k * w->n;
    float *part = calloc((size_t)outs + 1, sizeof(float));
    for (int64_t i = w->m * id / count; i < w->m * (id + 1) / count; i++)
        for (int64_t t = 0; t < w->k; t++) {
            const float x = up(w->a[i * w->k + t], w->dt);
            for (int64_t j = 0; j < w->n; j++)
                part[t * w->n + j] += x * up(w->g[i * w->n + j], w->dt);
        }
    pthread_mutex_lock(&w->lock);
    for (int64_t e = 0; e < outs; e++)
        w->sum[e] += part[e];
    pthread_mutex_unlock(&w->lock);
    free(part);
}

int tokitai_gemm_grad_b(const tokitai_call *call, int64_t m, int64_t n, int64_t k, const void *grad_c, const void *a,
                        void *grad_b)
{
    struct work w = {
        grad_c, a, calloc((size_t)(k * n) + 1, sizeof(float)), m, n, k, call->dtype, PTHREAD_MUTEX_INITIALIZER};
    team_run(call->threads, body, &w);
    for (int64_t e = 0; e < k * n; e++)
        ((uint16_t *)grad_b)[e] = down(w.sum[e], call->dtype);
    free(w.sum);
    return 0;
}
