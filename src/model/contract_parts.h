/* DECIDES. What several contracts say in the same words, each written down once. */
#pragma once

#include "model/attributes.h"

/* clang-format off */ /* one row below the other */

/* The lists of a contract, each with how many it has. */
#define TKI_LIST(count, list, type, ...) .count = sizeof((type[]){__VA_ARGS__}) / sizeof(type), .list = (type[]){__VA_ARGS__}
#define TKI_SIZES(...) TKI_LIST(dim_count, dim_names, const char *const, __VA_ARGS__)
#define TKI_PARAMS(...) TKI_LIST(param_count, params, const tk_param, __VA_ARGS__)
#define TKI_ATTRIBUTES(...) TKI_LIST(attribute_count, attributes, const tk_attribute, __VA_ARGS__)
#define TKI_CLAUSES(...) TKI_LIST(clause_count, clauses, const tk_clause, __VA_ARGS__)

/* Parameters: name, kind, of inputs the axis that the op sums over or -1, of outputs the parameter whose buffer it may share or -1; then
 * TKI_SHAPE() of its sizes, and further members. */
#define TKI_SHAPE(...) .rank = sizeof((int[]){__VA_ARGS__}) / sizeof(int), .dim = (const int[]){__VA_ARGS__}
#define TKI_INPUT(name_, kind_, axis, ...) {.name = name_, .kind = kind_, .inner_axis = axis, .may_alias = -1, __VA_ARGS__}
#define TKI_OUTPUT(name_, kind_, alias, ...)                                                                              \
    {.name = name_, .output = true, .kind = kind_, .inner_axis = -1, .may_alias = alias, __VA_ARGS__}
#define TKI_INDICES(name_, indexed, ...) TKI_INPUT(name_, TK_KIND_INDEX, -1, .indexed_dim = indexed, __VA_ARGS__)

/* Only with these choices of an attribute, a bit for each. */
#define TKI_WHEN(attribute, choices) .when_attribute = attribute, .when_choices = choices

/* The words of clauses that every op gets from its sizes and tensors (added_clauses.c). A contract lists one where
 * it says it otherwise, or to have it at another place than behind the others. */
#define TKI_REPEAT_TEXT "the same inputs give the same bits on every run, at every address and thread count"
#define TKI_SHAPE_TEXT(sizes) "any " sizes ", zero included, at any alignment of the element type"
#define TKI_SUM_SHAPE_TEXT TKI_SHAPE_TEXT("m, n and k") "; a sum over nothing is zero"
#define TKI_WRITE_TEXT(outputs, inputs_stay) "every " outputs " is written, nothing else is, and " inputs_stay
#define TKI_INDEX_TEXT(which) which " is an error that names the first bad position, and nothing is written"
#define TKI_IN_PLACE_TEXT(output, input) output " may be the buffer of " input
#define TKI_INPUTS_STAY "the inputs stay as they were"
#define TKI_FOLLOWS(kind_) {.kind = kind_}
#define TKI_SAYS(kind_, text_) {.kind = kind_, .text = text_}
#define TKI_WRITES(output, inputs_stay) TKI_SAYS(TK_CLAUSE_WRITE, TKI_WRITE_TEXT(output, inputs_stay))
#define TKI_TAKES(shape) TKI_SAYS(TK_CLAUSE_SHAPE, shape)
#define TKI_ONE_ERROR_CLAUSE(id, output)                                                                                  \
    {TK_CLAUSE_ERROR, id, "for finite inputs, " output " is the rounding of some value within B of the exact one"}

/* Contracts of sums of products. */
#define TKI_SUM_TYPES_AND_NUMERICS                                                                                        \
    TKI_TYPES_SUM, .refusal = tki_numerics_refusal, TKI_ATTRIBUTES(TKI_DOMAIN_ATTRIBUTE, TKI_NUMERICS_ATTRIBUTE, TKI_MATRIX_UNIT_ATTRIBUTE)
/* With results in 8 bits. */
#define TKI_PRODUCT_TYPES_AND_NUMERICS(ROW)                                                                               \
    TKI_TYPES_SUM_AND_8_BITS(ROW), .refusal = tki_numerics_refusal,                                                            \
        TKI_ATTRIBUTES(TKI_DOMAIN_ATTRIBUTE, TKI_NUMERICS_ATTRIBUTE, TKI_MATRIX_UNIT_ATTRIBUTE,                           \
                       TKI_OVERFLOW_ATTRIBUTE(TKI_OVERFLOW_SATURATE))
#define TKI_SUM_OVERFLOW_CLAUSE(id)                                                                                       \
    {TK_CLAUSE_VALUE, id,                                                                                                 \
     "bf16 and f32 only: where (1 + K u) times the sum of the finite |products| reaches 2^128 (1 - 2^-25), an fp32 sum may " \
     "overflow on the way, and infinities and NaN are admitted too; beside an infinite product, NaN is"}
#define TKI_SUM_NAN_CLAUSE(id, further)                                                                                   \
    {TK_CLAUSE_VALUE, id,                                                                                                 \
     "NaN if some product is NaN (0 times infinity is: zeros may not be skipped) or infinities of both signs occur "      \
     "among the products, and only then" further}
#define TKI_SUM_INF_CLAUSE(id) {TK_CLAUSE_VALUE, id, "infinities of one sign among the products, and no NaN, give that infinity"}
/* clang-format on */
