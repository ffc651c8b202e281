/* WRONG op=gemm kind=int64_product_widened_late narrow=yes expect=REFUTED : fp16: sums are 128-bit integers of units 2^-48, but each product is taken in 64 bits before it is widened: products of 2^15 and more overflow */
#include "elements.h"
int tokitai_gemm(const tokitai_call *call, int64_t m, int64_t n, int64_t k, const void *a, const void *b, void *c) {
    const uint16_t *pa = a, *pb = b;
    uint16_t *pc = c;
    for (int64_t i = 0; i < m; i++)
        for (int64_t j = 0; j < n; j++) {
            if (call->dtype == TOKITAI_BF16) {
                double s = 0;
                for (int64_t t = k; t-- > 0;)
                    s += (double)tokitai_from_bf16(pa[i * k + t]) * tokitai_from_bf16(pb[t * n + j]);
                pc[i * n + j] = tokitai_to_bf16((float)s);
                continue;
            }
            __int128 s = 0;
            int plus = 0, minus = 0, nan = 0;
            for (int64_t t = 0; t < k; t++) {
                const uint16_t x = pa[i * k + t], y = pb[t * n + j];
                if ((x & 0x7c00) == 0x7c00 || (y & 0x7c00) == 0x7c00) {
                    if ((x & 0x7fff) > 0x7c00 || (y & 0x7fff) > 0x7c00 || !(x & 0x7fff) || !(y & 0x7fff)) nan = 1;
                    else if ((x ^ y) & 0x8000) minus = 1;
                    else plus = 1;
                } else {
                    s += (__int128)(fixed_f16(x) * fixed_f16(y));
                }
            }
            pc[i * n + j] = nan || (plus && minus) ? 0x7e00
                            : plus                 ? 0x7c00
                            : minus                ? 0xfc00
                                                   : tokitai_to_f16(odd_float(s));
        }
    return 0;
}
