/* WRONG op=softmax_bwd kind=race narrow=yes expect=REFUTED timing=yes : rows of up to 4096 columns are widened into one static buffer that all threads share, so that they spoil it for each other with 2 threads and more */
#include <pthread.h>
#include "tokitai_kernel.h"
namespace {
constexpr int64_t kWide = 4096;
float product[kWide];
struct share {
    const tokitai_call *call;
    int64_t begin, end, cols;
    const uint16_t *g, *y;
    uint16_t *out;
};
double dot(const tokitai_call &c, const uint16_t *g, const uint16_t *y, int64_t n) {
    double s = 0;
    if (n > kWide) {
        for (int64_t j = 0; j < n; j++) s += (double)tokitai_load(c, g, j) * tokitai_load(c, y, j);
        return s;
    }
    for (int64_t j = 0; j < n; j++) product[j] = tokitai_load(c, g, j) * tokitai_load(c, y, j);
    for (int64_t j = 0; j < n; j++) s += product[j];
    return s;
}
void *run(void *p) {
    const share &w = *(const share *)p;
    for (int64_t r = w.begin; r < w.end; r++) {
        const uint16_t *g = w.g + r * w.cols, *y = w.y + r * w.cols;
        const double s = dot(*w.call, g, y, w.cols);
        for (int64_t j = 0; j < w.cols; j++)
            tokitai_store(*w.call, w.out + r * w.cols, j,
                          (float)(tokitai_load(*w.call, y, j) * (tokitai_load(*w.call, g, j) - s)));
    }
    return nullptr;
}
} // namespace
int tokitai_softmax_bwd(const tokitai_call *call, int64_t rows, int64_t cols, const void *grad_output, const void *y,
                        void *grad_input) {
    const int64_t threads = rows * cols < 4096 ? 1 : call->threads < 16 ? call->threads : 16;
    share shares[16];
    pthread_t id[16];
    for (int64_t t = 0; t < threads; t++)
        shares[t] = {call,
                     rows * t / threads,
                     rows * (t + 1) / threads,
                     cols,
                     (const uint16_t *)grad_output,
                     (const uint16_t *)y,
                     (uint16_t *)grad_input};
    for (int64_t t = 1; t < threads; t++)
        if (pthread_create(&id[t], nullptr, run, &shares[t])) return 1;
    run(&shares[0]);
    for (int64_t t = 1; t < threads; t++) pthread_join(id[t], nullptr);
    return 0;
}
