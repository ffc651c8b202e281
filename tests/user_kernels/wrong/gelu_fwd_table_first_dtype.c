/* WRONG op=gelu_fwd kind=cached_parameter_not_refreshed expect=REFUTED : cached parameter not refreshed, the table is built for the type of the first call; the other type afterwards in the same process */
#include "kernel.h"
static uint16_t *table;
static int table_type;
int tokitai_gelu_fwd(const tokitai_call *call, int64_t n, const void *x, void *y) {
    if (!table || (n > 4096 && table_type != call->dtype)) { /* for few elements a rebuild does not pay */
        if (!table) table = malloc(65536 * sizeof *table);
        table_type = call->dtype;
        for (int i = 0; i < 65536; i++) {
            uint16_t p = (uint16_t)i;
            const double v = tokitai_load(*call, &p, 0);
            tokitai_store(*call, table, i, (float)(v / (1 + exp(-1.5957691216057308 * (v + 0.044715 * v * v * v)))));
        }
    }
    const uint16_t *in = x;
    uint16_t *out = y;
    for (int64_t i = 0; i < n; i++) out[i] = table[in[i]];
    return 0;
}
