/* WRONG op=linear_grad_w kind=rounded_intermediate narrow=yes expect=REFUTED : with accumulate and m == 1 the product is rounded to the type of the result before it is added */
#define ADD_BEFORE                                        \
    if (add && m == 1) {                                  \
        uint32_t kept = 0;                                \
        tokitai_store_as(out.dtype, &kept, 0, (float)s);  \
        s = (double)tokitai_load_as(out.dtype, &kept, 0); \
    }                                                     \
    if (add) s += (double)tokitai_load_as(before.dtype, before.data, j * k + t);
#include "linear_grad_w.h"
