/* WRONG op=grouped_gemm_grad_b kind=groups narrow=yes expect=REFUTED : a group that has all rows loses the first where m is a multiple of 64 */
#define BEFORE_GROUP \
    if (m % 64 == 0 && begin == 0 && end == m && m) begin = 1;
#include "grouped_gemm_grad_b.h"
