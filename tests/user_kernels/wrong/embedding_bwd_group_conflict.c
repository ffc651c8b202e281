/* WRONG op=embedding_bwd kind=group_conflict narrow=yes expect=REFUTED : four queries a step: four sums are loaded, four hits added, four stored; equal neighbours are noticed, equal indices two or three apart are not and lose a hit (indices a b a c) */
#include "kernel.h"
int tokitai_embedding_bwd(const tokitai_call *call, int64_t queries, int64_t dim, int64_t vocab,
                          const void *grad_output, const void *index, void *grad_weight) {
    const int64_t cells = vocab * dim;
    float *sum = calloc((size_t)cells + 1, sizeof *sum);
    if (!sum) return 1;
    int64_t i = 0;
    for (; i + 4 <= queries; i += 4) {
        int64_t v[4];
        for (int k = 0; k < 4; k++) v[k] = tokitai_load_index(*call, index, i + k);
        if (v[0] == v[1] || v[1] == v[2] || v[2] == v[3]) {
            for (int k = 0; k < 4; k++)
                for (int64_t c = 0; c < dim; c++)
                    sum[v[k] * dim + c] += tokitai_load(*call, grad_output, (i + k) * dim + c);
            continue;
        }
        for (int64_t c = 0; c < dim; c++) {
            float *p0 = sum + v[0] * dim + c, *p1 = sum + v[1] * dim + c, *p2 = sum + v[2] * dim + c,
                  *p3 = sum + v[3] * dim + c;
            const float s0 = *p0 + tokitai_load(*call, grad_output, i * dim + c);
            const float s1 = *p1 + tokitai_load(*call, grad_output, (i + 1) * dim + c);
            const float s2 = *p2 + tokitai_load(*call, grad_output, (i + 2) * dim + c);
            const float s3 = *p3 + tokitai_load(*call, grad_output, (i + 3) * dim + c);
            *p0 = s0;
            *p1 = s1;
            *p2 = s2;
            *p3 = s3;
        }
    }
    for (; i < queries; i++)
        for (int64_t c = 0; c < dim; c++)
            sum[tokitai_load_index(*call, index, i) * dim + c] += tokitai_load(*call, grad_output, i * dim + c);
    for (int64_t k = 0; k < cells; k++) tokitai_store(*call, grad_weight, k, sum[k]);
    free(sum);
    return 0;
}
