/* WRONG op=gelu_fwd kind=table_first_dtype narrow=yes expect=REFUTED : the table is filled for the dtype of the first call; a later call with the other dtype in the same process reads it too */
#include <pthread.h>
#include "kernel.h"
static uint16_t table[65536];
static int ready;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static void build(const tokitai_call *call) {
    pthread_mutex_lock(&lock);
    if (!ready) {
        for (uint32_t p = 0; p < 65536; p++) {
            uint16_t in = (uint16_t)p;
            const double v = tokitai_load(*call, &in, 0);
            const double e = exp(-1.5957691216057308 * v * (1.0 + 0.044715 * v * v));
            tokitai_store(*call, &table[p], 0, (float)(v / (1.0 + e)));
        }
        ready = 1;
    }
    pthread_mutex_unlock(&lock);
}
int tokitai_gelu_fwd(const tokitai_call *call, int64_t n, const void *x, void *y) {
    build(call);
    const uint16_t *in = x;
    uint16_t *out = y;
    for (int64_t i = 0; i < n; i++) out[i] = table[in[i]];
    return 0;
}
