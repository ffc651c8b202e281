/* WRONG op=gelu_fwd kind=the_remainder_of_n_threads_is_left_out expect=REFUTED : the remainder of n / threads is left out; thread counts that do not divide n */
#include <pthread.h>
#include "gelu.h"
typedef struct {
    tokitai_call c;
    const void *x;
    void *y;
    int64_t b, e;
} job;
static void *work(void *p) {
    job *j = p;
    for (int64_t i = j->b; i < j->e; i++) {
        const float v = tokitai_load(j->c, j->x, i);
        tokitai_store(j->c, j->y, i, v * sigma2z(v, 0));
    }
    return 0;
}
int tokitai_gelu_fwd(const tokitai_call *call, int64_t n, const void *x, void *y) {
    int threads = call->threads < 16 ? call->threads : 16;
    pthread_t id[16];
    job j[16];
    const int64_t chunk = n / threads;
    for (int i = 0; i < threads; i++) j[i] = (job){*call, x, y, i * chunk, (i + 1) * chunk};
    for (int i = 1; i < threads; i++) pthread_create(&id[i], 0, work, &j[i]);
    work(&j[0]);
    for (int i = 1; i < threads; i++) pthread_join(id[i], 0);
    return 0;
}
