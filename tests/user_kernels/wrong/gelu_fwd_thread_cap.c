/* WRONG op=gelu_fwd kind=thread_cap_lost_tail narrow=yes expect=REFUTED : n >= 65536 and more than 4 threads: slices are cut for all threads, only 4 run, the rest stays unwritten */
#include <pthread.h>
#include "kernel.h"
enum { POOL = 4 };
typedef struct {
    tokitai_call call;
    const void *x;
    void *y;
    int64_t begin, end;
} slice;
static void *work(void *arg) {
    slice *s = arg;
    for (int64_t i = s->begin; i < s->end; i++) {
        const double v = tokitai_load(s->call, s->x, i);
        const double e = exp(-1.5957691216057308 * v * (1.0 + 0.044715 * v * v));
        tokitai_store(s->call, s->y, i, (float)(v / (1.0 + e)));
    }
    return 0;
}
int tokitai_gelu_fwd(const tokitai_call *call, int64_t n, const void *x, void *y) {
    const int64_t parts = n < 65536 ? 1 : call->threads;
    const int64_t chunk = (n + parts - 1) / parts;
    slice s[POOL];
    pthread_t id[POOL];
    int count = 0;
    for (int64_t t = 0; t < parts && t < POOL; t++) {
        const int64_t begin = t * chunk < n ? t * chunk : n;
        s[t] = (slice){*call, x, y, begin, begin + chunk < n ? begin + chunk : n};
        count++;
    }
    for (int t = 1; t < count; t++)
        if (pthread_create(&id[t], 0, work, &s[t]) != 0) return 1;
    work(&s[0]);
    for (int t = 1; t < count; t++) pthread_join(id[t], 0);
    return 0;
}
