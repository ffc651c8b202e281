/* SHOWS. Verdicts on the terminal: a row for each certificate, and below it what the row has no room for. */
#include "cli/verdict.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

cli_table cli_verdict_table(bool with_lines)
{
    cli_table table = cli_table_of(
        "SUBJECT|VERDICT=7|#ELEMENTS=11|#WORST ULP|#OF BOUND|#MUTANTS|#SECONDS|#LINES RUN");
    table.count -= !with_lines;
    return table;
}

/* What the row has no room for. */
static void print_headline(const tk_certificate *certificate)
{
    const char *headline = tk_certificate_headline(certificate);
    if (!strcmp(headline, tk_verdict_name(tk_certificate_verdict(certificate))))
        return;
    fputs("    verdict    ", stdout);
    cli_wrap(15, 15, headline);
}

static void print_why(const tk_certificate *certificate)
{
    if (tk_certificate_reason(certificate)[0]) {
        fputs("    why        ", stdout);
        cli_wrap(15, 15, tk_certificate_reason(certificate));
    }
    /* In one piece, to be copied. */
    if (tk_certificate_reproduce(certificate)[0]) {
        fputs("    reproduce  ", stdout);
        cli_print(CLI_PLAIN, tk_certificate_reproduce(certificate));
        putchar('\n');
    }
}

/* Of what holds, the largest distance that means something; of what is refuted, how far outside the worst value is. */
static void format_worst(const tk_certificate *certificate, char *text, size_t size)
{
    tk_refutation refutation;
    bool refuted = tk_certificate_refutation(certificate, &refutation) && refutation.elements > 0;
    double ulp = refuted ? refutation.worst_ulp : tk_certificate_accepted_ulp(certificate);
    if (isfinite(ulp))
        snprintf(text, size, "%.4g", ulp);
    else
        snprintf(text, size, "%s", refuted && refutation.nan > 0 ? "NaN" : refuted ? "-" : "inf");
}

void cli_verdict_row(const cli_table *table, const tk_certificate *certificate)
{
    char elements[32], ulp[32], used[32], mutants[32] = "-", seconds[32], lines[64] = "-";
    int64_t lines_run = 0;
    int64_t line_count = tk_certificate_lines(certificate, &lines_run);
    if (line_count >= 0)
        snprintf(lines, sizeof lines, "%lld/%lld", (long long)lines_run, (long long)line_count);
    tk_verdict verdict = tk_certificate_verdict(certificate);
    int rejected = 0;
    int planted = tk_certificate_mutants(certificate, &rejected);
    cli_format_count(tk_certificate_elements(certificate), elements, sizeof elements);
    format_worst(certificate, ulp, sizeof ulp);
    snprintf(used, sizeof used, "%.1f%%", 100 * tk_certificate_bound_used(certificate));
    if (planted > 0)
        snprintf(mutants, sizeof mutants, "%d/%d%s", rejected, planted,
                 tk_certificate_mutants_kept(certificate)[0] ? "*" : "");
    snprintf(seconds, sizeof seconds, "%.1f", tk_certificate_seconds(certificate));
    cli_table_row(table, (cli_cell[]){{tk_certificate_subject(certificate), CLI_PLAIN},
                                      {tk_verdict_name(verdict), cli_style_of(verdict)},
                                      {elements, CLI_PLAIN},
                                      {ulp, CLI_PLAIN},
                                      {used, CLI_PLAIN},
                                      {mutants, rejected < planted ? CLI_WRONG : CLI_PLAIN},
                                      {seconds, CLI_PLAIN},
                                      {lines, lines_run < line_count ? CLI_WRONG : CLI_PLAIN}});
    print_headline(certificate);
    if (verdict == TK_REFUTED || verdict == TK_UNKNOWN)
        print_why(certificate);
}

cli_exit cli_exit_of_verdict(tk_verdict verdict)
{
    switch (verdict) {
    case TK_PROVED:
    case TK_HELD: return CLI_HOLDS;
    case TK_REFUTED: return CLI_REFUTED;
    case TK_UNKNOWN: return CLI_UNKNOWN;
    }
    return CLI_UNKNOWN;
}
