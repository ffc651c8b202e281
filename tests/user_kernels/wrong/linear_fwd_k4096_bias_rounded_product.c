/* WRONG op=linear_fwd kind=rounded_intermediate narrow=yes expect=REFUTED : bias at k == 4096 is added to the product rounded to 16 bits */
#define AFTER_SUM                                         \
    if (k == 4096 && epilogue == BIAS) {                  \
        tokitai_store_as(y.dtype, y.data, at, (float)v);  \
        v = (double)tokitai_load_as(y.dtype, y.data, at); \
    }
#include "linear_fwd.h"
