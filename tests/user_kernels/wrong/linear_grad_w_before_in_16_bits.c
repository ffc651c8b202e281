/* WRONG op=linear_grad_w kind=type narrow=yes dtype=f16-f32 expect=REFUTED : before is rounded to the type of x, also where results are fp32 */
#define ADD_BEFORE                                                                                      \
    uint32_t kept = 0;                                                                                  \
    if (add) tokitai_store_as(x.dtype, &kept, 0, tokitai_load_as(before.dtype, before.data, j *k + t)); \
    if (add) s += (double)tokitai_load_as(x.dtype, &kept, 0);
#include "linear_grad_w.h"
