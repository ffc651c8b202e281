/* TRUSTED. Which members of a certificate pages for people show, and under which names: for Markdown and for the report. */
#pragma once

/* Lists end with a row without a path. */
typedef struct tki_shown {
    const char *path, *label;
} tki_shown;

/* Paths in the predicate. */
extern const tki_shown tki_shown_errors[], tki_shown_effort[], tki_shown_coverage[], tki_shown_limits[],
    tki_shown_built[], tki_shown_machine[];

/* Members of a clause in result.refutation, and of a kernel in built.kernels. */
extern const tki_shown tki_shown_refuted[], tki_shown_kernel[];

/* What "where" of an element means. */
const char *tki_shown_where(const char *where);
