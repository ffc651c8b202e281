/* WRONG op=linear_fwd kind=tile narrow=yes expect=REFUTED : bias_residual with all sizes multiples of 64: the bias is added twice in the last column of each tile */
#define AFTER_SUM                                                                               \
    if (epilogue == BIAS_RESIDUAL && m % 64 == 0 && n % 64 == 0 && k % 64 == 0 && j % 64 == 63) \
        v += (double)tokitai_load_as(bias.dtype, bias.data, j);
#include "linear_fwd.h"
