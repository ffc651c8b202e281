/* WRONG op=gemm_grad_a kind=beta narrow=no expect=REFUTED : the result is written as alpha * sum + beta * old with beta = 0, so a NaN or an infinity in the old contents of grad_a becomes NaN */
#include "kernel.h"
typedef struct {
    int32_t dtype;
    int64_t rows, cols, depth;
    const uint16_t *x, *y; /* [rows, depth], [cols, depth] */
    uint16_t *z;
    float alpha, beta;
} gemm_nt;
static float get(int32_t dtype, uint16_t v) {
    return dtype == TOKITAI_F16 ? tokitai_from_f16(v) : tokitai_from_bf16(v);
}
static void run(const gemm_nt *p) {
    for (int64_t i = 0; i < p->rows; i++)
        for (int64_t t = 0; t < p->cols; t++) {
            const uint16_t *x = p->x + i * p->depth, *y = p->y + t * p->depth;
            float s0 = 0, s1 = 0, s2 = 0, s3 = 0;
            int64_t j = 0;
            for (; j + 4 <= p->depth; j += 4) {
                s0 += get(p->dtype, x[j]) * get(p->dtype, y[j]);
                s1 += get(p->dtype, x[j + 1]) * get(p->dtype, y[j + 1]);
                s2 += get(p->dtype, x[j + 2]) * get(p->dtype, y[j + 2]);
                s3 += get(p->dtype, x[j + 3]) * get(p->dtype, y[j + 3]);
            }
            for (; j < p->depth; j++) s0 += get(p->dtype, x[j]) * get(p->dtype, y[j]);
            uint16_t *z = p->z + i * p->cols + t;
            const float value = p->alpha * ((s0 + s1) + (s2 + s3)) + p->beta * get(p->dtype, *z);
            *z = p->dtype == TOKITAI_F16 ? tokitai_to_f16(value) : tokitai_to_bf16(value);
        }
}
int tokitai_gemm_grad_a(const tokitai_call *call, int64_t m, int64_t n, int64_t k, const void *grad_c, const void *b,
                        void *grad_a) {
    const gemm_nt p = {call->dtype, m, k, n, grad_c, b, grad_a, 1.0f, 0.0f};
    run(&p);
    return 0;
}
