/* WRONG op=grouped_gemm kind=index_width narrow=yes expect=REFUTED : ends are compared as fp32 numbers, and odd ones beyond 2^24 rows are rounded */
#define NEXT_GROUP \
    while (group < groups && (int64_t)(float)tokitai_load_index(*call, ends.data, group) <= i) group++;
#include "grouped_gemm.h"
