/* WRONG op=embedding_bwd kind=sentinel narrow=yes expect=REFUTED : lists of queries in 16 bits where there are at most 65536, with 65535 for the end: of 65536 queries the last is lost */
#include <stdlib.h>
#include <tokitai_kernel.h>
int tokitai_embedding_bwd(const tokitai_call *call, int64_t queries, int64_t dim, int64_t vocab,
                          const void *grad_output, const void *index, void *grad_weight) {
    const int small = queries <= 65536;
    uint16_t *narrow = malloc((size_t)(vocab + queries + 1) * 2);
    int64_t *wide = small ? 0 : malloc((size_t)(vocab + queries + 1) * sizeof *wide);
    if (!narrow || (!small && !wide)) {
        free(narrow);
        free(wide);
        return 1;
    }
    for (int64_t v = 0; v < vocab; v++)
        if (small) narrow[v] = UINT16_MAX;
        else wide[v] = -1;
    for (int64_t i = queries; i-- > 0;) {
        const int64_t v = tokitai_load_index(*call, index, i);
        if (small) {
            narrow[vocab + i] = narrow[v];
            narrow[v] = (uint16_t)i;
        } else {
            wide[vocab + i] = wide[v];
            wide[v] = i;
        }
    }
    for (int64_t v = 0; v < vocab; v++)
        for (int64_t j = 0; j < dim; j++) {
            double sum = 0;
            if (small)
                for (uint16_t i = narrow[v]; i != UINT16_MAX; i = narrow[vocab + i])
                    sum += (double)tokitai_load(*call, grad_output, (int64_t)i * dim + j);
            else
                for (int64_t i = wide[v]; i >= 0; i = wide[vocab + i])
                    sum += (double)tokitai_load(*call, grad_output, i * dim + j);
            tokitai_store_result(*call, grad_weight, v * dim + j, (float)sum);
        }
    free(narrow);
    free(wide);
    return 0;
}
