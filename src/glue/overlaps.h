/* RECORDS. Which sections overlap: groups of replicas, pairs of groups; and the vote among replicas. */
#pragma once

#include "glue/join.h"

/* Adds the overlaps of a tensor's sections to the outcome's counts and to the list. */
TK_MUST_USE tk_status tki_list_overlaps(tki_join *join, const tki_whole *whole);

/* Of replicas, at least three, those that differ from more than half are marked as outvoted. Reads them all. */
TK_MUST_USE tk_status tki_let_replicas_vote(tki_join *join, tki_whole *whole);
