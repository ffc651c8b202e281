/* Normalised rows and their gradients, each right, or wrong in one way.
 *     layernorm.op:layernorm_fwd: ONE_PASS ONE_LESS EPS_OUTSIDE
 *     layernorm.op:layernorm_bwd: NO_MEAN NO_PROJECTION LAST_ROW_LOST
 *     rmsnorm.op:rmsnorm_fwd: SUM_FOR_MEAN EPS_OUTSIDE CENTRED
 *     rmsnorm.op:rmsnorm_bwd: NO_PROJECTION WITHOUT_WEIGHT LAST_ROW_LOST
 */
#include <math.h>
#include <stdint.h>

#include <tokitai_kernel.h>

#define WRONG RIGHT
enum {
    RIGHT,
    ONE_PASS,
    ONE_LESS,
    EPS_OUTSIDE,
    NO_MEAN,
    NO_PROJECTION,
    LAST_ROW_LOST,
    SUM_FOR_MEAN,
    CENTRED,
    WITHOUT_WEIGHT
};

static float at(const tokitai_tensor3 *t, int64_t i)
{
    return tokitai_load_as(t->dtype, t->data, i);
}

static void put(const tokitai_tensor3 *t, int64_t i, float value)
{
    tokitai_store_as(t->dtype, t->data, i, value);
}

/* Welford's mean and sum of squares above it. Where infinities make NaN of that mean, the plain sum has the right one. */
static void welford(const tokitai_tensor3 *x, int64_t begin, int64_t cols, float *mean, float *squares)
{
    float sum = 0;
    *mean = *squares = 0;
    for (int64_t c = 0; c < cols; c++) {
        const float value = at(x, begin + c), before = value - *mean;
        sum += value;
        *mean += before / (float)(c + 1);
        *squares += before * (value - *mean);
    }
    if (cols == 0 || *mean != *mean)
        *mean = sum / (float)cols;
}

/* E x^2 - (E x)^2 */
static void one_pass(const tokitai_tensor3 *x, int64_t begin, int64_t cols, float *mean, float *squares)
{
    float sum = 0, sum_of_squares = 0;
    for (int64_t c = 0; c < cols; c++) {
        sum += at(x, begin + c);
        sum_of_squares += at(x, begin + c) * at(x, begin + c);
    }
    *mean = sum / (float)cols;
    *squares = fmaxf(sum_of_squares - *mean * sum, 0);
}

static float rstd_of(float variance, float eps)
{
    return WRONG == EPS_OUTSIDE ? 1 / (sqrtf(variance) + eps) : 1 / sqrtf(variance + eps);
}

TOKITAI_KERNEL3(layernorm_fwd)
{
    const tokitai_tensor3 *x = &call->tensors[0], *w = &call->tensors[1], *b = &call->tensors[2];
    const int64_t rows = x->shape[0], cols = x->shape[1];
    const float eps = (float)tokitai_real3(call, "eps");
    for (int64_t r = 0; r < rows; r++) {
        float mean, squares;
        (WRONG == ONE_PASS ? one_pass : welford)(x, r * cols, cols, &mean, &squares);
        const float rstd = rstd_of(squares / (float)(cols - (WRONG == ONE_LESS)), eps);
        for (int64_t c = 0; c < cols; c++)
            put(&call->tensors[3], r * cols + c, (at(x, r * cols + c) - mean) * rstd * at(w, c) + at(b, c));
        put(&call->tensors[4], r, mean);
        put(&call->tensors[5], r, rstd);
    }
    return 0;
}

/* grad_x of one row; `mean` NULL: of rmsnorm. */
static void row_gradient(const tokitai_call3 *call, const tokitai_tensor3 *mean, const tokitai_tensor3 *rstd,
                         int64_t r)
{
    const tokitai_tensor3 *grad = &call->tensors[0], *x = &call->tensors[1], *w = &call->tensors[2];
    const int64_t cols = x->shape[1];
    const float m = mean ? at(mean, r) : 0, scale = at(rstd, r);
    float sum = 0, projection = 0;
    for (int64_t c = 0; c < cols; c++) {
        const float g = at(grad, r * cols + c) * at(w, c), n = (at(x, r * cols + c) - m) * scale;
        sum += g;
        projection += (WRONG == WITHOUT_WEIGHT ? at(grad, r * cols + c) : g) * n;
    }
    sum = !mean || WRONG == NO_MEAN ? 0 : sum / (float)cols;
    projection = WRONG == NO_PROJECTION ? 0 : projection / (float)cols;
    for (int64_t c = 0; c < cols; c++) {
        const float g = at(grad, r * cols + c) * at(w, c), n = (at(x, r * cols + c) - m) * scale;
        put(tokitai_tensor_named(call, "grad_x"), r * cols + c, scale * (g - sum - n * projection));
    }
}

static void weight_gradients(const tokitai_call3 *call, const tokitai_tensor3 *mean, const tokitai_tensor3 *rstd)
{
    const tokitai_tensor3 *grad = &call->tensors[0], *x = &call->tensors[1];
    const int64_t rows = x->shape[0] - (WRONG == LAST_ROW_LOST && x->shape[0] > 0), cols = x->shape[1];
    for (int64_t c = 0; c < cols; c++) {
        float of_w = 0, of_b = 0;
        for (int64_t r = 0; r < rows; r++) {
            of_w += at(grad, r * cols + c) * ((at(x, r * cols + c) - (mean ? at(mean, r) : 0)) * at(rstd, r));
            of_b += at(grad, r * cols + c);
        }
        put(tokitai_tensor_named(call, "grad_w"), c, of_w);
        if (mean)
            put(tokitai_tensor_named(call, "grad_b"), c, of_b);
    }
}

TOKITAI_KERNEL3(layernorm_bwd)
{
    for (int64_t r = 0; r < call->tensors[0].shape[0]; r++)
        row_gradient(call, &call->tensors[3], &call->tensors[4], r);
    weight_gradients(call, &call->tensors[3], &call->tensors[4]);
    return 0;
}

TOKITAI_KERNEL3(rmsnorm_fwd)
{
    const tokitai_tensor3 *x = &call->tensors[0], *w = &call->tensors[1];
    const int64_t rows = x->shape[0], cols = x->shape[1];
    for (int64_t r = 0; r < rows; r++) {
        float squares = 0, mean = 0;
        for (int64_t c = 0; c < cols && WRONG == CENTRED; c++)
            mean += at(x, r * cols + c) / (float)cols;
        for (int64_t c = 0; c < cols; c++)
            squares += (at(x, r * cols + c) - mean) * (at(x, r * cols + c) - mean);
        const float rstd = rstd_of(WRONG == SUM_FOR_MEAN ? squares : squares / (float)cols,
                                   (float)tokitai_real3(call, "eps"));
        for (int64_t c = 0; c < cols; c++)
            put(&call->tensors[2], r * cols + c, at(x, r * cols + c) * rstd * at(w, c));
        put(&call->tensors[3], r, rstd);
    }
    return 0;
}

TOKITAI_KERNEL3(rmsnorm_bwd)
{
    for (int64_t r = 0; r < call->tensors[0].shape[0]; r++)
        row_gradient(call, 0, &call->tensors[3], r);
    weight_gradients(call, 0, &call->tensors[3]);
    return 0;
}
