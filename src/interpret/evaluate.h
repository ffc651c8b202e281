/* DECIDES. Programs run on many elements at a time. */
#pragma once

#include "interpret/program.h"

/* One program at work: elements with their indices, and the values of its nodes. */
typedef struct tki_lanes {
    int count;
    int64_t *index[TKI_MOST_INDICES]; /* [TKI_LANES] of those that its elements have */
    int *slot;                        /* [node_count] position in `values` */
    tki_value (*values)[TKI_LANES];
    bool active[TKI_LANES];   /* of bodies: whether the element's predicate holds */
    int64_t place[TKI_LANES]; /* and where it stands among the terms of its row */
    int owner[TKI_LANES];     /* and which row that is */
    void *memory;
} tki_lanes;

/* A thread's memory; what is not needed is not made. */
typedef struct tki_thread {
    const tki_interpreter *in;
    tki_lanes **of_tensor, **of_body;
    tk_status status;
} tki_thread;

/* A node's values: one for each element, or one for all. */
typedef struct tki_operand {
    const tki_value *at;
    int step;
} tki_operand;

/* All entries of a table, those before it in the order being filled. */
TK_MUST_USE tk_status tki_fill_table(const tki_interpreter *in, const tki_filling *filling, void *entries);

/* The values of a program's nodes for the elements that are set; false, with the thread's status, if that failed. */
bool tki_run(tki_thread *t, const tki_program *p, tki_lanes *w);

/* The thread's memory for a program, made when first asked for; NULL if there is none. */
tki_lanes *tki_lanes_of(tki_thread *t, const tki_program *p, tki_lanes **place);

tki_operand tki_operand_of(const tki_thread *t, const tki_lanes *w, int node);

/* A subscript for all elements; TKI_NO_INTEGER where there is none. */
void tki_line_of(const tki_thread *t, const tki_program *p, const tki_lanes *w, const tki_linear *linear,
                 int64_t line[]);

/* The place of each element in a table. */
void tki_table_places(const tki_thread *t, const tki_table *table, const tki_lanes *w, int64_t flat[]);

/* A reduction, from its tables or from its terms. */
void tki_compute_over(tki_thread *t, int node, const tki_lanes *w, tki_value out[]);

/* The rows of elements of softmax, log_softmax and standardize: of the first[i] that are i. */
void tki_compute_rows(tki_thread *t, int node, const tki_lanes *w, const int first[], tki_row rows[]);
