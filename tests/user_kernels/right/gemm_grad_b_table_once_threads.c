/* RIGHT op=gemm_grad_b kind=table_once_threads expect=HELD : a table of 65536 floats for each dtype, made under pthread_once by whichever thread comes first; threads own columns, with odd boundaries */
#include "elements.h"
#include "threads.h"
static float table[2][65536];
static pthread_once_t once = PTHREAD_ONCE_INIT;
static void make_tables(void) {
    for (int i = 0; i < 65536; i++) {
        table[0][i] = up((uint16_t)i, TOKITAI_F16);
        table[1][i] = up((uint16_t)i, TOKITAI_BF16);
    }
}
struct work {
    const uint16_t *g, *a;
    uint16_t *out;
    int64_t m, n, k;
    int dt;
};
static void body(void *arg, int id, int count) {
    const struct work *w = arg;
    pthread_once(&once, make_tables);
    const float *wide = table[w->dt == TOKITAI_BF16];
    for (int64_t j = w->n * id / count; j < w->n * (id + 1) / count; j++)
        for (int64_t t = 0; t < w->k; t++) {
            float even = 0, odd = 0;
            for (int64_t i = w->m - 1; i >= 0; i--) {
                const float p = wide[w->a[i * w->k + t]] * wide[w->g[i * w->n + j]];
                if (i & 1) odd += p;
                else even += p;
            }
            w->out[t * w->n + j] = down(even + odd, w->dt);
        }
}
int tokitai_gemm_grad_b(const tokitai_call *call, int64_t m, int64_t n, int64_t k, const void *grad_c, const void *a,
                        void *grad_b) {
    struct work w = {grad_c, a, grad_b, m, n, k, call->dtype};
    team_run(call->threads, body, &w);
    return 0;
}
