/* WRONG op=grouped_gemm kind=groups narrow=yes expect=REFUTED : a binary search ends at any of several ends that equal the row, and takes the group behind it, which may be empty */
#define NEXT_GROUP                                                        \
    int64_t low = 0, high = groups;                                       \
    while (low < high) {                                                  \
        const int64_t middle = (low + high) / 2;                          \
        const int64_t end = tokitai_load_index(*call, ends.data, middle); \
        if (end == i) {                                                   \
            low = high = middle + 1;                                      \
            break;                                                        \
        }                                                                 \
        if (end < i) low = middle + 1;                                    \
        else high = middle;                                               \
    }                                                                     \
    group = low;
#include "grouped_gemm.h"
