/* DECIDES. An op that a program registers: its contract is checked, copied with all that it points to, and given the clauses that follow from
 * sizes and tensors. */
#pragma once

#include "model/op.h"

enum { TKI_MOST_OP_NAME = 63 }; /* bytes, as frames have room for */

/* Why this is no contract; NULL: it is one. */
const char *tki_wrong_contract(const tk_contract *c);
const char *tki_wrong_clauses(const tk_contract *c); /* the part of it that is about clauses */

enum {
    TKI_USUAL_COUNT = 5,
    TKI_ID_ROOM = TKI_MOST_OP_NAME + 16,
    TKI_WORDS_ROOM = TK_MAX_PARAMS * 128,
    TKI_TEXT_ROOM = 128
};

/* The clauses of a contract, with those that follow from its sizes and tensors. */
typedef struct tki_clauses {
    int count;
    tk_clause list[TK_MAX_CLAUSES];
    char room[TKI_USUAL_COUNT * (TKI_ID_ROOM + TKI_WORDS_ROOM + TKI_TEXT_ROOM)]; /* ids and texts of those */
} tki_clauses;

/* Every op has them from here: ours (ops/registry.c) and those of programs. False: there is no room for so many. */
bool tki_clauses_of(const tk_contract *c, tki_clauses *all);

/* An op without lowerings, of a contract with nothing wrong; NULL if there is no memory, and `is_incomplete` if it did not suffice. */
tki_made_op *tki_made_op_create(const tk_contract *contract);
void tki_made_op_free(tki_made_op *op); /* NULL: nothing */
