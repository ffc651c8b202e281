/* SHOWS. What changed between two certificates of one subject. */
#include "report/difference.h"
#include "report/report.h"

static void put_name(FILE *out, const tk_report_entry *entry, int number)
{
    fprintf(out, "<a href=\"#c%d\">%d</a> ", number + 1, number + 1);
    tki_html_put(out, "", entry->name ? entry->name : "", ", made ");
    tki_html_text(out, tki_certificate_text(entry->certificate, "created"));
}

static void put_trials(FILE *out, const tk_certificate *c, const json_t *trials)
{
    static const char *const counts[][2] = {{"same", "have the same output bits"},
                                            {"different", "have other output bits"},
                                            {"only_first", "are only in the first"},
                                            {"only_second", "are only in the second"}};
    const json_t *examples = json_object_get(trials, "examples");
    fputs("<p>Trials: ", out);
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
        fputs(i ? ", " : "", out);
        tki_print_count(out, json_integer_value(json_object_get(trials, counts[i][0])));
        fprintf(out, " %s", counts[i][1]);
    }
    fputs(".</p>\n", out);
    if (!json_array_size(examples))
        return;
    tki_html_table(out, "", "trial with other bits|first SHA-256|second SHA-256");
    for (size_t i = 0; i < json_array_size(examples); i++) {
        const json_t *example = json_array_get(examples, i);
        fputs("<tr><td>", out);
        tki_html_trial(out, c, json_object_get(example, "trial"));
        fputs("</td><td>", out);
        tki_html_short(out, tki_text(example, "first"));
        fputs("</td><td>", out);
        tki_html_short(out, tki_text(example, "second"));
        fputs("</td></tr>\n", out);
    }
    const size_t all = (size_t)json_integer_value(json_object_get(trials, "different"));
    tki_html_table_end(out, json_array_size(examples), all, 3);
}

void tki_report_changes(FILE *out, const tk_report_entry *entries, int first, int second)
{
    const tk_certificate *before = entries[first].certificate, *after = entries[second].certificate;
    json_t *difference = tki_certificate_difference(before, after);
    const json_t *list = json_object_get(difference, "differences");
    tki_html_put(out, "<article class=\"changes\"><h2>Changes: ", tk_certificate_subject(after),
                 "</h2><p class=\"small\">first: ");
    put_name(out, &entries[first], first);
    fputs("<br>second: ", out);
    put_name(out, &entries[second], second);
    fputs("</p>\n", out);
    if (!difference)
        fputs("<p class=\"bad\">Cannot compare: out of memory.</p>", out);
    else if (json_is_true(json_object_get(difference, "same")))
        fputs("<p><strong>No differences.</strong> Dates, times and paths are not compared.</p>", out);
    if (json_array_size(list)) {
        tki_html_table(out, "cards", "what|first|second");
        for (size_t i = 0; i < json_array_size(list) && i < TKI_REPORT_ROWS; i++) {
            const json_t *item = json_array_get(list, i);
            tki_html_put(out, "<tr><td><strong>", tki_text(item, "what"),
                         "</strong></td><td class=\"gone\" data-label=\"first\">");
            tki_html_value(out, json_object_get(item, "first"));
            fputs("</td><td class=\"come\" data-label=\"second\">", out);
            tki_html_value(out, json_object_get(item, "second"));
            fputs("</td></tr>\n", out);
        }
        tki_html_table_end(out, TKI_REPORT_ROWS, json_array_size(list), 3);
    }
    put_trials(out, after, json_object_get(difference, "trials"));
    fputs("</article>\n", out);
    json_decref(difference);
}
