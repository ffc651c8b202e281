/* WRONG op=grouped_gemm_grad_b kind=empty_unwritten narrow=yes expect=REFUTED : the gradient of the first group is not written where it has no rows */
#define BEFORE_GROUP \
    if (e == 0 && begin == end) continue;
#include "grouped_gemm_grad_b.h"
