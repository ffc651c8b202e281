/* Three ways to divide work among threads; where one cannot be started, its part is done by the caller. */
#ifndef STRANGERS_THREADS_H
#define STRANGERS_THREADS_H
#include <pthread.h>
#include "kernel.h"
typedef void (*range_fn)(void *ctx, int64_t begin, int64_t end);
typedef struct {
    range_fn fn;
    void *ctx;
    int64_t begin, end;
} range_job;
static void *range_main(void *p) {
    range_job *j = p;
    j->fn(j->ctx, j->begin, j->end);
    return 0;
}
static void parallel_for(int threads, int64_t n, range_fn fn, void *ctx) {
    if (threads > 16) threads = 16;
    pthread_t id[16];
    range_job job[16];
    int up[16] = {0};
    for (int i = 0; i < threads; i++) {
        job[i] = (range_job){fn, ctx, n * i / threads, n * (i + 1) / threads};
        if (i + 1 < threads) up[i] = !pthread_create(&id[i], 0, range_main, &job[i]);
        if (!up[i]) range_main(&job[i]);
    }
    for (int i = 0; i < threads; i++)
        if (up[i]) pthread_join(id[i], 0);
}
typedef struct {
    void (*fn)(void *, int64_t, int64_t);
    void *ctx;
    int64_t lo, hi;
} job_t;
static void *job_main(void *p) {
    job_t *j = p;
    j->fn(j->ctx, j->lo, j->hi);
    return 0;
}
static void par_rows(int nt, int64_t rows, void (*fn)(void *, int64_t, int64_t), void *ctx) {
    job_t job[64];
    pthread_t tid[64];
    char live[64];
    if (nt > 64) nt = 64;
    if (nt > rows) nt = (int)rows;
    if (nt <= 1) {
        fn(ctx, 0, rows);
        return;
    }
    int64_t per = rows / nt, extra = rows % nt, at = 0;
    for (int t = 0; t < nt; t++) {
        job[t] = (job_t){fn, ctx, at, at + per + (t < extra)};
        at = job[t].hi;
    }
    for (int t = 1; t < nt; t++) live[t] = pthread_create(&tid[t], 0, job_main, &job[t]) == 0;
    job_main(&job[0]);
    for (int t = 1; t < nt; t++) {
        if (live[t]) pthread_join(tid[t], 0);
        else job_main(&job[t]);
    }
}
struct team {
    void (*body)(void *, int, int);
    void *arg;
    int id, count;
};
static void *team_main(void *p) {
    struct team *t = p;
    t->body(t->arg, t->id, t->count);
    return 0;
}
static void team_run(int count, void (*body)(void *, int, int), void *arg) {
    pthread_t th[count];
    struct team t[count];
    char up_[count];
    for (int i = 0; i < count; i++) {
        t[i] = (struct team){body, arg, i, count};
        up_[i] = i > 0 && pthread_create(&th[i], 0, team_main, &t[i]) == 0;
    }
    for (int i = 0; i < count; i++)
        if (!up_[i]) body(arg, i, count);
    for (int i = 1; i < count; i++)
        if (up_[i]) pthread_join(th[i], 0);
}
#endif
