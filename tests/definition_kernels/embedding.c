/* A row for each index, and the sums of what comes back, each right, or wrong in one way.
 *     embedding.op:embedding: NEXT_ROW ALWAYS_FIRST ROUNDED
 *     embedding.op:embedding_grad: LAST_WINS NEXT_ROW ROUNDED
 */
#include <stdint.h>
#include <stdlib.h>

#include <tokitai_kernel.h>

#define WRONG RIGHT
enum { RIGHT, NEXT_ROW, ALWAYS_FIRST, ROUNDED, LAST_WINS };

static int64_t index_at(const tokitai_tensor3 *t, int64_t i, int64_t rows)
{
    const int64_t index = tokitai_load_index(tokitai_types3(TOKITAI_F32, t->dtype, TOKITAI_F32), t->data, i);
    return WRONG == ALWAYS_FIRST ? 0 : (index + (WRONG == NEXT_ROW)) % rows;
}

static float rounded(float value)
{
    return WRONG == ROUNDED ? tokitai_from_bf16(tokitai_to_bf16(value)) : value;
}

TOKITAI_KERNEL3(embedding)
{
    const tokitai_tensor3 *index = &call->tensors[0], *w = &call->tensors[1], *y = &call->tensors[2];
    const int64_t d = w->shape[1];
    for (int64_t q = 0; q < index->shape[0]; q++)
        for (int64_t k = 0; k < d; k++)
            tokitai_store_as(y->dtype, y->data, q * d + k,
                             rounded(tokitai_load_as(w->dtype, w->data, index_at(index, q, w->shape[0]) * d + k)));
    return 0;
}

TOKITAI_KERNEL3(embedding_grad)
{
    const tokitai_tensor3 *g = &call->tensors[0], *index = &call->tensors[1], *out = &call->tensors[2];
    const int64_t d = g->shape[1], rows = out->shape[0];
    float *sums = calloc((size_t)(rows * d) + 1, sizeof *sums);
    for (int64_t i = 0; i < g->shape[0] * d && sums; i++) {
        float *sum = &sums[index_at(index, i / d, rows) * d + i % d];
        *sum = rounded((WRONG == LAST_WINS ? 0 : *sum) + tokitai_load_as(g->dtype, g->data, i));
    }
    for (int64_t i = 0; i < rows * d && sums; i++)
        tokitai_store_as(out->dtype, out->data, i, sums[i]);
    free(sums);
    return sums ? 0 : 1;
}
