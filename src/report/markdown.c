/* SHOWS. The certificate for people: Markdown made from the statement and nothing else. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "certify/certificate.h"
#include "certify/headline.h"
#include "certify/member_walk.h"
#include "certify/missed_lines.h"
#include "core/escape.h"
#include "report/report.h"

/* All of a certificate may be forged. */
static void print_text(FILE *out, const char *before, const char *text, const char *behind)
{
    fputs(before, out);
    tki_put_markdown(out, text, TKI_TEXT_MOST);
    fputs(behind, out);
}

static void print_code(FILE *out, const char *before, const char *text, const char *behind)
{
    fputs(before, out);
    tki_put_markdown_code(out, text, TKI_TEXT_MOST);
    fputs(behind, out);
}

/* In a cell. Numbers as written in the statement, so that the two never disagree. */
static void print_value(FILE *out, const json_t *value)
{
    if (json_is_string(value))
        print_text(out, "", json_string_value(value), "");
    else if (json_is_integer(value))
        fprintf(out, "%lld", (long long)json_integer_value(value));
    else
        fprintf(out, "%.6g", json_number_value(value));
}

static void print_shape(FILE *out, const tk_certificate *c, const json_t *trial)
{
    char *text = tki_shape_text(c, trial);
    print_text(out, "", text ? text : "", "");
    free(text);
}

static void print_head(FILE *out, const tk_certificate *c)
{
    print_text(out, "# ", tk_certificate_subject(c), ": ");
    print_text(out, "", tk_certificate_headline(c), "\n\n");
    if (!tki_certificate_is_current(c) || !tki_certificate_of_this_version(c))
        print_text(out, "Written by tokitai ", tki_certificate_text(c, "tokitai"),
                   ": sentences, reason and trials are not verified.\n\n");
    print_text(out, "", tki_certificate_text(c, "contract.summary"), ".\n\n");
    if (tk_certificate_reason(c)[0])
        print_text(out, "**Reason:** ", tk_certificate_reason(c), "\n\n");
    if (tk_certificate_reproduce(c)[0]) {
        tki_put_markdown_block(out, "sh", tk_certificate_reproduce(c), TKI_TEXT_MOST);
        fputc('\n', out);
    }
    const char *definition = tki_certificate_text(c, "contract.definition");
    if (definition[0]) {
        tki_put_markdown_block(out, "", definition, TKI_TEXT_MOST);
        print_code(out, "\n- SHA-256 of the definition: ", tki_certificate_text(c, "contract.definition_sha256"),
                   "\n");
    } else {
        print_code(out, "- exact value: ", tki_certificate_text(c, "contract.formula"), "\n");
    }
    print_code(out, "- bound before the final rounding: ", tki_certificate_text(c, "contract.bound"), "\n");
    print_code(out, "- level ", tki_certificate_text(c, "run.level"), "");
    if (tki_certificate_get(c, "run.seed"))
        fprintf(out, ", seed %lld", (long long)tki_certificate_integer(c, "run.seed"));
    print_text(out, ", made ", tki_certificate_text(c, "created"), " by tokitai ");
    print_text(out, "", tki_certificate_text(c, "tokitai"), "\n\n");
}

static void print_clauses(FILE *out, const tk_certificate *c)
{
    fprintf(out, "## Clauses\n\n| clause | verdict | checks | |\n|---|---|---|---|\n");
    const json_t *clauses = tki_certificate_get(c, "clauses");
    for (size_t i = 0; i < json_array_size(clauses); i++) {
        const json_t *clause = json_array_get(clauses, i);
        print_text(out, "| ", tki_text(clause, "id"), " | ");
        print_text(out, "", tki_text(clause, "verdict"), "");
        fprintf(out, " | %lld | ", (long long)json_integer_value(json_object_get(clause, "checks")));
        print_text(out, "", tki_text(clause, "text"), " |\n");
    }
    fputc('\n', out);
}

/* Of certificates of earlier versions there is nothing to print. */
static void print_basis_of_clauses(FILE *out, const tk_certificate *c)
{
    const json_t *clauses = tki_certificate_get(c, "clauses"), *rests_on = tki_certificate_get(c, "rests_on");
    const json_t *proofs = tki_certificate_get(c, "proofs");
    if (!json_is_object(rests_on))
        return;
    fprintf(out, "## Basis of the clauses\n\n| clause | derivation | kernel |\n|---|---|---|\n");
    for (size_t i = 0; i < json_array_size(clauses); i++) {
        const char *id = tki_text(json_array_get(clauses, i), "id");
        const json_t *own = json_object_get(rests_on, id);
        print_text(out, "| ", id, " | ");
        print_text(out, "", tki_text(own, "derivation"), " | ");
        print_text(out, "", tki_text(own, "kernel"), " |\n");
    }
    fputc('\n', out);
    if (!json_array_size(proofs))
        return;
    fprintf(out, "Theorems concern the contract, not the kernel; this run did not check them.\n\n"
                 "| theorem | in | supports | SHA-256 |\n|---|---|---|---|\n");
    for (size_t i = 0; i < json_array_size(proofs); i++) {
        const json_t *proof = json_array_get(proofs, i), *supports = json_object_get(proof, "supports");
        char hash[17];
        snprintf(hash, sizeof hash, "%s", tki_text(proof, "sha256"));
        print_text(out, "| ", tki_text(proof, "theorem"), " | ");
        print_text(out, "", tki_text(proof, "file"), " |");
        for (size_t k = 0; k < json_array_size(supports); k++) {
            const char *id = json_string_value(json_array_get(supports, k));
            print_text(out, k ? ", " : " ", id ? id : "", "");
        }
        print_text(out, " | ", hash, " |\n");
    }
    fputc('\n', out);
}

static void print_element(FILE *out, const tk_certificate *c, const char *title, const json_t *element)
{
    if (!element)
        return;
    static const char *const rows[] = {"output", "index",      "got_bits",  "got",   "exact",
                                       "bound",  "bound_used", "error_ulp", "clause"};
    fprintf(out, "### %s\n\n| | |\n|---|---|\n", title);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const json_t *value = json_object_get(element, rows[i]);
        if (!value)
            continue;
        fprintf(out, "| %s | ", rows[i]);
        print_value(out, value);
        fprintf(out, " |\n");
    }
    const char *where = tki_text(element, "where");
    if (where[0])
        fprintf(out, "| where | %s |\n", tki_where_text(where));
    const json_t *interval = json_object_get(element, "admissible");
    if (interval) {
        fprintf(out, "| admissible | [");
        print_value(out, json_array_get(interval, 0));
        fprintf(out, ", ");
        print_value(out, json_array_get(interval, 1));
        fprintf(out, "] |\n");
    }
    const char *name;
    json_t *bits;
    json_object_foreach(json_object_get(element, "input_bits"), name, bits)
    {
        print_text(out, "| input ", name, " | ");
        print_value(out, bits);
        fprintf(out, " |\n");
    }
    const json_t *trial = json_object_get(element, "trial");
    print_text(out, "| trial | ", tki_text(trial, "family"), ", ");
    print_shape(out, c, trial);
    fprintf(out, " |\n\n");
}

/* Numbers in a row of their own, and texts that are not empty. */
static void print_row(FILE *out, const tk_certificate *c, const tki_member *m)
{
    const json_t *value = tki_member_get(c, m);
    if (!value || (json_is_string(value) && !json_string_value(value)[0]))
        return;
    fprintf(out, "| %s | ", m->title);
    print_value(out, value);
    fprintf(out, " |\n");
}

static void print_rows(FILE *out, const tk_certificate *c, tki_page page)
{
    for (const tki_member *m = tki_members; m->name; m++)
        if (m->page == page)
            print_row(out, c, m);
}

/* The rest of a table's head. */
static void print_columns(FILE *out, tki_page page)
{
    for (const tki_member *m = tki_members; m->name; m++)
        if (m->page == page)
            fprintf(out, " %s |", m->title);
    fputs("\n|---|", out);
    for (const tki_member *m = tki_members; m->name; m++)
        fputs(m->page == page ? "---|" : "", out);
    fputc('\n', out);
}

static void print_cells(FILE *out, const json_t *object, const char *name, tki_page page)
{
    print_text(out, "| ", tki_text(object, name), "");
    for (const tki_member *m = tki_members; m->name; m++) {
        fputs(m->page == page ? " | " : "", out);
        if (m->page == page)
            print_value(out, json_object_get(object, m->name));
    }
    fprintf(out, " |\n");
}

static void print_histogram(FILE *out, const char *title, const json_t *histogram)
{
    fprintf(out, "\n| %s up to (ulp) | elements |\n|---|---|\n", title);
    for (size_t i = 0; i < json_array_size(histogram); i++) {
        const json_t *bin = json_array_get(histogram, i);
        fprintf(out, "| ");
        print_value(out, json_object_get(bin, "up_to_ulp"));
        fprintf(out, " | %lld |\n", (long long)json_integer_value(json_object_get(bin, "elements")));
    }
    fputc('\n', out);
}

/* Of a refuted kernel: clause by clause, how many elements are wrong and how far off. */
static void print_refutation(FILE *out, const tk_certificate *c)
{
    const json_t *refutation = tki_certificate_get(c, "result.refutation");
    const json_t *clauses = json_object_get(refutation, "clauses");
    if (!json_is_object(refutation))
        return;
    print_text(out, "## Refutation\n\n", tki_text(refutation, "grade"), "");
    fprintf(out, ": %lld of %lld trials failed%s.\n\n",
            (long long)json_integer_value(json_object_get(refutation, "trials")),
            (long long)json_integer_value(json_object_get(refutation, "of_trials")),
            json_is_true(json_object_get(refutation, "complete")) ? "" : "; the others were not run");
    if (!json_array_size(clauses))
        return;
    fputs("| clause |", out);
    print_columns(out, TKI_PAGE_REFUTED);
    for (size_t i = 0; i < json_array_size(clauses); i++)
        print_cells(out, json_array_get(clauses, i), "id", TKI_PAGE_REFUTED);
    print_histogram(out, "outside by", json_object_get(refutation, "ulp_histogram"));
}

static void print_result(FILE *out, const tk_certificate *c)
{
    const json_t *result = tki_certificate_get(c, "result");
    print_refutation(out, c);
    fprintf(out, "## Results\n\n| | |\n|---|---|\n");
    for (const tki_member *m = tki_members; m->name; m++) /* of certificates of earlier versions */
        if (!json_object_get(result, "accepted") && !strcmp(m->in, "result") && !strcmp(m->name, "worst_ulp"))
            print_row(out, c, m);
    print_rows(out, c, TKI_PAGE_ERRORS);
    print_rows(out, c, TKI_PAGE_EFFORT);
    print_histogram(out, "error", json_object_get(result, "ulp_histogram"));
    print_element(out, c, "Failing element", json_object_get(result, "failure"));
    print_element(out, c, "Worst element", json_object_get(result, "worst"));
}

static void print_mutants(FILE *out, const tk_certificate *c)
{
    const json_t *mutants = tki_certificate_get(c, "mutants");
    if (!json_array_size(mutants))
        return;
    fprintf(out, "## Mutants\n\n");
    const json_t *how = tki_certificate_get(c, "run.mutants");
    const long long seed = json_integer_value(json_object_get(how, "seed"));
    if (tki_text(how, "kept")[0]) {
        print_text(out, "Judged on ", tki_text(how, "kept"), " by this build of the judge, ");
        print_text(out, "", tki_text(how, "build"), ", ");
        fprintf(out, "on the quick trials of seed %lld; not run again for this certificate.\n\n", seed);
    } else if (how) {
        fprintf(out, "On the quick trials of seed %lld.\n\n", seed);
    }
    fprintf(out, "| mutant | defect | rejected by |\n|---|---|---|\n");
    for (size_t i = 0; i < json_array_size(mutants); i++) {
        const json_t *mutant = json_array_get(mutants, i);
        print_text(out, "| ", tki_text(mutant, "name"), " | ");
        print_text(out, "", tki_text(mutant, "what"), " | ");
        if (json_is_true(json_object_get(mutant, "rejected")))
            print_text(out, "", tki_text(mutant, "clause"), " |\n");
        else
            fprintf(out, "**not rejected** |\n");
    }
    fputc('\n', out);
}

static void print_coverage(FILE *out, const tk_certificate *c)
{
    const json_t *coverage = tki_certificate_get(c, "coverage");
    char text[1 << 13];
    if (!coverage)
        return;
    fprintf(out, "## Coverage\n\n");
    if (!json_is_true(json_object_get(coverage, "known"))) {
        print_text(out, "Not known: ", tki_text(coverage, "reason"), ".\n\n");
        return;
    }
    fprintf(out,
            "Reported by an instrumented build of the source, which is untrusted: it adds trials; no verdict depends "
            "on it.\n\n| | |\n|---|---|\n");
    print_rows(out, c, TKI_PAGE_COVERAGE);
    const json_t *ranges = tki_certificate_get(c, "coverage.lines.never_ran");
    tki_ranges_print(ranges, SIZE_MAX, text, sizeof text);
    if (text[0])
        print_text(out, "| lines that no judged call ran | ", text, " |");
    fputc('\n', out);
    if (tki_certificate_text(c, "coverage.lines.reason")[0])
        print_text(out, "Lines are not known: ", tki_certificate_text(c, "coverage.lines.reason"), ".\n\n");
}

static void print_sentences(FILE *out, const tk_certificate *c, const char *title, const char *path)
{
    const json_t *list = tki_certificate_get(c, path);
    fprintf(out, "## %s\n\n", title);
    for (size_t i = 0; i < json_array_size(list); i++) {
        const char *sentence = json_string_value(json_array_get(list, i));
        print_text(out, "- ", sentence ? sentence : "", "\n");
    }
    fputc('\n', out);
}

static void print_basis(FILE *out, const tk_certificate *c)
{
    fprintf(out, "## Build and machine\n\n| | |\n|---|---|\n");
    print_rows(out, c, TKI_PAGE_BUILT);
    print_rows(out, c, TKI_PAGE_MACHINE);
    fputc('\n', out);
}

static void print_limits(FILE *out, const tk_certificate *c)
{
    if (!tki_certificate_get(c, "run.limits"))
        return;
    fprintf(out, "## Limits\n\n| | at most |\n|---|---|\n");
    print_rows(out, c, TKI_PAGE_LIMITS);
    fputc('\n', out);
}

static void print_kernels(FILE *out, const tk_certificate *c)
{
    const json_t *kernels = tki_certificate_get(c, "built.kernels");
    if (!json_array_size(kernels))
        return;
    fprintf(out,
            "## Resources of the kernels\n\nReported by the compiler: registers and bytes per thread, static shared "
            "memory per block.\n\n| kernel |");
    print_columns(out, TKI_PAGE_KERNEL);
    for (size_t i = 0; i < json_array_size(kernels); i++)
        print_cells(out, json_array_get(kernels, i), "name", TKI_PAGE_KERNEL);
    fputc('\n', out);
}

static void print_trials(FILE *out, const tk_certificate *c)
{
    const json_t *trials = tki_certificate_get(c, "run.trials");
    fprintf(out, "## Trials\n\n| family | shape | elements | output SHA-256 |\n|---|---|---|---|\n");
    for (size_t i = 0; i < json_array_size(trials); i++) {
        const json_t *trial = json_array_get(trials, i);
        print_text(out, "| ", tki_text(trial, "family"), " | ");
        print_shape(out, c, trial);
        char hash[17];
        snprintf(hash, sizeof hash, "%s", tki_text(trial, "output_sha256"));
        fprintf(out, " | %lld | ", (long long)json_integer_value(json_object_get(trial, "elements")));
        print_text(out, "", hash, " |\n");
    }
}

char *tki_certificate_render(const tk_certificate *certificate)
{
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    if (!out)
        return NULL;
    print_head(out, certificate);
    print_clauses(out, certificate);
    print_basis_of_clauses(out, certificate);
    print_result(out, certificate);
    print_coverage(out, certificate);
    print_mutants(out, certificate);
    print_sentences(out, certificate, "Evidence", "evidence");
    print_sentences(out, certificate, "Not claimed", "non_claims");
    if (tki_certificate_get(certificate, "worker")) {
        print_sentences(out, certificate, "Sandbox", "worker.confinement");
        if (tki_certificate_get(certificate, "worker.weakness"))
            print_text(out, "**Confinement: weak.** ", tki_certificate_text(certificate, "worker.weakness"), ".\n\n");
        else if (tki_certificate_get(certificate, "worker.strength"))
            fputs("Confinement: strong.\n\n", out);
        print_text(out, "Clock: ", tki_certificate_text(certificate, "worker.clock"), ".\n\n");
    }
    print_limits(out, certificate);
    print_basis(out, certificate);
    print_kernels(out, certificate);
    print_trials(out, certificate);
    if (fclose(out)) {
        free(text);
        return NULL;
    }
    return text;
}
