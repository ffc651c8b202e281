/* WRONG op=embedding_bwd kind=stale_scratch narrow=yes expect=REFUTED : the float table is kept between calls and only the rows on a list of 1024 are cleared afterwards, so that after a call with more distinct rows the next call of that table size adds to old sums */
#include "kernel.h"
enum { LISTED = 1024 };
static float *table;
static unsigned char *seen;
static int64_t table_rows, table_dim;
int tokitai_embedding_bwd(const tokitai_call *call, int64_t queries, int64_t dim, int64_t vocab,
                          const void *grad_output, const void *index, void *grad_weight) {
    if (dim == 0 || vocab == 0) return 0;
    if (table == NULL || vocab != table_rows || dim != table_dim) {
        free(table);
        free(seen);
        table = calloc((size_t)(vocab * dim), sizeof *table);
        seen = calloc((size_t)vocab, 1);
        if (table == NULL || seen == NULL) return 1;
        table_rows = vocab;
        table_dim = dim;
    }
    int64_t list[LISTED];
    int listed = 0;
    for (int64_t i = 0; i < queries; i++) {
        const int64_t v = tokitai_load_index(*call, index, i);
        if (!seen[v] && listed < LISTED) {
            seen[v] = 1;
            list[listed++] = v;
        }
        for (int64_t j = 0; j < dim; j++) table[v * dim + j] += tokitai_load(*call, grad_output, i * dim + j);
    }
    for (int64_t k = 0; k < vocab * dim; k++) tokitai_store(*call, grad_weight, k, table[k]);
    for (int k = 0; k < listed; k++) { /* cheaper than clearing it all */
        memset(table + list[k] * dim, 0, (size_t)dim * sizeof *table);
        seen[list[k]] = 0;
    }
    return 0;
}
