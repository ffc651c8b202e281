/* SHOWS. What tokitai corpus counts, for its table and its chart. */
#pragma once

#include "cli/cli.h"

/* Of one op and dtype, or of several. */
typedef struct corpus_tally {
    int wrong, rejected, correct, held, unknown;
    int usual_rejected[TK_USUAL_TOLERANCES]; /* wrong kernels */
    int usual_alarms[TK_USUAL_TOLERANCES];   /* correct ones that it rejects */
} corpus_tally;

typedef struct corpus_bar {
    const char *name; /* of an op, or "total" */
    corpus_tally tally;
} corpus_bar;

/* Writes the share of wrong kernels that each check rejects, two bars for each name, as SVG. False with errno set. */
bool corpus_chart_write(const char *path, const corpus_bar *bars, int count);
