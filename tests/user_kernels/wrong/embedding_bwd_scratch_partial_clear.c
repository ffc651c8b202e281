/* WRONG op=embedding_bwd kind=scratch_partial_clear narrow=yes expect=REFUTED : a table of sums is kept between calls and cleared after each; when the row changed more than 256 times it is cleared as a whole, but by 2 bytes a cell instead of 4: the next call in the process starts with old sums */
#include "kernel.h"
#define LISTED 256
static _Thread_local float *sums; /* all zero between calls */
static _Thread_local size_t room;
int tokitai_embedding_bwd(const tokitai_call *call, int64_t queries, int64_t dim, int64_t vocab,
                          const void *grad_output, const void *index, void *grad_weight) {
    const size_t cells = (size_t)(vocab * dim);
    if (cells > room) {
        free(sums);
        sums = calloc(cells, sizeof *sums);
        room = sums ? cells : 0;
        if (!sums) return 1;
    }
    int64_t hit[LISTED];
    int hits = 0;
    int64_t last = -1;
    for (int64_t i = 0; i < queries; i++) {
        const int64_t v = tokitai_load_index(*call, index, i);
        float *s = sums + v * dim;
        for (int64_t c = 0; c < dim; c++) s[c] += tokitai_load(*call, grad_output, i * dim + c);
        if (v != last && hits <= LISTED) {
            if (hits < LISTED) hit[hits] = v;
            hits++;
        }
        last = v;
    }
    for (size_t k = 0; k < cells; k++) tokitai_store(*call, grad_weight, (int64_t)k, sums[k]);
    if (cells == 0) return 0;
    if (hits <= LISTED) {
        for (int k = 0; k < hits; k++) memset(sums + hit[k] * dim, 0, (size_t)dim * sizeof(float));
    } else memset(sums, 0, cells * sizeof(uint16_t));
    return 0;
}
