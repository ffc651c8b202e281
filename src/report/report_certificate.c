/* SHOWS. The section of the report about one certificate, made from its statement and nothing else. */
#include <stdlib.h>
#include <string.h>

#include "certify/member_walk.h"
#include "report/report.h"

/* -- Parts of tables ------------------------------------------------------------------------------------------------ */

/* A number with as many digits as tell numbers of fp32 apart. */
static void put_exactly(FILE *out, const json_t *value)
{
    if (json_is_real(value))
        fprintf(out, "%.9g", json_real_value(value));
    else
        tki_html_value(out, value);
}

/* Seeds, of type int64, are no counts. */
static void put_page(FILE *out, const tk_certificate *c, tki_page page)
{
    for (const tki_member *m = tki_members; m->name; m++) {
        const json_t *value = m->page == page ? tki_member_get(c, m) : NULL;
        if (!value || (json_is_string(value) && !json_string_value(value)[0]))
            continue;
        fprintf(out, "<dt>%s</dt><dd>", m->title);
        if (json_is_integer(value) && strcmp(m->type, "int64") != 0)
            tki_print_count(out, json_integer_value(value));
        else
            tki_html_value(out, value);
        fputs("</dd>", out);
    }
}

static void put_facts(FILE *out, const tk_certificate *c, tki_page page)
{
    fputs("<dl>", out);
    put_page(out, c, page);
    fputs("</dl>\n", out);
}

static void put_cell(FILE *out, const char *label, const char *text)
{
    fprintf(out, "<td data-label=\"%s\">", label);
    tki_html_put(out, "", text, "</td>");
}

static void put_number_cell(FILE *out, const char *label, const json_t *value)
{
    fprintf(out, "<td class=\"num\" data-label=\"%s\">", label);
    if (json_is_integer(value))
        tki_print_count(out, json_integer_value(value));
    else
        tki_html_value(out, value);
    fputs("</td>", out);
}

/* A table of the figures of each object in the list, behind a column with its `name`. */
static void put_figures(FILE *out, const char *title, const json_t *list, const char *name, tki_page page)
{
    int columns = 1;
    fprintf(out, "<div class=\"scroll\"><table class=\"cards\"><thead><tr><th>%s</th>", title);
    for (const tki_member *m = tki_members; m->name; m++)
        if (m->page == page)
            columns += fprintf(out, "<th class=\"num\">%s</th>", m->title) > 0;
    fputs("</tr></thead><tbody>", out);
    for (size_t i = 0; i < json_array_size(list) && i < TKI_REPORT_ROWS; i++) {
        const json_t *object = json_array_get(list, i);
        fputs("<tr>", out);
        put_cell(out, title, tki_text(object, name));
        for (const tki_member *m = tki_members; m->name; m++)
            if (m->page == page)
                put_number_cell(out, m->title, json_object_get(object, m->name));
        fputs("</tr>", out);
    }
    tki_html_table_end(out, TKI_REPORT_ROWS, json_array_size(list), columns);
}

static void put_verdict_cell(FILE *out, const char *verdict)
{
    fprintf(out, "<td class=\"%s\" data-label=\"verdict\"><strong>", tki_verdict_class(verdict));
    tki_html_put(out, "", verdict, "</strong></td>");
}

static void put_sentences(FILE *out, const char *title, const json_t *list)
{
    if (!json_array_size(list))
        return;
    fprintf(out, "<div><h3>%s</h3><ul>", title);
    for (size_t i = 0; i < json_array_size(list) && i < TKI_REPORT_ROWS; i++) {
        const char *sentence = json_string_value(json_array_get(list, i));
        tki_html_put(out, "<li>", sentence ? sentence : "", "</li>");
    }
    fputs("</ul></div>\n", out);
}

/* -- At first sight ------------------------------------------------------------------------------------------------- */

static void put_signatures(FILE *out, const tk_certificate *c)
{
    const int count = tk_certificate_signatures(c);
    fputs("<dt>signatures</dt><dd>", out);
    for (int i = 0; i < count; i++) {
        fputs(i ? ", " : "by ", out);
        tki_html_text(out, tk_certificate_signer(c, i)[0] ? tk_certificate_signer(c, i) : "an unnamed key");
    }
    fputs(count ? ", not verified here</dd>" : "none</dd>", out);
}

static void put_head(FILE *out, tk_ctx *ctx, const tk_report_entry *entry, int number)
{
    const tk_certificate *c = entry->certificate;
    const char *verdict = tk_verdict_name(tk_certificate_verdict(c));
    const char *headline = tk_certificate_headline(c);
    char *remarks = NULL;
    fprintf(out, "<article id=\"c%d\"><header><span class=\"chip %s\">%s</span><h2 class=\"mono\">", number + 1,
            tki_verdict_class(verdict), verdict);
    tki_html_put(out, "", tk_certificate_subject(c), "</h2></header>\n");
    if (strcmp(headline, verdict) != 0) {
        fprintf(out, "<p class=\"%s\"><strong>", tki_verdict_class(verdict));
        tki_html_put(out, "", headline, "</strong></p>\n");
    }
    if (entry->problem)
        tki_html_put(out, "<p class=\"note bad-note\">", entry->problem, "</p>\n");
    if (tk_certificate_remarks(ctx, c, &remarks) == TK_OK && remarks)
        tki_html_put(out, "<p class=\"note\">This certificate is ", remarks, ".</p>\n");
    free(remarks);
    if (tk_certificate_reason(c)[0])
        tki_html_put(out, "<p><strong>Reason:</strong> ", tk_certificate_reason(c), "</p>\n");
    if (tk_certificate_reproduce(c)[0])
        tki_html_put(out, "<p class=\"faint small\">Command that reproduces it:</p><pre class=\"reproduce\">",
                     tk_certificate_reproduce(c), "</pre>\n");
}

static void put_run(FILE *out, const tk_report_entry *entry)
{
    const tk_certificate *c = entry->certificate;
    fputs("<h3>Run</h3><div class=\"two\">", out);
    put_facts(out, c, TKI_PAGE_WHAT);
    fputs("<dl>", out);
    put_page(out, c, TKI_PAGE_HOW);
    fputs("<dt>trials</dt><dd>", out);
    tki_print_count(out, (int64_t)json_array_size(tki_certificate_get(c, "run.trials")));
    fputs("</dd>", out);
    put_signatures(out, c);
    if (entry->name)
        tki_html_put(out, "<dt>certificate</dt><dd>", entry->name, "</dd>");
    fputs("</dl></div>\n", out);
}

/* -- What came out -------------------------------------------------------------------------------------------------- */

static void put_element(FILE *out, const tk_certificate *c, const char *title, const json_t *element)
{
    if (!json_is_object(element))
        return;
    fprintf(out, "<h3>%s</h3>", title);
    tki_html_put(out, "<div class=\"two\"><dl><dt>element</dt><dd class=\"mono\">", tki_text(element, "output"), "");
    fprintf(out, "[%lld]</dd>", (long long)json_integer_value(json_object_get(element, "index")));
    for (const tki_member *m = tki_members; m->name; m++) {
        const json_t *value = m->page == TKI_PAGE_ELEMENT ? json_object_get(element, m->name) : NULL;
        if (!value)
            continue;
        fprintf(out, "<dt>%s</dt><dd>", m->title);
        put_exactly(out, value);
        fputs("</dd>", out);
    }
    fputs("</dl><dl>", out);
    const json_t *interval = json_object_get(element, "admissible");
    if (interval) {
        fputs("<dt>admissible</dt><dd>", out);
        put_exactly(out, json_array_get(interval, 0));
        fputs(" to ", out);
        put_exactly(out, json_array_get(interval, 1));
        fputs("</dd><dt>share of the bound</dt><dd>", out);
        tki_html_share(out, tki_json_real(element, "bound_used"));
        fputs("</dd>", out);
    }
    const char *name;
    json_t *bits;
    json_object_foreach(json_object_get(element, "input_bits"), name, bits)
    {
        tki_html_put(out, "<dt>input ", name, "</dt><dd>");
        tki_html_value(out, bits);
        fputs("</dd>", out);
    }
    const char *where = tki_text(element, "where");
    if (where[0])
        fprintf(out, "<dt>where</dt><dd>%s</dd>", tki_where_text(where));
    fputs("<dt>trial</dt><dd>", out);
    tki_html_trial(out, c, json_object_get(element, "trial"));
    fputs("</dd></dl></div>\n", out);
    tki_number_line(out, c, element);
}

/* How wrong a refuted kernel is, clause by clause. */
static void put_refutation(FILE *out, const json_t *refutation)
{
    const json_t *clauses = json_object_get(refutation, "clauses");
    if (!json_is_object(refutation))
        return;
    tki_html_put(out, "<h3>Refutation</h3><p><strong class=\"bad\">", tki_text(refutation, "grade"), "");
    fprintf(out, "</strong>: %lld of %lld trials failed%s.</p>",
            (long long)json_integer_value(json_object_get(refutation, "trials")),
            (long long)json_integer_value(json_object_get(refutation, "of_trials")),
            json_is_true(json_object_get(refutation, "complete")) ? "" : "; the others were not run");
    if (json_array_size(clauses))
        put_figures(out, "clause", clauses, "id", TKI_PAGE_REFUTED);
}

static void put_result(FILE *out, const tk_certificate *c)
{
    const json_t *result = tki_certificate_get(c, "result"), *refutation = json_object_get(result, "refutation");
    const json_t *by_magnitude = json_object_get(result, "by_magnitude");
    put_element(out, c, "Failing element", json_object_get(result, "failure"));
    put_refutation(out, refutation);
    fputs("<h3>Results</h3><div class=\"two\">", out);
    put_facts(out, c, TKI_PAGE_ERRORS);
    put_facts(out, c, TKI_PAGE_EFFORT);
    fputs("</div><div class=\"charts\">\n", out);
    tki_chart_histogram(out, json_object_get(result, "ulp_histogram"), "Elements by error",
                        "at most so many ulp from the correctly rounded exact value", false);
    if (refutation)
        tki_chart_histogram(out, json_object_get(refutation, "ulp_histogram"),
                            "Wrong elements by distance from the interval",
                            "at most so many ulp from the nearest admissible value", true);
    tki_chart_magnitudes(out, by_magnitude);
    tki_chart_share(out, tki_json_real(result, "bound_used"));
    fputs("</div>\n", out);
    if (!by_magnitude)
        fputs("<p class=\"faint small\">This certificate has no errors by magnitude.</p>", out);
    put_element(out, c, "Worst element", json_object_get(result, "worst"));
    if (json_object_get(result, "fault")) {
        fputs("<h3>Fault</h3><p>", out);
        tki_html_value(out, json_object_get(result, "fault"));
        fputs("</p>\n", out);
    }
}

/* -- What it rests on ----------------------------------------------------------------------------------------------- */

static void put_clauses(FILE *out, const tk_certificate *c)
{
    const json_t *clauses = tki_certificate_get(c, "clauses"), *rests_on = tki_certificate_get(c, "rests_on");
    fputs("<h3>Clauses</h3>", out);
    tki_html_table(out, "cards clauses", "clause|verdict|#checks|#failures|derivation|kernel|requirement");
    for (size_t i = 0; i < json_array_size(clauses) && i < TKI_REPORT_ROWS; i++) {
        const json_t *clause = json_array_get(clauses, i);
        const char *id = tki_text(clause, "id");
        const json_t *basis = json_object_get(rests_on, id);
        tki_html_put(out, "<tr><td class=\"id\"><strong>", id, "</strong></td>");
        put_verdict_cell(out, tki_text(clause, "verdict"));
        put_number_cell(out, "checks", json_object_get(clause, "checks"));
        put_number_cell(out, "failures", json_object_get(clause, "failures"));
        put_cell(out, "derivation", tki_text(basis, "derivation"));
        put_cell(out, "kernel", tki_text(basis, "kernel"));
        put_cell(out, "requirement", tki_text(clause, "text"));
        fputs("</tr>\n", out);
    }
    tki_html_table_end(out, TKI_REPORT_ROWS, json_array_size(clauses), 7);
}

static void put_theorems(FILE *out, const tk_certificate *c)
{
    tk_citation citation;
    const json_t *proofs = tki_certificate_get(c, "proofs");
    if (!json_array_size(proofs))
        return;
    fprintf(out,
            "<details><summary>Theorems cited: %zu</summary><p class=\"faint small\">They concern the contract, "
            "not the kernel; this run did not check them.</p>",
            json_array_size(proofs));
    tki_html_table(out, "cards", "theorem|in|supports|SHA-256|in this version");
    for (size_t i = 0; i < json_array_size(proofs) && i < TKI_REPORT_ROWS; i++) {
        const json_t *proof = json_array_get(proofs, i), *supports = json_object_get(proof, "supports");
        fputs("<tr>", out);
        put_cell(out, "theorem", tki_text(proof, "theorem"));
        put_cell(out, "in", tki_text(proof, "file"));
        fputs("<td data-label=\"supports\">", out);
        for (size_t k = 0; k < json_array_size(supports) && k < TKI_REPORT_ROWS; k++) {
            const char *id = json_string_value(json_array_get(supports, k));
            fputs(k ? ", " : "", out);
            tki_html_text(out, id ? id : "");
        }
        fputs("</td><td data-label=\"SHA-256\">", out);
        tki_html_short(out, tki_text(proof, "sha256"));
        fputs("</td>", out);
        put_cell(out, "in this version", tk_certificate_cites(c, (int)i, &citation) ? citation.state : "");
        fputs("</tr>\n", out);
    }
    tki_html_table_end(out, TKI_REPORT_ROWS, json_array_size(proofs), 5);
    fputs("</details>\n", out);
}

static void put_mutants(FILE *out, const tk_certificate *c)
{
    const json_t *mutants = tki_certificate_get(c, "mutants");
    int rejected;
    const int count = tk_certificate_mutants(c, &rejected);
    fputs("<h3>Mutants</h3>", out);
    if (!count) {
        fputs("<p>No mutants were run: nothing shows that these trials can find an error.</p>\n", out);
        return;
    }
    const json_t *how = tki_certificate_get(c, "run.mutants");
    if (tk_certificate_mutants_kept(c)[0]) {
        tki_html_put(out, "<p>Judged on ", tk_certificate_mutants_kept(c), " by this build of the judge, ");
        tki_html_short(out, tki_text(how, "build"));
        fprintf(out, ", on the quick trials of seed %lld; not run again for this certificate.</p>\n",
                (long long)json_integer_value(json_object_get(how, "seed")));
    } else if (how) {
        fprintf(out, "<p>On the quick trials of seed %lld.</p>\n",
                (long long)json_integer_value(json_object_get(how, "seed")));
    }
    fprintf(out, "<details%s><summary>%d of %d were rejected</summary>", rejected < count ? " open" : "", rejected,
            count);
    tki_html_table(out, "cards", "mutant|defect|rejected by");
    for (size_t i = 0; i < json_array_size(mutants) && i < TKI_REPORT_ROWS; i++) {
        const json_t *mutant = json_array_get(mutants, i);
        fputs("<tr>", out);
        put_cell(out, "mutant", tki_text(mutant, "name"));
        put_cell(out, "defect", tki_text(mutant, "what"));
        if (json_is_true(json_object_get(mutant, "rejected")))
            put_cell(out, "rejected by", tki_text(mutant, "clause"));
        else
            fputs("<td class=\"bad\"><strong>not rejected</strong></td>", out);
        fputs("</tr>\n", out);
    }
    tki_html_table_end(out, TKI_REPORT_ROWS, json_array_size(mutants), 3);
    fputs("</details>\n", out);
}

/* -- On what -------------------------------------------------------------------------------------------------------- */

static void put_basis(FILE *out, const tk_certificate *c)
{
    fputs("<div class=\"two\"><div><h3>Sources and compilers</h3>", out);
    put_facts(out, c, TKI_PAGE_BUILT);
    fputs("</div><div><h3>Device</h3>", out);
    put_facts(out, c, TKI_PAGE_MACHINE);
    fputs("</div></div>\n", out);
    const char *log = tki_certificate_text(c, "built.log");
    if (log[0])
        tki_html_put(out, "<details><summary>Output of the compiler</summary><pre>", log, "</pre></details>\n");
}

static void put_kernels(FILE *out, const tk_certificate *c)
{
    const json_t *kernels = tki_certificate_get(c, "built.kernels");
    if (!json_array_size(kernels))
        return;
    fputs("<h3>Resources of the kernels</h3>", out);
    put_figures(out, "kernel", kernels, "name", TKI_PAGE_KERNEL);
}

/* Of kernel files alone. */
static void put_worker(FILE *out, const tk_certificate *c)
{
    if (!tki_certificate_get(c, "worker") && !tki_certificate_get(c, "run.limits"))
        return;
    fputs("<div class=\"two\"><div><h3>Coverage</h3>", out);
    put_facts(out, c, TKI_PAGE_COVERAGE);
    put_facts(out, c, TKI_PAGE_NOT_COVERED);
    fputs("</div><div><h3>Sandbox</h3>", out);
    put_facts(out, c, TKI_PAGE_WORKER);
    put_facts(out, c, TKI_PAGE_LIMITS);
    fputs("</div></div>\n", out);
}

static void put_trials(FILE *out, const tk_certificate *c)
{
    const json_t *trials = tki_certificate_get(c, "run.trials");
    if (!json_array_size(trials))
        return;
    fprintf(out, "<details class=\"long\"><summary>All %zu trials</summary>", json_array_size(trials));
    tki_html_table(out, "", "family|shape|#elements|output SHA-256");
    for (size_t i = 0; i < json_array_size(trials) && i < TKI_REPORT_ROWS; i++) {
        const json_t *trial = json_array_get(trials, i);
        fputs("<tr>", out);
        put_cell(out, "family", tki_text(trial, "family"));
        fputs("<td>", out);
        tki_html_trial(out, c, trial);
        fputs("</td>", out);
        put_number_cell(out, "elements", json_object_get(trial, "elements"));
        fputs("<td>", out);
        tki_html_short(out, tki_text(trial, "output_sha256"));
        fputs("</td></tr>\n", out);
    }
    tki_html_table_end(out, TKI_REPORT_ROWS, json_array_size(trials), 4);
    fputs("</details>\n", out);
}

void tki_report_certificate(FILE *out, tk_ctx *ctx, const tk_report_entry *entry, int number)
{
    const tk_certificate *c = entry->certificate;
    put_head(out, ctx, entry, number);
    put_run(out, entry);
    put_result(out, c);
    put_clauses(out, c);
    put_theorems(out, c);
    put_mutants(out, c);
    fputs("<div class=\"two\">", out);
    put_sentences(out, "Evidence", tki_certificate_get(c, "evidence"));
    put_sentences(out, "Not claimed", tki_certificate_get(c, "non_claims"));
    fputs("</div>\n", out);
    put_basis(out, c);
    put_kernels(out, c);
    put_worker(out, c);
    put_trials(out, c);
    fputs("</article>\n", out);
}
