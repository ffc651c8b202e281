/* Wrong kernels for xent, each with one line saying what is wrong. One plain body in double, which is right when
 * no flag is set, and a struct of flags. */
#include <math.h>
#include <string.h>

#include "core/mutant.h"
#include "ops/mutant_tools.h"

typedef struct mutation {
    bool last_dropped, last_row_dropped, last_terms_dropped, next_target, half_sum, truncated, nan_masked,
        rounded_exp;
    bool rounded_p, cancelling, ignored_graded, loss_scaled, unscaled, unsmoothed, smoothed_others_only, late_read;
    bool minus_log_p, loss_shifted, transposed, zero_times_infinity, empty_row_zero, max_kept, log_of_sum_in_16_bits,
        target_only;
} mutation;

/* One row's view: which logits it reads and how it is summed. */
typedef struct view {
    const tk_case *c;
    const void *logits;
    int64_t row, rows, cols;
    mutation m;
} view;

static double logit(const view *v, int64_t j)
{
    int64_t place = v->m.transposed ? j * v->rows + v->row : v->row * v->cols + j;
    return (double)tki_get(v->c, v->logits, place);
}

static double row_max(const view *v)
{
    double max = -INFINITY;
    for (int64_t j = 0; j < v->cols; j++)
        max = logit(v, j) > max || isnan(logit(v, j)) ? logit(v, j) : max;
    for (int64_t j = 0; j < v->cols && !v->m.nan_masked; j++)
        max = isnan(logit(v, j)) ? NAN : max;
    return max;
}

static double exp_of(const view *v, int64_t j, double max)
{
    double e = v->m.max_kept ? (double)expf((float)logit(v, j)) : exp(logit(v, j) - max);
    return v->m.rounded_exp ? (double)tki_rounded(v->c, (float)e) : e;
}

/* The sum without element `left_out`. */
static double sum_without(const view *v, double max, int64_t left_out)
{
    double sum = 0;
    int64_t end = v->m.last_terms_dropped && v->cols > 16 ? v->cols - 16 : v->cols;
    for (int64_t j = 0; j < end; j++) {
        if (j != left_out)
            sum += exp_of(v, j, max);
        if (v->m.half_sum)
            sum = (double)tki_rounded(v->c, (float)sum);
    }
    return sum;
}

static double loss_of(const view *v, double max, double z, double rest, int64_t target, double eps)
{
    if (v->m.minus_log_p && eps == 0)
        return (double)-logf((float)(exp_of(v, target, max) / z));
    double log_z = v->m.max_kept ? log(z) - max : log1p(rest);
    if (v->m.log_of_sum_in_16_bits)
        log_z = (double)tki_rounded(v->c, (float)log_z);
    double loss = log_z;
    if (eps < 1 || v->m.zero_times_infinity)
        loss += (1 - eps) * (max - logit(v, target));
    double spread = 0;
    for (int64_t j = 0; j < v->cols; j++)
        spread += max - logit(v, j);
    if (eps > 0 || v->m.zero_times_infinity)
        loss += eps / (double)v->cols * spread;
    return loss;
}

static double gradient_of(const view *v, double max, double z, double others, int64_t j, int64_t target, double eps)
{
    double cols = (double)v->cols;
    double share = v->m.smoothed_others_only ? (cols > 1 ? eps / (cols - 1) : 0) : eps / cols;
    double q = j == target ? (v->m.smoothed_others_only ? 1 - eps : 1 - eps + share) : share;
    if (v->m.target_only && j != target)
        return 0;
    double p = exp_of(v, j, max) / z;
    if (v->m.rounded_p)
        p = (double)tki_rounded(v->c, (float)p);
    if (v->m.cancelling && j == target && eps == 0)
        return (double)((float)p - (float)q);
    if (j == target && !v->m.smoothed_others_only && !v->m.rounded_p)
        return eps * (cols - 1) / cols - others / z;
    return p - q;
}

static void put_gradient(const view *v, void *out, int64_t j, double value)
{
    int64_t place = v->row * v->cols + j;
    if (v->m.nan_masked && isnan(value))
        value = 0;
    if (v->m.truncated)
        tki_put_truncated(v->c, out, place, (float)value);
    else
        tki_put(v->c, out, place, (float)value);
}

static void fill(const view *v, float *loss, void *grad, float value)
{
    *loss = value;
    for (int64_t j = 0; j < v->cols; j++)
        tki_put(v->c, grad, v->row * v->cols + j, value);
}

static void run_row(const view *v, int64_t target, float *loss, void *grad)
{
    double max = row_max(v);
    if (isnan(max) || isinf(max)) {
        fill(v, loss, grad, v->m.nan_masked || (v->m.empty_row_zero && max < 0) ? 0.0f : NAN);
        return;
    }
    int64_t max_at = 0;
    while (logit(v, max_at) != max)
        max_at++;
    double eps = v->m.unsmoothed ? 0 : (double)v->c->xent.label_smoothing;
    double scale = v->m.unscaled ? 1 : (double)v->c->xent.scale;
    double rest = sum_without(v, max, max_at);
    double others = sum_without(v, max, target);
    double z = v->m.max_kept ? sum_without(v, max, -1) : 1 + rest;
    double value = loss_of(v, max, z, rest, target, eps);
    for (int64_t j = 0; j < v->cols && v->m.late_read; j++)
        if (j == target)
            put_gradient(v, grad, j, scale * gradient_of(v, max, z, others, j, target, eps));
    if (v->m.late_read)
        value = loss_of(v, max, z, rest, target, eps);
    for (int64_t j = 0; j < v->cols; j++)
        if (!v->m.late_read || j != target)
            if (!v->m.last_dropped || v->row + 1 < v->rows || j + 1 < v->cols)
                put_gradient(v, grad, j, scale * gradient_of(v, max, z, others, j, target, eps));
    *loss = (float)(v->m.loss_scaled ? scale * value : value);
    if (v->m.nan_masked && isnan(*loss))
        *loss = 0;
}

static int run(const tk_case *c, void *const b[], mutation m)
{
    int64_t rows = c->dims[0];
    int64_t cols = c->dims[1];
    float *loss = b[2];
    for (int64_t row = 0; row < rows - m.last_row_dropped; row++) {
        view v = {.c = c, .logits = b[0], .row = row, .rows = rows, .cols = cols, .m = m};
        int64_t target = tki_get_index(c, b[1], row);
        float *place = &loss[m.loss_shifted ? (row + 1) % rows : row];
        if (target == c->xent.ignore_index && !(m.ignored_graded && cols > 0)) {
            fill(&v, place, b[3], 0.0f);
            continue;
        }
        /* An ignored target that is taken for an index points somewhere into the row. */
        target = ((target + m.next_target) % cols + cols) % cols;
        run_row(&v, target, place, b[3]);
    }
    return 0;
}

static int all_zeros(const tk_case *c, void *const b[], void *data)
{
    (void)data;
    memset(b[2], 0, (size_t)c->dims[0] * sizeof(float));
    memset(b[3], 0, (size_t)(c->dims[0] * c->dims[1]) * 2);
    return 0;
}

static int stale(const tk_case *c, void *const b[], void *data)
{
    (void)c;
    (void)b;
    (void)data;
    return 0;
}

static int last_dropped(const tk_case *c, void *const b[], void *data)
{
    (void)data;
    return run(c, b, (mutation){.last_dropped = true});
}

static int last_row_dropped(const tk_case *c, void *const b[], void *data)
{
    (void)data;
    return run(c, b, (mutation){.last_row_dropped = true});
}

static int last_terms_dropped(const tk_case *c, void *const b[], void *data)
{
    (void)data;
    return run(c, b, (mutation){.last_terms_dropped = true});
}

static int next_target(const tk_case *c, void *const b[], void *data)
{
    (void)data;
    return run(c, b, (mutation){.next_target = true});
}

static int half_sum(const tk_case *c, void *const b[], void *data)
{
    (void)data;
    return run(c, b, (mutation){.half_sum = true});
}

static int truncating_store(const tk_case *c, void *const b[], void *data)
{
    (void)data;
    return run(c, b, (mutation){.truncated = true});
}

static int nan_masked(const tk_case *c, void *const b[], void *data)
{
    (void)data;
    return run(c, b, (mutation){.nan_masked = true});
}

static int rounded_exp(const tk_case *c, void *const b[], void *data)
{
    (void)data;
    return run(c, b, (mutation){.rounded_exp = true});
}

static int rounded_p(const tk_case *c, void *const b[], void *data)
{
    (void)data;
    return run(c, b, (mutation){.rounded_p = true});
}

static int cancelling_target(const tk_case *c, void *const b[], void *data)
{
    (void)data;
    return run(c, b, (mutation){.cancelling = true});
}

static int ignored_graded(const tk_case *c, void *const b[], void *data)
{
    (void)data;
    return run(c, b, (mutation){.ignored_graded = true});
}

static int loss_scaled(const tk_case *c, void *const b[], void *data)
{
    (void)data;
    return run(c, b, (mutation){.loss_scaled = true});
}

static int unscaled(const tk_case *c, void *const b[], void *data)
{
    (void)data;
    return run(c, b, (mutation){.unscaled = true});
}

static int unsmoothed(const tk_case *c, void *const b[], void *data)
{
    (void)data;
    return run(c, b, (mutation){.unsmoothed = true});
}

static int smoothed_others_only(const tk_case *c, void *const b[], void *data)
{
    (void)data;
    return run(c, b, (mutation){.smoothed_others_only = true});
}

static int late_read(const tk_case *c, void *const b[], void *data)
{
    (void)data;
    return run(c, b, (mutation){.late_read = true});
}

static int minus_log_p(const tk_case *c, void *const b[], void *data)
{
    (void)data;
    return run(c, b, (mutation){.minus_log_p = true});
}

static int loss_shifted(const tk_case *c, void *const b[], void *data)
{
    (void)data;
    return run(c, b, (mutation){.loss_shifted = true});
}

static int transposed(const tk_case *c, void *const b[], void *data)
{
    (void)data;
    return run(c, b, (mutation){.transposed = true});
}

static int zero_times_infinity(const tk_case *c, void *const b[], void *data)
{
    (void)data;
    return run(c, b, (mutation){.zero_times_infinity = true});
}

static int empty_row_zero(const tk_case *c, void *const b[], void *data)
{
    (void)data;
    return run(c, b, (mutation){.empty_row_zero = true});
}

static int max_kept(const tk_case *c, void *const b[], void *data)
{
    (void)data;
    return run(c, b, (mutation){.max_kept = true});
}

static int rounded_log(const tk_case *c, void *const b[], void *data)
{
    (void)data;
    return run(c, b, (mutation){.log_of_sum_in_16_bits = true});
}

static int target_only(const tk_case *c, void *const b[], void *data)
{
    (void)data;
    return run(c, b, (mutation){.target_only = true});
}

const tki_mutant tki_xent_mutants[] = {
    {"all_zeros", "writes zeros", all_zeros},
    {"stale", "leaves the outputs as they were", stale},
    {"last_dropped", "does not write the last gradient element", last_dropped},
    {"last_row_dropped", "does not write the last row", last_row_dropped},
    {"last_terms_dropped", "leaves the last 16 terms out of its sums", last_terms_dropped},
    {"next_target", "takes the class after the target", next_target},
    {"half_sum", "rounds the partial sum of exp to 16 bits at each step", half_sum},
    {"truncating_store", "rounds the gradient toward zero when storing", truncating_store},
    {"nan_masked", "turns NaN into zero", nan_masked},
    {"rounded_exp", "stores exp in 16 bits", rounded_exp},
    {"rounded_p", "rounds p to 16 bits before q is taken away", rounded_p},
    {"cancelling_target",
     "computes the target's gradient without smoothing as p - 1 in fp32, which cancels in confident rows",
     cancelling_target},
    {"ignored_graded", "takes ignore_index for an index, so that ignored rows get a loss and a gradient",
     ignored_graded},
    {"loss_scaled", "applies the scale to the loss too", loss_scaled},
    {"unscaled", "does not apply the scale to the gradient", unscaled},
    {"unsmoothed", "ignores label smoothing", unsmoothed},
    {"smoothed_others_only", "spreads the smoothing over the other classes only, eps/(C-1) each",
     smoothed_others_only},
    {"late_read", "overwrites the target's logit before it is read for the loss: wrong in place", late_read},
    {"minus_log_p", "computes the loss as -log(p_t) without smoothing, which is infinite where p_t underflows",
     minus_log_p},
    {"loss_shifted", "writes each loss one row too far", loss_shifted},
    {"transposed", "reads the logits as [cols, rows]", transposed},
    {"zero_times_infinity", "multiplies the infinite d of a -inf logit by a weight of zero", zero_times_infinity},
    {"empty_row_zero", "gives zeros for a row of only -inf", empty_row_zero},
    {"max_kept", "does not subtract the maximum before exp", max_kept},
    {"rounded_log", "rounds ln Z to 16 bits", rounded_log},
    {"target_only", "writes the target's gradient and zeros elsewhere", target_only},
    {0},
};
