/* WRONG op=grouped_gemm_grad_b kind=groups narrow=yes expect=REFUTED : rows behind the last end are added to the last group where it is empty */
#define BEFORE_GROUP \
    if (e == groups - 1 && begin == end) end = m;
#include "grouped_gemm_grad_b.h"
