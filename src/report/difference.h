/* TRUSTED. What changed from one certificate to another. */
#ifndef TKI_REPORT_DIFFERENCE_H
#define TKI_REPORT_DIFFERENCE_H

#include "certify/certificate.h"

/* What tk_certificate_diff() writes, as JSON. A new reference; NULL when memory ran out. */
json_t *tki_certificate_difference(const tk_certificate *first, const tk_certificate *second);

#endif
