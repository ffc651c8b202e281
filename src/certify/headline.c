/* TRUSTED. Every place that shows a verdict shows it by this line: table, page, JSON, JSON lines, JUnit, check. */
#include "certify/headline.h"

#include <stdlib.h>
#include <string.h>

#include "certify/refutation.h"
#include "core/escape.h"

static const char *text_of(const json_t *object, const char *name)
{
    const char *text = json_string_value(json_object_get(object, name));
    return text ? text : "";
}

static void print_value(FILE *out, const char *name, const json_t *value)
{
    if (json_is_integer(value))
        fprintf(out, "%s=%lld", name, (long long)json_integer_value(value));
    else if (json_is_number(value))
        fprintf(out, "%s=%.6g", name, json_number_value(value));
    else
        fprintf(out, "%s=%s", name, json_is_string(value) ? json_string_value(value) : "?");
}

static int by_name(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* "cols=3 rows=2": of an op that is not ours, by name, which is the order that a certificate's text has. */
static void print_members(FILE *out, const json_t *members)
{
    const char **names = calloc(json_object_size(members) + 1, sizeof *names);
    const char *name;
    json_t *value;
    size_t count = 0;
    json_object_foreach((json_t *)(uintptr_t)members, name, value)
    {
        if (names)
            names[count++] = name;
        else /* in another order rather than not at all */
            print_value(out, name, value);
    }
    if (names)
        qsort(names, count, sizeof *names, by_name);
    for (size_t i = 0; i < count; i++) {
        fputs(i ? " " : "", out);
        print_value(out, names[i], json_object_get(members, names[i]));
    }
    free(names);
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
        tki_print_shape(out, text_of(run, "op"), shape);
        separator = ", ";
    }
    if (given) {
        fprintf(out, "%sinputs %sgiven", separator, outputs ? "and outputs " : "");
        separator = ", ";
    }
    if (family) {
        fprintf(out, "%s%s%s", separator, shape || given ? "family " : "", text_of(run, "family"));
        separator = ", ";
    }
    if (json_array_size(json_object_get(run, "planted"))) {
        fprintf(out, "%svalues planted", separator);
        separator = ", ";
    }
    if (options) {
        fputs(separator, out);
        print_options(out, tk_contract_find(text_of(run, "op")), options);
    }
}

/* Beginning with a blank. */
static void print_scope(FILE *out, const json_t *predicate)
{
    const json_t *run = json_object_get(predicate, "run");
    const char *numerics = text_of(run, "numerics");
    const char *domain = text_of(run, "domain");
    if (numerics[0] && strcmp(numerics, "ieee") != 0)
        fprintf(out, " under %s numerics", numerics);
    if (domain[0] && strcmp(domain, "all") != 0)
        fprintf(out, " on the domain %s", domain);
    if (json_object_size(json_object_get(run, "attributes"))) {
        fputs(" with ", out);
        print_members(out, json_object_get(run, "attributes"));
    }
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
    const json_t *lines = json_object_get(json_object_get(predicate, "coverage"), "lines");
    const json_t *ranges = json_object_get(lines, "never_ran");
    const char *verdict = text_of(predicate, "verdict");
    const json_int_t missed = json_integer_value(json_object_get(lines, "count")) -
                              json_integer_value(json_object_get(lines, "run"));
    if (!json_array_size(ranges) || (strcmp(verdict, "HELD") != 0 && strcmp(verdict, "PROVED") != 0))
        return;
    fprintf(out, ", %lld line%s never ran: ", (long long)missed, missed == 1 ? "" : "s");
    for (size_t i = 0; i < json_array_size(ranges) && i < MOST_RANGES; i++) {
        const json_t *range = json_array_get(ranges, i);
        const long long first = json_integer_value(json_array_get(range, 0));
        const long long last = json_integer_value(json_array_get(range, 1));
        const char *file = json_string_value(json_array_get(range, 2));
        fprintf(out, "%s%s%s%lld", i ? ", " : "", file ? file : "", file ? ":" : "", first);
        if (last != first)
            fprintf(out, "-%lld", last);
    }
    fputs(json_array_size(ranges) > MOST_RANGES ? ", ..." : "", out);
}

/* ", confinement weak: files are not kept from it": what ran there may have seen, and changed, more than it should. */
static void print_weakness(FILE *out, const json_t *predicate)
{
    const char *weakness = text_of(json_object_get(predicate, "worker"), "weakness");
    if (weakness[0])
        fprintf(out, ", confinement weak: %s", weakness);
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
    const char *verdict = text_of(predicate, "verdict");
    fputs(verdict, out);
    print_scope(out, predicate);
    print_lines(out, predicate);
    print_weakness(out, predicate);
    const json_t *refutation = json_object_get(json_object_get(predicate, "result"), "refutation");
    if (json_is_object(refutation)) {
        fputs(ftell(out) > (long)strlen(verdict) ? "; " : ", ", out);
        tki_refutation_print(out, refutation);
    }
    return finish(out, &text);
}
