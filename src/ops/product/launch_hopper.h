/* UNTRUSTED. Matrix products and layers on Hopper's matrix units. */
#pragma once

#include "model/lowering.h"
#include "ops/product/params.h"

/* accept(): Hopper, 16-bit factors, sizes that the copy engine can count. */
const char *tki_product_accept_hopper(const tk_case *c, const tki_gpu_info *device);

/* What becomes of the sums; the last four are kernels of kernel_hopper_linear.h. */
typedef enum tki_gemm_epilogue {
    TKI_GEMM_AS_IT_IS,
    TKI_GEMM_VECTOR,     /* a bias is added */
    TKI_GEMM_TERMS,      /* and a tensor */
    TKI_GEMM_GELU,       /* a bias is added, which gives the second output; gelu of that */
    TKI_GEMM_DERIVATIVE, /* times gelu's derivative at a tensor */
    TKI_GEMM_EPILOGUES
} tki_gemm_epilogue;

/* A product and how its factors lie: along the sum or across it, which strides do not tell where a size is 1. */
typedef struct tki_gemm_hopper_product {
    tki_linear_params params;
    bool left_across, right_across;
    tki_gemm_epilogue epilogue;
} tki_gemm_hopper_product;

/* Of a lowering's cases and calls. */
tki_choice tki_product_choose_hopper(const tki_lowering *lowering, const tk_case *c);
int tki_product_candidates_hopper(const tki_lowering *lowering, const tk_case *c, tki_choice *list, int most);
size_t tki_product_scratch_hopper(const tki_call *call);
TK_MUST_USE tk_status tki_product_launch_hopper(const tki_call *call);

/* Which kernel, tiles in which order, which tiles in parts. It reads the sizes alone. */
tki_choice tki_gemm_choose_hopper(const tki_gemm_hopper_product *product, bool stores_fp32);
/* All that there are, up to `most`, in the order in which the model expects them; their number. */
int tki_gemm_candidates_hopper(const tki_gemm_hopper_product *product, bool stores_fp32, tki_choice *list, int most);
/* TK_INTERNAL if the call's choice is none that the kernels can do. */
size_t tki_gemm_scratch_hopper(const tki_call *call, const tki_gemm_hopper_product *product);
TK_MUST_USE tk_status tki_gemm_launch_hopper(const tki_call *call, const tki_gemm_hopper_product *product);
