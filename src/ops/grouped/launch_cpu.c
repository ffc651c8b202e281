/* Products of groups on the CPU: gemm's kernel for each group. Its bits depend on the group alone, so threads may share groups out or
 * share one group. */
#include "ops/grouped/launch_cpu.h"

#include <string.h>

#include "model/case.h"
#include "ops/gemm/kernel_cpu.h"

enum { M, N, K, G };
enum { FIRST, SECOND, ENDS, OUT };

/* One group's product. */
static tki_gemm_params product_of(const tki_call *call, int64_t group)
{
    const tk_case *c = call->c;
    const int64_t n = c->dims[N], k = c->dims[K];
    const int64_t begin = group ? tki_index_at(c, call->buffers[ENDS], group - 1) : 0;
    const int64_t rows = tki_index_at(c, call->buffers[ENDS], group) - begin;
    const size_t element = tk_dtype_size(c->dtype), result = tk_dtype_size(c->result_dtype);
    const tk_param *output = &c->contract->params[OUT];
    const char *first = call->buffers[FIRST], *second = call->buffers[SECOND];
    char *out = call->buffers[OUT];
    if (output->rank == 3) /* grad_b = a^T grad_c */
        return (tki_gemm_params){.left = {second + (size_t)(begin * k) * element, 1, k},
                                 .right = {first + (size_t)(begin * n) * element, 1, n},
                                 .out = out + (size_t)(group * k * n) * result,
                                 .rows = k,
                                 .cols = n,
                                 .inner = rows};
    const bool grad_a = output->dim[1] == K;
    const int64_t cols = grad_a ? k : n, inner = grad_a ? n : k;
    return (tki_gemm_params){.left = {first + (size_t)(begin * inner) * element, inner, 1},
                             .right = {second + (size_t)(group * k * n) * element, grad_a ? n : 1, grad_a ? 1 : n},
                             .out = out + (size_t)(begin * cols) * result,
                             .rows = rows,
                             .cols = cols,
                             .inner = inner};
}

static double work_of(const tki_gemm_params *p)
{
    return (double)p->rows * (double)p->cols * (double)p->inner;
}

/* Whether each thread takes groups of its own: where no group is more than a thread's share of the work. Else all work on one group at
 * a time. */
static bool shares_groups(const tki_call *call)
{
    double all = 0, most = 0;
    for (int64_t i = 0; i < call->c->dims[G]; i++) {
        const tki_gemm_params p = product_of(call, i);
        most = work_of(&p) > most ? work_of(&p) : most;
        all += work_of(&p);
    }
    return call->threads > 1 && most * call->threads <= all;
}

/* Whatever the ends are. */
static size_t scratch_of(const tki_call *call, int threads)
{
    const tki_gemm_cpu *kernels = call->lowering->kernels;
    const int64_t m = call->c->dims[M], n = call->c->dims[N], k = call->c->dims[K];
    const tk_param *output = &call->c->contract->params[OUT];
    const bool grad_a = output->dim[1] == K && output->rank == 2;
    const tki_gemm_params p = {.rows = output->rank == 3 ? k : m,
                               .cols = grad_a ? k : n,
                               .inner = output->rank == 3 ? m
                                        : grad_a          ? n
                                                          : k};
    return call->c->dims[G] ? kernels->most_scratch_bytes(&p, threads) : 0;
}

size_t tki_grouped_scratch_cpu(const tki_call *call)
{
    return scratch_of(call, call->threads);
}

/* Rows of no group. */
static void clear_rest(const tki_call *call)
{
    const tk_case *c = call->c;
    const tk_param *output = &c->contract->params[OUT];
    if (output->rank == 3)
        return;
    const int64_t last = c->dims[G] ? tki_index_at(c, call->buffers[ENDS], c->dims[G] - 1) : 0;
    const size_t row = (size_t)c->dims[output->dim[1]] * tk_dtype_size(c->result_dtype);
    if (row && last < c->dims[M])
        memset((char *)call->buffers[OUT] + (size_t)last * row, 0, (size_t)(c->dims[M] - last) * row);
}

tk_status tki_grouped_launch_cpu(const tki_call *call)
{
    const tk_case *c = call->c;
    const tki_gemm_cpu *kernels = call->lowering->kernels;
    const int64_t bad = c->dims[G] ? tki_first_bad_index(c, ENDS, call->buffers[ENDS]) : -1;
    if (bad >= 0)
        return tki_fail_index(call->ctx, c->contract, tki_index_param(c->contract), bad,
                              tki_index_at(c, call->buffers[ENDS], bad), c->dims[M]);
    const size_t scratch = scratch_of(call, 1);
    clear_rest(call);
    if (!shares_groups(call)) {
        for (int64_t i = 0; i < c->dims[G]; i++) {
            const tki_gemm_params p = product_of(call, i);
            if (p.rows && p.cols)
                kernels->product(&p, c->dtype, c->result_dtype, call->scratch, call->threads);
        }
        return TK_OK;
    }
    /* A share is a piece of scratch, not a thread: every one is served even if fewer threads come. */
#pragma omp parallel for schedule(static, 1) num_threads(call->threads)
    for (int share = 0; share < call->threads; share++)
        for (int64_t i = share; i < c->dims[G]; i += call->threads) {
            const tki_gemm_params p = product_of(call, i);
            if (p.rows && p.cols)
                kernels->product(&p, c->dtype, c->result_dtype, (char *)call->scratch + (size_t)share * scratch, 1);
        }
    return TK_OK;
}
