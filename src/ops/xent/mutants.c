/* CHOOSES. Wrong kernels for xent, each with one line saying what is wrong. One plain body in double, which is right when
 * no flag is set, and a struct of flags. */
#include <float.h>
#include <math.h>

#include "ops/mutant_tools.h"
#include "ops/xent/contract.h"

typedef struct mutation {
    tki_store store;
    bool last_dropped, last_row_dropped, last_terms_dropped, tail_unsummed, next_target, half_sum, nan_masked;
    bool rounded_exp, rounded_p, cancelling, ignored_graded, ignored_stale, ignored_loss_only, loss_scaled, unscaled;
    bool unsmoothed, smoothed_others_only, unspread_loss, late_read, minus_log_p, loss_shifted, transposed;
    bool zero_times_infinity, empty_row_zero, max_kept, max_from_zero, log_of_sum_in_16_bits, target_only, from_lse;
    bool epsilon_in_log, clamped_loss, mean_gradient, sign_swapped, adding;
    int64_t most_summed; /* terms beyond are left out of the sums */
    int64_t most_rows;   /* rows beyond are not written */
} mutation;

/* One row's view: which logits it reads and how it is summed. */
typedef struct view {
    const tk_case *c;
    const void *logits;
    int64_t row, rows, cols;
    const mutation *m;
} view;

static double logit(const view *v, int64_t j)
{
    int64_t place = v->m->transposed ? j * v->rows + v->row : v->row * v->cols + j;
    return (double)tki_get(v->c, v->logits, place);
}

static double row_max(const view *v)
{
    double max = v->m->max_from_zero ? 0 : -INFINITY;
    for (int64_t j = 0; j < v->cols; j++)
        max = logit(v, j) > max || isnan(logit(v, j)) ? logit(v, j) : max;
    for (int64_t j = 0; j < v->cols && !v->m->nan_masked; j++)
        max = isnan(logit(v, j)) ? NAN : max;
    return max;
}

static double exp_of(const view *v, int64_t j, double max)
{
    double e = v->m->max_kept ? (double)expf((float)logit(v, j)) : exp(logit(v, j) - max);
    return v->m->rounded_exp ? (double)tki_rounded(v->c, (float)e) : e;
}

/* The sum without element `left_out`. */
static double sum_without(const view *v, double max, int64_t left_out)
{
    double sum = 0;
    int64_t end = v->m->last_terms_dropped && v->cols > 16 ? v->cols - 16 : v->cols;
    if (v->m->tail_unsummed && end > 8)
        end -= tki_tail(end, 8);
    if (v->m->most_summed && end > v->m->most_summed)
        end = v->m->most_summed;
    for (int64_t j = 0; j < end; j++) {
        if (j != left_out)
            sum += exp_of(v, j, max);
        if (v->m->half_sum)
            sum = (double)tki_rounded(v->c, (float)sum);
    }
    return sum;
}

static double loss_of(const view *v, double max, double z, double rest, int64_t target, double eps)
{
    if (v->m->minus_log_p && eps == 0)
        return (double)-logf((float)(exp_of(v, target, max) / z));
    if (v->m->from_lse && eps == 0)
        return (double)((float)(max + log1p(rest)) - (float)logit(v, target));
    if (v->m->epsilon_in_log && eps == 0)
        return (double)-logf((float)(exp_of(v, target, max) / z) + 1e-7f);
    double log_z = v->m->max_kept ? log(z) - max : v->m->max_from_zero ? log(z) : log1p(rest);
    if (v->m->log_of_sum_in_16_bits)
        log_z = (double)tki_rounded(v->c, (float)log_z);
    double loss = log_z;
    if (eps < 1 || v->m->zero_times_infinity)
        loss += (1 - eps) * (max - logit(v, target));
    double spread = 0;
    for (int64_t j = 0; j < v->cols; j++)
        spread += max - logit(v, j);
    if ((eps > 0 && !v->m->unspread_loss) || v->m->zero_times_infinity)
        loss += eps / (double)v->cols * spread;
    return loss;
}

static double gradient_of(const view *v, double max, double z, double others, int64_t j, int64_t target, double eps)
{
    double cols = (double)v->cols;
    double share = v->m->smoothed_others_only ? (cols > 1 ? eps / (cols - 1) : 0) : eps / cols;
    double q = j == target ? (v->m->smoothed_others_only ? 1 - eps : 1 - eps + share) : share;
    if (v->m->target_only && j != target)
        return 0;
    double p = exp_of(v, j, max) / z;
    if (v->m->rounded_p)
        p = (double)tki_rounded(v->c, (float)p);
    if (v->m->cancelling && j == target && eps == 0)
        return (double)((float)p - (float)q);
    if (j == target && !v->m->smoothed_others_only && !v->m->rounded_p)
        return eps * (cols - 1) / cols - others / z;
    return p - q;
}

static void put_gradient(const view *v, void *out, int64_t j, double value)
{
    int64_t place = v->row * v->cols + j;
    if (v->m->nan_masked && isnan(value))
        value = 0;
    if (v->m->adding)
        value += (double)tki_get_result(v->c, out, place);
    tki_put_as(v->c, out, place, (float)value, v->m->store);
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
        fill(v, loss, grad, v->m->nan_masked || (v->m->empty_row_zero && max < 0) ? 0.0f : NAN);
        return;
    }
    int64_t max_at = 0;
    while (max_at < v->cols && logit(v, max_at) != max)
        max_at++;
    double eps = v->m->unsmoothed ? 0 : v->c->attributes[TKI_XENT_LABEL_SMOOTHING].real;
    double scale = v->m->unscaled ? 1 : v->c->attributes[TKI_XENT_SCALE].real;
    double rest = sum_without(v, max, max_at);
    double others = sum_without(v, max, target);
    double z = v->m->max_kept || v->m->max_from_zero ? sum_without(v, max, -1) : 1 + rest;
    if (v->m->mean_gradient)
        scale /= (double)v->rows;
    if (v->m->sign_swapped)
        scale = -scale;
    double value = loss_of(v, max, z, rest, target, eps);
    for (int64_t j = 0; j < v->cols && v->m->late_read; j++)
        if (j == target)
            put_gradient(v, grad, j, scale * gradient_of(v, max, z, others, j, target, eps));
    if (v->m->late_read)
        value = loss_of(v, max, z, rest, target, eps);
    for (int64_t j = 0; j < v->cols; j++)
        if (!v->m->late_read || j != target)
            if (!v->m->last_dropped || v->row + 1 < v->rows || j + 1 < v->cols)
                put_gradient(v, grad, j, scale * gradient_of(v, max, z, others, j, target, eps));
    *loss = (float)(v->m->loss_scaled ? scale * value : value);
    if (v->m->nan_masked && isnan(*loss))
        *loss = 0;
    if (v->m->clamped_loss)
        *loss = fminf(*loss, 100.0f);
    if (v->m->store == TKI_STORE_SATURATED)
        *loss = fminf(*loss, FLT_MAX);
}

/* An ignored row. */
static void run_ignored(const view *v, float *loss, void *grad)
{
    float kept = *loss;
    if (v->m->ignored_stale)
        return;
    if (v->m->ignored_loss_only && v->cols > 0) {
        run_row(v, 0, &kept, grad);
        *loss = 0;
        return;
    }
    fill(v, loss, grad, 0.0f);
}

static int run(const tk_case *c, void *const b[], void *data)
{
    static const mutation right_way = {0};
    const mutation *m = tki_how(data) ? tki_how(data) : &right_way;
    int64_t rows = c->dims[0];
    int64_t cols = c->dims[1];
    float *loss = b[2];
    for (int64_t row = 0; row < (m->most_rows && m->most_rows < rows ? m->most_rows : rows - m->last_row_dropped);
         row++) {
        view v = {.c = c, .logits = b[0], .row = row, .rows = rows, .cols = cols, .m = m};
        int64_t target = tki_get_index(c, b[1], row);
        float *place = &loss[m->loss_shifted ? (row + 1) % rows : row];
        if (target == c->attributes[TKI_XENT_IGNORE_INDEX].integer && !(m->ignored_graded && cols > 0)) {
            run_ignored(&v, place, b[3]);
            continue;
        }
        /* An ignored target that is taken for an index points somewhere into the row. */
        target = ((target + m->next_target) % cols + cols) % cols;
        run_row(&v, target, place, b[3]);
    }
    return 0;
}

#define WITH(...) TKI_PLANTED(run, mutation, __VA_ARGS__)

const tki_mutant tki_xent_mutants[] = {
    {"all_zeros", "writes zeros", .kernel = tki_all_zeros},
    {"stale", "leaves the outputs as they were", .kernel = tki_stale},
    {"last_dropped", "does not write the last gradient element", WITH(.last_dropped = true)},
    {"last_row_dropped", "does not write the last row", WITH(.last_row_dropped = true)},
    {"last_terms_dropped", "leaves the last 16 terms out of its sums", WITH(.last_terms_dropped = true)},
    {"next_target", "takes the class after the target", WITH(.next_target = true)},
    {"half_sum", "rounds the partial sum of exp to 16 bits at each step", WITH(.half_sum = true)},
    {"truncating_store", "rounds the gradient toward zero when storing", WITH(.store = TKI_STORE_TRUNCATED)},
    {"nan_masked", "turns NaN into zero", WITH(.nan_masked = true)},
    {"rounded_exp", "stores exp in 16 bits", WITH(.rounded_exp = true)},
    {"rounded_p", "rounds p to 16 bits before q is taken away", WITH(.rounded_p = true)},
    {"cancelling_target",
     "computes the target's gradient without smoothing as p - 1 in fp32, which cancels in confident rows",
     WITH(.cancelling = true)},
    {"ignored_graded", "takes ignore_index for an index, so that ignored rows get a loss and a gradient",
     WITH(.ignored_graded = true)},
    {"loss_scaled", "applies the scale to the loss too", WITH(.loss_scaled = true)},
    {"unscaled", "does not apply the scale to the gradient", WITH(.unscaled = true)},
    {"unsmoothed", "ignores label smoothing", WITH(.unsmoothed = true)},
    {"smoothed_others_only", "spreads the smoothing over the other classes only, eps/(C-1) each",
     WITH(.smoothed_others_only = true)},
    {"late_read", "overwrites the target's logit before it is read for the loss: wrong in place",
     WITH(.late_read = true)},
    {"minus_log_p", "computes the loss as -log(p_t) without smoothing, which is infinite where p_t underflows",
     WITH(.minus_log_p = true)},
    {"loss_shifted", "writes each loss one row too far", WITH(.loss_shifted = true)},
    {"transposed", "reads the logits as [cols, rows]", WITH(.transposed = true)},
    {"zero_times_infinity", "multiplies the infinite d of a -inf logit by a weight of zero",
     WITH(.zero_times_infinity = true)},
    {"empty_row_zero", "gives zeros for a row of only -inf", WITH(.empty_row_zero = true)},
    {"max_kept", "does not subtract the maximum before exp", WITH(.max_kept = true)},
    {"rounded_log", "rounds ln Z to 16 bits", WITH(.log_of_sum_in_16_bits = true)},
    {"target_only", "writes the target's gradient and zeros elsewhere", WITH(.target_only = true)},
    {"outward_store", "rounds the gradient away from zero when storing", WITH(.store = TKI_STORE_OUTWARD)},
    {"saturating", "returns the largest finite number instead of infinity", WITH(.store = TKI_STORE_SATURATED)},
    {"flushing", "flushes subnormal gradients to zero", WITH(.store = TKI_STORE_FLUSHED)},
    {"adding", "adds to the gradient that the output held", WITH(.adding = true)},
    {"tail_unsummed", "leaves the columns after the last multiple of 8 out of its sums", WITH(.tail_unsummed = true)},
    {"ignored_stale", "leaves ignored rows as they were", WITH(.ignored_stale = true)},
    {"ignored_loss_only", "gives ignored rows a gradient, as if their target were 0",
     WITH(.ignored_loss_only = true)},
    {"unspread_loss", "leaves the smoothed part out of the loss", WITH(.unspread_loss = true)},
    {"from_lse",
     "computes the loss without smoothing as log-sum-exp less the logit in fp32, which cancels for large logits",
     WITH(.from_lse = true)},
    {"epsilon_in_log", "computes the loss without smoothing as -log(p_t + 1e-7)", WITH(.epsilon_in_log = true)},
    {"clamped_loss", "gives 100 for any larger loss", WITH(.clamped_loss = true)},
    {"max_from_zero", "takes the maximum of the row and zero", WITH(.max_from_zero = true)},
    {"mean_gradient", "divides the gradient by the number of rows", WITH(.mean_gradient = true)},
    {"sign_swapped", "gives q - p instead of p - q", WITH(.sign_swapped = true)},
    TKI_CALL_MUTANTS(run),
    {"before_the_start", "writes one element before its output", TKI_CALL(.right = run, .before_the_start = true)},
    {"rows_beyond_65535_dropped",
     "does not write rows beyond the first 65535, the most blocks of a grid's second size", WITH(.most_rows = 65535)},
    {"long_rows_cut", "sums over the first 65536 columns only", WITH(.most_summed = 65536), .level = TK_FULL},
    {0},
};
