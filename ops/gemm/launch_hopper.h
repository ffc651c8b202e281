/* Matrix products on Hopper's matrix units. */
#ifndef TKI_OPS_GEMM_LAUNCH_HOPPER_H
#define TKI_OPS_GEMM_LAUNCH_HOPPER_H

#include "model/lowering.h"
#include "ops/gemm/params.h"

/* accept(): Hopper, 16-bit factors, sizes that the copy engine can count. */
const char *tki_gemm_accept_hopper(const tk_case *c, const tki_gpu_info *device);

/* A product and how its factors lie: along the sum or across it, which strides do not tell where a size is 1. */
typedef struct tki_gemm_hopper_product {
    tki_gemm_params params;
    bool left_across, right_across;
    const char *source;
} tki_gemm_hopper_product;

/* Which kernel, tiles in which order, which tiles in parts. It reads the sizes alone. */
tki_choice tki_gemm_choose_hopper(const tki_gemm_hopper_product *product, bool stores_fp32);
size_t tki_gemm_scratch_hopper(const tki_call *call, const tki_gemm_hopper_product *product);
TK_MUST_USE tk_status tki_gemm_launch_hopper(const tki_call *call, const tki_gemm_hopper_product *product);

#endif
