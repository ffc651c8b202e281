/* SHOWS. The four kernel programs: what a request has, in which order, which exit status each mistake has, and what the reply says.
 * docs/protocol.md tells it to users. */
#pragma once

#include "core/export.h"
#include "tokitai.h"

/* Exit statuses that all programs share; the others stand in the table. */
enum {
    TKI_SERVE_DONE = 0,
    TKI_SERVE_BAD_HEADER = 2,
    TKI_SERVE_DEVICE = 10,      /* no device, no memory, a reply over the limit */
    TKI_SERVE_BAD_INDEX = 11,   /* an index out of range */
    TKI_SERVE_CUT_LENGTH = 20,  /* the input ended inside a length */
    TKI_SERVE_CUT_PAYLOAD = 21, /* the input ended inside a frame */
    TKI_SERVE_TOO_LONG = 22,    /* a length above the limit */
    TKI_SERVE_UNWRITTEN = 23    /* the reply could not be written */
};

enum { TKI_SERVE_HEADERS = 4, TKI_SERVE_ARRAYS = 2, TKI_SERVE_FIELDS = 12 };

/* An array of the request. */
typedef struct tki_serve_array {
    const char *name;
    int param;   /* of the contract */
    int missing; /* exit status if one of its elements is missing or wrong */
} tki_serve_array;

/* What one value of the selecting header field stands for; a program without such a field has one mode. */
typedef struct tki_serve_mode {
    const char *op;
    const char *label; /* BACKEND or OP of the reply */
    int array_count;
    tki_serve_array arrays[TKI_SERVE_ARRAYS]; /* in the order of the request */
    int output;                               /* the parameter that is sent back */
} tki_serve_mode;

typedef enum tki_serve_value {
    TKI_SERVE_LABEL,
    TKI_SERVE_DEVICE_NAME,
    TKI_SERVE_GFX,
    TKI_SERVE_HEADER, /* a header field, as it came */
    TKI_SERVE_GRID,   /* blocks in all */
    TKI_SERVE_GRID_X,
    TKI_SERVE_GRID_Y,
    TKI_SERVE_BLOCK,
    TKI_SERVE_BLOCK_Y,
    TKI_SERVE_MILLISECONDS,
    TKI_SERVE_ELEMENTS
} tki_serve_value;

typedef struct tki_serve_field {
    const char *key;
    tki_serve_value value;
    int header; /* TKI_SERVE_HEADER: which */
} tki_serve_field;

typedef struct tki_serve_program {
    const char *name;
    int header_count;
    const char *headers[TKI_SERVE_HEADERS];
    int selector; /* the header field that chooses the mode; -1: none */
    int64_t first_mode;
    int bad_selector, bad_size; /* exit statuses; the smaller one is looked for first */
    int dims[TK_MAX_DIMS];      /* the header field of each of the contract's sizes */
    int mode_count;
    tki_serve_mode modes[2];
    char separator; /* between the elements of the reply */
    int field_count;
    tki_serve_field fields[TKI_SERVE_FIELDS];
} tki_serve_program;

TKI_EXPORT const tki_serve_program *tki_serve_program_at(int i); /* NULL past the end */
TKI_EXPORT const tki_serve_program *tki_serve_program_find(const char *name);
