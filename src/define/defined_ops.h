/* DECIDES. The ops that come with the library as definitions: src/ops/definitions. cmake/embed_kernels.cmake writes the table at build time. */
#pragma once

#include <stddef.h>

typedef struct tki_defined_op {
    const char *name; /* NULL ends the table */
    const char *text; /* [bytes] of the file, which may define others too; a zero behind it */
    size_t bytes;
} tki_defined_op;

extern const tki_defined_op tki_defined_ops[];
