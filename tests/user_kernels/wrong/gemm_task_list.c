/* WRONG op=gemm kind=index_overflow narrow=yes expect=REFUTED : tasks hold the first row and column of their tile in 16 bits, so with more than 65536 rows or columns the tiles beyond are not written */
#include "kernel.h"
#define MR 8
#define NR 32
typedef struct {
    uint16_t row, col;
    uint8_t rows, cols;
} task;
static void run(const tokitai_call *call, const task *job, int64_t n, int64_t k, const void *a, const void *b,
                void *c) {
    float sum[MR][NR];
    memset(sum, 0, sizeof sum);
    for (int64_t t = 0; t < k; t++) {
        float line[NR] = {0};
        for (int64_t j = 0; j < job->cols; j++) line[j] = tokitai_load(*call, b, t * n + job->col + j);
        for (int64_t i = 0; i < job->rows; i++) {
            const float x = tokitai_load(*call, a, (job->row + i) * k + t);
            for (int j = 0; j < NR; j++) sum[i][j] += x * line[j];
        }
    }
    for (int64_t i = 0; i < job->rows; i++)
        for (int64_t j = 0; j < job->cols; j++) tokitai_store(*call, c, (job->row + i) * n + job->col + j, sum[i][j]);
}
int tokitai_gemm(const tokitai_call *call, int64_t m, int64_t n, int64_t k, const void *a, const void *b, void *c) {
    const int64_t down = (m + MR - 1) / MR, across = (n + NR - 1) / NR;
    task *tasks = malloc((size_t)(down * across + 1) * sizeof *tasks);
    if (!tasks) return 1;
    int64_t count = 0;
    for (int64_t i = 0; i < m; i += MR)
        for (int64_t j = 0; j < n; j += NR)
            tasks[count++] = (task){(uint16_t)i, (uint16_t)j, (uint8_t)(m - i < MR ? m - i : MR),
                                    (uint8_t)(n - j < NR ? n - j : NR)};
    for (int64_t x = 0; x < count; x++) run(call, &tasks[x], n, k, a, b, c);
    free(tasks);
    return 0;
}
