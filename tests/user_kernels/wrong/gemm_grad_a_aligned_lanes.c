/* WRONG op=gemm_grad_a kind=address_dependent_order narrow=yes expect=REFUTED : products are added one by one up to a 16-byte boundary of the row and in eight lanes after it, so that the bits follow the address of grad_c */
#include "kernel.h"
static float dot(tokitai_call c, const uint16_t *g, const uint16_t *b, int64_t n) {
    float head = 0.0f, lane[8] = {0};
    int64_t j = 0;
    for (; j < n && ((uintptr_t)(g + j) & 15) != 0; j++) head += tokitai_load(c, g, j) * tokitai_load(c, b, j);
    for (; j + 8 <= n; j += 8)
        for (int l = 0; l < 8; l++) lane[l] += tokitai_load(c, g, j + l) * tokitai_load(c, b, j + l);
    for (; j < n; j++) head += tokitai_load(c, g, j) * tokitai_load(c, b, j);
    for (int l = 0; l < 8; l++) head += lane[l];
    return head;
}
int tokitai_gemm_grad_a(const tokitai_call *call, int64_t m, int64_t n, int64_t k, const void *grad_c, const void *b,
                        void *grad_a) {
    for (int64_t i = 0; i < m; i++)
        for (int64_t t = 0; t < k; t++)
            tokitai_store(*call, grad_a, i * k + t,
                          dot(*call, (const uint16_t *)grad_c + i * n, (const uint16_t *)b + t * n, n));
    return 0;
}
