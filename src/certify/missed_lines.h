/* RECORDS. The lines of a source that never ran, as certificates have them. */
#pragma once

#include <jansson.h>

#include "kernel_file/covered_lines.h"

/* A certificate's coverage.lines.never_ran: [first, last], with the file's name behind them if it is not the one that is compiled. A new
 * reference. */
json_t *tki_lines_json(const tki_lines *lines);

/* Such a list, which may be forged: "41-43, 70, part.h:5", cut with "..." behind so many, and where it does not fit. */
void tki_ranges_print(const json_t *ranges, size_t most, char *text, size_t size);
