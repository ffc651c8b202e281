/* WRONG op=xent kind=cached_parameter_not_refreshed expect=REFUTED : cached parameter not refreshed, eps / C is computed when C changes and not when eps does; two calls with equal cols and other smoothing */
#include "kernel.h"
static int64_t known_cols = -1;
static float uniform, kept;
#define AT_FIRST                          \
    if (cols != known_cols) {             \
        known_cols = cols;                \
        kept = c.label_smoothing;         \
        uniform = cols ? kept / cols : 0; \
    }
#define SMOOTHING kept
#define LOSS logf(z) + (eps < 1 ? (1 - eps) * (m - xt) : 0) + (eps > 0 ? uniform * sd : 0)
#define GRADIENT                                                            \
    for (int64_t j = 0; j < cols; j++)                                      \
        tokitai_store(c, grad_logits, b + j,                                \
                      c.scale * (j == t ? uniform * (cols - 1) - others / z \
                                        : expf(tokitai_load(c, logits, b + j) - m) / z - uniform));
#include "xent_fused.h"
