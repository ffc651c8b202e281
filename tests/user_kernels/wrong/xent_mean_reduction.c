/* WRONG op=xent kind=gradient_divided_by_the_number_of_rows_t expect=REFUTED : gradient divided by the number of rows that count, as for a mean; two such rows or more */
#define CONST
#define BEFORE_ROWS                                                                                \
    int64_t live = 0;                                                                              \
    for (int64_t r = 0; r < rows; r++) live += tokitai_load_index(c, target, r) != c.ignore_index; \
    if (live) c.scale /= (float)live;
#include "xent_fused.h"
