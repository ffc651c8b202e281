/* SHOWS. What `tokitai ops` says of a definition beyond its contract. */
#pragma once

#include "cli/cli.h"

/* Lines FILE:LINE:COLUMN: kind: text; exit status 1 if there are any. */
cli_exit cli_ops_lint(const char *who, const char *file, const tk_contract *contract, bool json);

/* Writes the SVG to `path`. */
cli_exit cli_ops_graph(const char *who, const char *path, const tk_contract *contract);
