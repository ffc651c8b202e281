/* xent in the general form: attributes by name, tensors with types and shapes of their own. The members of the call that ABI 1 has them in
 * are not read. */
#include <math.h>
#include <string.h>

#include <tokitai_kernel.h>

typedef struct row {
    const tokitai_tensor *logits, *grad_logits;
    int64_t begin, cols, target;
    double smoothing, scale;
} row;

static double logit(const row *r, int64_t j)
{
    return (double)tokitai_load_as(r->logits->dtype, r->logits->data, r->begin + j);
}

static void store_gradient(const row *r, int64_t j, double value)
{
    tokitai_store_as(r->grad_logits->dtype, r->grad_logits->data, r->begin + j, (float)value);
}

static float one_row(const row *r)
{
    const double share = r->smoothing / (double)r->cols;
    double max = -INFINITY;
    double others = 0; /* the sum of all terms but the target's */
    double spread = 0; /* the sum of all distances from the maximum */
    for (int64_t j = 0; j < r->cols; j++)
        max = fmax(max, logit(r, j));
    for (int64_t j = 0; j < r->cols; j++) {
        others += j == r->target ? 0 : exp(logit(r, j) - max);
        spread += max - logit(r, j);
    }
    const double distance = max - logit(r, r->target);
    const double sum = others + exp(-distance);
    double total = distance == 0 ? log1p(others) : log(sum);
    if (r->smoothing < 1) /* else 0 times infinity */
        total += (1 - r->smoothing) * distance;
    if (r->smoothing > 0)
        total += share * spread;
    for (int64_t j = 0; j < r->cols; j++) {
        const double p = exp(logit(r, j) - max) / sum;
        store_gradient(r, j, r->scale * (j == r->target ? r->smoothing - share - others / sum : p - share));
    }
    return (float)(isnan(sum) ? sum : total);
}

/* Is the call what the contract says? Anything else is a case that this kernel refuses. */
static int is_as_declared(const tokitai_call *call, const tokitai_tensor *tensors, int count)
{
    static const char *const names[] = {"logits", "target", "loss", "grad_logits"};
    static const int32_t ranks[] = {2, 1, 1, 2};
    if (call->abi < TOKITAI_KERNEL_ABI || count != 4 || call->attribute_count != 3 ||
        tokitai_find_attribute(call, "no such attribute"))
        return 0;
    for (int i = 0; i < count; i++)
        if (strcmp(tensors[i].name, names[i]) != 0 || tensors[i].rank != ranks[i] || tensors[i].output != (i >= 2) ||
            tensors[i].shape[0] != tensors[0].shape[0] ||
            (ranks[i] == 2 && tensors[i].shape[1] != tensors[0].shape[1]))
            return 0;
    return tensors[0].dtype == call->dtype && tensors[1].dtype == call->index_dtype &&
           tensors[2].dtype == TOKITAI_F32 && tensors[3].dtype == call->dtype;
}

TOKITAI_KERNEL(xent)
{
    const tokitai_tensor *logits = &tensors[0], *target = &tensors[1];
    float *loss = tensors[2].data;
    if (!is_as_declared(call, tensors, count))
        return 1;
    row r = {.logits = logits,
             .grad_logits = &tensors[3],
             .cols = logits->shape[1],
             .smoothing = (double)tokitai_real(call, "label_smoothing"),
             .scale = (double)tokitai_real(call, "scale")};
    for (int64_t i = 0; i < logits->shape[0]; i++) {
        r.begin = i * r.cols;
        r.target = tokitai_load_index(*call, target->data, i);
        const int ignored = r.target == tokitai_integer(call, "ignore_index");
        loss[i] = ignored ? 0 : one_row(&r);
        for (int64_t j = 0; ignored && j < r.cols; j++)
            store_gradient(&r, j, 0);
    }
    return 0;
}
