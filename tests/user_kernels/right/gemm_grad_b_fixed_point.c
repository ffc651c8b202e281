/* RIGHT op=gemm_grad_b kind=fixed_point expect=HELD : finite fp16 is summed exactly as 128-bit multiples of 2^-48, and bf16, or inputs with infinities or NaN, in double */
#include "kernel.h"
__extension__ typedef __int128 wide_int;
/* fp16 as a multiple of 2^-24 */
static int64_t fixed(uint16_t v) {
    const int exponent = v >> 10 & 31;
    const int64_t magnitude = exponent ? (int64_t)(1024 + (v & 1023)) << (exponent - 1) : v & 1023;
    return v & 0x8000 ? -magnitude : magnitude;
}
static int finite_halves(const uint16_t *v, int64_t count) {
    for (int64_t i = 0; i < count; i++)
        if ((v[i] & 0x7c00) == 0x7c00) return 0;
    return 1;
}
/* one row of grad_b; room is for n sums of the widest kind */
static void row_fixed(const tokitai_call *call, int64_t m, int64_t n, int64_t k, int64_t t, const uint16_t *a,
                      const uint16_t *g, void *room, void *out) {
    wide_int *sum = room;
    for (int64_t j = 0; j < n; j++) sum[j] = 0;
    for (int64_t i = 0; i < m; i++) {
        const int64_t x = fixed(a[i * k + t]);
        for (int64_t j = 0; j < n; j++) sum[j] += (wide_int)x * fixed(g[i * n + j]);
    }
    for (int64_t j = 0; j < n; j++) tokitai_store(*call, out, t * n + j, (float)((double)sum[j] * 0x1p-48));
}
static void row_double(const tokitai_call *call, int64_t m, int64_t n, int64_t k, int64_t t, const uint16_t *a,
                       const uint16_t *g, void *room, void *out) {
    double *sum = room;
    for (int64_t j = 0; j < n; j++) sum[j] = 0;
    for (int64_t i = 0; i < m; i++) {
        const double x = tokitai_load(*call, a, i * k + t);
        for (int64_t j = 0; j < n; j++) sum[j] += x * tokitai_load(*call, g, i * n + j);
    }
    for (int64_t j = 0; j < n; j++) tokitai_store(*call, out, t * n + j, (float)sum[j]);
}
int tokitai_gemm_grad_b(const tokitai_call *call, int64_t m, int64_t n, int64_t k, const void *grad_c, const void *a,
                        void *grad_b) {
    wide_int *room = malloc((size_t)(n + 1) * sizeof *room);
    if (!room) return 1;
    const int exact = call->dtype == TOKITAI_F16 && finite_halves(a, m * k) && finite_halves(grad_c, m * n);
    for (int64_t t = 0; t < k; t++) (exact ? row_fixed : row_double)(call, m, n, k, t, a, grad_c, room, grad_b);
    free(room);
    return 0;
}
