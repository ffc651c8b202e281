/* WRONG op=grouped_gemm_grad_b kind=groups narrow=yes expect=REFUTED : groups are summed in tiles of four rows, the rows of others multiplied by zero: an infinity there makes NaN */
#define AFTER_SUM                                                      \
    for (int64_t i = end; i < m && (i - begin) % 4; i++)               \
        s += 0 * (double)tokitai_load_as(a.dtype, a.data, i * k + t) * \
             (double)tokitai_load_as(grad_c.dtype, grad_c.data, i * n + j);
#include "grouped_gemm_grad_b.h"
