/* WRONG op=gemm_grad_a kind=zero_row_memset narrow=yes expect=REFUTED : rows of grad_c without a nonzero element (padding tokens) give zeros, also where b has an infinity or NaN */
#include "elements.h"
int tokitai_gemm_grad_a(const tokitai_call *call, int64_t m, int64_t n, int64_t k, const void *grad_c, const void *b,
                        void *grad_a) {
    const uint16_t *g = grad_c, *w = b;
    uint16_t *out = grad_a;
    const int dt = call->dtype;
    for (int64_t i = 0; i < m; i++) {
        const uint16_t *x = g + i * n;
        uint16_t any = 0;
        for (int64_t j = 0; j < n; j++) any |= x[j] & 0x7fff;
        if (!any) { /* a padding token: no gradient */
            memset(out + i * k, 0, (size_t)k * sizeof *out);
            continue;
        }
        for (int64_t t = 0; t < k; t++) {
            const uint16_t *y = w + t * n;
            float s[4] = {0, 0, 0, 0};
            int64_t j = 0;
            for (; j + 4 <= n; j += 4)
                for (int q = 0; q < 4; q++) s[q] += up(x[j + q], dt) * up(y[j + q], dt);
            for (; j < n; j++) s[j & 3] += up(x[j], dt) * up(y[j], dt);
            out[i * k + t] = down((s[0] + s[1]) + (s[2] + s[3]), dt);
        }
    }
    return 0;
}
