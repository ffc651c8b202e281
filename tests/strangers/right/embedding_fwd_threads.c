/* RIGHT op=embedding_fwd kind=threads : threads, prefetch of the next row, 16 bytes at a time with a tail */
#include <emmintrin.h>
#include <tokitai_kernel.h>
#include <pthread.h>
typedef void (*range_fn)(void *ctx, int64_t begin, int64_t end);
typedef struct {
    range_fn fn;
    void *ctx;
    int64_t begin, end;
} range_job;
static void *range_main(void *p)
{
    range_job *j = p;
    j->fn(j->ctx, j->begin, j->end);
    return 0;
}
static void parallel_for(int threads, int64_t n, range_fn fn, void *ctx)
{
    if (threads > 16)
        threads = 16;
    pthread_t id[16];
    range_job job[16];
    int up[16] = {0};
    for (int i = 0; i < threads; i++) {
        job[i] = (range_job){fn, ctx, n * i / threads, n * (i + 1) / threads};
        if (i + 1 < threads)
            up[i] = !pthread_create(&id[i], 0, range_main, &job[i]);
        if (!up[i])
            range_main(&job[i]);
    }
    for (int i = 0; i < threads; i++)
        if (up[i])
            pthread_join(id[i], 0);
}
typedef struct {
    tokitai_call c;
    int64_t dim;
    const void *ix;
    const uint16_t *w;
    uint16_t *o;
} args;
static void work(void *p, int64_t b, int64_t e)
{
    const args *a = p;
    for (int64_t q = b; q < e; q++) {
        const uint16_t *s = a->w + tokitai_load_index(a->c, a->ix, q) * a->dim;
        uint16_t *d = a->o + q * a->dim;
        if (q + 1 < e)
            __builtin_prefetch(a->w + tokitai_load_index(a->c, a->ix, q + 1) * a->dim);
        int64_t j = 0;
        for (; j + 8 <= a->dim; j += 8)
            _mm_storeu_si128((__m128i *)(d + j), _mm_loadu_si128((const __m128i *)(s + j)));
        for (; j < a->dim; j++)
            d[j] = s[j];
    }
}
int tokitai_embedding_fwd(const tokitai_call *call, int64_t queries, int64_t dim, int64_t vocab, const void *index,
                          const void *weight, void *out)
{
    args a = {*call, dim, index, weight, out};
    parallel_for(call->threads, queries, work, &a);
    return 0;
}
