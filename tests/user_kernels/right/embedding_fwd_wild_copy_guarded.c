/* RIGHT op=embedding_fwd kind=wild_copy_guarded expect=HELD : 32-byte pieces that run into the thread's own next row, exact copies near every end; indices read ahead, within bounds */
#include <pthread.h>
#include "kernel.h"
typedef struct {
    const tokitai_call *call;
    int64_t begin, end, dim, vocab;
    const void *index;
    const uint16_t *weight;
    uint16_t *out;
    int started;
} slice;
static void *gather(void *p) {
    const slice *s = p;
    const size_t row = (size_t)s->dim * 2, wide = (row + 31) & ~(size_t)31;
    for (int64_t i = s->begin; i < s->end; i++) {
        const int64_t v = tokitai_load_index(*s->call, s->index, i);
        if (i + 8 < s->end) __builtin_prefetch(s->weight + tokitai_load_index(*s->call, s->index, i + 8) * s->dim);
        const char *from = (const char *)(s->weight + v * s->dim);
        char *to = (char *)(s->out + i * s->dim);
        const size_t in = (size_t)(s->vocab - v) * row, room = (size_t)(s->end - i) * row;
        if (in < wide || room < wide) memcpy(to, from, row);
        else
            for (size_t k = 0; k < row; k += 32) memcpy(to + k, from + k, 32);
    }
    return NULL;
}
int tokitai_embedding_fwd(const tokitai_call *call, int64_t queries, int64_t dim, int64_t vocab, const void *index,
                          const void *weight, void *out) {
    enum { MOST = 16 };
    const int nt = queries < 40 ? 1 : call->threads > MOST ? MOST : call->threads;
    slice s[MOST];
    pthread_t id[MOST];
    if (dim == 0) return 0;
    for (int t = 0; t < nt; t++) {
        s[t] = (slice){call, queries * t / nt, queries * (t + 1) / nt, dim, vocab, index, weight, out, 0};
        if (t) s[t].started = pthread_create(&id[t], NULL, gather, &s[t]) == 0;
    }
    for (int t = 0; t < nt; t++)
        if (s[t].started) pthread_join(id[t], NULL);
        else gather(&s[t]);
    return 0;
}
