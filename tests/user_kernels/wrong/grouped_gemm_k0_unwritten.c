/* WRONG op=grouped_gemm kind=empty_sum_unwritten narrow=yes expect=REFUTED : with k == 0 rows of groups are not written */
#define NEXT_GROUP                                                                      \
    while (group < groups && tokitai_load_index(*call, ends.data, group) <= i) group++; \
    if (k == 0 && group < groups) continue;
#include "grouped_gemm.h"
