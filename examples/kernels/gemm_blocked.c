/* gemm in blocks of 32 x 32 x 64 with fp32 accumulators, over as many threads as it may use. Each element of c is summed by one
 * thread in one order, so that the number of threads does not show in the bits. */
#include <pthread.h>
#include <stdlib.h>

#include <tokitai_kernel.h>

enum { ROWS = 32, COLS = 32, DEPTH = 64, MOST_THREADS = 16 };

typedef struct job {
    tokitai_call call;
    int64_t m, n, k;
    const void *a, *b;
    void *c;
    int64_t first, step; /* which strips of rows */
} job;

static int64_t least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static void multiply_block(const job *j, int64_t row, int64_t col)
{
    float sum[ROWS][COLS] = {{0}};
    const int64_t rows = least(ROWS, j->m - row);
    const int64_t cols = least(COLS, j->n - col);
    for (int64_t depth = 0; depth < j->k; depth += DEPTH) {
        const int64_t end = least(depth + DEPTH, j->k);
        for (int64_t i = 0; i < rows; i++)
            for (int64_t t = depth; t < end; t++) {
                const float left = tokitai_load(j->call, j->a, (row + i) * j->k + t);
                for (int64_t l = 0; l < cols; l++)
                    sum[i][l] += left * tokitai_load(j->call, j->b, t * j->n + col + l);
            }
    }
    for (int64_t i = 0; i < rows; i++)
        for (int64_t l = 0; l < cols; l++)
            tokitai_store(j->call, j->c, (row + i) * j->n + col + l, sum[i][l]);
}

static void *multiply(void *data)
{
    const job *j = data;
    for (int64_t row = j->first * ROWS; row < j->m; row += j->step * ROWS)
        for (int64_t col = 0; col < j->n; col += COLS)
            multiply_block(j, row, col);
    return NULL;
}

int tokitai_gemm(const tokitai_call *call, int64_t m, int64_t n, int64_t k, const void *a, const void *b, void *c)
{
    const int64_t strips = (m + ROWS - 1) / ROWS;
    const int threads = (int)least(least(call->threads, MOST_THREADS), strips > 0 ? strips : 1);
    pthread_t others[MOST_THREADS];
    job jobs[MOST_THREADS];
    int started = 1;
    for (int i = 0; i < threads; i++)
        jobs[i] = (job){*call, m, n, k, a, b, c, i, threads};
    while (started < threads && !pthread_create(&others[started], NULL, multiply, &jobs[started]))
        started++;
    multiply(&jobs[0]);
    /* What could not be given to a thread is done here. */
    for (int i = started; i < threads; i++)
        multiply(&jobs[i]);
    for (int i = 1; i < started; i++)
        pthread_join(others[i], NULL);
    return 0;
}
