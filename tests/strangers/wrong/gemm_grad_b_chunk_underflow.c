/* WRONG op=gemm_grad_b kind=chunk_underflow narrow=yes : threads take ceil(k / threads) rows each, and how many are left is a size_t: where the last thread begins after k (k = 5 and 4 threads) it runs past the array */
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
    uint16_t *out;
    size_t m, n, k;
    int dt;
};

static void body(void *arg, int id, int count)
{
    struct work *w = arg;
    const size_t chunk = (w->k + (size_t)count - 1) / (size_t)count;
    const size_t begin = chunk * (size_t)id;
    const size_t left = w->k - begin;
    const size_t rows = left < chunk ? left : chunk;
    float *acc = malloc((w->n + 1) * sizeof(float));
    for (size_t t = begin; t < begin + rows; t++) {
        for (size_t j = 0; j < w->n; j++)
            acc[j] = 0;
        for (size_t i = 0; i < w->m; i++) {
            const float x = up(w->a[i * w->k + t], w->dt);
            for (size_t j = 0; j < w->n; j++)
                acc[j] += x * up(w->g[i * w->n + j], w->dt);
        }
        for (size_t j = 0; j < w->n; j++)
            w->out[t * w->n + j] = down(acc[j], w->dt);
    }
    free(acc);
}

int tokitai_gemm_grad_b(const tokitai_call *call, int64_t m, int64_t n, int64_t k, const void *grad_c, const void *a,
                        void *grad_b)
{
    int threads = call->threads;
    if (threads > k)
        threads = k > 0 ? (int)k : 1;
    struct work w = {grad_c, a, grad_b, (size_t)m, (size_t)n, (size_t)k, call->dtype};
    team_run(threads, body, &w);
    return 0;
}
