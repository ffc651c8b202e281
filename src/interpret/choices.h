/* DECIDES. What argmax, argmin and topk find: which elements of a row may stand at a position of its descending order. */
#pragma once

#include "interpret/evaluate.h"

static inline bool tki_over_chooses(tki_over over)
{
    return over == TKI_ARGMAX || over == TKI_ARGMIN || over == TKI_TOPK;
}

/* The places of elements of that reduction, whose indices are a program's; unknown where several are right. */
void tki_compute_places(tki_thread *t, int node, const tki_program *p, const tki_lanes *w, tki_value out[]);
