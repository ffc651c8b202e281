/* RECORDS. Every place that shows a verdict shows it by this line: table, page, JSON, JSON lines, JUnit, check. */
#include "certify/headline.h"

#include <stdlib.h>
#include <string.h>

#include "certify/certificate.h"
#include "certify/missed_lines.h"
#include "certify/refutation.h"
#include "core/escape.h"

static void print_value(FILE *out, const char *name, const json_t *value)
{
    if (json_is_integer(value))
        fprintf(out, "%s=%lld", name, (long long)json_integer_value(value));
    else if (json_is_number(value))
        fprintf(out, "%s=%.6g", name, json_number_value(value));
    else
        fprintf(out, "%s=%s", name, json_is_string(value) ? json_string_value(value) : "?");
}

/* "cols=3 rows=2": of an op that is not ours, by name, which is the order that a certificate's text has. */
static void print_members(FILE *out, const json_t *members)
{
    char *text = json_dumps(members, JSON_SORT_KEYS | JSON_REAL_PRECISION(17));
    json_t *sorted = text ? json_loads(text, 0, NULL) : NULL; /* or in another order rather than not at all */
    json_t *value;
    const char *name, *separator = "";
    json_object_foreach(sorted ? sorted : (json_t *)(uintptr_t)members, name, value)
    {
        fputs(separator, out);
        print_value(out, name, value);
        separator = " ";
    }
    json_decref(sorted);
    free(text);
}

void tki_print_shape(FILE *out, const char *op, const json_t *shape)
{
    const tk_contract *contract = tk_contract_find(op);
    for (int d = 0; contract && d < contract->dim_count; d++)
        fprintf(out, "%s%s=%lld", d ? " " : "", contract->dim_names[d],
                (long long)json_integer_value(json_object_get(shape, contract->dim_names[d])));
    if (!contract)
        print_members(out, shape);
}

/* "label_smoothing=0.1 scale=1", in the order of the contract. */
static void print_options(FILE *out, const tk_contract *contract, const json_t *options)
{
    const char *separator = "";
    const json_t *value;
    for (int i = 0; contract && i < contract->attribute_count; i++)
        if ((value = json_object_get(options, contract->attributes[i].name))) {
            fputs(separator, out);
            print_value(out, contract->attributes[i].name, value);
            separator = " ";
        }
    if (!contract)
        print_members(out, options);
}

/* Which of the level's trials were run, if not all. */
static void print_restriction(FILE *out, const json_t *run)
{
    const json_t *shape = json_object_get(run, "shape");
    const json_t *family = json_object_get(run, "family");
    const json_t *options = json_object_get(run, "options");
    const bool outputs = json_object_get(run, "given") != NULL;
    const bool given = outputs || json_object_get(run, "inputs") != NULL;
    const char *separator = "";
    if (!shape && !family && !options && !given)
        return;
    fputs(shape || given ? " for one case: " : family ? " for one family: " : " for one set of options: ", out);
    if (shape) {
        tki_print_shape(out, tki_text(run, "op"), shape);
        separator = ", ";
    }
    if (given) {
        fprintf(out, "%sinputs %sgiven", separator, outputs ? "and outputs " : "");
        separator = ", ";
    }
    if (family) {
        fprintf(out, "%s%s%s", separator, shape || given ? "family " : "", tki_text(run, "family"));
        separator = ", ";
    }
    if (json_array_size(json_object_get(run, "planted"))) {
        fprintf(out, "%svalues planted", separator);
        separator = ", ";
    }
    if (options) {
        fputs(separator, out);
        print_options(out, tk_contract_find(tki_text(run, "op")), options);
    }
}

/* Beginning with a blank. */
static void print_scope(FILE *out, const json_t *predicate)
{
    static const char *const own_words[] = {"numerics", "domain", "matrix_unit"};
    const json_t *run = json_object_get(predicate, "run");
    json_t *attributes = json_copy(json_object_get(run, "attributes"));
    const char *numerics = tki_text(attributes, "numerics"), *domain = tki_text(attributes, "domain");
    if (numerics[0] && strcmp(numerics, "ieee") != 0)
        fprintf(out, " under %s numerics", numerics);
    if (domain[0])
        fprintf(out, " on the domain %s", domain);
    for (size_t i = 0; i < sizeof own_words / sizeof *own_words; i++)
        json_object_del(attributes, own_words[i]);
    if (json_object_size(attributes)) {
        fputs(" with ", out);
        print_members(out, attributes);
    }
    json_decref(attributes);
    print_restriction(out, run);
}

/* One line of what can be shown, whatever an edited certificate holds; it begins without a blank. */
static char *finish(FILE *out, char **text)
{
    enum { MOST_GROWTH = 8 }; /* \u{10ffff} for three or four bytes, \x1b for one */
    char *line = NULL;
    if (!fclose(out)) {
        const char *from = *text + (**text == ' ');
        const size_t size = MOST_GROWTH * strlen(from) + 1;
        line = malloc(size);
        if (line)
            tki_escape_line(from, strlen(from), line, size);
    }
    free(*text);
    return line;
}

/* ", 3 lines never ran: 41-43": of what held, nothing is shown of the lines that did not run. */
static void print_lines(FILE *out, const json_t *predicate)
{
    enum { MOST_RANGES = 8 };
    char text[MOST_RANGES * 320];
    const json_t *lines = json_object_get(json_object_get(predicate, "coverage"), "lines");
    const json_t *ranges = json_object_get(lines, "never_ran");
    const char *verdict = tki_text(predicate, "verdict");
    const json_int_t missed = json_integer_value(json_object_get(lines, "count")) -
                              json_integer_value(json_object_get(lines, "run"));
    if (!json_array_size(ranges) || (strcmp(verdict, "HELD") != 0 && strcmp(verdict, "PROVED") != 0))
        return;
    fprintf(out, ", %lld line%s never ran: ", (long long)missed, missed == 1 ? "" : "s");
    tki_ranges_print(ranges, MOST_RANGES, text, sizeof text);
    fputs(text, out);
}

char *tki_scope(const json_t *predicate)
{
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    if (!out)
        return NULL;
    print_scope(out, predicate);
    return finish(out, &text);
}

char *tki_headline(const json_t *predicate)
{
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    if (!out)
        return NULL;
    const char *verdict = tki_text(predicate, "verdict");
    fputs(verdict, out);
    print_scope(out, predicate);
    print_lines(out, predicate);
    /* What ran there may have seen, and changed, more than it should. */
    const char *weakness = tki_text(json_object_get(predicate, "worker"), "weakness");
    fprintf(out, "%s%s", weakness[0] ? ", confinement weak: " : "", weakness);
    if (json_is_true(json_object_get(json_object_get(predicate, "worker"), "flushes_subnormals")))
        fputs(", loading makes its thread flush subnormal numbers", out);
    const json_t *refutation = json_object_get(json_object_get(predicate, "result"), "refutation");
    if (json_is_object(refutation)) {
        fputs(ftell(out) > (long)strlen(verdict) ? "; " : ", ", out);
        tki_refutation_print(out, refutation);
    }
    return finish(out, &text);
}
