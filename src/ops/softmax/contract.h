/* DECIDES. The bounds and special values of softmax, used by its oracle and its tests. */
#pragma once

#include "core/export.h"
#include "exact/exp_over_sum_bound.h"
#include "tokitai.h"

/* Indices into the clauses; the first two are those of both contracts. */
enum { TKI_SOFTMAX_ERR, TKI_SOFTMAX_NAN, TKI_SOFTMAX_FWD_ZERO, TKI_SOFTMAX_FWD_PROMISE };

TKI_EXPORT tki_softmax_w tki_softmax_fwd_w(const tki_softmax_terms *row, bool promised);

/* B at distance d from the maximum, y > 0 being at least the exact result; infinite where W >= 1/2: there is none. */
TKI_EXPORT double tki_softmax_fwd_bound(tki_softmax_w row, double d, double y);

/* Bs. `nonzero` is n', `magnitude` at least the sum of |y g|; `exact`: tki_sum_is_exact(). */
TKI_EXPORT double tki_softmax_bwd_sum_bound(tk_dtype dtype, int64_t cols, int64_t nonzero, double magnitude,
                                            bool exact);

/* B. Arguments are upper bounds of |y_i|, |g_i - s|, |s|, and Bs. */
TKI_EXPORT double tki_softmax_bwd_bound(tk_dtype dtype, double y, double difference, double sum, double sum_bound);

/* What is admitted for finite inputs beside the interval, where fp32 may overflow: in the sum (then it may be
 * anything), or in g_i - s alone, whose sign is that of `difference`. Arguments as above, but y and difference with
 * their signs; with an infinite s, `magnitude` is that of the finite products. */
TKI_EXPORT bool tki_softmax_bwd_sum_overflows(tk_dtype dtype, int64_t cols, double magnitude);
TKI_EXPORT unsigned tki_softmax_bwd_overflow(tk_dtype dtype, double y, double difference, double sum,
                                             double sum_bound);

/* What is admitted where s is NaN or infinite. */
TKI_EXPORT unsigned tki_softmax_bwd_special(double grad, double y, double sum, bool sum_overflows);
