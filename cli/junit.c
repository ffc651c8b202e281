/* JUnit XML. The texts may come from a stranger's compiler or kernel. */
#include "cli/junit.h"

#include <string.h>

enum { MOST_TEXT = 16384 };

/* Bytes of the UTF-8 character that begins here, 0 if none does or XML does not admit it. */
static size_t character(const unsigned char *p)
{
    if (p[0] < 0x80)
        return p[0] >= ' ' || p[0] == '\n' || p[0] == '\t' ? 1 : 0;
    size_t length = p[0] >= 0xf0 ? 4 : p[0] >= 0xe0 ? 3 : 2;
    unsigned long code = p[0] & (0x7fu >> length);
    if (p[0] < 0xc2 || p[0] > 0xf4)
        return 0;
    for (size_t i = 1; i < length; i++) {
        if ((p[i] & 0xc0) != 0x80)
            return 0;
        code = code << 6 | (p[i] & 0x3fu);
    }
    static const unsigned long least[] = {0, 0, 0x80, 0x800, 0x10000};
    bool admitted = code >= least[length] && code <= 0x10ffff && !(code >= 0xd800 && code < 0xe000) &&
                    code != 0xfffe && code != 0xffff;
    return admitted ? length : 0;
}

static void print_text(FILE *out, const char *text, size_t most)
{
    const unsigned char *p = (const unsigned char *)text;
    size_t used = 0;
    while (*p && used < most) {
        size_t length = character(p);
        const char *entity = *p == '<'    ? "&lt;"
                             : *p == '>'  ? "&gt;"
                             : *p == '&'  ? "&amp;"
                             : *p == '"'  ? "&quot;"
                             : *p == '\n' ? "&#10;"
                             : *p == '\t' ? "&#9;"
                                          : NULL;
        if (entity)
            fputs(entity, out);
        else if (length)
            fwrite(p, 1, length, out);
        else
            fputc('?', out);
        p += length ? length : 1;
        used += length ? length : 1;
    }
    if (*p)
        fputs(" [cut]", out);
}

static void print_attribute(FILE *out, const char *name, const char *text)
{
    fprintf(out, " %s=\"", name);
    print_text(out, text, 1024);
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
        print_text(out, c->detail, MOST_TEXT);
        fprintf(out, "</%s>\n", element);
    }
    if (more) {
        fputs("      <system-out>", out);
        print_text(out, c->headline, MOST_TEXT);
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
