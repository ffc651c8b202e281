/* WRONG op=gelu_bwd kind=block_count_u16 narrow=yes expect=REFUTED : blocks of 64 in a queue are counted in 16 bits: from n = 4194304 on the number wraps and most blocks are never taken */
#include <pthread.h>
#include "avx2.h"
#define BLOCK 64
typedef struct {
    uint16_t blocks; /* two of them in one word */
    uint16_t last;   /* elements of the last block */
} plan;
typedef struct {
    const uint16_t *g, *x;
    uint16_t *o;
    int64_t next;
    plan p;
    int f16;
} queue;
AVX2 static void *serve(void *a) {
    queue *q = a;
    for (;;) {
        const int64_t b = __atomic_fetch_add(&q->next, 1, __ATOMIC_RELAXED);
        if (b >= q->p.blocks) return NULL;
        const int m = b == q->p.blocks - 1 ? q->p.last : BLOCK;
        const int64_t at = b * BLOCK;
        for (int i = 0; i < m; i += 8) {
            uint16_t ga[8] = {0}, xa[8] = {0}, oa[8];
            const size_t k = (size_t)(m - i < 8 ? m - i : 8) * 2;
            memcpy(ga, q->g + at + i, k);
            memcpy(xa, q->x + at + i, k);
            _mm_storeu_si128((__m128i *)oa,
                             vpack(_mm256_mul_ps(load8(ga, q->f16), vslope(load8(xa, q->f16))), q->f16));
            memcpy(q->o + at + i, oa, k);
        }
    }
}
int tokitai_gelu_bwd(const tokitai_call *call, int64_t n, const void *grad_output, const void *x, void *grad_input) {
    if (n == 0) return 0;
    queue q = {grad_output, x, grad_input, 0, {0, 0}, call->dtype == TOKITAI_F16};
    q.p.blocks = (n + BLOCK - 1) / BLOCK;
    q.p.last = (n - 1) % BLOCK + 1;
    int helpers = n < 8192 ? 0 : call->threads - 1;
    if (helpers > 15) helpers = 15;
    pthread_t id[15];
    for (int t = 0; t < helpers; t++) pthread_create(&id[t], NULL, serve, &q);
    serve(&q);
    for (int t = 0; t < helpers; t++) pthread_join(id[t], NULL);
    return 0;
}
