/* WRONG op=grouped_gemm kind=groups narrow=yes expect=REFUTED : the last group is taken to have all rows up to m */
#define NEXT_GROUP \
    while (group < groups - 1 && tokitai_load_index(*call, ends.data, group) <= i) group++;
#include "grouped_gemm.h"
