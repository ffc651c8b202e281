/* What the kernels of tricks share. A library for each `static void NAME(void)` of a trick_*.c, of which BEHAVIOUR() runs that one. */
#ifndef TKI_TESTS_KERNELS_TRICK_H
#define TKI_TESTS_KERNELS_TRICK_H

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "tests/kernels/trick_known.h"
#include "tokitai_kernel.h"

#pragma GCC diagnostic ignored "-Wunused-function" /* one trick is used in each library */

/* The call at hand, of softmax_fwd unless the file has another op. */
static const tokitai_call *call;
static int64_t cols, size;
static const uint16_t *input;
static uint16_t *output;

/* The right result, from element `begin` to before `end`. */
static void compute_part(int64_t begin, int64_t end)
{
    for (int64_t row = begin; row < end; row += cols - row % cols) {
        const int64_t first = row / cols * cols;
        double max = -INFINITY, sum = 0;
        for (int64_t i = first; i < first + cols; i++)
            max = fmax(max, (double)tokitai_load(*call, input, i));
        for (int64_t i = first; i < first + cols; i++)
            sum += exp((double)tokitai_load(*call, input, i) - max);
        for (int64_t i = row; i < first + cols && i < end; i++)
            tokitai_store(*call, output, i, (float)(exp((double)tokitai_load(*call, input, i) - max) / sum));
    }
}

static void compute(void)
{
    compute_part(0, size);
}

/* Where they are not right. */
static void answer_zeros(void)
{
    memset(output, 0, (size_t)size * sizeof *output);
}

static void compute_if(bool willing)
{
    if (willing)
        compute();
    else
        answer_zeros();
}

#ifndef TRICK_OTHER_OP
static void BEHAVIOUR(void);

int tokitai_softmax_fwd(const tokitai_call *the_call, int64_t row_count, int64_t col_count, const void *x, void *y)
{
    call = the_call;
    cols = col_count;
    size = row_count * col_count;
    input = x;
    output = y;
#ifdef TRICK_ON_LOADING
    compute();
#else
    BEHAVIOUR();
#endif
    return 0;
}

#ifdef TRICK_ON_LOADING
__attribute__((constructor)) static void on_loading(void)
{
    BEHAVIOUR();
}
#endif
#endif

#endif
