/* RIGHT op=grouped_gemm_grad_b kind=order expect=HELD : tiles of 8 rows that end with the group */
#include "linear.h"
int tokitai_grouped_gemm_grad_b(const tokitai_call *call, int64_t m, int64_t n, int64_t k, int64_t g, const void *gc_,
                                const void *a_, const void *ends, void *gb) {
    float *gc = floats(call->dtype, gc_, m * n), *a = floats(call->dtype, a_, m * k);
    int64_t begin = 0;
    for (int64_t e = 0; e < g; e++) {
        int64_t end = tokitai_load_index(*call, ends, e);
        for (int64_t t = 0; t < k; t++)
            for (int64_t j = 0; j < n; j++) {
                float s = 0;
                for (int64_t i = begin; i < end; i += 8) {
                    float q = 0;
                    for (int64_t r = i; r < end && r < i + 8; r++) q += a[r * k + t] * gc[r * n + j];
                    s += q;
                }
                tokitai_store_result(*call, gb, (e * k + t) * n + j, s);
            }
        begin = end;
    }
    free(gc);
    free(a);
    return 0;
}
