/* SHOWS. Arguments that several commands take: read alike, and complained of alike. A text of NULL, an option that was not
 * given, leaves the value as it is; what returns false, 0 or NULL has complained. `who` stands before the colon of a
 * message. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "cli/attribute_options.h"
#include "cli/parse.h"
#include "tokitai_verify.h"

/* Writes "unknown WHAT 'WORD'", then the nearest of the names or all of them. */
void cli_complain_unknown(const char *who, const char *what, const char *word, const char *const names[], int count);

enum { CLI_MOST_OPS = 160, CLI_TYPES_SIZE = 16, CLI_SIGNATURE_SIZE = 4096 };

/* One of ours, or what FILE.op or FILE.op:NAME defines. */
const tk_contract *cli_find_op(const char *who, const char *name);

/* Reads the definitions that are named among these words, as far as they can be read: before the options are known, since
 * the attributes of an op are options. */
void cli_define_ops(int count, char *const words[]);
const tk_contract *cli_defined_at(int i); /* of those that were read; NULL past the end */

/* The context that they belong to: there they have the places of the file that was read. */
tk_ctx *cli_defining(void);

/* The op as calls with that context take it; NULL: it has complained. */
const tk_contract *cli_op_in(const char *who, tk_ctx *ctx, const tk_contract *contract);

/* The ops of these names, each once; every op if there is no name. Their number. */
int cli_choose_ops(const char *who, char *const names[], int count, const tk_contract *ops[CLI_MOST_OPS]);

bool cli_find_backend(const char *who, const char *name, tk_backend_info *backend);

/* Where a lowering runs: on the device that was named, else on that of its id, else on the CPU. `device` is for
 * tk_ctx_use_device(). */
bool cli_choose_backend(const char *who, const char *text, const char *lowering, const char **device,
                        tk_backend_info *backend);

/* Calls `visit` with each id of a lowering: one for the types that the op takes, and for each index type where there
 * is an index. */
enum { CLI_ID_SIZE = 128 };
void cli_each_id(const tk_contract *op, int lowering, void (*visit)(const char *id, void *data), void *data);

/* All types, or one that one of the ops takes. */
bool cli_choose_types(const char *who, const char *text, const tk_contract *const ops[], int count, cli_types *types);

static inline bool cli_types_have(const cli_types *wanted, tk_types types)
{
    return !wanted->one || (wanted->types.dtype == types.dtype && wanted->types.result_dtype == types.result_dtype);
}

/* A case of an op, its types and, if it takes an index, that type of it; all sizes zero. */
static inline tk_case cli_case_of(const tk_contract *op, tk_types types, tk_dtype index_dtype)
{
    tk_case c = tk_case_init(op, types.dtype);
    c.result_dtype = types.result_dtype;
    c.index_dtype = index_dtype;
    return c;
}

typedef struct cli_types_text {
    char text[CLI_TYPES_SIZE];
} cli_types_text;

/* "f16-f32" */
static inline cli_types_text cli_name_types(tk_types types)
{
    cli_types_text name;
    tk_types_name(types, name.text, sizeof name.text);
    return name;
}

/* The names of all types that the ops take, each once; their number. */
enum { CLI_MOST_TYPES = 31 };
int cli_list_types(const tk_contract *const ops[], int count, cli_types_text names[CLI_MOST_TYPES]);

/* Of --index, one bit per tk_dtype; `otherwise` if it was not given, -1. */
unsigned cli_index_dtypes(int choice, unsigned otherwise);

/* Sizes that fit every one of the ops, with these attributes, and give each of their tensors `fewest` elements or more, 0 or 1. */
bool cli_choose_shape(const char *who, const char *text, const tk_contract *const ops[], int count,
                      const cli_attributes *attributes, int64_t fewest, cli_shape *shape);

bool cli_choose_seed(const char *who, const char *text, uint64_t *seed);
bool cli_choose_alignment(const char *who, const char *text, int *alignment); /* 0: none */
