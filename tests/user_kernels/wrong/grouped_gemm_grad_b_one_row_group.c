/* WRONG op=grouped_gemm_grad_b kind=groups narrow=yes expect=REFUTED : a group of a single row in the middle is taken for empty */
#define BEFORE_GROUP \
    if (e > 0 && e < groups - 1 && end - begin == 1) end = begin;
#include "grouped_gemm_grad_b.h"
