/* CHOOSES. What holds for all that is foreign: kernels, compilers, and the tools that read what these made. */
#pragma once

#include "core/export.h"
#include "isolate/worker_spawn.h"
#include "tokitai_verify.h"

typedef struct tki_worker_terms {
    tk_limits limits;
    bool allow_weak; /* run it where files or system calls cannot be kept from it */
} tki_worker_terms;

/* Arguments for the worker program. */
void tki_terms_add(const tki_worker_terms *terms, tki_strings *arguments);

/* TK_UNAVAILABLE, with the reason, if a report of confinement says that it is weak and that was not allowed. */
TK_MUST_USE tk_status tki_terms_accept(tk_ctx *ctx, const tki_worker_terms *terms, const char *report);

/* What its report of confinement says is missing, to be run with nobody's leave; NULL if it is strong. */
TKI_EXPORT const char *tki_confinement_weakness(const char *report);

/* The limit that it says holds; -1: none does. */
typedef enum tki_limit { TKI_LIMIT_MEMORY, TKI_LIMIT_TASKS } tki_limit;
TKI_EXPORT int64_t tki_confinement_limit(const char *report, tki_limit limit);
