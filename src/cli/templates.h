/* SHOWS. What `tokitai new-kernel` writes; cmake/embed_kernels.cmake makes the table. */
#pragma once

#include <stddef.h>

/* The templates of a family of ops. */
typedef struct cli_template {
    const char *path; /* "ops/gelu/template.c"; NULL ends the table */
    const char *text; /* [bytes], a zero behind it */
    size_t bytes;
} cli_template;

extern const cli_template cli_templates[];
