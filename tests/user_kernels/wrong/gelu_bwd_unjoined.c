/* WRONG op=gelu_bwd kind=missing_join narrow=yes expect=REFUTED : the loop that joins stops before the last worker, which may still be writing after the return, from 4096 elements and 2 threads on */
#include <pthread.h>
#include "gelu.h"
typedef struct {
    tokitai_call call;
    const uint16_t *g, *x;
    uint16_t *out;
    int64_t n;
} slice;
static void *run(void *p) {
    const slice s = *(const slice *)p;
    for (int64_t i = 0; i < s.n; i++)
        tokitai_store(s.call, s.out, i, tokitai_load(s.call, s.g, i) * dgelu(tokitai_load(s.call, s.x, i)));
    return NULL;
}
int tokitai_gelu_bwd(const tokitai_call *call, int64_t n, const void *grad_output, const void *x, void *grad_input) {
    static slice part[16];
    pthread_t id[16];
    int threads = call->threads < 16 ? call->threads : 16;
    if (n < 4096) threads = 1;
    const int64_t own = n / (2 * threads - 1),
                  each = 2 * own; /* the caller starts the others and takes half a share */
    for (int t = 0; t < threads; t++) {
        const int64_t at = t == 0 ? 0 : own + (t - 1) * each;
        part[t] = (slice){*call, (const uint16_t *)grad_output + at, (const uint16_t *)x + at,
                          (uint16_t *)grad_input + at,
                          t == threads - 1 ? n - at
                          : t == 0         ? own
                                           : each};
    }
    for (int t = 1; t < threads; t++)
        if (pthread_create(&id[t], NULL, run, &part[t])) return 1;
    run(&part[0]);
    for (int t = 1; t < threads - 1; t++) pthread_join(id[t], NULL);
    return 0;
}
