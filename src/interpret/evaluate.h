/* DECIDES. Programs run on many elements at a time. */
#pragma once

#include "interpret/program.h"

/* How a node's values are there. */
typedef enum tki_form {
    TKI_AS_VALUES = 1,
    TKI_AS_BLOCK = 2, /* as values as well, once these were asked for */
    TKI_AS_ONE = 4,   /* all are values[0] */
    TKI_AS_GIVEN = 8  /* they stand elsewhere, one behind the other */
} tki_form;

/* One program at work: elements with their indices, and the values of its nodes. */
typedef struct tki_lanes {
    int count;
    int64_t *index[TKI_MOST_INDICES]; /* [TKI_LANES] of those that its elements have; else NULL */
    int run;             /* the index that counts up by 1, while all others stay; TKI_NONE: it is not so */
    int *slot;           /* [node_count] position in what follows */
    unsigned char *form; /* TKI_AS_... */
    tki_value (*values)[TKI_LANES];
    tki_block *blocks;
    const tki_value **given;
    bool active[TKI_LANES];   /* of bodies: whether the element's predicate holds */
    int64_t place[TKI_LANES]; /* and where it stands among the terms of its row */
    int owner[TKI_LANES];     /* and which row that is */
    void *memory;
} tki_lanes;

/* A thread's memory; what is not needed is not made. */
typedef struct tki_thread {
    const tki_interpreter *in;
    tki_lanes **of_tensor, **of_body, **of_factor[2];
    tk_status status;
} tki_thread;

/* All entries of a table, those before it in the order being filled. */
TK_MUST_USE tk_status tki_fill_table(const tki_interpreter *in, const tki_filling *filling, void *entries);

/* Of a reduction's table that is being filled: the entries whose state is this, term by term. */
enum { TKI_NOT_MADE = 1 << 16 };
TK_MUST_USE tk_status tki_fill_not_made(const tki_interpreter *in, const tki_filling *filling, tki_value entries[]);

bool tki_thread_begin(tki_thread *t, const tki_interpreter *in);
void tki_thread_end(tki_thread *t);

/* Sets the indices of elements `first` and those after it, in the order of the list. */
void tki_set_indices(const tki_interpreter *in, tki_lanes *w, int count, const int *indices, int64_t first);

/* The values of a program's nodes for the elements that are set; false, with the thread's status, if that failed. */
bool tki_run(tki_thread *t, const tki_program *p, tki_lanes *w);

/* The thread's memory for a program, made when first asked for; NULL if there is none. */
tki_lanes *tki_lanes_of(tki_thread *t, const tki_program *p, tki_lanes **place);

tki_operand tki_operand_of(const tki_thread *t, const tki_lanes *w, int node);

/* The same as a block, which may be *room; NULL where they are for the rules of single values. `factors` as for tki_block_of_one(). */
const tki_block *tki_block_of(const tki_thread *t, const tki_lanes *w, int node, bool factors, tki_block *room);

/* A subscript for all elements; TKI_NO_INTEGER where there is none. */
void tki_line_of(const tki_thread *t, const tki_program *p, const tki_lanes *w, const tki_linear *linear,
                 int64_t line[]);

/* The place of each element in a table; true: it is the same for all. */
bool tki_table_places(const tki_thread *t, const tki_table *table, const tki_lanes *w, int64_t flat[]);
/* Those of the elements in a table of values that stand there one behind the other; else NULL. */
const tki_value *tki_table_stretch(const tki_thread *t, const tki_table *table, const tki_lanes *w);

/* A reduction of elements of a program, from its tables or from its terms. Without `block`, the form is TKI_AS_VALUES. */
tki_form tki_compute_over(tki_thread *t, int node, const tki_program *p, const tki_lanes *w, tki_value out[],
                          tki_block *block);

/* The terms of a row as numbers that are compared: where each lies in a careful evaluation. */
typedef struct tki_keys {
    int64_t count;
    double *l, *h; /* [count] both are the number itself if that is exact; NaN: the term is absent */
    bool unknown;  /* of some nothing is known */
} tki_keys;

/* The keys of argmax, argmin (negated) and topk for one element; within `forms` times their e. A NaN may stand anywhere. */
void tki_collect_keys(tki_thread *t, int node, const tki_lanes *w, int element, double forms, tki_keys *keys);

/* Of each row how many terms are NaN or infinite, whether its predicate holds or not. */
void tki_count_special(tki_thread *t, int node, const tki_lanes *w, int64_t counts[]);

/* What accumulates, for whole rows: out[i] + step k is the one up to the k-th term of the row i. */
void tki_compute_prefixes(tki_thread *t, int node, const tki_lanes *w, tki_value *out[], int64_t step);

/* The rows of elements of softmax, log_softmax and standardize: of the first[i] that are i. */
void tki_compute_rows(tki_thread *t, int node, const tki_lanes *w, const int first[], tki_row rows[]);
