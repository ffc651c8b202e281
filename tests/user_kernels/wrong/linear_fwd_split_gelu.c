/* WRONG op=linear_fwd kind=rounded_intermediate narrow=yes expect=REFUTED : gelu at k >= 2048: two halves of the sum, the first kept in 16 bits */
#define TERMS (epilogue == GELU && k >= 2048 ? k / 2 : k)
#define AFTER_SUM                                                      \
    if (epilogue == GELU && k >= 2048) {                               \
        tokitai_store_as(pre.dtype, pre.data, at, (float)v);           \
        v = (double)tokitai_load_as(pre.dtype, pre.data, at);          \
        for (int64_t t = k / 2; t < k; t++)                            \
            v += (double)tokitai_load_as(x.dtype, x.data, i * k + t) * \
                 (double)tokitai_load_as(w.dtype, w.data, j * k + t);  \
    }
#include "linear_fwd.h"
