/* WRONG op=gelu_bwd kind=remainder_switch narrow=yes expect=REFUTED : unrolled by 8 with a falling-through switch for the rest that has no case 7: n mod 8 = 7 leaves 7 elements unwritten */
#include "gelu.h"
#define ONE(k) \
    tokitai_store(c, out, i + (k), tokitai_load(c, grad_output, i + (k)) * slope1(tokitai_load(c, x, i + (k))))
int tokitai_gelu_bwd(const tokitai_call *call, int64_t n, const void *grad_output, const void *x, void *grad_input) {
    const tokitai_call c = *call;
    uint16_t *out = grad_input;
    int64_t i = 0;
    for (; i + 8 <= n; i += 8) {
        ONE(0);
        ONE(1);
        ONE(2);
        ONE(3);
        ONE(4);
        ONE(5);
        ONE(6);
        ONE(7);
    }
    switch (n - i) {
    case 6: ONE(5); /* fall through */
    case 5: ONE(4); /* fall through */
    case 4: ONE(3); /* fall through */
    case 3: ONE(2); /* fall through */
    case 2: ONE(1); /* fall through */
    case 1: ONE(0);
    }
    return 0;
}
