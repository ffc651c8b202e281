/* The largest of each row by insertion: right, or wrong in one way.
 *     topk.op:topk: LAST_IS_FIRST ASCENDING OFF_BY_ONE ANOTHER_ROW FIRST_VALUE COUNTED_FROM_ONE INDEX_OF_16_BITS
 */
#include <math.h>
#include <stdint.h>

#include <tokitai_kernel.h>

#define WRONG RIGHT
enum { RIGHT, LAST_IS_FIRST, ASCENDING, OFF_BY_ONE, ANOTHER_ROW, FIRST_VALUE, COUNTED_FROM_ONE, INDEX_OF_16_BITS };

static double at(const tokitai_tensor3 *t, int64_t i)
{
    return tokitai_load_as(t->dtype, t->data, i);
}

static int more(double a, double b)
{
    return (a != a && b == b) || a > b;
}

TOKITAI_KERNEL3(topk)
{
    const int64_t k = tokitai_integer3(call, "count");
    const tokitai_tensor3 *x = &call->tensors[0], *value = &call->tensors[1], *index = &call->tensors[2];
    const int64_t rows = x->shape[0], cols = x->shape[1];
    int64_t best[64];
    for (int64_t r = 0; r < rows; r++) {
        int64_t n = 0;
        for (int64_t c = 0; c < cols; c++) {
            int64_t i = n < k ? n++ : k;
            for (; i > 0 && more(at(x, r * cols + c), at(x, r * cols + best[i - 1])); i--)
                if (i < k)
                    best[i] = best[i - 1];
            if (i < k)
                best[i] = c;
        }
        for (int64_t j = 0; j < k; j++) {
            int64_t chosen = best[j];
            if (WRONG == LAST_IS_FIRST && j == k - 1)
                chosen = best[0];
            if (WRONG == ASCENDING)
                chosen = best[k - 1 - j];
            if (WRONG == OFF_BY_ONE && chosen > 0)
                chosen--;
            ((int64_t *)index->data)[r * k + j] = WRONG == INDEX_OF_16_BITS ? (uint16_t)chosen
                                                                            : chosen + (WRONG == COUNTED_FROM_ONE);
            const int64_t row = WRONG == ANOTHER_ROW && r > 0 ? r - 1 : r;
            tokitai_store_as(value->dtype, value->data, r * k + j,
                             (float)at(x, row * cols + (WRONG == FIRST_VALUE ? best[0] : chosen)));
        }
    }
    return 0;
}
