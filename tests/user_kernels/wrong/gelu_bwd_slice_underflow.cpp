/* WRONG op=gelu_bwd kind=unsigned_underflow narrow=yes expect=REFUTED : slices are rounded up to 1024, and with many threads one begins past n; end - begin wraps and the kernel runs off the buffers */
#include <algorithm>
#include <cmath>
#include <thread>
#include <vector>
#include <tokitai_kernel.h>
static float slope(double x) {
    x = std::isnan(x) ? x : std::max(-64.0, std::min(64.0, x));
    const double q = 0.044715 * x * x, z2 = 1.5957691216057308 * x * (1.0 + q);
    const double sigma = 1.0 / (1.0 + std::exp(-z2)), rest = 1.0 / (1.0 + std::exp(z2));
    return (float)(sigma + sigma * rest * 1.5957691216057308 * x * (1.0 + 3.0 * q));
}
extern "C" int tokitai_gelu_bwd(const tokitai_call *call, int64_t n, const void *grad_output, const void *x,
                                void *grad_input) {
    const tokitai_call c = *call;
    auto slice = [=](size_t begin, size_t count) {
        for (size_t i = begin; count-- > 0; i++)
            tokitai_store(c, grad_input, (int64_t)i,
                          tokitai_load(c, grad_output, (int64_t)i) * slope(tokitai_load(c, x, (int64_t)i)));
    };
    if (c.threads == 1 || n < 4096) {
        slice(0, (size_t)n);
        return 0;
    }
    const size_t total = (size_t)n, parts = (size_t)c.threads;
    const size_t chunk = ((total + parts - 1) / parts + 1023) / 1024 * 1024;
    std::vector<std::thread> team;
    for (size_t begin = 0, t = 0; t < parts && begin != total; t++, begin += chunk)
        team.emplace_back(slice, begin, std::min(chunk, total - begin));
    for (auto &t : team) t.join();
    return 0;
}
