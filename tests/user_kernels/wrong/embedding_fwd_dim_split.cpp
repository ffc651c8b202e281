/* WRONG op=embedding_fwd kind=split_remainder_dropped narrow=yes expect=REFUTED : with fewer queries than threads the columns are divided, and dim % threads columns at the end of each row stay unwritten */
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
    auto copy = [&](int64_t q0, int64_t q1, int64_t c0, int64_t c1) {
        for (int64_t i = q0; i < q1 && c1 > c0; i++)
            std::memcpy(o + i * dim + c0, w + tokitai_load_index(*call, index, i) * dim + c0,
                        static_cast<size_t>(c1 - c0) * 2);
    };
    const int64_t threads = std::min<int64_t>(call->threads, 32);
    std::vector<std::thread> team;
    if (queries * dim < 1024 || threads == 1) {
        copy(0, queries, 0, dim);
    } else if (queries >= threads) {
        for (int64_t t = 0; t < threads; t++)
            team.emplace_back(copy, queries * t / threads, queries * (t + 1) / threads, 0, dim);
    } else {
        const int64_t width = dim / threads;
        for (int64_t t = 0; t < threads; t++) team.emplace_back(copy, 0, queries, t * width, (t + 1) * width);
    }
    for (auto &t : team) t.join();
    return 0;
}
