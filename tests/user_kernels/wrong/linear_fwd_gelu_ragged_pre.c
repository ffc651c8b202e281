/* WRONG op=linear_fwd kind=tail narrow=yes expect=REFUTED : gelu without bias stores pre in groups of eight columns, and not the last n % 8 beyond the first group */
#define BEFORE_GELU                                                      \
    if (epilogue == GELU && n > 8 && j >= n / 8 * 8) {                   \
        tokitai_store_as(y.dtype, y.data, at, (float)gelu_in_double(v)); \
        continue;                                                        \
    }
#include "linear_fwd.h"
