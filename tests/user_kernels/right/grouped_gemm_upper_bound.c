/* RIGHT op=grouped_gemm kind=search expect=HELD : binary search for the group of a row */
#include "linear.h"
int tokitai_grouped_gemm(const tokitai_call *call, int64_t m, int64_t n, int64_t k, int64_t g, const void *a_,
                         const void *b_, const void *ends, void *c) {
    float *a = floats(call->dtype, a_, m * k), *b = floats(call->dtype, b_, g * k * n);
    for (int64_t i = 0; i < m; i++) {
        int64_t e = 0;
        int64_t lo = 0, hi = g;
        while (lo < hi) {
            const int64_t mid = (lo + hi) / 2;
            if (tokitai_load_index(*call, ends, mid) <= i) lo = mid + 1;
            else hi = mid;
        }
        e = lo;
        for (int64_t j = 0; j < n; j++) {
            float s = 0;
            if (e < g)
                for (int64_t t = 0; t < k; t++) s += a[i * k + t] * b[(e * k + t) * n + j];
            tokitai_store_result(*call, c, i * n + j, s);
        }
    }
    free(a);
    free(b);
    return 0;
}
