/* WRONG op=linear_fwd kind=rounded_intermediate narrow=no expect=REFUTED : bias_residual: bias and residual are added and rounded to the type of the residual before the product joins them */
#define AFTER_SUM                                                                 \
    if (epilogue == BIAS_RESIDUAL) {                                              \
        uint32_t sum;                                                             \
        tokitai_store_as(residual.dtype, &sum, 0,                                 \
                         tokitai_load_as(bias.dtype, bias.data, j) +              \
                             tokitai_load_as(residual.dtype, residual.data, at)); \
        v += (double)tokitai_load_as(residual.dtype, &sum, 0);                    \
    }
#define WITH_BIAS has_bias && !has_residual
#define WITH_RESIDUAL epilogue == RESIDUAL
#include "linear_fwd.h"
