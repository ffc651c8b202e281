/* DECIDES. A definition: the mathematics of an op, parsed and checked: what those who read it (this folder) and those who evaluate it share.
 * docs/definitions.md describes the language.
 *
 * All is in arrays of one arena; ids are positions in them, and TKI_NONE stands for none. An id in an entry of ints[] or nodes[] is smaller than
 * the entry's own, and a tensor's lines read only tensors before it in tensors[], or inputs: whoever computes in the order of the arrays has
 * everything at hand, and whoever asks from the outputs comes to an end. Equal entries are one entry.
 *
 * What the checker guarantees, beside what is said at the members:
 *   - Names are resolved. Subscripts are explicit: a tensor without subscripts has been given its own axes.
 *   - Every index has a range: 0 <= index < ints[extent], where the extent is a constant of the case.
 *   - A value depends on the indices that its node lists, and on no others. Those of a tensor's value are among the tensor's own.
 *   - With tki_definition_settle() having taken the case: sizes are not negative, no constant has overflowed or been divided by what is not
 *     positive, and every subscript without `else` is in range for all values of its indices, terms whose predicate is false included (what
 *     input tensors of integers hold is taken to be in the range that the tensor states; who has the inputs checks that first).
 *   - In such a case, no value that is reached through `choice` nodes reads a tensor that is absent, or takes an alternative that is none.
 *   - Arithmetic of integers that depends on indices can still leave 64 bits: whoever evaluates checks it and refuses the case. */
#pragma once

#include "core/export.h"
#include "define/wrong.h"
#include "tokitai.h"

#define TKI_NONE (-1)

/* Limits. Those on rank, sizes, tensors, attributes and choices are the contract's (tokitai.h). */
enum {
    TKI_MOST_TEXT = 1 << 16,     /* bytes of a definition file */
    TKI_MOST_OPS = 64,           /* definitions in a file */
    TKI_MOST_NESTING = 128,      /* brackets and operators within each other */
    TKI_MOST_LINES = 256,        /* of one definition, behind its head */
    TKI_MOST_SYNTAX = 8192,      /* words and signs that carry meaning, as parsed */
    TKI_MOST_NODES = 4096,       /* nodes[], and ints[], of a definition */
    TKI_MOST_INDICES = 512,      /* indices[] */
    TKI_MOST_PIECES = 64,        /* arguments of one `pieces` */
    TKI_MOST_COMBINATIONS = 4096 /* of all choices of its attributes */
};

/* -- Integers ------------------------------------------------------------------------------------------------------ */

/* Sizes, extents, subscripts and predicates are made of these. `//` rounds down, `%` is a - a // b * b. */
typedef enum tki_int_kind {
    TKI_INT_LITERAL,
    TKI_INT_SIZE,      /* case.dims[which] */
    TKI_INT_ATTRIBUTE, /* case.attributes[which].integer: an integer attribute */
    TKI_INT_INDEX,     /* the value of indices[which] */
    TKI_INT_ELEMENT,   /* of a tensor of integers; its subscripts are in range */
    TKI_INT_FLOOR,     /* of nodes[which], a constant of reals, exactly */
    TKI_INT_PHILOX, /* word b % 4 of Philox4x32-10 with key a and counter b // 4; 0 to 2^32 - 1. a and b are taken modulo 2^64 */
    TKI_INT_ADD,
    TKI_INT_SUBTRACT,
    TKI_INT_MULTIPLY,
    TKI_INT_DIVIDE, /* floor; b is a constant of the case */
    TKI_INT_MODULO, /* the same */
    TKI_INT_MIN,
    TKI_INT_MAX
} tki_int_kind;

/* offset + the sum of coefficient * atom. Atoms are ints[] of kinds INDEX, ELEMENT, PHILOX, and DIVIDE, MODULO, MIN, MAX and
 * products that depend on indices; offset and coefficients are constants of the case. Each atom occurs once. */
typedef struct tki_linear {
    int offset;
    int count;
    const struct tki_linear_term {
        int atom, coefficient;
    } * terms;
} tki_linear;

/* One subscript. `value` is the same number as `linear`. */
typedef struct tki_subscript {
    int value; /* ints[] */
    tki_linear linear;
} tki_subscript;

typedef struct tki_def_int {
    tki_int_kind kind;
    bool constant; /* of the case: it depends on sizes and attributes alone */
    int64_t literal;
    int which;
    int a, b;                        /* ints[] */
    int tensor;                      /* ELEMENT: of type TKI_TYPE_INT or a format of integers */
    const tki_subscript *subscripts; /* ELEMENT: [rank of the tensor] */
    tki_linear linear;               /* the same number */
    int index_count;                 /* which indices it depends on, ascending */
    const int *indices;
    tki_position position;
} tki_def_int;

/* A name that is bound: on the left side of a line, or by a reduction. Scopes that do not overlap may share one. */
typedef struct tki_def_index {
    const char *name;
    int extent; /* ints[], constant: it ranges over 0 <= index < extent */
} tki_def_index;

/* -- Conditions -------------------------------------------------------------------------------------------------- */

typedef enum tki_relation {
    TKI_IS_EQUAL,
    TKI_IS_UNEQUAL,
    TKI_IS_LESS,
    TKI_IS_LESS_EQUAL,
    TKI_IS_GREATER,
    TKI_IS_GREATER_EQUAL
} tki_relation;

/* Of integers, in predicates and constraints: a relation b, which is difference = a - b against 0. A predicate is a conjunction. */
typedef struct tki_test {
    tki_relation relation;
    int a, b; /* ints[] */
    tki_linear difference;
    int refusal; /* of constraints: in refusals[], else TKI_NONE */
    tki_position position;
} tki_test;

/* Of choices of attributes: a conjunction. Without terms it always holds. */
typedef struct tki_condition {
    int count;
    const struct tki_condition_term {
        int attribute;
        uint64_t choices; /* bit i for choice i; not 0 */
    } * terms;
} tki_condition;

/* -- Sizes, attributes, tensors ------------------------------------------------------------------------------------ */

/* In the order of the contract's sizes: those of input tensors as they occur, then those that only `where` names. */
typedef struct tki_def_size {
    const char *name;
    int derived;      /* ints[], of sizes before this one in `derivation`; TKI_NONE: free */
    const char *text; /* of `derived`, as printed */
    tki_position position;
} tki_def_size;

typedef struct tki_def_attribute {
    const char *name;
    tk_attribute_type type;
    tk_value initial, least, most; /* the ends belong to the range */
    bool ranged;                   /* the range is written, and not just that of the type */
    int choice_count;
    const char *const *choices;
    tki_position position;
} tki_def_attribute;

typedef enum tki_type {
    TKI_TYPE_CASE,  /* the case's dtype */
    TKI_TYPE_FIXED, /* `dtype` */
    TKI_TYPE_INT,   /* the case's index_dtype: inputs with a range; other integers are FIXED, `int` being i64 */
    TKI_TYPE_REAL   /* a tensor between: a real number, not rounded */
} tki_type;

typedef enum tki_tensor_role { TKI_TENSOR_INPUT, TKI_TENSOR_OUTPUT, TKI_TENSOR_BETWEEN } tki_tensor_role;

/* Inputs first, then outputs and tensors between in the order of their lines: tensors[i] reads inputs and tensors before it. The contract's
 * parameters are `inputs`, then `outputs` in the order of the head: params[]. */
typedef struct tki_def_tensor {
    const char *name;
    tki_tensor_role role;
    tki_type type;
    tk_dtype dtype;
    bool integer;            /* its elements are integers: type INT, a format of integers, or a line of an integer */
    int rank;                /* of inputs and outputs 1 to TK_MAX_RANK, of others 0 to TK_MAX_RANK */
    int extent[TK_MAX_RANK]; /* ints[], constant */
    int size[TK_MAX_RANK];   /* inputs and outputs: sizes[] */
    int own[TK_MAX_RANK];    /* outputs and tensors between: the indices of its element, indices[], all different */
    int value;               /* the same: nodes[]; TKI_NONE for inputs */
    tki_condition present;
    /* Inputs. */
    bool ranged;
    double least, most; /* reals: of the open or closed range that is written; infinite ends are not */
    bool open_below, open_above;
    int below; /* integers with a range: 0 <= element < sizes[below], which is clause INDEX; else TKI_NONE */
    int limit; /* the same size as ints[] */
    /* Outputs. */
    int shares;       /* the input whose memory it may have, tensors[]; or TKI_NONE */
    int stated_bound; /* nodes[]: B as the definition states it, over `own`; it may read the output itself; or TKI_NONE */
    int param;        /* its position in params[]; TKI_NONE for tensors between */
    tki_position position;
} tki_def_tensor;

/* -- Values ---------------------------------------------------------------------------------------------------------- */

/* Numbers without a rounding. Names are in tki_primitive_name(). */
typedef enum tki_primitive {
    TKI_ADD,
    TKI_SUBTRACT,
    TKI_MULTIPLY,
    TKI_DIVIDE,
    TKI_NEGATE,
    TKI_FMA, /* a * b + c */
    TKI_SQUARE,
    TKI_SQRT,
    TKI_RSQRT,
    TKI_EXP,
    TKI_EXP2,
    TKI_LOG,
    TKI_LOG1P,
    TKI_EXPM1,
    TKI_TANH,
    TKI_ERF,
    TKI_SIGMOID,
    TKI_ABS,
    TKI_MIN,
    TKI_MAX,
    TKI_POW,
    TKI_SILU,
    TKI_SOFTPLUS,
    TKI_MISH,
    TKI_GELU,
    TKI_GELU_TANH,
    TKI_NORMAL_CDF,
    TKI_ONE_MINUS_SIGMOID,
    TKI_LOG_SIGMOID,
    TKI_PRIMITIVE_COUNT
} tki_primitive;

/* Over `bound`, with a predicate: terms where it is false are absent. */
typedef enum tki_over {
    TKI_SUM,
    TKI_PROD,
    TKI_MEAN, /* over the number of terms that the predicate admits */
    TKI_MAXIMUM,
    TKI_MINIMUM,
    TKI_VAR, /* of n terms, over n - correction; operand[1]: the correction, a constant, or TKI_NONE for 0 */
    TKI_LOG_SUM_EXP,
    TKI_ARGMAX, /* one index is bound; the lowest of equal ones if ties_lower */
    TKI_ARGMIN,
    TKI_TOPK, /* the index at position `integer`, from 0, in descending order: the case is refused unless 0 <= position < extent */
    /* The axes stay: the result is at the indices `at`, one for each in `bound` and with the same extent. */
    TKI_SOFTMAX,     /* where the predicate is false at `at`: an absent term of what it stands in, 0 */
    TKI_LOG_SOFTMAX, /* the same, -inf */
    TKI_STANDARDIZE, /* (e - mean) * rsqrt(var + eps); operand[1]: eps, a constant */
    TKI_CUMSUM,      /* of the terms up to `at`, it included; one index is bound */
    TKI_CUMPROD,
    TKI_CUMMAX,
    TKI_CUMMIN,
    TKI_ROTATE_HALF, /* with h = extent / 2: minus the element at + h below h, the element at - h from there on; refused for odd extents */
    TKI_OVER_COUNT
} tki_over;

typedef enum tki_node_kind {
    TKI_NODE_LITERAL,   /* `text`, the real number that it spells, not negative; or inf */
    TKI_NODE_ATTRIBUTE, /* attributes[which], a real one: its value is that double */
    TKI_NODE_INTEGER,   /* ints[integer] */
    TKI_NODE_READ, /* of tensors[tensor] at `subscripts`; where one is out of range, operand[0], a constant, if there is one */
    TKI_NODE_PRIMITIVE, /* of operand[] */
    TKI_NODE_CAST,      /* operand[0] rounded to `dtype`; this belongs to the meaning */
    TKI_NODE_SELECT,    /* operand[1] if operand[0], a truth, else operand[2] */
    TKI_NODE_COMPARE,   /* operand[0] relation operand[1]; exact where both are integers */
    TKI_NODE_AND,       /* of two truths */
    TKI_NODE_OVER,      /* `over` of operand[0] */
    TKI_NODE_PIECES,    /* parts of `pieces` laid end to end along indices[which] */
    TKI_NODE_CHOICE     /* operand[0] if `condition` holds for the attributes, else operand[1]; settled by the case */
} tki_node_kind;

/* A piece: from `start` on, `size` elements: nodes[read], a read whose subscript there is the index less `start`. */
typedef struct tki_piece {
    int read;
    int start, size; /* ints[], constant */
} tki_piece;

typedef enum tki_node_type { TKI_REAL, TKI_INTEGER, TKI_TRUTH } tki_node_type;

typedef struct tki_def_node {
    tki_node_kind kind;
    /* Integers may stand where a real is expected, and are exact. Truths stand as conditions of SELECT and operands of AND alone. */
    tki_node_type type;
    bool constant; /* made of literals, attributes and sizes: hosts compute it in double (an integer exactly) */
    int operand[3];
    /* LITERAL */
    const char *text; /* in decimal, with a point whatever the locale, or 0x1p-24 */
    double nearest;   /* the double next to it */
    bool exact;       /* which is the number itself */
    /* By kind. */
    int which;
    int integer;
    int tensor;
    const tki_subscript *subscripts; /* [rank of the tensor] */
    tki_primitive primitive;
    tk_dtype dtype;
    tki_relation relation;
    tki_condition condition;
    tki_over over;
    bool ties_lower;
    int bound_count;
    const int *bound; /* indices[] that operand[0] and the predicate are evaluated over, all different */
    const int *at;    /* of SOFTMAX and those behind it: [bound_count] indices[]; else NULL */
    int test_count;
    const tki_test *tests; /* the predicate */
    int piece_count;
    const tki_piece *pieces;
    /* The indices that its value depends on, ascending: those that a tensor is to be subscripted with that keeps it. */
    int index_count;
    const int *indices;
    int depth; /* how many reductions depend on each other, through the tensors that it reads */
    tki_position position;
} tki_def_node;

/* -- Further lines ------------------------------------------------------------------------------------------------- */

/* Bits of the values that `special` lines name. */
enum {
    TKI_SPECIAL_NAN = 1,
    TKI_SPECIAL_PLUS_INF = 2,
    TKI_SPECIAL_MINUS_INF = 4,
    TKI_SPECIAL_ZERO = 8 /* of either sign */
};

/* special x = -inf and w = 0: y = 0 or nan. It is about the elements of `output` where all of `when` hold; the tensors there are inputs
 * whose sizes are among the output's, each read at the place of the element along these. The first such line decides. */
typedef struct tki_special {
    int when_count;
    const struct tki_special_when {
        int tensor;
        unsigned values;        /* one bit or several */
        const int *output_axis; /* [rank of tensor] which axis of the output each of its axes is */
    } * when;
    int output; /* tensors[] */
    unsigned admits;
    tki_position position;
} tki_special;

/* gradient of OP(y by x, w): this op's inputs grad_y, and outputs grad_x and grad_w. */
typedef struct tki_gradient {
    const char *op; /* NULL: there is no such line */
    int of_count, by_count;
    const char *const *of; /* outputs of that op */
    const char *const *by; /* its inputs */
    tki_position position;
} tki_gradient;

/* 0 <= value < limit, for all values of its indices. */
typedef struct tki_range_check {
    int value; /* ints[] */
    int limit; /* ints[], constant */
    int refusal;
} tki_range_check;

typedef struct tki_definition {
    const char *name;
    const char
        *text; /* the normal form: ASCII, no comments; parsed again it gives the same. What is hashed, and printed */
    int size_count, attribute_count, tensor_count, index_count, int_count, node_count;
    const tki_def_size *sizes;
    const tki_def_attribute *attributes;
    const tki_def_tensor *tensors;
    const tki_def_index *indices;
    const tki_def_int *ints;
    const tki_def_node *nodes;
    const int *derivation; /* [derived_count] sizes[], in an order in which they can be computed */
    int derived_count;
    int constraint_count;
    const tki_test *constraints; /* of constants: `where` lines, and what pieces, topk, argmax and rotate_half need */
    int check_count;
    const tki_range_check *checks; /* of subscripts */
    int refusal_count;
    const tki_complaint *refusals; /* why a case is refused */
    const char **refusal_texts;    /* [refusal_count] the same in words, by tki_definitions_say(); until then NULL */
    int input_count, param_count;
    const int *params; /* [param_count] tensors[], in the order of the contract: inputs, then outputs */
    int special_count;
    const tki_special *specials;
    tki_gradient gradient;
    int depth; /* the largest of its outputs' nodes */
    tki_position position;
} tki_definition;

/* -- For a case ---------------------------------------------------------------------------------------------------- */

/* Computes all constants of a case: values[i] of each ints[i] that is constant (others stay as they are), from case.dims and
 * case.attributes, of which derived sizes are not read but computed. TKI_NONE, or why the definition refuses the case, in refusals[].
 * `values` is [int_count]. Size expressions are total with that: overflow and divisors that are not positive are refusals. */
TKI_EXPORT int tki_definition_settle(const tki_definition *definition, const tk_case *c, int64_t values[]);

/* Sets the sizes that follow from others; one that cannot be computed is negative, as one may be that can. */
void tki_definition_derive(const tki_definition *definition, tk_case *c);

/* a kind b, of the kinds from ADD on; false for overflow, and for a divisor that is not positive. */
bool tki_int_compute(tki_int_kind kind, int64_t a, int64_t b, int64_t *result);

TKI_EXPORT bool tki_condition_holds(const tki_condition *condition, const tk_case *c);

/* a relation b */
TKI_EXPORT bool tki_relation_holds(tki_relation relation, int64_t a, int64_t b);

const char *tki_primitive_name(tki_primitive primitive);
TKI_EXPORT int tki_primitive_operands(tki_primitive primitive);
const char *tki_over_name(tki_over over);
TKI_EXPORT bool tki_over_keeps_axes(tki_over over);
TKI_EXPORT const char *tki_node_name(const tki_def_node *n); /* "rsqrt", "+", "sum", "a constant" */

/* -- Reading --------------------------------------------------------------------------------------------------------- */

/* The definitions of a text, in its order. They live in one arena with their names and texts. */
typedef struct tki_definitions {
    int count;
    const tki_definition *list; /* [count] */
    void *arena;
} tki_definitions;

/* Parses and checks; the text may have any bytes. TK_BAD_ARGUMENT: *error says where and why; TK_NO_MEMORY. On failure *made is empty. */
TK_MUST_USE tk_status tki_definitions_read(const char *text, size_t size, tki_definitions *made,
                                           tki_definition_error *error);
void tki_definitions_free(tki_definitions *made);

/* In refusals[]: those that every definition has are the first. */
static inline int tki_refusal_of_all(tki_wrong_kind kind)
{
    return (int)(kind - TKI_REFUSED_INTEGER);
}

/* Writes what is said where they refuse a case; TK_NO_MEMORY. */
TK_MUST_USE tk_status tki_definitions_say(const tki_definitions *made);

/* -- The contract -------------------------------------------------------------------------------------------------- */

/* The clauses of a contract that is made from a definition; before those that every contract has. */
typedef enum tki_defined_clause {
    TKI_DEFINED_ERR, /* these if an output is of real numbers */
    TKI_DEFINED_NAN,
    TKI_DEFINED_INF,
    TKI_DEFINED_OVERFLOW,
    TKI_DEFINED_SPECIAL, /* if there are lines `special` */
    TKI_DEFINED_INTEGER, /* if an output is of integers */
    TKI_DEFINED_COUNT
} tki_defined_clause;

/* Its position among the contract's; TKI_NONE if it is not there. */
TKI_EXPORT int tki_definition_clause(const tki_definition *definition, tki_defined_clause which);

/* What the contract was made from (tk_op_define()); NULL. */
TKI_EXPORT const tki_definition *tki_definition_of(const tk_contract *contract);

/* NULL if there is none of that name. */
TKI_EXPORT const tki_definition *tki_definition_named(const tki_definitions *made, const char *name);
