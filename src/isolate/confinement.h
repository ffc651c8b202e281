/* CHOOSES. What holds for all that is foreign: kernels, compilers, and the tools that read what these made. */
#pragma once

#include "core/export.h"
#include "isolate/sanitizer.h"
#include "isolate/worker_spawn.h"
#include "isolate/worker_start.h"
#include "tokitai_verify.h"

typedef struct tki_worker_terms {
    tk_limits limits;
    bool allow_weak; /* run it where files or system calls cannot be kept from it */
} tki_worker_terms;

/* Arguments for the worker program. */
void tki_terms_add(const tki_worker_terms *terms, tki_strings *arguments);

/* What a worker's first frame says; `tool`: of compute-sanitizer, whose process is the outer one, or none. A frame that is not understood
 * says nothing. */
void tki_confinement_read(const tki_wire_reply *reply, tki_sanitizer_tool tool, tki_confinement *confinement);

/* Is all there that foreign code is not run without but with leave? */
TKI_EXPORT bool tki_confinement_is_strong(const tki_confinement *confinement);

/* TK_UNAVAILABLE, with what is missing, if it is weak and that was not allowed. */
TK_MUST_USE tk_status tki_terms_accept(tk_ctx *ctx, const tki_worker_terms *terms,
                                       const tki_confinement *confinement);

/* The limit that holds, TKI_BY_MEMORY or TKI_BY_TASKS; -1: none does. */
TKI_EXPORT int64_t tki_confinement_limit(const tki_confinement *confinement, tki_by by);

enum { TKI_MEANS_TEXT = 256 };
/* For people: a line for each means, and what is missing of one that is weak. */
TKI_EXPORT void tki_means_text(const tki_means *means, char *text, size_t size);
TKI_EXPORT void tki_confinement_weakness(const tki_confinement *confinement, char *text, size_t size);
/* The means of such a line; of one that could not be set up the error is any. False: it is no such line. */
TKI_EXPORT bool tki_means_read(const char *line, tki_means *means);
/* Does the last of the means, the sum, claim what the others do not have? */
TKI_EXPORT bool tki_confinement_adds_up(const tki_confinement *confinement);
