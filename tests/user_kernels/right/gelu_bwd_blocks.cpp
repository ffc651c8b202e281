/* RIGHT op=gelu_bwd kind=staged_blocks_threads expect=HELD : blocks of 512 staged through float arrays, blocks dealt to std::thread workers in turn */
#include <algorithm>
#include <cmath>
#include <thread>
#include <vector>
#include <tokitai_kernel.h>
namespace {
constexpr int64_t block = 512;
void one_block(const tokitai_call &call, const uint16_t *g, const uint16_t *x, uint16_t *out, int64_t len) {
    float fx[block], fg[block], d[block];
    for (int64_t i = 0; i < len; i++) {
        fx[i] = tokitai_load(call, x, i);
        fg[i] = tokitai_load(call, g, i);
    }
    for (int64_t i = 0; i < len; i++) {
        /* beyond 32 sigma is 0 or 1 to more bits than any bound asks for */
        const double v = std::isnan(fx[i]) ? (double)fx[i] : std::clamp((double)fx[i], -32.0, 32.0);
        const double q = 0.044715 * v * v;
        const double z2 = 1.5957691216057308 * v * (1.0 + q);
        const double h = 1.5957691216057308 * v * (1.0 + 3.0 * q);
        const double e = std::exp(-std::fabs(z2));
        const double big = 1.0 / (1.0 + e), small = e / (1.0 + e);
        const double sigma = v < 0 ? small : big;
        d[i] = (float)(sigma + big * small * h);
    }
    for (int64_t i = 0; i < len; i++) tokitai_store(call, out, i, fg[i] * d[i]);
}
} // namespace
extern "C" int tokitai_gelu_bwd(const tokitai_call *call, int64_t n, const void *grad_output, const void *x,
                                void *grad_input) {
    const int64_t blocks = (n + block - 1) / block;
    const int64_t workers = std::clamp<int64_t>(std::min<int64_t>(call->threads, blocks / 8), 1, 32);
    auto work = [=](int64_t first) {
        for (int64_t b = first; b < blocks; b += workers) {
            const int64_t at = b * block;
            one_block(*call, (const uint16_t *)grad_output + at, (const uint16_t *)x + at,
                      (uint16_t *)grad_input + at, std::min(block, n - at));
        }
    };
    std::vector<std::thread> team;
    for (int64_t t = 1; t < workers; t++) team.emplace_back(work, t);
    work(0);
    for (auto &t : team) t.join();
    return 0;
}
