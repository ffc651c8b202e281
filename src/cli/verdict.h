/* SHOWS. Verdicts on the terminal, as certify and judge print them. */
#pragma once

#include "cli/cli.h"

/* The columns of cli_verdict_row(); with those of lines run, of kernel files. */
cli_table cli_verdict_table(bool with_lines);

/* A row, and below it the headline, the reason and the reproducing command, where there are any. */
void cli_verdict_row(const cli_table *table, const tk_certificate *certificate);

cli_exit cli_exit_of_verdict(tk_verdict verdict);
