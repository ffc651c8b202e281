/* UNTRUSTED. padic_gemm on a GPU: which kernels, how many blocks, and what they are told of the modulus. */
#include "ops/padic/launch_gpu.h"

#include "runtime/gpu.h"

enum { MOST_BLOCKS = 1 << 20 }; /* blocks go on until nothing is left */

static const char source[] = "ops/padic/kernel.cu";

static int64_t divide_up(int64_t a, int64_t b)
{
    return a / b + (a % b != 0);
}

static tki_padic_gpu_params params_of(const tki_padic_params *p)
{
    const int64_t across = divide_up(p->n, TKI_PADIC_GPU_TILE);
    tki_padic_gpu_params g = {.a = p->a,
                              .b = p->b,
                              .c = p->c,
                              .m = p->m,
                              .n = p->n,
                              .k = p->k,
                              .tiles = across * divide_up(p->m, TKI_PADIC_GPU_TILE),
                              .tiles_across = across,
                              .prime = p->prime,
                              .precision = p->precision,
                              .mask = p->modulus - 1};
    if (p->prime != 2) {
        g.shift = __builtin_clzll(p->modulus);
        g.divisor = p->modulus << g.shift;
        g.reciprocal = (uint64_t)(((unsigned __int128)~g.divisor << 64 | UINT64_MAX) / g.divisor);
    }
    return g;
}

static const char *kernel_of(const tki_padic_params *p)
{
    if (p->prime == 2)
        return p->precision <= 32 ? "padic_low_32" : "padic_low_64";
    if (p->modulus <= UINT64_C(1) << 32)
        return "padic_small";
    return p->modulus <= UINT64_C(1) << 52 ? "padic_parts_26" : "padic_wide";
}

/* The count of slices, and the valuations. */
size_t tki_padic_scratch_gpu(const tki_padic_params *p)
{
    const int64_t tiles = divide_up(p->m, TKI_PADIC_GPU_TILE) + divide_up(p->n, TKI_PADIC_GPU_TILE);
    return 2 * sizeof(uint32_t) + (size_t)(tiles * p->k);
}

static tk_status run(const tki_call *call, const char *kernel, int64_t blocks, const tki_padic_gpu_params *g)
{
    const tki_gpu_grid grid = {.blocks = {blocks < MOST_BLOCKS ? (unsigned)blocks : MOST_BLOCKS},
                               .threads = TKI_PADIC_GPU_THREADS};
    return tki_gpu_run(call, source, kernel, grid, g);
}

tk_status tki_padic_launch_gpu(const tki_call *call, const tki_padic_params *p)
{
    tki_padic_gpu_params g = params_of(p);
    if (g.tiles == 0)
        return TK_OK;
    const int64_t down = g.tiles / g.tiles_across;
    g.slices = call->scratch;
    g.least_left = (uint8_t *)(g.slices + 2);
    g.least_right = g.least_left + down * p->k;
    g.counts = call->left_out_words;
    tk_status status = TK_OK;
    if (p->k) {
        const int64_t units = (down + g.tiles_across) * divide_up(p->k, TKI_PADIC_GPU_PLACES);
        status = run(call, "padic_valuations", units, &g);
        if (status == TK_OK)
            status = run(call, "padic_slices", divide_up(p->k, TKI_PADIC_GPU_THREADS), &g);
    }
    return status == TK_OK ? run(call, kernel_of(p), g.tiles, &g) : status;
}
