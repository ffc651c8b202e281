/* padic_gemm on a GPU: how many blocks, and what they are told of the modulus. */
#include "ops/padic/launch_gpu.h"

#include "backend/gpu.h"

enum { MOST_BLOCKS = 1 << 20 }; /* blocks go on until nothing is left */

tki_padic_gpu_params tki_padic_gpu_params_of(const tki_padic_params *p)
{
    const int64_t across = (p->n + TKI_PADIC_GPU_TILE - 1) / TKI_PADIC_GPU_TILE;
    const int64_t down = (p->m + TKI_PADIC_GPU_TILE - 1) / TKI_PADIC_GPU_TILE;
    tki_padic_gpu_params g = {.a = p->a,
                              .b = p->b,
                              .c = p->c,
                              .m = p->m,
                              .n = p->n,
                              .k = p->k,
                              .tiles = across * down,
                              .tiles_across = across,
                              .mask = p->modulus - 1,
                              .power_of_two = p->prime == 2};
    if (p->prime != 2) {
        g.shift = __builtin_clzll(p->modulus);
        g.divisor = p->modulus << g.shift;
        g.reciprocal = (uint64_t)(((unsigned __int128)~g.divisor << 64 | UINT64_MAX) / g.divisor);
    }
    return g;
}

tk_status tki_padic_launch_gpu(const tki_call *call, const tki_padic_params *p)
{
    const tki_padic_gpu_params g = tki_padic_gpu_params_of(p);
    const tki_gpu_grid grid = {.blocks = {g.tiles < MOST_BLOCKS ? (unsigned)g.tiles : MOST_BLOCKS},
                               .threads = TKI_PADIC_GPU_THREADS};
    return g.tiles ? tki_gpu_run(call, "ops/padic/kernel.cu", "padic_gemm", grid, &g) : TK_OK;
}
