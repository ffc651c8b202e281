/* For embedding_bwd. */
#ifndef STRANGERS_EMBEDDING_H
#define STRANGERS_EMBEDDING_H
#include "kernel.h"
/* hits of each row, in ascending order: at[start[v]] to at[start[v + 1]] */
static int sort_hits(const tokitai_call *call, int64_t queries, int64_t vocab, const void *index, int64_t **start,
                     int64_t **at) {
    int64_t *s = calloc((size_t)vocab + 2, sizeof *s), *a = malloc(((size_t)queries + 1) * sizeof *a);
    if (!s || !a) return 1;
    for (int64_t i = 0; i < queries; i++) s[tokitai_load_index(*call, index, i) + 2]++;
    for (int64_t v = 2; v <= vocab + 1; v++) s[v] += s[v - 1];
    for (int64_t i = 0; i < queries; i++) a[s[tokitai_load_index(*call, index, i) + 1]++] = i;
    *start = s;
    *at = a;
    return 0;
}
#endif
