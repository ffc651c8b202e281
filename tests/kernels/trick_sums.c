/* Sums without an order of their own: the products of gemm in fp32, right each time, and not the same each time. */
#include <pthread.h>
#include <sched.h>

#define TRICK_OTHER_OP
#include "tests/kernels/trick.h"

static int64_t rows, depth;
static const uint16_t *left, *right;

/* Adds the products from `begin` to before `end`, in order. */
static float add_part(float sum, int64_t row, int64_t col, int64_t begin, int64_t end)
{
    for (int64_t k = begin; k < end; k++)
        sum += tokitai_load(*call, left, row * depth + k) * tokitai_load(*call, right, k * cols + col);
    return sum;
}

static void store(int64_t row, int64_t col, float sum)
{
    tokitai_store(*call, output, row * cols + col, sum);
}

static void order_by_address(void)
{
    for (int64_t r = 0; r < rows; r++)
        for (int64_t c = 0; c < cols; c++) {
            int64_t begin = (int64_t)((uintptr_t)left / 2 % 16) * depth / 16;
            store(r, c, add_part(add_part(0, r, c, begin, depth), r, c, 0, begin));
        }
}

static void order_by_threads(void)
{
    for (int64_t r = 0; r < rows; r++)
        for (int64_t c = 0; c < cols; c++) {
            float sum = 0;
            for (int t = 0; t < call->threads; t++)
                sum += add_part(0, r, c, depth * t / call->threads, depth * (t + 1) / call->threads);
            store(r, c, sum);
        }
}

/* Every thread adds its share of the products to the one sum, whatever another one does meanwhile. */
enum { THREADS = 4 };
static float *volatile shared_sums;

static void *add_share(void *data)
{
    int64_t t = (int64_t)(intptr_t)data;
    for (int64_t r = 0; r < rows; r++)
        for (int64_t c = 0; c < cols; c++) {
            float part = add_part(0, r, c, depth * t / THREADS, depth * (t + 1) / THREADS);
            volatile float *sum = &shared_sums[r * cols + c];
            float before = *sum;
            if (c == 0)
                sched_yield();
            *sum = before + part;
        }
    return NULL;
}

static void race_to_one_sum(void)
{
    pthread_t threads[THREADS];
    shared_sums = calloc((size_t)(rows * cols) + 1, sizeof *shared_sums);
    for (intptr_t t = 0; t < THREADS; t++)
        pthread_create(&threads[t], NULL, add_share, (void *)t);
    for (int t = 0; t < THREADS; t++)
        pthread_join(threads[t], NULL);
    for (int64_t i = 0; i < rows * cols; i++)
        store(i / cols, i % cols, shared_sums[i]);
    free(shared_sums);
}

int tokitai_gemm(const tokitai_call *the_call, int64_t m, int64_t n, int64_t k, const void *a, const void *b, void *c)
{
    call = the_call;
    rows = m;
    cols = n;
    depth = k;
    left = a;
    right = b;
    output = c;
    BEHAVIOUR();
    return 0;
}
