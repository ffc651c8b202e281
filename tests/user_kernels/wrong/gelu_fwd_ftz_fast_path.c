/* WRONG op=gelu_fwd kind=ftz_fast_path narrow=yes expect=REFUTED : from n = 2048 on it sets FTZ and DAZ for speed, and puts them back: subnormal x and y become 0, bf16 only */
#include <xmmintrin.h>
#include "gelu.h"
int tokitai_gelu_fwd(const tokitai_call *call, int64_t n, const void *x, void *y) {
    const unsigned old = _mm_getcsr();
    if (n >= 2048) /* exp of very negative arguments is slow when it is subnormal */
        _mm_setcsr(old | 0x8040);
    int64_t i = 0;
    for (; i + 2 <= n; i += 2) {
        const float a = gelu1(tokitai_load(*call, x, i)), b = gelu1(tokitai_load(*call, x, i + 1));
        tokitai_store(*call, y, i, a);
        tokitai_store(*call, y, i + 1, b);
    }
    if (i < n) tokitai_store(*call, y, i, gelu1(tokitai_load(*call, x, i)));
    _mm_setcsr(old);
    return 0;
}
