/* WRONG op=grouped_gemm kind=unwritten narrow=yes expect=REFUTED : rows behind the last end are left as they were */
#define NEXT_GROUP                                                                      \
    while (group < groups && tokitai_load_index(*call, ends.data, group) <= i) group++; \
    if (group == groups && groups > 0) return 0;
#include "grouped_gemm.h"
