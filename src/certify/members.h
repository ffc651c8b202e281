/* TRUSTED. Which members a certificate has, by the kind of its subject. */
#pragma once

#include "certify/certificate.h"

/* The first member that a certificate of its kind does not have, as a dotted path; "" if there is none. `contract` is that of its op: its
 * attributes are members of `run`. */
void tki_members_foreign(const tk_certificate *certificate, const tk_contract *contract, char *path, size_t size);
