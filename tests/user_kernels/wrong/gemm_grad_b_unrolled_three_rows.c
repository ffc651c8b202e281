/* WRONG op=gemm_grad_b kind=unrolled_three_rows narrow=yes expect=REFUTED : sums over at most 4 rows, n >= 64, are written out by hand, and the one of three rows multiplies its last factor by the second row of grad_c again */
#include "elements.h"
#define A(i) up(a[(i)*k + t], dt)
#define G(i) up(g[(i)*n + j], dt)
static void few_rows(const uint16_t *g, const uint16_t *a, uint16_t *out, int64_t m, int64_t n, int64_t k, int dt) {
    for (int64_t t = 0; t < k; t++) {
        uint16_t *o = out + t * n;
        switch (m) {
        case 0:
            for (int64_t j = 0; j < n; j++) o[j] = 0;
            break;
        case 1: {
            const float a0 = A(0);
            for (int64_t j = 0; j < n; j++) o[j] = down(a0 * G(0), dt);
            break;
        }
        case 2: {
            const float a0 = A(0), a1 = A(1);
            for (int64_t j = 0; j < n; j++) o[j] = down(a0 * G(0) + a1 * G(1), dt);
            break;
        }
        case 3: {
            const float a0 = A(0), a1 = A(1), a2 = A(2);
            for (int64_t j = 0; j < n; j++) o[j] = down(a0 * G(0) + a1 * G(1) + a2 * G(1), dt);
            break;
        }
        default: {
            const float a0 = A(0), a1 = A(1), a2 = A(2), a3 = A(3);
            for (int64_t j = 0; j < n; j++) o[j] = down((a0 * G(0) + a1 * G(1)) + (a2 * G(2) + a3 * G(3)), dt);
        }
        }
    }
}
int tokitai_gemm_grad_b(const tokitai_call *call, int64_t m, int64_t n, int64_t k, const void *grad_c, const void *a,
                        void *grad_b) {
    const uint16_t *g = grad_c, *pa = a;
    const int dt = call->dtype;
    if (m <= 4 && n >= 64) {
        few_rows(g, pa, grad_b, m, n, k, dt);
        return 0;
    }
    for (int64_t t = 0; t < k; t++)
        for (int64_t j = 0; j < n; j++) {
            float s = 0;
            for (int64_t i = 0; i < m; i++) s += up(pa[i * k + t], dt) * up(g[i * n + j], dt);
            ((uint16_t *)grad_b)[t * n + j] = down(s, dt);
        }
    return 0;
}
