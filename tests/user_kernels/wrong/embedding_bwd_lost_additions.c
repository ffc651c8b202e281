/* WRONG op=embedding_bwd kind=race narrow=yes dtype=f32 timing=yes expect=REFUTED : threads take queries in turn and add to one double array without any lock: additions to the same row are lost */
#include <pthread.h>
#include <stdlib.h>
#include <tokitai_kernel.h>
struct job {
    const tokitai_call *call;
    const float *g;
    const void *index;
    double *sums;
    int64_t queries, dim, first, step;
};
static void *work(void *data) {
    const struct job *j = data;
    for (int64_t i = j->first; i < j->queries; i += j->step) {
        const int64_t v = tokitai_load_index(*j->call, j->index, i);
        for (int64_t c = 0; c < j->dim; c++) j->sums[v * j->dim + c] += (double)j->g[i * j->dim + c];
    }
    return 0;
}
int tokitai_embedding_bwd(const tokitai_call *call, int64_t queries, int64_t dim, int64_t vocab,
                          const void *grad_output, const void *index, void *grad_weight) {
    struct job jobs[16];
    pthread_t threads[16];
    int count = call->threads < 16 ? call->threads : 16;
    double *sums = calloc((size_t)(vocab * dim) + 1, sizeof *sums);
    if (!sums) return 1;
    if (queries * dim < 100000) count = 1;
    for (int i = 0; i < count; i++) jobs[i] = (struct job){call, grad_output, index, sums, queries, dim, i, count};
    for (int i = 1; i < count; i++)
        if (pthread_create(&threads[i], 0, work, &jobs[i])) return 1;
    work(&jobs[0]);
    for (int i = 1; i < count; i++) pthread_join(threads[i], 0);
    for (int64_t i = 0; i < vocab * dim; i++) ((float *)grad_weight)[i] = (float)sums[i];
    free(sums);
    return 0;
}
