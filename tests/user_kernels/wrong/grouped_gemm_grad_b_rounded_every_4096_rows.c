/* WRONG op=grouped_gemm_grad_b kind=accumulation narrow=yes expect=REFUTED : the sum of a group is rounded to 16 bits every 4096 rows */
#include "linear.h"
static float r16(int32_t dt, float v) {
    if (dt == TOKITAI_F32) return v;
    uint16_t h;
    tokitai_store_as(dt, &h, 0, v);
    return tokitai_load_as(dt, &h, 0);
}
int tokitai_grouped_gemm_grad_b(const tokitai_call *call, int64_t m, int64_t n, int64_t k, int64_t g, const void *gc_,
                                const void *a_, const void *ends, void *gb) {
    float *gc = floats(call->dtype, gc_, m * n), *a = floats(call->dtype, a_, m * k);
    int64_t begin = 0;
    for (int64_t e = 0; e < g; e++) {
        int64_t end = tokitai_load_index(*call, ends, e);
        for (int64_t t = 0; t < k; t++)
            for (int64_t j = 0; j < n; j++) {
                float s = 0;
                for (int64_t i = begin; i < end; i++) {
                    s += a[i * k + t] * gc[i * n + j];
                    if (((i - begin) & 4095) == 4095) s = r16(call->dtype, s);
                }
                tokitai_store_result(*call, gb, (e * k + t) * n + j, s);
            }
        begin = end;
    }
    free(gc);
    free(a);
    return 0;
}
