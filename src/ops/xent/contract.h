/* DECIDES. The bounds and special values of xent, used by its oracle and its tests. */
#pragma once

#include "core/export.h"
#include "exact/exp_over_sum_bound.h"
#include "tokitai.h"

/* Indices into the contract's clauses. */
enum { TKI_XENT_ERR, TKI_XENT_LOSS, TKI_XENT_PROMISE, TKI_XENT_IGNORE, TKI_XENT_NAN, TKI_XENT_INF };

/* Indices into its parameters. */
enum { TKI_XENT_LOGITS, TKI_XENT_TARGETS, TKI_XENT_LOSSES, TKI_XENT_GRADIENTS };

/* Indices into its attributes, behind the domain. */
enum { TKI_XENT_LABEL_SMOOTHING = 1, TKI_XENT_SCALE, TKI_XENT_IGNORE_INDEX };

/* What the bounds need to know of one row, with d_j = max - x_j. Numbers are exact or upper bounds, but
 * ln_cols is as tki_softmax_ln gives it. */
typedef struct tki_xent_row {
    double cols, ln_cols;
    double label_smoothing, scale;
    double ln_z;
    double target_d; /* d_t */
    double second_d; /* second smallest d_j; +inf if there is none */
    double other_d;  /* smallest d_j over j != t; +inf if there is none */
    double sum_d;    /* read only with label_smoothing > 0 */
    double depth;    /* D and E: tki_softmax_sum_depth, and tki_softmax_depth of the d_j that are not zero */
    double depth_d;
    double rescalings; /* R */
    bool promised;     /* the smaller bounds that our own lowerings promise */
} tki_xent_row;

/* B of one gradient element. `p` is P, `q` is Q and `difference` |P - Q|; `d` is d_j, read only where j is not the
 * target. Infinite where W >= 1/2: the contract gives no bound there. */
TKI_EXPORT double tki_xent_grad_bound(const tki_xent_row *row, double d, double p, double q, double difference);
TKI_EXPORT double tki_xent_target_grad_bound(const tki_xent_row *row, double p, double q, double difference);
TKI_EXPORT double tki_xent_loss_bound(const tki_xent_row *row);

/* Can a d_j, or their sum, leave the range of fp32 where the smoothing brings it back? Never for fp16. */
TKI_EXPORT bool tki_xent_loss_may_overflow(const tki_xent_row *row);

/* What decides a row, in this order. */
typedef enum tki_xent_kind {
    TKI_XENT_IGNORED,   /* the target is ignore_index */
    TKI_XENT_BAD_INDEX, /* any other target outside [0, cols): an error, nothing is judged */
    TKI_XENT_NAN_ROW,   /* a NaN, a +inf or only -inf */
    TKI_XENT_ORDINARY
} tki_xent_kind;

/* `max` is the largest logit that is not NaN, -inf if there is none. */
TKI_EXPORT tki_xent_kind tki_xent_row_kind(const tk_case *c, int64_t target, double max, bool has_nan);

/* What the loss, or any gradient element, of a row of that kind admits, and the clause that says so; 0 for
 * ordinary rows. */
TKI_EXPORT unsigned tki_xent_special(tki_xent_kind kind, int *clause);

/* Is the loss of an ordinary row +inf? */
TKI_EXPORT bool tki_xent_loss_is_infinite(const tk_case *c, bool has_minus_inf, bool target_is_minus_inf);
