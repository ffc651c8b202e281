/* SHOWS. JUnit XML. The texts may come from the compiler of a kernel file, or from the file. */
#include "cli/junit.h"

#include <string.h>

#include "core/escape.h"

enum { MOST_TEXT = 16384 };

static void print_attribute(FILE *out, const char *name, const char *text)
{
    fprintf(out, " %s=\"", name);
    tki_put_xml(out, text, 1024);
    fputc('"', out);
}

static void print_case(FILE *out, const junit_case *c)
{
    fputs("    <testcase", out);
    print_attribute(out, "classname", c->suite);
    print_attribute(out, "name", c->name);
    fprintf(out, " time=\"%.3f\"", c->seconds);
    const bool holds = c->verdict == TK_HELD || c->verdict == TK_PROVED;
    const bool more = strcmp(c->headline, tk_verdict_name(c->verdict)) != 0;
    if (holds && !more) {
        fputs("/>\n", out);
        return;
    }
    fputs(">\n", out);
    if (!holds) {
        const char *element = c->verdict == TK_REFUTED ? "failure" : "error";
        fprintf(out, "      <%s", element);
        print_attribute(out, "type", tk_verdict_name(c->verdict));
        print_attribute(out, "message", c->reason);
        fputc('>', out);
        tki_put_xml(out, c->detail, MOST_TEXT);
        fprintf(out, "</%s>\n", element);
    }
    if (more) {
        fputs("      <system-out>", out);
        tki_put_xml(out, c->headline, MOST_TEXT);
        fputs("</system-out>\n", out);
    }
    fputs("    </testcase>\n", out);
}

static void print_counts(FILE *out, const junit_case cases[], int begin, int end)
{
    int failures = 0;
    int errors = 0;
    double seconds = 0;
    for (int i = begin; i < end; i++) {
        failures += cases[i].verdict == TK_REFUTED;
        errors += cases[i].verdict == TK_UNKNOWN;
        seconds += cases[i].seconds;
    }
    fprintf(out, " tests=\"%d\" failures=\"%d\" errors=\"%d\" skipped=\"0\" time=\"%.3f\">\n", end - begin, failures,
            errors, seconds);
}

void junit_write(FILE *out, const junit_case cases[], int count)
{
    fputs("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"tokitai\"", out);
    print_counts(out, cases, 0, count);
    for (int begin = 0, end; begin < count; begin = end) {
        for (end = begin + 1; end < count && !strcmp(cases[end].suite, cases[begin].suite);)
            end++;
        fputs("  <testsuite", out);
        print_attribute(out, "name", cases[begin].suite);
        print_counts(out, cases, begin, end);
        for (int i = begin; i < end; i++)
            print_case(out, &cases[i]);
        fputs("  </testsuite>\n", out);
    }
    fputs("</testsuites>\n", out);
}
