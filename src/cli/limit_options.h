/* Options of the commands that run kernel files: what these may have at most, and whether they are run where they cannot be shut in. */
#pragma once

#include <argp.h>

#include "tokitai_verify.h"

typedef struct cli_limits {
    tk_limits limits;
    double total_seconds; /* 0: not given */
    bool allow_weak_sandbox;
    bool any; /* one of them but the time is given */
} cli_limits;

/* A child for the parser of a command; its input is a cli_limits. The keys are its own: from CLI_LIMITS_KEYS on. */
enum { CLI_LIMITS_KEYS = 1024 };
extern const struct argp cli_limits_parser;
