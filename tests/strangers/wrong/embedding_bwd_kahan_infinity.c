/* WRONG op=embedding_bwd kind=kahan_infinity narrow=yes : compensated sums: after an infinity the compensation is NaN, and so is the result of a row that has one infinity and then another hit */
#include <tokitai_kernel.h>
#include <string.h>
#include <stdlib.h>

/* hits of each row, in ascending order: at[start[v]] to at[start[v + 1]] */
static int sort_hits(const tokitai_call *call, int64_t queries, int64_t vocab, const void *index, int64_t **start,
                     int64_t **at)
{
    int64_t *s = calloc((size_t)vocab + 2, sizeof *s), *a = malloc(((size_t)queries + 1) * sizeof *a);
    if (!s || !a)
        return 1;
    for (int64_t i = 0; i < queries; i++)
        s[tokitai_load_index(*call, index, i) + 2]++;
    for (int64_t v = 2; v <= vocab + 1; v++)
        s[v] += s[v - 1];
    for (int64_t i = 0; i < queries; i++)
        a[s[tokitai_load_index(*call, index, i) + 1]++] = i;
    *start = s;
    *at = a;
    return 0;
}
int tokitai_embedding_bwd(const tokitai_call *call, int64_t queries, int64_t dim, int64_t vocab,
                          const void *grad_output, const void *index, void *grad_weight)
{
    int64_t *start, *at;
    if (sort_hits(call, queries, vocab, index, &start, &at))
        return 1;
    for (int64_t v = 0; v < vocab; v++)
        for (int64_t c = 0; c < dim; c++) {
            float sum = 0.0f, lost = 0.0f;
            for (int64_t k = start[v]; k < start[v + 1]; k++) {
                const float y = tokitai_load(*call, grad_output, at[k] * dim + c) - lost;
                const volatile float t = sum + y;
                const volatile float d = t - sum;
                lost = d - y;
                sum = t;
            }
            tokitai_store(*call, grad_weight, v * dim + c, sum);
        }
    free(start);
    free(at);
    return 0;
}
