/* TRUSTED. Products of groups of rows, each with a matrix of its own, and their two gradients: what they promise. Each group is a matrix
 * product as that of gemm. The exact value is in oracle.c. */
#include "model/attributes.h"
#include "tokitai.h"

enum { M, N, K, G };

/* The first four in the order of gemm's. */
enum { ERR, OVERFLOW, NOT_A_NUMBER, INFINITE };

#define BOUND_TEXT(sum, size)                             \
    "that of gemm for the sum of " sum ", with K = " size \
    "; exact sums and numerics as there; 0 for a sum over nothing"
#define OVERFLOW_TEXT                                                                                               \
    "bf16 and f32 only: where (1 + K u) times the sum of the finite |products| reaches 2^128 (1 - 2^-25), an fp32 " \
    "sum may overflow on the way, and infinities and NaN are admitted too; beside an infinite product, NaN is"
#define NAN_TEXT                                                                                                    \
    "NaN if some product is NaN (0 times infinity is: zeros may not be skipped) or infinities of both signs occur " \
    "among the products, and only then: no product is of another group"
#define INF_TEXT "infinities of one sign among the products, and no NaN, give that infinity"
#define INDEX_TEXT                                                                                               \
    "an end outside [0, m], or less than the one before it, is an error that names the first bad position, and " \
    "nothing is written"
#define SHAPE_TEXT                                                                                              \
    "any m, n, k and g, zero included, groups of any sizes, at any alignment of the element types; a sum over " \
    "nothing is zero"
#define REPEAT_TEXT "the same inputs give the same bits on every run, at every address and thread count"
#define GROUPS_TEXT                                                                                                \
    "Group i has the rows from ends[i-1], or 0 for the first, up to ends[i]. Ends ascend and are at most m. Rows " \
    "behind the last end are of no group. "

#define ENDS                                                                                              \
    {                                                                                                     \
        .name = "ends", .kind = TK_KIND_INDEX, .rank = 1, .dim = {G}, .indexed_dim = M, .inner_axis = -1, \
        .may_alias = -1, .ends = true                                                                     \
    }

const tk_contract tki_grouped_gemm_contract = {
    .name = "grouped_gemm",
    .summary = "matrix products of groups of rows, each by a matrix of its own",
    .formula = "c[i,j] = sum over t < k of a[i,t] b[e,t,j], row i being of group e; 0 for rows of no group",
    .bound = BOUND_TEXT("|a b|", "k"),
    .notes = GROUPS_TEXT "Equal groups make it a batched product.",
    .dim_count = 4,
    .dim_names = (const char *const[]){"m", "n", "k", "g"},
    .param_count = 4,
    .params =
        (const tk_param[]){
            {.name = "a", .kind = TK_KIND_VALUE, .rank = 2, .dim = {M, K}, .inner_axis = 1, .may_alias = -1},
            {.name = "b", .kind = TK_KIND_VALUE, .rank = 3, .dim = {G, K, N}, .inner_axis = 1, .may_alias = -1},
            ENDS,
            {.name = "c",
             .output = true,
             .kind = TK_KIND_RESULT,
             .rank = 2,
             .dim = {M, N},
             .inner_axis = -1,
             .may_alias = -1},
        },
    TKI_TYPES_SUM,
    .attribute_count = 3,
    .attributes = (const tk_attribute[]){TKI_DOMAIN_ATTRIBUTE, TKI_NUMERICS_ATTRIBUTE, TKI_MATRIX_UNIT_ATTRIBUTE},
    .clause_count = 8,
    .clauses =
        (const tk_clause[]){
            [ERR] = {TK_CLAUSE_ERROR, "GROUPED_GEMM.ERR",
                     "for finite inputs, c is the rounding of some value within B of the exact one"},
            [OVERFLOW] = {TK_CLAUSE_VALUE, "GROUPED_GEMM.OVERFLOW", OVERFLOW_TEXT},
            [NOT_A_NUMBER] = {TK_CLAUSE_VALUE, "GROUPED_GEMM.NAN", NAN_TEXT},
            [INFINITE] = {TK_CLAUSE_VALUE, "GROUPED_GEMM.INF", INF_TEXT},
            {TK_CLAUSE_INDEX, "GROUPED_GEMM.INDEX", INDEX_TEXT},
            {TK_CLAUSE_WRITE, "GROUPED_GEMM.WRITE",
             "every c is written, nothing else is, and the inputs stay as they were"},
            {TK_CLAUSE_SHAPE, "GROUPED_GEMM.SHAPE", SHAPE_TEXT},
            {TK_CLAUSE_REPEAT, "GROUPED_GEMM.REPEAT", REPEAT_TEXT},
        },
};

const tk_contract tki_grouped_gemm_grad_a_contract = {
    .name = "grouped_gemm_grad_a",
    .summary = "gradient of the products of groups by their rows",
    .formula = "grad_a[i,t] = sum over j < n of grad_c[i,j] b[e,t,j], row i being of group e; 0 for rows of no group",
    .bound = BOUND_TEXT("|grad_c b|", "n"),
    .notes = GROUPS_TEXT "Also the forward pass where each matrix is stored [out, in].",
    .dim_count = 4,
    .dim_names = (const char *const[]){"m", "n", "k", "g"},
    .param_count = 4,
    .params =
        (const tk_param[]){
            {.name = "grad_c", .kind = TK_KIND_VALUE, .rank = 2, .dim = {M, N}, .inner_axis = 1, .may_alias = -1},
            {.name = "b", .kind = TK_KIND_VALUE, .rank = 3, .dim = {G, K, N}, .inner_axis = 2, .may_alias = -1},
            ENDS,
            {.name = "grad_a",
             .output = true,
             .kind = TK_KIND_RESULT,
             .rank = 2,
             .dim = {M, K},
             .inner_axis = -1,
             .may_alias = -1},
        },
    TKI_TYPES_SUM,
    .attribute_count = 3,
    .attributes = (const tk_attribute[]){TKI_DOMAIN_ATTRIBUTE, TKI_NUMERICS_ATTRIBUTE, TKI_MATRIX_UNIT_ATTRIBUTE},
    .clause_count = 8,
    .clauses =
        (const tk_clause[]){
            [ERR] = {TK_CLAUSE_ERROR, "GROUPED_GEMM_GRAD_A.ERR",
                     "for finite inputs, grad_a is the rounding of some value within B of the exact one"},
            [OVERFLOW] = {TK_CLAUSE_VALUE, "GROUPED_GEMM_GRAD_A.OVERFLOW", OVERFLOW_TEXT},
            [NOT_A_NUMBER] = {TK_CLAUSE_VALUE, "GROUPED_GEMM_GRAD_A.NAN", NAN_TEXT},
            [INFINITE] = {TK_CLAUSE_VALUE, "GROUPED_GEMM_GRAD_A.INF", INF_TEXT},
            {TK_CLAUSE_INDEX, "GROUPED_GEMM_GRAD_A.INDEX", INDEX_TEXT},
            {TK_CLAUSE_WRITE, "GROUPED_GEMM_GRAD_A.WRITE",
             "every grad_a is written, nothing else is, and the inputs stay as they were"},
            {TK_CLAUSE_SHAPE, "GROUPED_GEMM_GRAD_A.SHAPE", SHAPE_TEXT},
            {TK_CLAUSE_REPEAT, "GROUPED_GEMM_GRAD_A.REPEAT", REPEAT_TEXT},
        },
};

const tk_contract tki_grouped_gemm_grad_b_contract = {
    .name = "grouped_gemm_grad_b",
    .summary = "gradient of the products of groups by their matrices",
    .formula = "grad_b[e,t,j] = sum over the rows i of group e of a[i,t] grad_c[i,j]",
    .bound = BOUND_TEXT("|a grad_c|", "the number of the group's rows"),
    .notes = GROUPS_TEXT "The gradient of a group without rows is zero.",
    .dim_count = 4,
    .dim_names = (const char *const[]){"m", "n", "k", "g"},
    .param_count = 4,
    .params =
        (const tk_param[]){
            {.name = "grad_c", .kind = TK_KIND_VALUE, .rank = 2, .dim = {M, N}, .inner_axis = 0, .may_alias = -1},
            {.name = "a", .kind = TK_KIND_VALUE, .rank = 2, .dim = {M, K}, .inner_axis = 0, .may_alias = -1},
            ENDS,
            {.name = "grad_b",
             .output = true,
             .kind = TK_KIND_RESULT,
             .rank = 3,
             .dim = {G, K, N},
             .inner_axis = -1,
             .may_alias = -1},
        },
    TKI_TYPES_SUM,
    .attribute_count = 3,
    .attributes = (const tk_attribute[]){TKI_DOMAIN_ATTRIBUTE, TKI_NUMERICS_ATTRIBUTE, TKI_MATRIX_UNIT_ATTRIBUTE},
    .clause_count = 8,
    .clauses =
        (const tk_clause[]){
            [ERR] = {TK_CLAUSE_ERROR, "GROUPED_GEMM_GRAD_B.ERR",
                     "for finite inputs, grad_b is the rounding of some value within B of the exact one"},
            [OVERFLOW] = {TK_CLAUSE_VALUE, "GROUPED_GEMM_GRAD_B.OVERFLOW", OVERFLOW_TEXT},
            [NOT_A_NUMBER] = {TK_CLAUSE_VALUE, "GROUPED_GEMM_GRAD_B.NAN", NAN_TEXT},
            [INFINITE] = {TK_CLAUSE_VALUE, "GROUPED_GEMM_GRAD_B.INF", INF_TEXT},
            {TK_CLAUSE_INDEX, "GROUPED_GEMM_GRAD_B.INDEX", INDEX_TEXT},
            {TK_CLAUSE_WRITE, "GROUPED_GEMM_GRAD_B.WRITE",
             "every grad_b is written, nothing else is, and the inputs stay as they were"},
            {TK_CLAUSE_SHAPE, "GROUPED_GEMM_GRAD_B.SHAPE", SHAPE_TEXT},
            {TK_CLAUSE_REPEAT, "GROUPED_GEMM_GRAD_B.REPEAT", REPEAT_TEXT},
        },
};
