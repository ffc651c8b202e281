/* RIGHT op=gemm_grad_b kind=pairwise expect=HELD : the rows are halved down to groups of at most 13, and the sums of the halves are added on the way back */
#include "kernel.h"
#define LEAF 13
typedef struct {
    int64_t n, k, t;
    const float *a, *g;
} product;
/* room is for one row for each level below */
static void sum_rows(const product *p, int64_t first, int64_t last, float *out, float *room) {
    if (last - first <= LEAF) {
        memset(out, 0, (size_t)p->n * sizeof *out);
        for (int64_t i = first; i < last; i++) {
            const float x = p->a[i * p->k + p->t];
            for (int64_t j = 0; j < p->n; j++) out[j] += x * p->g[i * p->n + j];
        }
        return;
    }
    const int64_t middle = first + (last - first) / 2;
    sum_rows(p, first, middle, out, room);
    sum_rows(p, middle, last, room, room + p->n);
    for (int64_t j = 0; j < p->n; j++) out[j] += room[j];
}
int tokitai_gemm_grad_b(const tokitai_call *call, int64_t m, int64_t n, int64_t k, const void *grad_c, const void *a,
                        void *grad_b) {
    float *wide = malloc((size_t)(m * k + m * n + 64 * n + 1) * sizeof *wide);
    if (!wide) return 1;
    float *g = wide + m * k, *room = g + m * n;
    for (int64_t i = 0; i < m * k; i++) wide[i] = tokitai_load(*call, a, i);
    for (int64_t i = 0; i < m * n; i++) g[i] = tokitai_load(*call, grad_c, i);
    for (int64_t t = 0; t < k; t++) {
        const product p = {n, k, t, wide, g};
        sum_rows(&p, 0, m, room, room + n);
        for (int64_t j = 0; j < n; j++) tokitai_store(*call, grad_b, t * n + j, room[j]);
    }
    free(wide);
    return 0;
}
