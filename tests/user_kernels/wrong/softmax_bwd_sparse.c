/* WRONG op=softmax_bwd kind=nan_dropped narrow=yes expect=REFUTED : columns with y = 0 are skipped, so that an infinity or NaN in grad_output there does not make the row NaN */
#include "kernel.h"
int tokitai_softmax_bwd(const tokitai_call *call, int64_t rows, int64_t cols, const void *grad_output, const void *y,
                        void *grad_input) {
    const tokitai_call c = *call;
    int64_t *live = malloc((size_t)(cols > 0 ? cols : 1) * sizeof *live);
    if (!live) return 1;
    for (int64_t r = 0; r < rows; r++) {
        const uint16_t *g = (const uint16_t *)grad_output + r * cols, *p = (const uint16_t *)y + r * cols;
        uint16_t *out = (uint16_t *)grad_input + r * cols;
        int64_t count = 0;
        for (int64_t j = 0; j < cols; j++) {
            live[count] = j;
            count += (p[j] & 0x7fff) != 0;
            out[j] = 0;
        }
        double s = 0;
        for (int64_t k = 0; k < count; k++) s += (double)tokitai_load(c, p, live[k]) * tokitai_load(c, g, live[k]);
        for (int64_t k = 0; k < count; k++)
            tokitai_store(c, out, live[k], (float)(tokitai_load(c, p, live[k]) * (tokitai_load(c, g, live[k]) - s)));
        if (s - s != 0) /* an infinite sum reaches the others as well */
            for (int64_t j = 0; j < cols; j++)
                if ((p[j] & 0x7fff) == 0) tokitai_store(c, out, j, (float)(0.0 * s));
    }
    free(live);
    return 0;
}
