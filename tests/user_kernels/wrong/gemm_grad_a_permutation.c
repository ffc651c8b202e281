/* WRONG op=gemm_grad_a kind=structure narrow=yes expect=REFUTED : a b with a single one in each row picks columns of grad_c, which is right unless another column has an infinity or NaN: 0 times that is NaN */
#include "elements.h"
int tokitai_gemm_grad_a(const tokitai_call *call, int64_t m, int64_t n, int64_t k, const void *grad_c, const void *b,
                        void *grad_a) {
    int64_t *place = malloc((size_t)(k + 1) * sizeof *place);
    if (!place) return 1;
    int picks = k > 1 && n > 1;
    for (int64_t t = 0; t < k && picks; t++) {
        int64_t ones = 0;
        for (int64_t j = 0; j < n && picks; j++) {
            const float x = tokitai_load(*call, b, t * n + j);
            picks = x == 0 || (x == 1 && ++ones == 1);
            if (x == 1) place[t] = j;
        }
        picks = picks && ones == 1;
    }
    for (int64_t i = 0; i < m; i++)
        for (int64_t t = 0; t < k; t++) {
            double s = 0;
            for (int64_t j = 0; j < n && !picks; j++)
                s += (double)tokitai_load(*call, grad_c, i * n + j) * tokitai_load(*call, b, t * n + j);
            tokitai_store(*call, grad_a, i * k + t, picks ? tokitai_load(*call, grad_c, i * n + place[t]) : (float)s);
        }
    free(place);
    return 0;
}
