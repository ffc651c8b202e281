/* RECORDS. A certificate is its JSON statement; everything else is read from that. */
#pragma once

#include <jansson.h>

#include "tokitai_verify.h"

#define TKI_STATEMENT_TYPE "https://in-toto.io/Statement/v1"
#define TKI_PREDICATE_TYPE "urn:tokitai:kernel-certificate:v2"
#define TKI_PREDICATE_TYPE_1 "urn:tokitai:kernel-certificate:v1" /* read, too: docs/stability.md */

enum { TKI_CERTIFICATE_MOST_BYTES = 64 << 20 };

struct tk_certificate {
    json_t *statement;
    json_t *predicate;  /* of the statement, in the present form */
    json_t *signatures; /* [{"keyid": "" if it has none, "sig": base64}], or NULL */
    char *scope;        /* tki_scope() */
    char *headline;     /* tki_headline() */
    char *json;         /* made when asked for */
    char *markdown;     /* made when asked for */
};

/* Takes over the statement; NULL when memory ran out. */
tk_certificate *tki_certificate_of(json_t *statement);

/* Members of the predicate by dotted path ("result.elements"); NULL, "" or 0 if there is no such member. */
const json_t *tki_certificate_get(const tk_certificate *certificate, const char *path);
const char *tki_certificate_text(const tk_certificate *certificate, const char *path);
/* Of a kernel that ran in a worker: a file, or plain loops. */
bool tki_certificate_is_of_file(const tk_certificate *certificate);
int64_t tki_certificate_integer(const tk_certificate *certificate, const char *path);
double tki_certificate_real(const tk_certificate *certificate, const char *path); /* "infinity" is understood */

/* Of any object: "" or 0 if it has none. */
const char *tki_text(const json_t *object, const char *name);
json_int_t tki_integer(const json_t *object, const char *name);

/* The canonical text: sorted keys, one-space indentation, a line feed at the end. free() it; NULL when memory ran out. */
char *tki_statement_text(const json_t *statement);

/* The same without any white space but the line feed at the end: for archives. Hashes and signatures are of the canonical text. */
char *tki_statement_line(const json_t *statement);

/* SHA-256 of the canonical text without the member that holds this very hash. */
bool tki_statement_hash(const json_t *statement, char hex[65]);

/* The Markdown rendering; free() it. */
char *tki_certificate_render(const tk_certificate *certificate);

/* The op that it is about: of the context with its definition, or of its name if it has none. NULL: unknown here. */
const tk_contract *tki_certificate_contract(const tk_ctx *ctx, const tk_certificate *certificate);

/* Makes its definition known to the context. TK_BAD_FILE: it is none of its op. */
TK_MUST_USE tk_status tki_certificate_define(tk_ctx *ctx, const tk_certificate *certificate);

/* Is it written in the present form, not in the first? */
bool tki_certificate_is_current(const tk_certificate *certificate);

/* Its verdict is HELD or PROVED. */
bool tki_certificate_holds(const tk_certificate *certificate);

/* A certificate of another version may lack members that this one writes, and may put things in other words. */
bool tki_certificate_of_this_version(const tk_certificate *certificate);

/* What its member `run` says of an attribute; NULL: nothing, and it is at its default. */
const json_t *tki_run_setting(const json_t *run, const tk_attribute *attribute);
