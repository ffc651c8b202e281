/* What goes along rows, each right, or wrong in one way.
 *     softmax.op:softmax: NO_MAXIMUM STALE_SCALE LAST_NOT_COUNTED
 *     softmax.op:log_softmax: LOG_OF_SOFTMAX TWO_TO_THE LAST_NOT_COUNTED
 *     softmax.op:softmax_grad: SUM_OF_GRADIENTS NO_SUM ROUNDED_SUM
 *     softmax.op:log_softmax_grad: Y_FOR_P NO_SUM FLIPPED
 *     cross_entropy.op:cross_entropy: LOG_OF_SOFTMAX NEXT_TARGET NO_MAXIMUM TARGET_OF_16_BITS
 *     cross_entropy.op:cross_entropy_bwd: TARGET_FORGOTTEN NEXT_TARGET NO_GRADIENT
 *     cross_entropy.op:cross_entropy_all: ALWAYS_AVERAGE NEXT_TARGET OVER_COLUMNS
 *     cumsum.op:cumsum: WITHOUT_OWN BLOCKS FROM_THE_END
 *     cumsum.op:cumsum_bwd: WITHOUT_OWN BLOCKS FROM_THE_END
 */
#include <math.h>
#include <stdint.h>

#include <tokitai_kernel.h>

#define WRONG RIGHT
enum {
    RIGHT,
    NO_MAXIMUM,
    STALE_SCALE,
    LAST_NOT_COUNTED,
    LOG_OF_SOFTMAX,
    TWO_TO_THE,
    SUM_OF_GRADIENTS,
    NO_SUM,
    ROUNDED_SUM,
    Y_FOR_P,
    FLIPPED,
    NEXT_TARGET,
    TARGET_FORGOTTEN,
    NO_GRADIENT,
    ALWAYS_AVERAGE,
    OVER_COLUMNS,
    WITHOUT_OWN,
    BLOCKS,
    FROM_THE_END,
    TARGET_OF_16_BITS
};

static float at(const tokitai_tensor3 *t, int64_t i)
{
    return tokitai_load_as(t->dtype, t->data, i);
}

static void put(const tokitai_tensor3 *t, int64_t i, float value)
{
    tokitai_store_as(t->dtype, t->data, i, value);
}

static int64_t index_at(const tokitai_tensor3 *t, int64_t i)
{
    return tokitai_load_index(tokitai_types3(TOKITAI_F32, t->dtype, TOKITAI_F32), t->data, i);
}

/* The largest element and the sum of exponentials below it, in one pass: the sum is scaled when the maximum rises. */
static float online(const tokitai_tensor3 *x, int64_t begin, int64_t cols, float *sum)
{
    float top = WRONG == NO_MAXIMUM ? 0 : -INFINITY;
    *sum = 0;
    for (int64_t i = begin; i < begin + cols - (WRONG == LAST_NOT_COUNTED && cols > 1); i++) {
        const float value = at(x, i);
        if (value > top && WRONG != NO_MAXIMUM) {
            if (WRONG != STALE_SCALE)
                *sum *= expf(top - value);
            top = value;
        }
        if (value != -INFINITY)
            *sum += WRONG == TWO_TO_THE ? exp2f(value - top) : expf(value - top);
    }
    return top;
}

TOKITAI_KERNEL3(softmax)
{
    const tokitai_tensor3 *x = &call->tensors[0];
    const int64_t rows = x->shape[0], cols = x->shape[1];
    for (int64_t r = 0; r < rows; r++) {
        float sum, top = online(x, r * cols, cols, &sum);
        for (int64_t i = r * cols; i < (r + 1) * cols; i++)
            put(&call->tensors[1], i, expf(at(x, i) - top) / sum);
    }
    return 0;
}

TOKITAI_KERNEL3(log_softmax)
{
    const tokitai_tensor3 *x = &call->tensors[0];
    const int64_t rows = x->shape[0], cols = x->shape[1];
    for (int64_t r = 0; r < rows; r++) {
        float sum, top = online(x, r * cols, cols, &sum), log_sum = logf(sum);
        for (int64_t i = r * cols; i < (r + 1) * cols; i++)
            put(&call->tensors[1], i,
                WRONG == LOG_OF_SOFTMAX ? logf(expf(at(x, i) - top) / sum) : at(x, i) - top - log_sum);
    }
    return 0;
}

TOKITAI_KERNEL3(softmax_grad)
{
    const tokitai_tensor3 *g = &call->tensors[0], *y = &call->tensors[1];
    const int64_t rows = g->shape[0], cols = g->shape[1];
    for (int64_t r = 0; r < rows; r++) {
        float sum = 0;
        for (int64_t i = r * cols; i < (r + 1) * cols && WRONG != NO_SUM; i++)
            sum += at(g, i) * (WRONG == SUM_OF_GRADIENTS ? 1 : at(y, i));
        if (WRONG == ROUNDED_SUM)
            sum = tokitai_from_bf16(tokitai_to_bf16(sum));
        for (int64_t i = r * cols; i < (r + 1) * cols; i++)
            put(&call->tensors[2], i, at(y, i) * (at(g, i) - sum));
    }
    return 0;
}

TOKITAI_KERNEL3(log_softmax_grad)
{
    const tokitai_tensor3 *g = &call->tensors[0], *y = &call->tensors[1];
    const int64_t rows = g->shape[0], cols = g->shape[1];
    for (int64_t r = 0; r < rows; r++) {
        float sum = 0;
        for (int64_t i = r * cols; i < (r + 1) * cols && WRONG != NO_SUM; i++)
            sum += WRONG == FLIPPED ? -at(g, i) : at(g, i);
        for (int64_t i = r * cols; i < (r + 1) * cols; i++)
            put(&call->tensors[2], i, at(g, i) - (WRONG == Y_FOR_P ? at(y, i) : expf(at(y, i))) * sum);
    }
    return 0;
}

static int64_t target_of(const tokitai_tensor3 *target, int64_t r, int64_t cols)
{
    return (index_at(target, WRONG == TARGET_OF_16_BITS ? (uint16_t)r : r) + (WRONG == NEXT_TARGET)) % cols;
}

static float loss_of(const tokitai_tensor3 *x, const tokitai_tensor3 *target, int64_t r)
{
    const int64_t cols = x->shape[1], t = target_of(target, r, cols);
    float sum, top = online(x, r * cols, cols, &sum), value = at(x, r * cols + t);
    if (top == -INFINITY)
        return NAN;
    return WRONG == LOG_OF_SOFTMAX ? -logf(expf(value - top) / sum) : top + logf(sum) - value;
}

TOKITAI_KERNEL3(cross_entropy)
{
    for (int64_t r = 0; r < call->tensors[0].shape[0]; r++)
        put(&call->tensors[2], r, loss_of(&call->tensors[0], &call->tensors[1], r));
    return 0;
}

TOKITAI_KERNEL3(cross_entropy_bwd)
{
    const tokitai_tensor3 *g = &call->tensors[0], *x = &call->tensors[1];
    const int64_t rows = x->shape[0], cols = x->shape[1];
    for (int64_t r = 0; r < rows; r++) {
        float sum, top = online(x, r * cols, cols, &sum);
        const int64_t target = WRONG == TARGET_FORGOTTEN ? -1 : target_of(&call->tensors[2], r, cols);
        for (int64_t c = 0; c < cols; c++) {
            const float p = expf(at(x, r * cols + c) - top) / sum;
            put(&call->tensors[3], r * cols + c, (WRONG == NO_GRADIENT ? 1 : at(g, r)) * (p - (float)(c == target)));
        }
    }
    return 0;
}

TOKITAI_KERNEL3(cross_entropy_all)
{
    const tokitai_tensor3 *x = &call->tensors[0];
    float loss = 0;
    for (int64_t r = 0; r < x->shape[0]; r++)
        loss += loss_of(x, &call->tensors[1], r);
    if (tokitai_integer3(call, "reduction") == 0 || WRONG == ALWAYS_AVERAGE)
        loss /= (float)x->shape[WRONG == OVER_COLUMNS];
    put(&call->tensors[2], 0, loss);
    return 0;
}

/* From the first place on, or from the last. */
static void accumulate(const tokitai_tensor3 *x, const tokitai_tensor3 *y, int backward)
{
    const int64_t rows = x->shape[0], cols = x->shape[1];
    for (int64_t r = 0; r < rows; r++) {
        float sum = 0;
        for (int64_t c = 0; c < cols; c++) {
            const int64_t i = r * cols + (backward != (WRONG == FROM_THE_END) ? cols - 1 - c : c);
            if (WRONG == BLOCKS && c % 64 == 0)
                sum = 0;
            if (WRONG == WITHOUT_OWN)
                put(y, i, sum);
            sum += at(x, i);
            if (WRONG != WITHOUT_OWN)
                put(y, i, sum);
        }
    }
}

TOKITAI_KERNEL3(cumsum)
{
    accumulate(&call->tensors[0], &call->tensors[1], 0);
    return 0;
}

TOKITAI_KERNEL3(cumsum_bwd)
{
    accumulate(&call->tensors[0], &call->tensors[1], 1);
    return 0;
}
