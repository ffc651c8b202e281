/* RIGHT op=gelu_bwd kind=dual_numbers expect=HELD : forward-mode differentiation with dual numbers in double, blocks of 100 through a stack buffer */
#include "kernel.h"
typedef struct {
    double v, d;
} dual;
static dual mul(dual a, dual b) { return (dual){a.v * b.v, a.v * b.d + a.d * b.v}; }
static double slope(double x) {
    if (x > 40.0) return 1.0;
    if (x < -40.0) return -0.0;
    const double k = 1.5957691216057307117597842397375;
    const dual X = {x, 1.0}, cube = mul(X, mul(X, X));
    const dual t = {k * (X.v + 0.044715 * cube.v), k * (X.d + 0.044715 * cube.d)};
    /* t may be below -709: then exp(-t) is infinite, and the slope is 0 for every purpose */
    if (t.v < -700.0) return -0.0;
    const double e = exp(-t.v);
    const dual den = {1.0 + e, -e * t.d};
    return (X.d * den.v - X.v * den.d) / den.v / den.v;
}
int tokitai_gelu_bwd(const tokitai_call *call, int64_t n, const void *grad_output, const void *x, void *grad_input) {
    double d[100];
    for (int64_t b = 0; b < n; b += 100) {
        const int m = n - b < 100 ? (int)(n - b) : 100;
        for (int i = 0; i < m; i++) d[i] = slope(tokitai_load(*call, x, b + i));
        for (int i = 0; i < m; i++)
            tokitai_store(*call, grad_input, b + i, (float)(tokitai_load(*call, grad_output, b + i) * d[i]));
    }
    return 0;
}
