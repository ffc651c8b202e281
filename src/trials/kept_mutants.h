/* CHOOSES. The verdicts on an op's mutants as a file of the cache folder, KEY.mutants:
 *
 *     tokitai mutants 1
 *     key 5f1c...              of the fields up to the level, see tki_kept_key()
 *     build 77be...            of the judge, see tki_judge_build()
 *     machine 0a77...          see tki_judge_machine()
 *     op gelu_fwd
 *     types f16                f16-f32 where the results are of another type
 *     index                    i32 or i64, if the op takes an index
 *     level quick              of the trials
 *     seed 149172831460251     of the trials; it follows from the fields above but the machine
 *     date 2026-11-18T05:42:33Z
 *     mutants 2
 *     mutant tanh_form rejected GELU_FWD.ERR y[0] is 0x0 = 0; ...
 *     mutant last_dropped survived
 *     hash 9c01...             SHA-256 of all lines above
 *
 * Nothing else is taken: no other order, no further line, no byte too many. */
#pragma once

#include "core/hash.h"
#include "model/lowering.h"
#include "tokitai_verify.h"

enum {
    TKI_DATE_TEXT = sizeof "2026-11-18T05:42:33Z",
    TKI_KEPT_MOST_BYTES = 1 << 18,   /* of a file */
    TKI_KEPT_MOST_IN_ALL = 32 << 20, /* those used last stay */
    TKI_KEPT_MOST = 256              /* mutants of an op */
};

typedef struct tki_kept_mutant {
    char name[64];
    bool rejected;
    char clause[64]; /* the id of the one that rejected it; "" if none did */
    char reason[512];
} tki_kept_mutant;

typedef struct tki_kept_mutants {
    char key[TKI_HASH_HEX], build[TKI_HASH_HEX], machine[TKI_HASH_HEX];
    char op[64], types[TKI_TYPES_TEXT], index[8];
    uint64_t seed;
    char date[TKI_DATE_TEXT];
    int count;
    tki_kept_mutant *list; /* [count] */
} tki_kept_mutants;

/* Of the trials that mutants are judged by: by build, op, types and index, of which any may be "". Below 2^48. False if SHA-256 failed. */
bool tki_mutants_seed(const char *build, const char *op, const char *types, const char *index, uint64_t *seed);

/* Of what the fields say. */
bool tki_kept_key(const tki_kept_mutants *kept, char key[TKI_HASH_HEX]);

/* The file's bytes; free() them. NULL without memory, or if a text does not fit the form. */
char *tki_kept_encode(const tki_kept_mutants *kept, size_t *bytes);

/* Reads a file's bytes. `key`, if not NULL, is the one that it must have. On failure nothing has to be freed and `problem` says what is
 * wrong. */
bool tki_kept_decode(const char *data, size_t bytes, const char *key, tki_kept_mutants *kept, char *problem,
                     size_t problem_size);

void tki_kept_free(tki_kept_mutants *kept);

/* "2026-11-18T05:42:33Z" in UTC, and is it one? */
void tki_date_now(char date[TKI_DATE_TEXT]);
bool tki_is_date(const char *text);

/* Takes the list, the date and the seed from the file with kept->key; false if there is none. What is there and is not taken is a note of the
 * context. Leaves the context's message as it was. */
bool tki_kept_load(tk_ctx *ctx, tki_kept_mutants *kept);

/* Keeps them; if that cannot be, a note says why. */
void tki_kept_save(tk_ctx *ctx, const tki_kept_mutants *kept);
