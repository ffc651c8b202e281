/* WRONG op=gemm_grad_b kind=lazy_table_race narrow=yes expect=REFUTED timing=yes : the table that widens fp16 is made on first use and marked ready before it is filled: the first call of a process with threads > 1 */
#include "elements.h"
#include "threads.h"
static float table[65536];
static volatile int ready;
static void prepare(void) {
    if (ready) return;
    ready = 1;
    for (int i = 0; i < 65536; i++) { /* by definition; it is done once */
        const int e = i >> 10 & 31;
        const double f = e ? 1024 + (i & 1023) : i & 1023;
        double x = e == 31 ? (i & 1023 ? (double)NAN : (double)INFINITY) : f;
        for (int q = 25; e != 31 && q > (e ? e : 1); q--) x *= 0.5;
        for (int q = 25; e != 31 && q < e; q++) x *= 2;
        table[i] = (float)(i & 0x8000 ? -x : x);
    }
}
struct work {
    const uint16_t *g, *a;
    uint16_t *out;
    int64_t m, n, k;
    int dt;
};
static inline float wide(uint16_t h, int dt) { return dt == TOKITAI_F16 ? table[h] : tokitai_from_bf16(h); }
static void body(void *arg, int id, int count) {
    struct work *w = arg;
    if (w->dt == TOKITAI_F16) prepare();
    for (int64_t t = w->k * id / count; t < w->k * (id + 1) / count; t++)
        for (int64_t j = 0; j < w->n; j++) {
            float s = 0;
            for (int64_t i = 0; i < w->m; i++) s += wide(w->a[i * w->k + t], w->dt) * wide(w->g[i * w->n + j], w->dt);
            w->out[t * w->n + j] = down(s, w->dt);
        }
}
int tokitai_gemm_grad_b(const tokitai_call *call, int64_t m, int64_t n, int64_t k, const void *grad_c, const void *a,
                        void *grad_b) {
    struct work w = {grad_c, a, grad_b, m, n, k, call->dtype};
    team_run(call->threads, body, &w);
    return 0;
}
