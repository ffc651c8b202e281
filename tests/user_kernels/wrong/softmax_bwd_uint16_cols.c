/* WRONG op=softmax_bwd kind=uint16_truncation narrow=yes expect=REFUTED : the width of a row is kept in 16 bits, so that from 65536 columns on only cols mod 65536 are treated */
#include "kernel.h"
typedef struct {
    const uint16_t *g, *y;
    uint16_t *out;
    uint16_t width;
    uint8_t dtype;
} row_job;
static float read_element(const row_job *job, uint16_t p) {
    return job->dtype == TOKITAI_F16 ? tokitai_from_f16(p) : tokitai_from_bf16(p);
}
static void run(const row_job *job) {
    float s = 0.0f;
    for (unsigned j = 0; j < job->width; j++) s += read_element(job, job->y[j]) * read_element(job, job->g[j]);
    for (unsigned j = 0; j < job->width; j++) {
        const float v = read_element(job, job->y[j]) * (read_element(job, job->g[j]) - s);
        job->out[j] = job->dtype == TOKITAI_F16 ? tokitai_to_f16(v) : tokitai_to_bf16(v);
    }
}
int tokitai_softmax_bwd(const tokitai_call *call, int64_t rows, int64_t cols, const void *grad_output, const void *y,
                        void *grad_input) {
    for (int64_t r = 0; r < rows; r++) {
        const row_job job = {(const uint16_t *)grad_output + r * cols, (const uint16_t *)y + r * cols,
                             (uint16_t *)grad_input + r * cols, (uint16_t)cols, (uint8_t)call->dtype};
        run(&job);
    }
    return 0;
}
