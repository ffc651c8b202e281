/* WRONG op=linear_grad_x kind=rounded_intermediate narrow=yes expect=REFUTED : with gelu and aligned sizes the sum is rounded to the type of the result before the derivative */
#define AFTER_SUM                                                    \
    if (through_gelu && k % 16 == 0 && n % 16 == 0) {                \
        tokitai_store_as(out.dtype, out.data, i *k + t, (float)s);   \
        s = (double)tokitai_load_as(out.dtype, out.data, i * k + t); \
    }
#include "linear_grad_x.h"
