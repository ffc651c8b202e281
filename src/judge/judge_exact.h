/* DECIDES. Judges of outputs that are no rounded numbers: exact integers, and indices that put others in order. */
#pragma once

#include "judge/judge.h"

/* The bits of an element of any type. */
uint64_t tki_pattern_at(tk_dtype dtype, const void *data, int64_t i);

/* An integer element, sign-extended where its type has a sign. */
uint64_t tki_integer_at(tk_dtype dtype, const void *data, int64_t i);

/* One box, by enclosures whose `bits` are the exact integers. */
void tki_judge_integers(const tki_oracle_job *job, const tki_box *box, int64_t cols, const void *data,
                        const tki_enclosure *enclosures, tki_judgement *tally);

/* One box, by enclosures of the keys that the indices should select from their row. TK_NO_MEMORY, or TK_OK. */
TK_MUST_USE tk_status tki_judge_order(const tki_oracle_job *job, const tki_box *box, int64_t cols, const void *data,
                                      const tki_enclosure *enclosures, tki_judgement *tally);
