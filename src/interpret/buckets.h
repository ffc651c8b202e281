/* DECIDES. Terms of a reduction by the value that an equation of its predicate asks for: sum[q | index[q] == v] looks at the terms of one v. */
#pragma once

#include "interpret/program.h"

/* An equation of a predicate: what depends on the indices that the reduction binds on one side, on the other what does not. */
typedef struct tki_equation {
    const tki_linear *difference;
    int group_count, group[TK_MAX_RANK]; /* indices of the row on which the first side depends, too */
    int64_t groups, terms;
    int64_t values; /* the most rows that one term can be in is one of so many */
} tki_equation;

/* The terms of each group in the order of that side's value; of equal ones in their own. */
typedef struct tki_buckets {
    tki_equation equation;
    struct tki_bucket_term {
        int64_t value, place;
    } * terms; /* [groups][terms] */
} tki_buckets;

/* Has the predicate an equation by which terms are found? */
bool tki_find_equation(const tki_interpreter *in, int node, tki_equation *equation);

/* On TK_OK *made is freed by tki_buckets_free(); NULL where an integer is none, so that all terms have to be looked at. */
TK_MUST_USE tk_status tki_buckets_make(const tki_interpreter *in, int node, tki_buckets **made);
void tki_buckets_free(tki_buckets *b);

/* The terms that a row has to look at; *count of them. index[] has the row's indices. */
const struct tki_bucket_term *tki_buckets_find(const tki_interpreter *in, const tki_buckets *b, int node,
                                               const int64_t index[], int64_t *count);
