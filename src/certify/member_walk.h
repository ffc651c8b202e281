/* RECORDS. A certificate beside the table of members. */
#pragma once

#include "certify/certificate.h"
#include "certify/member_table.h"

enum { TKI_MEMBER_PATH = 96 };

/* True, and `what` says which, if a certificate of the present form has a member that those of its kind do not have, or lacks one. */
bool tki_members_are_wrong(const tk_certificate *certificate, char *what, size_t size);

/* Writing: those of the given members that a certificate of that kind has. A new reference. */
json_t *tki_members_of_kind(const char *kind, const json_t *given);

/* True, and `what` says which, if a predicate of that kind lacks a member, or has one that is not in the table. */
bool tki_members_are_missing(const char *kind, const json_t *predicate, char *what, size_t size);

/* Of a row whose `in` is a path: the member, or NULL; its path. */
const json_t *tki_member_get(const tk_certificate *certificate, const tki_member *member);
void tki_member_path(const tki_member *member, char path[TKI_MEMBER_PATH]);
