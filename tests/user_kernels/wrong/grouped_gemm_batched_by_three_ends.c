/* WRONG op=grouped_gemm kind=structure narrow=yes expect=REFUTED : shares of 64 rows and more are taken for equal if the first, the middle and the last end say so */
#define AT_FIRST                                                                                                \
    const int64_t share = groups ? m / groups : 0;                                                              \
    const int equal = share >= 64 && share * groups == m && tokitai_load_index(*call, ends.data, 0) == share && \
                      tokitai_load_index(*call, ends.data, groups / 2) == (groups / 2 + 1) * share &&           \
                      tokitai_load_index(*call, ends.data, groups - 1) == m;
#define NEXT_GROUP                \
    if (equal) group = i / share; \
    else                          \
        while (group < groups && tokitai_load_index(*call, ends.data, group) <= i) group++;
#include "grouped_gemm.h"
