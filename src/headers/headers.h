/* CHOOSES. Inside the program tokitai-generate, which writes what is made from the contracts when Tokitai is built. It is linked to the contracts and
 * to what reads them, and sees tokitai.h without the part that it writes (TOKITAI_WITHOUT_OPS). */
#pragma once

#include <stdio.h>

#include "tokitai.h"

/* In the order of ops/ops.def; NULL past the end. */
const tk_contract *generate_contract_at(int i);

/* The attributes in tokitai_call, each once, in the order of the members; returns how many. */
int generate_call_members(const tk_attribute *members[TK_MAX_ATTRIBUTES]);

/* Text in a comment that has begun: breaks lines of more than 116 columns, the first of which is filled up to `column`. Each further line
 * begins with " *" and `indent` spaces. Returns the column. */
int generate_wrapped(FILE *out, int indent, int column, const char *text);

/* A declaration: `begin`, the arguments before the tensors, and a line for each tensor with its shape. */
typedef struct generate_function {
    const char *begin;       /* "int tokitai_gelu_fwd(" */
    const char *first;       /* the first arguments; the sizes follow */
    const char *index_dtype; /* what gives the type of an index */
    const char *options;     /* the argument that stands before the outputs; NULL: none */
} generate_function;

void generate_declaration(FILE *out, const tk_contract *contract, const generate_function *function);

/* What follows the argument `--`; NULL ends it. */
extern char **generate_inputs;

/* The text of a file; free() it. */
char *generate_read(const char *path);

/* Ends the build: something is wrong in an input, at that line, or 0. */
typedef struct generate_place {
    const char *path;
    int line;
} generate_place;

__attribute__((format(printf, 2, 3), noreturn)) void generate_refuse(generate_place at, const char *format, ...);

/* The files. */
void generate_public_calls(FILE *out);
void generate_typed_calls(FILE *out);
void generate_kernel_header(FILE *out);
void generate_kernel_calls(FILE *out);
void generate_schema(FILE *out); /* reads the standard input */
void generate_member_page(FILE *out);
void generate_proofs(FILE *out); /* reads the inputs: proofs/NAME.v and proofs/axioms.txt */
void generate_python(FILE *out); /* reads the inputs: a library, the headers of what it has, the next library, ... */
