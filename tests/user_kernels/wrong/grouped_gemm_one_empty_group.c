/* WRONG op=grouped_gemm kind=groups narrow=yes expect=REFUTED : at most three empty groups in succession are passed over */
#define NEXT_GROUP                                                                                             \
    for (int step = 0; step < 4 && group < groups && tokitai_load_index(*call, ends.data, group) <= i; step++) \
        group++;
#include "grouped_gemm.h"
