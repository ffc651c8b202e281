/* SHOWS. The parts of the page that tk_report_html() makes. All of a certificate may be forged: text goes onto
 * the page through tki_html_text() alone, numbers are printed as numbers. */
#pragma once

#include <stdio.h>

#include "certify/certificate.h"
#include "certify/refutation.h"

enum { TKI_REPORT_ROWS = 2000 }; /* of a table; what more there is, is counted */

/* Style and script of every page. The page's policy allows these two by their hashes, and nothing else. */
extern const char tki_report_style[];
extern const char tki_report_script[];

/* Between tags, or in an attribute between double quotes. */
void tki_html_text(FILE *out, const char *text);
void tki_html_put(FILE *out, const char *before, const char *text, const char *behind); /* tags, text, tags */
void tki_html_value(FILE *out, const json_t *value);                                    /* any JSON value */
void tki_html_share(FILE *out, double share);     /* of a bound: "34 %", "2.1 times", "no end" */
void tki_html_short(FILE *out, const char *hash); /* its first digits, all of it as a hint */
void tki_html_trial(FILE *out, const tk_certificate *c, const json_t *trial); /* family and shape */
char *tki_shape_text(const tk_certificate *c, const json_t *trial); /* "m=3 n=4"; free() it; NULL: no memory */

/* A table: its class, its columns with | between them, those of numbers with # before. At its end how many of `rows` are not shown. */
void tki_html_table(FILE *out, const char *class, const char *columns);
void tki_html_table_end(FILE *out, size_t shown, size_t rows, int columns);

double tki_json_real(const json_t *object, const char *name); /* "infinity" is understood; NaN if it has none */
const char *tki_where_text(const char *where);                /* what "where" of an element means */
const char *tki_verdict_class(const char *verdict);           /* of the style */

/* Figures. */
void tki_chart_histogram(FILE *out, const json_t *histogram, const char *title, const char *axis, bool wrong);
void tki_chart_magnitudes(FILE *out, const json_t *by_magnitude);
void tki_chart_share(FILE *out, double share);
void tki_number_line(FILE *out, const tk_certificate *c, const json_t *element);

/* Sections. */
void tki_report_certificate(FILE *out, tk_ctx *ctx, const tk_report_entry *entry, int number);
void tki_report_changes(FILE *out, const tk_report_entry *entries, int first, int second);
