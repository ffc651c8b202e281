/* UNTRUSTED. gelu on a GPU: which of kernel.cu's kernels runs, and on how many blocks. */
#include "ops/gelu/launch_gpu.h"

#include "ops/gelu/params.h"
#include "runtime/gpu.h"

static const char source[] = "ops/gelu/kernel.cu";

enum {
    VECTOR_BYTES = 16,
    MOST_BLOCKS = 1 << 23 /* HIP counts the threads of a grid in 32 bits; blocks go on until nothing is left */
};

/* Whether two pointers lie alike within 16 bytes. */
static bool are_congruent(const void *a, const void *b)
{
    return ((uintptr_t)a - (uintptr_t)b) % VECTOR_BYTES == 0;
}

static tki_gpu_grid grid_for(int64_t n, int64_t elements_per_thread)
{
    const int64_t tile = elements_per_thread * TKI_GELU_THREADS;
    const int64_t blocks = n / tile + (n % tile != 0);
    return (tki_gpu_grid){.blocks = {blocks < MOST_BLOCKS ? (unsigned)blocks : MOST_BLOCKS},
                          .threads = TKI_GELU_THREADS};
}

/* Where pointers lie is not known yet when a call is prepared: then both kernels are loaded. */
static tk_status run(const tki_call *call, const tki_gelu_params *p, bool congruent, const char *by_vectors,
                     int vectors, const char *by_elements)
{
    tk_status status = TK_OK;
    if (p->n == 0)
        return status;
    if (congruent || call->prepare_only)
        status = tki_gpu_run(call, source, by_vectors,
                             grid_for(p->n, (int64_t)vectors * VECTOR_BYTES / (int64_t)tk_dtype_size(call->c->dtype)),
                             p);
    if (status == TK_OK && (!congruent || call->prepare_only))
        status = tki_gpu_run(call, source, by_elements, grid_for(p->n, TKI_GELU_ELEMENTS), p);
    return status;
}

tk_status tki_gelu_fwd_launch_gpu(const tki_call *call)
{
    const tki_gelu_params p = {.x = call->buffers[0], .out = call->buffers[1], .n = call->c->dims[0]};
    return run(call, &p, are_congruent(p.x, p.out), "gelu_fwd", TKI_GELU_FWD_VECTORS, "gelu_fwd_elements");
}

tk_status tki_gelu_bwd_launch_gpu(const tki_call *call)
{
    const tki_gelu_params p = {
        .grad_output = call->buffers[0], .x = call->buffers[1], .out = call->buffers[2], .n = call->c->dims[0]};
    return run(call, &p, are_congruent(p.x, p.out) && are_congruent(p.grad_output, p.out), "gelu_bwd",
               TKI_GELU_BWD_VECTORS, "gelu_bwd_elements");
}
