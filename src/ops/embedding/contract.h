/* DECIDES. The bound and the special values of embedding, used by its oracle and its tests. */
#pragma once

#include "core/export.h"
#include "tokitai.h"

/* Indices into the clauses of embedding_fwd and of embedding_bwd. */
enum { TKI_EMBEDDING_FWD_EXACT };
enum { TKI_EMBEDDING_BWD_ERR, TKI_EMBEDDING_BWD_BITS, TKI_EMBEDDING_BWD_EMPTY, TKI_EMBEDDING_BWD_NAN };

/* Clause BITS: hits that are added one after another before their sum goes to the total. */
enum { TKI_EMBEDDING_RUN = 64 };

/* B of an element with that many hits. `magnitudes` is an upper bound of the sum of |g| over the finite ones; `exact`:
 * tki_sum_is_exact(). */
TKI_EXPORT double tki_embedding_bwd_bound(int64_t hits, double magnitudes, bool exact);

/* Whether a partial sum in fp32 can leave its range. Never for fp16. */
TKI_EXPORT bool tki_embedding_bwd_may_overflow(int64_t hits, double magnitudes);

/* What is admitted for an element with hits. `sum` is NaN if a NaN or infinities of both signs are among them, else
 * an infinity if that is among them, else anything finite. `clause` receives the clause that says so. */
TKI_EXPORT unsigned tki_embedding_bwd_admits(double sum, bool may_overflow, int *clause);
