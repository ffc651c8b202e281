/* SHOWS. What changed from one certificate to another. */
#pragma once

#include "certify/certificate.h"

/* What tk_certificate_diff() writes, as JSON. A new reference; NULL when memory ran out. */
json_t *tki_certificate_difference(const tk_certificate *first, const tk_certificate *second);
