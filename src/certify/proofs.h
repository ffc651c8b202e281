/* RECORDS. The machine-checked theorems that contracts rest on, as the build found them in proofs/, and what certificates say of them.
 * Nothing is proved here: proofs/check.sh has Coq do that. */
#pragma once

#include <jansson.h>

#include "core/hash.h"
#include "tokitai_verify.h"

/* More than a certificate may have of proofs, of clauses, and of clauses that one theorem supports. */
enum { TKI_MOST_PROOFS = 512 };

typedef struct tki_proof_file {
    const char *path; /* "proofs/sums.v"; NULL ends the table */
    const char *text; /* [bytes], a zero behind it */
    size_t bytes;
    const int *
        parts; /* this file and all that it imports of ours, each once, in the order in which they are met; -1 ends them */
} tki_proof_file;

typedef struct tki_theorem {
    int file;         /* in tki_proof_files */
    const char *name; /* NULL ends the table */
    const char *supports;
    const char *says;
    const char *statement; /* in Coq */
} tki_theorem;

/* What theorems are about and no clause of a contract is. */
typedef struct tki_proof_topic {
    const char *id; /* "ACCEPTANCE"; NULL ends the table */
    const char *what;
} tki_proof_topic;

/* Written by headers/proof_list.c. */
extern const tki_proof_topic tki_proof_topics[];
extern const tki_proof_file tki_proof_files[];
extern const tki_theorem tki_theorems[];
extern const char *const tki_axioms[]; /* NULL ends them */

/* Is this clause, or "ACCEPTANCE" and the like, among what it supports? */
bool tki_theorem_supports(const tki_theorem *theorem, const char *id);

/* NULL if there is none. */
const tki_theorem *tki_theorem_find(const char *file, const char *name);

/* SHA-256 of the bytes of its file and of what that imports, in the order of `parts`: what the theorem says depends on nothing else of ours. */
bool tki_theorem_hash(const tki_theorem *theorem, char hex[TKI_HASH_HEX]);

/* A certificate's member `proofs`: what supports a clause of the contract, or the rule by which elements are accepted.
 * NULL if memory ran out. */
json_t *tki_proofs_json(const tk_contract *contract);

/* A certificate's member `rests_on`, which follows from `clauses`, `proofs` and whether its outputs were given. All of them may be
 * forged. */
json_t *tki_rests_on_json(const json_t *clauses, const json_t *proofs, bool given);

/* "exhaustion", "trials", "given_outputs", "counterexample" or "nothing": what shows that a clause of this verdict is kept, or not. */
const char *tki_kernel_rests_on(const char *verdict, bool given);

/* How many of `proofs` are for this clause. */
int tki_proofs_count(const json_t *proofs, const char *id);

/* Whether the file, and all that it imports, are as they were when the theorem was cited. */
typedef enum tki_citation { TKI_CITED_SAME, TKI_CITED_CHANGED, TKI_CITED_UNKNOWN } tki_citation;
tki_citation tki_citation_of(const json_t *proof);
