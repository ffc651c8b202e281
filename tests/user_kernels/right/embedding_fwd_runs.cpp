/* RIGHT op=embedding_fwd kind=runs_and_columns expect=HELD : ascending index runs become one memcpy, wide rows are divided among threads by columns */
#include <algorithm>
#include <cstring>
#include <thread>
#include <vector>
#include <tokitai_kernel.h>
extern "C" int tokitai_embedding_fwd(const tokitai_call *call, int64_t queries, int64_t dim, int64_t vocab,
                                     const void *index, const void *weight, void *out) {
    (void)vocab;
    const auto *w = static_cast<const uint16_t *>(weight);
    auto *o = static_cast<uint16_t *>(out);
    if (queries == 0 || dim == 0) return 0;
    if (dim < 256) {
        for (int64_t i = 0; i < queries;) {
            const int64_t first = tokitai_load_index(*call, index, i);
            int64_t run = 1;
            while (i + run < queries && tokitai_load_index(*call, index, i + run) == first + run) run++;
            std::memcpy(o + i * dim, w + first * dim, static_cast<size_t>(run * dim) * 2);
            i += run;
        }
        return 0;
    }
    const int64_t parts = std::clamp<int64_t>(call->threads, 1, std::min<int64_t>(8, dim / 64));
    auto columns = [&](int64_t t) {
        const int64_t lo = dim * t / parts, hi = dim * (t + 1) / parts;
        for (int64_t i = 0; i < queries; i++)
            std::memcpy(o + i * dim + lo, w + tokitai_load_index(*call, index, i) * dim + lo,
                        static_cast<size_t>(hi - lo) * 2);
    };
    std::vector<std::thread> team;
    for (int64_t t = 1; t < parts; t++) team.emplace_back(columns, t);
    columns(0);
    for (auto &t : team) t.join();
    return 0;
}
