/* DECIDES. Products of groups of rows, each with a matrix of its own, and their two gradients: what they promise. Each group is a matrix
 * product as that of gemm. The exact value is in oracle.c. */
#include "model/contract_parts.h"
#include "tokitai.h"

enum { M, N, K, G };

/* The first four in the order of gemm's. */
enum { ERR, OVERFLOW, NOT_A_NUMBER, INFINITE };

#define BOUND_TEXT(sum, size)                             \
    "that of gemm for the sum of " sum ", with K = " size \
    "; exact sums and numerics as there; 0 for a sum over nothing"
#define INDEX_TEXT                                                                                               \
    "an end outside [0, m], or less than the one before it, is an error that names the first bad position, and " \
    "nothing is written"
#define SHAPE_TEXT                                                                                              \
    "any m, n, k and g, zero included, groups of any sizes, at any alignment of the element types; a sum over " \
    "nothing is zero"
#define GROUPS_TEXT                                                                                                \
    "Group i has the rows from ends[i-1], or 0 for the first, up to ends[i]. Ends ascend and are at most m. Rows " \
    "behind the last end are of no group. "

#define ENDS TKI_INDICES("ends", M, TKI_SHAPE(G), .rule = TK_INDICES_ENDS)

/* clang-format off */ /* one row below the other */

const tk_contract tki_grouped_gemm_contract = {
    .name = "grouped_gemm",
    .summary = "matrix products of groups of rows, each by a matrix of its own",
    .formula = "c[i,j] = sum over t < k of a[i,t] b[e,t,j], row i being of group e; 0 for rows of no group",
    .bound = BOUND_TEXT("|a b|", "k"),
    .notes = GROUPS_TEXT "Equal groups make it a batched product.",
    TKI_SIZES("m", "n", "k", "g"),
    TKI_PARAMS(
        TKI_INPUT("a", TK_KIND_VALUE, 1, TKI_SHAPE(M, K)),
        TKI_INPUT("b", TK_KIND_VALUE, 1, TKI_SHAPE(G, K, N)),
        ENDS,
        TKI_OUTPUT("c", TK_KIND_RESULT, -1, TKI_SHAPE(M, N))),
    TKI_SUM_TYPES_AND_NUMERICS,
    TKI_CLAUSES(
        [ERR] = TKI_ONE_ERROR_CLAUSE("GROUPED_GEMM.ERR", "c"),
        [OVERFLOW] = TKI_SUM_OVERFLOW_CLAUSE("GROUPED_GEMM.OVERFLOW"),
        [NOT_A_NUMBER] = TKI_SUM_NAN_CLAUSE("GROUPED_GEMM.NAN", ": no product is of another group"),
        [INFINITE] = TKI_SUM_INF_CLAUSE("GROUPED_GEMM.INF"),
        {TK_CLAUSE_INDEX, "GROUPED_GEMM.INDEX", INDEX_TEXT},
        TKI_USUAL_CLAUSES("GROUPED_GEMM", "c", TKI_INPUTS_STAY, SHAPE_TEXT)),
};

const tk_contract tki_grouped_gemm_grad_a_contract = {
    .name = "grouped_gemm_grad_a",
    .summary = "gradient of the products of groups by their rows",
    .formula = "grad_a[i,t] = sum over j < n of grad_c[i,j] b[e,t,j], row i being of group e; 0 for rows of no group",
    .bound = BOUND_TEXT("|grad_c b|", "n"),
    .notes = GROUPS_TEXT "Also the forward pass where each matrix is stored [out, in].",
    TKI_SIZES("m", "n", "k", "g"),
    TKI_PARAMS(
        TKI_INPUT("grad_c", TK_KIND_VALUE, 1, TKI_SHAPE(M, N)),
        TKI_INPUT("b", TK_KIND_VALUE, 2, TKI_SHAPE(G, K, N)),
        ENDS,
        TKI_OUTPUT("grad_a", TK_KIND_RESULT, -1, TKI_SHAPE(M, K))),
    TKI_SUM_TYPES_AND_NUMERICS,
    TKI_CLAUSES(
        [ERR] = TKI_ONE_ERROR_CLAUSE("GROUPED_GEMM_GRAD_A.ERR", "grad_a"),
        [OVERFLOW] = TKI_SUM_OVERFLOW_CLAUSE("GROUPED_GEMM_GRAD_A.OVERFLOW"),
        [NOT_A_NUMBER] = TKI_SUM_NAN_CLAUSE("GROUPED_GEMM_GRAD_A.NAN", ": no product is of another group"),
        [INFINITE] = TKI_SUM_INF_CLAUSE("GROUPED_GEMM_GRAD_A.INF"),
        {TK_CLAUSE_INDEX, "GROUPED_GEMM_GRAD_A.INDEX", INDEX_TEXT},
        TKI_USUAL_CLAUSES("GROUPED_GEMM_GRAD_A", "grad_a", TKI_INPUTS_STAY, SHAPE_TEXT)),
};

const tk_contract tki_grouped_gemm_grad_b_contract = {
    .name = "grouped_gemm_grad_b",
    .summary = "gradient of the products of groups by their matrices",
    .formula = "grad_b[e,t,j] = sum over the rows i of group e of a[i,t] grad_c[i,j]",
    .bound = BOUND_TEXT("|a grad_c|", "the number of the group's rows"),
    .notes = GROUPS_TEXT "The gradient of a group without rows is zero.",
    TKI_SIZES("m", "n", "k", "g"),
    TKI_PARAMS(
        TKI_INPUT("grad_c", TK_KIND_VALUE, 0, TKI_SHAPE(M, N)),
        TKI_INPUT("a", TK_KIND_VALUE, 0, TKI_SHAPE(M, K)),
        ENDS,
        TKI_OUTPUT("grad_b", TK_KIND_RESULT, -1, TKI_SHAPE(G, K, N))),
    TKI_SUM_TYPES_AND_NUMERICS,
    TKI_CLAUSES(
        [ERR] = TKI_ONE_ERROR_CLAUSE("GROUPED_GEMM_GRAD_B.ERR", "grad_b"),
        [OVERFLOW] = TKI_SUM_OVERFLOW_CLAUSE("GROUPED_GEMM_GRAD_B.OVERFLOW"),
        [NOT_A_NUMBER] = TKI_SUM_NAN_CLAUSE("GROUPED_GEMM_GRAD_B.NAN", ": no product is of another group"),
        [INFINITE] = TKI_SUM_INF_CLAUSE("GROUPED_GEMM_GRAD_B.INF"),
        {TK_CLAUSE_INDEX, "GROUPED_GEMM_GRAD_B.INDEX", INDEX_TEXT},
        TKI_USUAL_CLAUSES("GROUPED_GEMM_GRAD_B", "grad_b", TKI_INPUTS_STAY, SHAPE_TEXT)),
};

/* clang-format on */
