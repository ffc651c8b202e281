/* RECORDS. safetensors files (github.com/huggingface/safetensors): eight bytes with the length of a JSON header, the header, the tensors' bytes.
 * The reader is stricter than the format's own: each way in which a file can be malformed is a kind of its own, and nothing is allocated
 * by a number from the file before the number is checked. */
#pragma once

#include <jansson.h>
#include <sys/types.h>
#include <time.h>

#include "tensors/element.h"
#include "tokitai.h"

enum {
    TKI_TENSOR_MAX_RANK = 8,
    TKI_SAFETENSORS_HEADER_MOST = 100000000, /* bytes, as the format has it */
    TKI_SAFETENSORS_ALIGNMENT = 64           /* of the first tensor in a file that we write */
};

#define TKI_SAFETENSORS_METADATA "__metadata__" /* of the header's keys the one that is no tensor */

typedef enum tki_malformed {
    TKI_WELL_FORMED,
    TKI_LENGTH_CUT,         /* fewer than the eight bytes of the length */
    TKI_HEADER_TOO_LARGE,   /* the length is above the limit */
    TKI_HEADER_CUT,         /* the file ends within the header */
    TKI_HEADER_START,       /* the header does not begin with { */
    TKI_HEADER_NOT_UTF8,    /* bytes that are not UTF-8 */
    TKI_HEADER_NOT_JSON,    /* no JSON, or something behind it */
    TKI_HEADER_DUPLICATE,   /* a key twice, also after its escapes are resolved */
    TKI_HEADER_MINUS_ZERO,  /* -0 for a number, which readers take for 0 or for no integer */
    TKI_METADATA_NOT_TEXT,  /* __metadata__ is not an object of strings */
    TKI_NAME_EMPTY,         /* a tensor without a name */
    TKI_ENTRY_NOT_OBJECT,   /* what stands for a tensor is no object */
    TKI_ENTRY_MISSING_KEY,  /* dtype, shape or data_offsets is missing */
    TKI_ENTRY_UNKNOWN_KEY,  /* something else is there */
    TKI_DTYPE_UNKNOWN,      /* the dtype is not one of the format */
    TKI_SHAPE_NOT_SIZES,    /* the shape is not a list of integers, or one is negative */
    TKI_SHAPE_RANK,         /* more than TKI_TENSOR_MAX_RANK sizes */
    TKI_SHAPE_OVERFLOW,     /* the product of the sizes, in bits, is beyond 2^63 */
    TKI_SHAPE_PART_OF_BYTE, /* elements of 4 or 6 bits that do not fill whole bytes */
    TKI_OFFSETS_NOT_TWO,    /* the offsets are not two integers, or one is negative */
    TKI_OFFSETS_REVERSED,   /* the end lies before the beginning */
    TKI_OFFSETS_SIZE,       /* they hold more or fewer bytes than dtype and shape need */
    TKI_OFFSETS_HOLE,       /* bytes between two tensors, or before the first */
    TKI_OFFSETS_OVERLAP,    /* two tensors share bytes */
    TKI_DATA_CUT,           /* the file ends before the last tensor does */
    TKI_DATA_BEHIND,        /* bytes behind the last tensor */
    TKI_MALFORMED_KINDS
} tki_malformed;

const char *tki_malformed_name(tki_malformed kind); /* "HEADER_CUT" */

typedef struct tki_tensor {
    const char *name; /* UTF-8 without zero bytes */
    tk_dtype type;
    int rank;
    int64_t shape[TKI_TENSOR_MAX_RANK];
    int64_t begin, end; /* bytes, from the end of the header on */
} tki_tensor;

typedef struct tki_safetensors {
    json_t *header;      /* owns the names */
    tki_tensor *tensors; /* [count], as they lie in the file */
    size_t count;
    size_t *by_name;            /* [count], places in `tensors`, sorted by name */
    int64_t data_at;            /* bytes before the first tensor */
    const unsigned char *bytes; /* the mapped file, [size]; NULL: parsed from memory */
    int64_t size;
    dev_t device; /* of the mapped file, with the inode: which one that is, whatever it is called */
    ino_t inode;
    struct timespec modified; /* when it was opened */
} tki_safetensors;

/* Elements, and bytes that they take; false if there are more bits than 63 bits count, or a part of a byte is left over. */
bool tki_tensor_elements(const tki_tensor *tensor, int64_t *elements);
bool tki_tensor_bytes(const tki_tensor *tensor, int64_t *bytes);

/* Reads the table of a file that lies in memory. `what` is for messages. TK_BAD_FILE: `kind` says why; nothing is kept. */
TK_MUST_USE tk_status tki_safetensors_parse(tk_ctx *ctx, const char *what, const void *bytes, size_t size,
                                            tki_safetensors *file, tki_malformed *kind);

/* The same of a file, which is mapped into memory: no page of it is read before it is used. */
TK_MUST_USE tk_status tki_safetensors_open(tk_ctx *ctx, const char *path, tki_safetensors *file, tki_malformed *kind);
void tki_safetensors_close(tki_safetensors *file);

/* Whether the file at this path is still the one that was opened, and nobody has written to it since. */
bool tki_safetensors_is_unchanged(const tki_safetensors *file, const char *path);

const tki_tensor *tki_safetensors_find(const tki_safetensors *file, const char *name); /* or NULL */
const char *tki_safetensors_metadata(const tki_safetensors *file, const char *key);    /* or NULL */

/* Lays tensors out, those with the largest elements first and by name among equals: sorts them and sets
 * begin and end. False if they take more than 2^63 bytes. */
bool tki_safetensors_lay_out(tki_tensor *tensors, size_t count, int64_t *bytes);

/* The length and the header of such a file, filled up with blanks so that the first tensor is aligned. `metadata` is an object of strings
 * or NULL. free() it; NULL: no memory, or a header beyond the limit. */
char *tki_safetensors_header(const tki_tensor *tensors, size_t count, const json_t *metadata, size_t *bytes);
