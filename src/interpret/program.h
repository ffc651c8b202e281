/* DECIDES. How a definition is evaluated for one case: which of its values are kept in tables, and in what order the others are computed, for a
 * number of elements at a time. */
#pragma once

#include <mpfr.h>

#include "define/definition.h"
#include "interpret/blocks.h"
#include "interpret/reduce.h"

/* The most memory for values that are kept; the most values that a case may need. */
#define TKI_MOST_KEPT_BYTES (INT64_C(3) << 30)
#define TKI_MOST_WORK 0x1p40

/* The nodes that the value `root` needs at each element, in an order in which they can be computed. What is below a reduction, and what a
 * tensor between is, are programs of their own. */
typedef struct tki_program {
    int root;
    int count;
    int *order; /* [count] nodes[] */
    int index_count;
    int *
        indices; /* [index_count] that its elements have: those of the root; of a reduction's body those that it binds, too */
    double domain; /* how many elements that makes */
    double cost;   /* values that an element needs, once tables are filled */
} tki_program;

/* Values of a node, or what a row of a reduction is reduced to, at all values of its indices. */
typedef struct tki_table {
    int index_count;
    const int *indices;
    int64_t count;
    size_t bytes; /* of an entry */
    void *entries;
} tki_table;

typedef enum tki_table_kind {
    TKI_KEPT_VALUE,
    TKI_KEPT_PREFIXES, /* of what accumulates: filled by rows */
    TKI_KEPT_PRODUCT,
    TKI_KEPT_ROW,
    TKI_KEPT_SPECIAL, /* int64_t: how many terms of a row are NaN or infinite */
    TKI_KEPT_TENSOR
} tki_table_kind;

/* One to be filled: in this order each finds what it needs. */
typedef struct tki_filling {
    tki_table_kind kind;
    int which; /* nodes[]; of TKI_KEPT_TENSOR tensors[] */
} tki_filling;

/* A node's values: one for each element, or one for all. */
typedef struct tki_operand {
    const tki_value *at;
    int step;
} tki_operand;

/* Who looks at an evaluation, as lint does. No tables are kept then, so that each value is met, and one thread computes. */
typedef struct tki_watch {
    const bool *exact; /* [node_count] nodes whose values are taken to be free of errors; or NULL */
    /* Each node that is computed for some elements, or NULL. A primitive has operands, others have none: `at` is NULL. */
    void (*see)(void *context, int node, int count, const tki_operand operands[3], const tki_value values[]);
    void *context;
} tki_watch;

/* Of the finite numbers of an input. */
typedef struct tki_input_reach {
    double largest;
    bool has_subnormals;
} tki_input_reach;

typedef struct tki_interpreter {
    const tki_definition *d;
    const tk_case *c;
    const void *const *buffers; /* in contract order; of outputs only indices that were chosen, see tki_chooses() */
    tki_rules rules;
    int numerics, matrix_unit;    /* TKI_NUMERICS_..., TKI_UNIT_... */
    double *reach;                /* [node_count] what no evaluation of it passes; or infinite */
    tki_input_reach *inputs;      /* [tensor_count] where products are truncated or aligned */
    const tki_watch *watch;       /* or NULL */
    double asked;                 /* elements of each output that are asked for, at most */
    double work;                  /* values that the most expensive output or table needs */
    bool *may_be_special;         /* [node_count] its values may be infinite, NaN or unknown */
    bool pads_by_absence;         /* some factor may be: what stands behind `else 0` is then an absent term */
    int64_t *constants;           /* [int_count] of tki_definition_settle() */
    int *resolved;                /* [node_count] past choices */
    bool *is_constant;            /* [node_count] made of literals, attributes and sizes by arithmetic alone */
    tki_value *values;            /* [node_count] of these */
    const float **decoded;        /* [tensor_count] tables of 16-bit inputs; NULL: elements are decoded one by one */
    tki_program *of_tensor;       /* [tensor_count] order NULL: none */
    tki_program *of_body;         /* [node_count] of reductions */
    tki_program *of_factor[2];    /* [node_count] of their factors, where these are not gathered; order NULL: none */
    tki_program *stated;          /* [tensor_count] of the bounds that the definition states; order NULL: none */
    int *outer_count, **outer;    /* [node_count] of reductions: the indices that a row of it depends on */
    tki_table *kept, *rows;       /* [node_count] entries NULL: none */
    tki_table *kept_tensor;       /* [tensor_count] */
    bool *by_equation;            /* [node_count] of reductions: terms are found by an equation of the predicate */
    struct tki_buckets **buckets; /* [node_count] then */
    tki_table *special;           /* [node_count] and where it matters: TKI_KEPT_SPECIAL */
    int **special_indices;
    int filling_count;
    tki_filling *fillings;
} tki_interpreter;

/* On TK_OK the caller frees it. TK_BAD_ARGUMENT: the case is not evaluated. It is for all outputs that the case has.
 * Buffers may be NULL, of who only wants to know whether it is evaluated: then no table is filled. */
TK_MUST_USE tk_status tki_interpreter_make(const tki_definition *d, const tk_case *c, const void *const buffers[],
                                           tki_interpreter **made);
/* The same for who asks for so many elements of each output at most: tables that cost more than these do not are not filled. */
TK_MUST_USE tk_status tki_interpreter_make_for(const tki_definition *d, const tk_case *c, const void *const buffers[],
                                               double asked, tki_interpreter **made);
/* The same as the first, watched. */
TK_MUST_USE tk_status tki_interpreter_make_watched(const tki_definition *d, const tk_case *c,
                                                   const void *const buffers[], const tki_watch *watch,
                                                   tki_interpreter **made);
void tki_interpreter_free(tki_interpreter *in);

/* Is each element of the tensor an index that argmax, argmin or topk finds? Several may be right. Where the buffer of such an output is there, lines
 * that read it read what the kernel has chosen. */
bool tki_chooses(const tki_interpreter *in, int tensor);

/* Of such an output: the indices that its buffer has, where they may be chosen, and else others that may; TKI_NO_INTEGER where nothing is known, or,
 * without a buffer, several are right. Keys are within `forms` times their e. */
TK_MUST_USE tk_status tki_interpreter_choices(const tki_interpreter *in, int tensor, double forms, int64_t first,
                                              int64_t count, int64_t indices[]);

/* Elements `first` to `first` + `count` of an output. Safe from several threads. */
TK_MUST_USE tk_status tki_interpreter_values(const tki_interpreter *in, int tensor, int64_t first, int64_t count,
                                             tki_value values[]);

/* B of elements of an output, as the definition states it. */
TK_MUST_USE tk_status tki_interpreter_stated(const tki_interpreter *in, int tensor, int64_t first, int64_t count,
                                             tki_value values[]);

/* One element's exact value, in an interval of numbers of that precision. */
TK_MUST_USE tk_status tki_interpreter_exactly(const tki_interpreter *in, int tensor, int64_t element, int precision,
                                              mpfr_ptr lo, mpfr_ptr hi);

/* -- For the parts of the interpreter ------------------------------------------------------------------------------ */

static inline int tki_resolved(const tki_interpreter *in, int node)
{
    return in->resolved[node];
}

tki_table *tki_table_of(const tki_interpreter *in, const tki_filling *filling);

/* The parameter whose buffer an input is in. */
static inline const void *tki_input_of(const tki_interpreter *in, int tensor)
{
    return in->buffers[in->d->tensors[tensor].param];
}

/* Does it stand in a buffer: an input, or what a kernel has chosen? */
static inline bool tki_is_given(const tki_interpreter *in, int tensor)
{
    const tki_def_tensor *t = &in->d->tensors[tensor];
    return t->role == TKI_TENSOR_INPUT ||
           (t->role == TKI_TENSOR_OUTPUT && in->buffers && in->buffers[t->param] != NULL);
}

static inline tk_dtype tki_dtype_of(const tki_interpreter *in, int tensor)
{
    return tk_case_param_dtype(in->c, in->d->tensors[tensor].param);
}

double tki_input_value(const tki_interpreter *in, int tensor, int64_t element);
int64_t tki_input_integer(const tki_interpreter *in, int tensor, int64_t element);

static inline int64_t tki_extent_of(const tki_interpreter *in, int index)
{
    return in->constants[in->d->indices[index].extent];
}

/* Then in->values[] has it. */
static inline bool tki_is_constant(const tki_interpreter *in, int node)
{
    return in->is_constant[node];
}

/* Does it reduce each row to what its elements are computed from, in two passes? */
static inline bool tki_over_has_rows(tki_over over)
{
    return over == TKI_SOFTMAX || over == TKI_LOG_SOFTMAX || over == TKI_STANDARDIZE || over == TKI_LOG_SUM_EXP ||
           over == TKI_VAR;
}

/* May terms that a predicate leaves out make it NaN? A kernel may multiply those of a sum by zero, and add an infinity to others. */
static inline bool tki_keeps_absent(const tki_interpreter *in, const tki_def_node *n)
{
    const bool added = n->over == TKI_SOFTMAX || n->over == TKI_LOG_SOFTMAX || n->over == TKI_LOG_SUM_EXP ||
                       n->over == TKI_MAXIMUM || n->over == TKI_MINIMUM;
    return n->test_count > 0 && (n->over == TKI_SUM || n->over == TKI_MEAN || added) &&
           in->may_be_special[in->resolved[n->operand[0]]];
}

static inline bool tki_over_accumulates(tki_over over)
{
    return over == TKI_CUMSUM || over == TKI_CUMPROD || over == TKI_CUMMAX || over == TKI_CUMMIN;
}

/* How a sum of products of these two values, nodes[], is rounded. */
tki_terms tki_terms_of_products(const tki_interpreter *in, int left, int right);

/* Sets may_be_special[]; no input is larger. */
void tki_find_specials(tki_interpreter *in, double of_inputs);

/* -- Integers ------------------------------------------------------------------------------------------------------ */

/* What stands for an integer that has left 64 bits, or that an absent element would give. */
#define TKI_NO_INTEGER INT64_MIN

/* The value of ints[which], indices having the values index[]. */
int64_t tki_integer_of(const tki_interpreter *in, int which, const int64_t index[]);
/* Of an integer that is made of two. */
int64_t tki_integer_by(tki_int_kind kind, int64_t a, int64_t b);
int64_t tki_linear_value(const tki_interpreter *in, const tki_linear *linear, const int64_t index[]);

/* Philox4x32-10: word counter % 4 of the block counter / 4. */
uint32_t tki_philox(uint64_t key, uint64_t word);

/* Whether all tests hold: 1, 0; -1 if an integer is none. */
int tki_tests_hold(const tki_interpreter *in, const tki_test *tests, int count, const int64_t index[]);

/* The place of a read's element in its tensor, -1 if a subscript is out of range. `place` gets the subscripts. */
int64_t tki_place_read(const tki_interpreter *in, const tki_def_node *read, const int64_t index[], int64_t place[]);
