/* SHOWS. The page about certificates for people: its frame, the overview, and how values are written on it. */
#include "report/report.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "certify/headline.h"
#include "certify/signed_envelope.h"
#include "core/context.h"
#include "core/escape.h"
#include "core/hash.h"

/* -- Values --------------------------------------------------------------------------------------------------------- */

void tki_html_text(FILE *out, const char *text)
{
    tki_put_xml(out, text, TKI_TEXT_MOST);
}

void tki_html_put(FILE *out, const char *before, const char *text, const char *behind)
{
    fputs(before, out);
    tki_html_text(out, text);
    fputs(behind, out);
}

double tki_json_real(const json_t *object, const char *name)
{
    const json_t *value = json_object_get(object, name);
    const char *text = json_string_value(value);
    if (json_is_number(value))
        return json_number_value(value);
    return !text ? NAN : !strcmp(text, "infinity") ? INFINITY : !strcmp(text, "-infinity") ? -INFINITY : NAN;
}

void tki_html_value(FILE *out, const json_t *value)
{
    if (!value || json_is_null(value)) {
        fputs("<span class=\"faint\">none</span>", out);
    } else if (json_is_string(value)) {
        tki_html_text(out, json_string_value(value));
    } else if (json_is_integer(value)) {
        fprintf(out, "%lld", (long long)json_integer_value(value));
    } else if (json_is_real(value)) {
        fprintf(out, "%.6g", json_real_value(value));
    } else {
        char *text = json_dumps(value, JSON_SORT_KEYS | JSON_ENCODE_ANY | JSON_REAL_PRECISION(6));
        tki_html_text(out, text ? text : "");
        free(text);
    }
}

void tki_html_share(FILE *out, double share)
{
    if (isinf(share))
        fputs("infinite", out);
    else if (share > 2)
        fprintf(out, "%.3g times", share);
    else if (!isnan(share))
        fprintf(out, share > 0 && share < 0.1 ? "%.2g %%" : "%.0f %%", 100 * share);
}

void tki_html_short(FILE *out, const char *hash)
{
    char begin[17];
    snprintf(begin, sizeof begin, "%s", hash);
    tki_html_put(out, "<code title=\"", hash, "\">");
    tki_html_put(out, "", begin, "</code>");
}

char *tki_shape_text(const tk_certificate *c, const json_t *trial)
{
    char *text = NULL;
    size_t size;
    FILE *memory = open_memstream(&text, &size);
    if (!memory)
        return NULL;
    tki_print_shape(memory, tki_certificate_text(c, "run.op"), json_object_get(trial, "shape"));
    fclose(memory);
    return text;
}

void tki_html_trial(FILE *out, const tk_certificate *c, const json_t *trial)
{
    const json_t *options = json_object_get(trial, "options");
    char *text = tki_shape_text(c, trial);
    tki_html_text(out, text ? text : "");
    free(text);
    tki_html_put(out, ", ", tki_text(trial, "family"), "");
    if (options) {
        fputs(", ", out);
        tki_html_value(out, options);
    }
}

void tki_html_table(FILE *out, const char *class, const char *columns)
{
    fprintf(out, "<div class=\"scroll\"><table class=\"%s\"><thead><tr>", class);
    for (const char *end; *columns; columns = end + (*end == '|')) {
        const bool number = *columns == '#';
        columns += number;
        end = columns + strcspn(columns, "|");
        fprintf(out, "<th%s>%.*s</th>", number ? " class=\"num\"" : "", (int)(end - columns), columns);
    }
    fputs("</tr></thead><tbody>\n", out);
}

void tki_html_table_end(FILE *out, size_t shown, size_t rows, int columns)
{
    if (rows > shown)
        fprintf(out, "<tr><td colspan=\"%d\" class=\"faint\">and %zu more</td></tr>", columns, rows - shown);
    fputs("</tbody></table></div>\n", out);
}

const char *tki_where_text(const char *where)
{
    return !strcmp(where, "near_zero") ? "within its bound of zero, where an ulp says little"
                                       : "at overflow, infinity against a finite number";
}

const char *tki_verdict_class(const char *verdict)
{
    if (!strcmp(verdict, tk_verdict_name(TK_PROVED)) || !strcmp(verdict, tk_verdict_name(TK_HELD)))
        return "good";
    return strcmp(verdict, tk_verdict_name(TK_REFUTED)) != 0 ? "doubt" : "bad";
}

/* -- The frame ------------------------------------------------------------------------------------------------------ */

/* The hash by which a policy allows a style or a script: base64 of SHA-256. False when memory ran out. */
static bool put_allowed(FILE *out, const char *text)
{
    char hex[TKI_HASH_HEX];
    unsigned char bytes[32];
    if (!tki_hash_bytes(text, strlen(text), hex))
        return false;
    for (size_t i = 0; i < sizeof bytes; i++) {
        const char pair[] = {hex[2 * i], hex[2 * i + 1], 0};
        bytes[i] = (unsigned char)strtoul(pair, NULL, 16);
    }
    char *encoded = tki_base64_encode(bytes, sizeof bytes);
    fprintf(out, "'sha256-%s'", encoded ? encoded : "");
    free(encoded);
    return encoded != NULL;
}

static bool put_frame(FILE *out)
{
    fputs("<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n"
          "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; base-uri 'none'; form-action "
          "'none'; "
          "style-src ",
          out);
    bool good = put_allowed(out, tki_report_style);
    fputs("; script-src ", out);
    good = put_allowed(out, tki_report_script) && good;
    fputs("\">\n<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
          "<title>Tokitai: certificates</title>\n<style>",
          out);
    fputs(tki_report_style, out);
    fputs("</style></head>\n<body><main>\n", out);
    return good;
}

/* -- The overview --------------------------------------------------------------------------------------------------- */

static void put_counts(FILE *out, const tk_report_entry *entries, int count)
{
    int verdicts[TK_UNKNOWN + 1] = {0}, refused = 0;
    for (int i = 0; i < count; i++) {
        if (entries[i].certificate)
            verdicts[tk_certificate_verdict(entries[i].certificate)]++;
        else
            refused++;
    }
    fprintf(out, "<h1>%d certificate%s</h1><p>", count - refused, count - refused == 1 ? "" : "s");
    for (int v = TK_PROVED; v <= TK_UNKNOWN; v++) {
        const char *name = tk_verdict_name((tk_verdict)v);
        if (verdicts[v])
            fprintf(out, "<span class=\"chip %s\">%d %s</span> ", tki_verdict_class(name), verdicts[v], name);
    }
    if (refused)
        fprintf(out, "<span class=\"chip bad\">%d not shown</span>", refused);
    fprintf(out,
            "</p>\n<p class=\"faint small\">Made by tokitai %s from the certificates alone; nothing was run.</p>\n",
            tk_version());
}

static void put_row(FILE *out, const tk_report_entry *entry, int number)
{
    const tk_certificate *c = entry->certificate;
    const char *verdict = tk_verdict_name(tk_certificate_verdict(c));
    const double ulp = tk_certificate_accepted_ulp(c), share = tk_certificate_bound_used(c);
    int rejected;
    const int mutants = tk_certificate_mutants(c, &rejected);
    fprintf(out, "<tr><td><span class=\"chip %s\">%s</span>", tki_verdict_class(verdict), verdict);
    fprintf(out, "</td><td class=\"mono\"><a href=\"#c%d\">", number + 1);
    tki_html_put(out, "", tk_certificate_subject(c), "</a>");
    if (strcmp(tk_certificate_headline(c), verdict) != 0)
        tki_html_put(out, "<br><span class=\"small faint\">", tk_certificate_headline(c), "</span>");
    tki_html_put(out, "</td><td data-label=\"op\">", tki_certificate_text(c, "run.op"),
                 "</td><td data-label=\"types\">");
    tki_html_put(out, "", tki_certificate_text(c, "run.dtype"), "</td><td data-label=\"level\">");
    tki_html_text(out, tki_certificate_text(c, "run.level"));
    fprintf(out, "</td><td class=\"num\" data-label=\"elements\" data-sort=\"%lld\">",
            (long long)tk_certificate_elements(c));
    tki_print_count(out, tk_certificate_elements(c));
    fprintf(out, "</td><td class=\"num\" data-label=\"worst accepted (ulp)\" data-sort=\"%g\">%.4g</td>", ulp, ulp);
    fprintf(out, "<td class=\"num\" data-label=\"bound used\" data-sort=\"%g\">", share);
    tki_html_share(out, share);
    fprintf(out, "</td><td class=\"num\" data-label=\"mutants rejected\" data-sort=\"%d\">", rejected);
    fprintf(out, mutants ? "%d of %d" : "none run", rejected, mutants);
    fputs(tk_certificate_mutants_kept(c)[0] ? ", kept</td>" : "</td>", out);
    tki_html_put(out, "<td data-label=\"device\">", tki_certificate_text(c, "machine.device"),
                 "</td><td class=\"id\" data-label=\"made\">");
    tki_html_put(out, "", tki_certificate_text(c, "created"), "</td></tr>\n");
}

static void put_overview(FILE *out, const tk_report_entry *entries, int count)
{
    put_counts(out, entries, count);
    tki_html_table(
        out, "cards sortable overview",
        "verdict|subject|op|types|level|#elements|#worst accepted (ulp)|#bound used|#mutants rejected|device|made");
    for (int i = 0; i < count; i++)
        if (entries[i].certificate)
            put_row(out, &entries[i], i);
    tki_html_table_end(out, 0, 0, 0);
    for (int i = 0; i < count; i++) {
        if (entries[i].certificate)
            continue;
        tki_html_put(out, "<p class=\"note bad-note refused\"><strong class=\"bad\">Not shown:</strong> ",
                     entries[i].name ? entries[i].name : "a certificate", ": ");
        tki_html_put(out, "", entries[i].problem ? entries[i].problem : "no certificate", "</p>\n");
    }
}

/* The last one before it that is of the same op and subject; -1. */
static int find_earlier(const tk_report_entry *entries, int i)
{
    const tk_certificate *c = entries[i].certificate;
    for (int k = i - 1; c && k >= 0; k--) {
        const tk_certificate *other = entries[k].certificate;
        if (other && !strcmp(tk_certificate_subject(other), tk_certificate_subject(c)) &&
            !strcmp(tki_certificate_text(other, "run.op"), tki_certificate_text(c, "run.op")))
            return k;
    }
    return -1;
}

tk_status tk_report_html(tk_ctx *ctx, const tk_report_entry entries[], int count, char **html)
{
    size_t size;
    if (!ctx)
        return TK_BAD_ARGUMENT;
    if (!html || count < 0 || (count && !entries))
        return tki_fail(ctx, TK_BAD_ARGUMENT, "html and entries must not be NULL, count must be at least 0");
    *html = NULL;
    FILE *out = open_memstream(html, &size);
    if (!out)
        return tki_fail(ctx, TK_NO_MEMORY, "no memory for the report");
    bool good = put_frame(out);
    put_overview(out, entries, count);
    for (int i = 0; i < count; i++)
        if (find_earlier(entries, i) >= 0)
            tki_report_changes(out, entries, find_earlier(entries, i), i);
    for (int i = 0; i < count; i++)
        if (entries[i].certificate)
            tki_report_certificate(out, ctx, &entries[i], i);
    fputs("</main><script>", out);
    fputs(tki_report_script, out);
    fputs("</script></body></html>\n", out);
    good = !ferror(out) && good;
    if (fclose(out) || !good) {
        free(*html);
        *html = NULL;
        return tki_fail(ctx, TK_NO_MEMORY, "no memory for the report");
    }
    return TK_OK;
}
