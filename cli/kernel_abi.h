/* The C interface of a user's kernel, made from the op's contract as include/tokitai_kernel.h has it. */
#ifndef CLI_KERNEL_ABI_H
#define CLI_KERNEL_ABI_H

#include "tokitai.h"

enum { CLI_PROTOTYPE_SIZE = 512 };

/* "int tokitai_gelu_fwd(const tokitai_call *call, int64_t n, const void *x, void *y);" */
void cli_kernel_prototype(const tk_contract *contract, char *text, size_t size);

/* ", int64_t n, const void *x, void *y", and the same without types. */
void cli_kernel_parameters(const tk_contract *contract, char *text, size_t size);
void cli_kernel_arguments(const tk_contract *contract, char *text, size_t size);

/* A correct, plain function that computes one item of an op: one row of its last output. */
typedef struct cli_template {
    const char *path; /* "cli/templates/gelu_fwd.c"; NULL ends the table */
    const char *text; /* [bytes], a zero behind it */
    size_t bytes;
} cli_template;

extern const cli_template cli_templates[];

#endif
