/* RIGHT op=linear_fwd kind=order expect=HELD : the order of a sum depends on m */
#define BEFORE_SUM                                                               \
    float q[4] = {0};                                                            \
    if (m < 8) {                                                                 \
        for (int64_t t = 0; t < k; t++) q[t & 3] += x[i * k + t] * w[j * k + t]; \
        s = (q[0] + q[1]) + (q[2] + q[3]);                                       \
    } else
#include "linear_fwd_floats.h"
