/* RECORDS. DSSE envelopes (github.com/secure-systems-lab/dsse, version 1.0): a Statement with signatures. */
#pragma once

#include <jansson.h>

#include "tokitai.h"

#define TKI_PAYLOAD_TYPE "application/vnd.in-toto+json"

enum {
    TKI_ENVELOPE_MOST_BYTES = 96 << 20, /* the largest certificate in base64, and its signatures */
    TKI_ENVELOPE_MOST_SIGNATURES = 64,
    TKI_ENVELOPE_MOST_SIGNATURE = 16 << 10 /* bytes of one; schemes other than ours have larger ones */
};

/* With padding and without line ends, in the standard alphabet. free() it; NULL when memory ran out. */
char *tki_base64_encode(const void *data, size_t bytes);

/* The standard or the URL-safe alphabet, not both mixed; padded; nothing else in it, and no bits set that carry nothing.
 * free() it, it has a zero behind it; NULL if the text is anything else, or memory ran out. */
unsigned char *tki_base64_decode(const char *text, size_t length, size_t *bytes);

/* What is signed: "DSSEv1 LENGTH TYPE LENGTH PAYLOAD". free() it; NULL when memory ran out. */
char *tki_envelope_signed_text(const char *type, const void *payload, size_t bytes, size_t *length);

/* Does this look like an envelope, rather than a Statement? */
bool tki_is_envelope(const json_t *value);

/* Takes an envelope apart. Both results are the caller's: free() and json_decref(). The signatures are as in struct
 * tk_certificate; at least one. Members that are not known are passed over. */
TK_MUST_USE tk_status tki_envelope_open(tk_ctx *ctx, const json_t *envelope, char **payload, size_t *bytes,
                                        json_t **signatures);
