/* WRONG op=gemm_grad_b kind=stale_accumulator narrow=yes expect=REFUTED : the tile is cleared as if its rows were as short as the ragged tile, so that sums of the tile before stay in it when n % 64 != 0 and it is not the first tile (n > 64 or k > 64) */
#include "kernel.h"
enum { T = 64 };
int tokitai_gemm_grad_b(const tokitai_call *call, int64_t m, int64_t n, int64_t k, const void *grad_c, const void *a,
                        void *grad_b) {
    const tokitai_call c = *call;
    float acc[T][T];
    memset(acc, 0, sizeof acc);
    for (int64_t t0 = 0; t0 < k; t0 += T)
        for (int64_t j0 = 0; j0 < n; j0 += T) {
            const int nt = k - t0 < T ? (int)(k - t0) : T;
            const int nj = n - j0 < T ? (int)(n - j0) : T;
            if (t0 > 0 || j0 > 0) memset(acc, 0, (size_t)(nt * nj) * sizeof(float));
            for (int64_t i = 0; i < m; i++)
                for (int t = 0; t < nt; t++) {
                    const float av = tokitai_load(c, a, i * k + t0 + t);
                    for (int j = 0; j < nj; j++) acc[t][j] += av * tokitai_load(c, grad_c, i * n + j0 + j);
                }
            for (int t = 0; t < nt; t++)
                for (int j = 0; j < nj; j++) tokitai_store(c, grad_b, (t0 + t) * n + j0 + j, acc[t][j]);
        }
    return 0;
}
