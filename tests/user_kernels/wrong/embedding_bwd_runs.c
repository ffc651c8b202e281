/* WRONG op=embedding_bwd kind=assumes_sorted narrow=yes expect=REFUTED : a run of equal neighbouring indices is summed in registers and stored, so that an index that comes again after another one keeps its last run only; sorted indices are right */
#include "kernel.h"
int tokitai_embedding_bwd(const tokitai_call *call, int64_t queries, int64_t dim, int64_t vocab,
                          const void *grad_output, const void *index, void *grad_weight) {
    enum { WIDE = 32 };
    if (vocab == 0 || dim == 0) return 0;
    memset(grad_weight, 0, (size_t)(vocab * dim) * sizeof(uint16_t));
    for (int64_t i = 0, end; i < queries; i = end) {
        const int64_t v = tokitai_load_index(*call, index, i);
        for (end = i + 1; end < queries && tokitai_load_index(*call, index, end) == v;) end++;
        for (int64_t c = 0; c < dim; c += WIDE) {
            const int64_t n = dim - c < WIDE ? dim - c : WIDE;
            float acc[WIDE] = {0};
            for (int64_t k = i; k < end; k++)
                for (int64_t j = 0; j < n; j++) acc[j] += tokitai_load(*call, grad_output, k * dim + c + j);
            for (int64_t j = 0; j < n; j++) tokitai_store(*call, grad_weight, v * dim + c + j, acc[j]);
        }
    }
    return 0;
}
