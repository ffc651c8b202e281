/* DECIDES. Embedding: a gather of rows, and the scatter-add that is its adjoint. What they promise. The exact value
 * is in oracle.c, the kernels in kernel_cpu.c. */
#include "ops/embedding/contract.h"

#include <math.h>

#include "exact/admit.h"
#include "exact/fp32.h"
#include "model/contract_parts.h"

/* Covers the roundings of one bound's evaluation in double: the bounds are rounded up. */
#define ROUND_UP (1 + 0x1p-48)

enum { QUERIES, DIM, VOCAB };

#define INDEX_TEXT TKI_INDEX_TEXT("an index outside [0, vocab)")
#define SHAPE_TEXT "any sizes, zero included, at any alignment of the element types"

/* clang-format off */ /* one row below the other */

const tk_contract tki_embedding_fwd_contract = {
    .name = "embedding_fwd",
    .summary = "row gather, bit-exact",
    .formula = "out[i] = weight[index[i]]",
    .bound = "B = 0: a copy, bit for bit, the sign of zero and the payload of NaN included",
    TKI_SIZES("queries", "dim", "vocab"),
    TKI_PARAMS(
        TKI_INDICES("index", VOCAB, TKI_SHAPE(QUERIES)),
        TKI_INPUT("weight", TK_KIND_VALUE, -1, TKI_SHAPE(VOCAB, DIM)),
        TKI_OUTPUT("out", TK_KIND_VALUE, -1, TKI_SHAPE(QUERIES, DIM))),
    TKI_TYPES_FLOAT,
    TKI_ATTRIBUTES(TKI_DOMAIN_ATTRIBUTE),
    TKI_CLAUSES(
        [TKI_EMBEDDING_FWD_EXACT] = {TK_CLAUSE_VALUE, "EMBEDDING_FWD.EXACT",
                                     "every row of out has the bits of its row of weight, NaN payloads included"},
        TKI_SAYS(TK_CLAUSE_INDEX, INDEX_TEXT "; on a GPU: nothing of its row"),
        TKI_FOLLOWS(TK_CLAUSE_WRITE),
        TKI_TAKES(SHAPE_TEXT)),
};

const tk_contract tki_embedding_bwd_contract = {
    .name = "embedding_bwd",
    .summary = "scatter-add of gradient rows, in a fixed order",
    .formula = "grad_weight[v] = sum of grad_output[i] over all i with index[i] = v",
    .bound = "B = (hits - 1) u sum |g|, the sum over the hits g of the row in that column; exact sums: B = 0 where "
             "sum |g| <= 2^24 q, q "
             "the largest power of two that divides every hit, 2^-126 <= q <= 2^103; bf16 and f32: if "
             "(1 + hits u) sum |g| reaches 2^128 (1 - 2^-25), infinities and NaN are admitted too",
    .notes = "The order is fixed, so that the result is bitwise reproducible on every run and every backend. Rows "
             "without a hit become +0; every row is written.",
    TKI_SIZES("queries", "dim", "vocab"),
    TKI_PARAMS(
        TKI_INPUT("grad_output", TK_KIND_VALUE, 0, TKI_SHAPE(QUERIES, DIM)),
        TKI_INDICES("index", VOCAB, TKI_SHAPE(QUERIES)),
        TKI_OUTPUT("grad_weight", TK_KIND_RESULT, -1, TKI_SHAPE(VOCAB, DIM))),
    TKI_TYPES_SUM,
    TKI_ATTRIBUTES(TKI_DOMAIN_ATTRIBUTE),
    TKI_CLAUSES(
        [TKI_EMBEDDING_BWD_ERR] = {TK_CLAUSE_ERROR, "EMBEDDING_BWD.ERR",
                                   "where all hits are finite, grad_weight is the rounding of "
                                   "some value within B of the exact sum"},
        [TKI_EMBEDDING_BWD_BITS] =
            {TK_CLAUSE_BITS, "EMBEDDING_BWD.BITS",
             "(our lowerings) hits are numbered by ascending query position; run k is hits 64k to 64k+63; each "
             "run "
             "and the total of the runs start at +0.0f and are added one after another in IEEE fp32 without "
             "flushing; grad_weight has the bits of that total rounded once to its type, NaN canonical"},
        [TKI_EMBEDDING_BWD_EMPTY] = {TK_CLAUSE_VALUE, "EMBEDDING_BWD.EMPTY",
                                     "a row without hits is +0, bit for bit"},
        [TKI_EMBEDDING_BWD_NAN] = {TK_CLAUSE_VALUE, "EMBEDDING_BWD.NAN",
                                   "a NaN or infinities of both signs among the hits give NaN; otherwise an "
                                   "infinity among them gives that infinity, NaN also where the finite hits may "
                                   "overflow fp32"},
        TKI_SAYS(TK_CLAUSE_INDEX, INDEX_TEXT),
        TKI_FOLLOWS(TK_CLAUSE_WRITE),
        TKI_TAKES(SHAPE_TEXT)),
};

/* clang-format on */

double tki_embedding_bwd_bound(int64_t hits, double magnitudes, bool exact)
{
    return hits > 1 && !exact ? (double)(hits - 1) * TKI_U * magnitudes * ROUND_UP : 0;
}

bool tki_embedding_bwd_may_overflow(int64_t hits, double magnitudes)
{
    return (1 + (double)hits * TKI_U) * magnitudes * ROUND_UP >= TKI_FP32_OVERFLOW;
}

unsigned tki_embedding_bwd_admits(double sum, bool may_overflow, int *clause)
{
    *clause = isfinite(sum) ? TKI_EMBEDDING_BWD_ERR : TKI_EMBEDDING_BWD_NAN;
    if (isnan(sum))
        return TKI_ADMIT_NAN;
    /* Finite hits that overflow to the other infinity on the way meet this one as NaN. */
    if (isinf(sum))
        return (sum > 0 ? TKI_ADMIT_PLUS_INF : TKI_ADMIT_MINUS_INF) | (may_overflow ? TKI_ADMIT_NAN : 0u);
    return TKI_ADMIT_INTERVAL | (may_overflow ? TKI_ADMIT_NAN | TKI_ADMIT_PLUS_INF | TKI_ADMIT_MINUS_INF : 0u);
}
