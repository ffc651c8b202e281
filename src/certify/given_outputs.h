/* RECORDS. Tensors that somebody else computed, which are judged without a kernel. */
#pragma once

#include "core/hash.h"
#include "tokitai_verify.h"

typedef struct tki_given {
    tk_case c;
    bool on_device;                         /* the tensors lay in the memory of the context's device */
    char hash[TK_MAX_PARAMS][TKI_HASH_HEX]; /* of each tensor's bytes, in contract order; "": the case has none */
    char output_hash[TKI_HASH_HEX];         /* of all outputs, as trials have it */
} tki_given;

/* SHA-256 of what sha256sum would print of the tensors that the case has, in the order of the contract, and of the outputs together
 * ("outputs"): what a certificate of given outputs is about. False when it failed. */
TK_MUST_USE bool tki_given_hash(const tki_given *given, char hex[TKI_HASH_HEX]);
