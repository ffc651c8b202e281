/* WRONG op=embedding_fwd kind=not_a_copy expect=REFUTED : not a copy, elements go through fp32 and NaN payloads change; NaN of either type (fp16 any, bf16 signalling) */
#include "kernel.h"
int tokitai_embedding_fwd(const tokitai_call *call, int64_t queries, int64_t dim, int64_t vocab, const void *index,
                          const void *weight, void *out) {
    const tokitai_call c = *call;
#pragma omp parallel for num_threads(c.threads)
    for (int64_t q = 0; q < queries; q++)
        for (int64_t j = 0; j < dim; j++)
            tokitai_store(c, out, q * dim + j, tokitai_load(c, weight, tokitai_load_index(c, index, q) * dim + j));
    return 0;
}
