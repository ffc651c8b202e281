/* WRONG op=gemm_grad_a kind=double_rounding narrow=yes expect=REFUTED : the epilogue rounds the sum to tf32 and that to the output type, so a bf16 result just beside a tie, or an fp16 subnormal, is rounded twice */
#include "kernel.h"
static float to_tf32(float value) {
    union tokitai_float f;
    f.value = value;
    if ((f.bits & 0x7f800000u) == 0x7f800000u) return value;
    f.bits = (f.bits + 0xfff + (f.bits >> 13 & 1)) & ~0x1fffu;
    return f.value;
}
typedef struct {
    float value[3][5];
} tile;
static void multiply(const float *x, const float *y, int64_t n, tile *out) {
    memset(out, 0, sizeof *out);
    for (int64_t j = 0; j < n; j++)
        for (int r = 0; r < 3; r++)
            for (int s = 0; s < 5; s++) out->value[r][s] += x[r * n + j] * y[s * n + j];
}
static void widen(const tokitai_call *call, const void *from, int64_t first, int64_t last, int64_t count, int64_t n,
                  float *to) {
    for (int64_t r = 0; r < count; r++)
        for (int64_t j = 0; j < n; j++)
            to[r * n + j] = first + r < last ? tokitai_load(*call, from, (first + r) * n + j) : 0;
}
int tokitai_gemm_grad_a(const tokitai_call *call, int64_t m, int64_t n, int64_t k, const void *grad_c, const void *b,
                        void *grad_a) {
    float *x = malloc((size_t)(8 * n + 1) * sizeof *x);
    if (!x) return 1;
    float *y = x + 3 * n;
    for (int64_t t = 0; t < k; t += 5) {
        widen(call, b, t, k, 5, n, y);
        for (int64_t i = 0; i < m; i += 3) {
            tile out;
            widen(call, grad_c, i, m, 3, n, x);
            multiply(x, y, n, &out);
            for (int64_t r = 0; r < 3 && i + r < m; r++)
                for (int64_t s = 0; s < 5 && t + s < k; s++)
                    tokitai_store(*call, grad_a, (i + r) * k + t + s, to_tf32(out.value[r][s]));
        }
    }
    free(x);
    return 0;
}
