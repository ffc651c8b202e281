/* RIGHT op=gelu_bwd kind=slope_table expect=HELD : the slope of every pattern in fp32 from a static table (C++ magic static), one product for each element */
#include <tokitai_kernel.h>
#include <cmath>
#include <memory>
namespace {
struct slopes {
    float of[2][65536];
    slopes() {
        for (int k = 0; k < 2; k++)
            for (int i = 0; i < 65536; i++) {
                const float f = k ? tokitai_from_bf16((uint16_t)i) : tokitai_from_f16((uint16_t)i);
                const long double x = f > 30 ? 30 : f < -30 ? -30 : f, c = 1.5957691216057307117597842397375L;
                const long double t = c * x * (1 + 0.044715L * x * x), h = c * x * (1 + 3 * 0.044715L * x * x);
                const long double s = 1 / (1 + expl(-t));
                of[k][i] = (float)(s * (1 + h / (1 + expl(t))));
            }
    }
};
} // namespace
extern "C" int tokitai_gelu_bwd(const tokitai_call *call, int64_t n, const void *grad_output, const void *x,
                                void *grad_input) {
    static const std::unique_ptr<const slopes> table(new slopes);
    const float *of = table->of[call->dtype == TOKITAI_BF16];
    const uint16_t *in = static_cast<const uint16_t *>(x);
    for (int64_t i = 0; i < n; i++)
        tokitai_store(*call, grad_input, i, tokitai_load(*call, grad_output, i) * of[in[i]]);
    return 0;
}
