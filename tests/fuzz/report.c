/* Fuzz target: the page of tk_report_html(). The text is taken as a certificate, with its hash put right where it is one; what is taken is
 * shown twice, so that it is compared with itself, beside a file that is none. The page has to be well formed, with nothing on it but
 * elements, attributes and addresses that the report itself writes: whatever is in a certificate stays text. */
#include <ctype.h>
#include <stdint.h>
#include <stdio.h>

#include "certify/certificate.h"
#include "report/report.h"
#include "tests/fuzz/escape.h"

enum { DEEPEST = 64 };

static bool is_one_of(const char *const *list, const char *name, size_t length)
{
    for (; *list; list++)
        if (strlen(*list) == length && !strncmp(*list, name, length))
            return true;
    return false;
}

static const char *const empty_elements[] = {"meta", "br", NULL};
static const char *const elements[] = {
    "html", "head", "title", "style", "body",  "main",    "h1",      "h2",      "h3",         "p",
    "span", "a",    "div",   "table", "thead", "tbody",   "tr",      "th",      "td",         "dl",
    "dt",   "dd",   "ul",    "li",    "pre",   "code",    "strong",  "article", "header",     "figure",
    "svg",  "rect", "line",  "path",  "text",  "details", "summary", "script",  "figcaption", NULL};
static const char *const attributes[] = {"lang", "charset", "http-equiv",  "content",    "name",  "class",
                                         "id",   "href",    "data-label",  "data-sort",  "title", "colspan",
                                         "open", "viewBox", "role",        "aria-label", "x",     "y",
                                         "x1",   "x2",      "y1",          "y2",         "width", "height",
                                         "rx",   "d",       "text-anchor", NULL};

/* Behind the name of an element, to its end. */
static const char *skip_attributes(const char *p)
{
    while (*p == ' ') {
        const char *name = ++p;
        while (isalnum((unsigned char)*p) || *p == '-')
            p++;
        assert(is_one_of(attributes, name, (size_t)(p - name)));
        const bool leads = !strncmp(name, "href=", 5);
        if (*p != '=')
            continue;
        assert(*++p == '"');
        const char *value = ++p;
        assert(!leads || (value[0] == '#' && value[1] == 'c')); /* to a certificate on this page */
        p += strcspn(p, "\"<");
        assert(*p++ == '"');
    }
    return p;
}

/* Elements are closed in turn, and there are no others than the report's own. */
static void check_page(const char *page)
{
    static const char doctype[] = "<!DOCTYPE html>\n";
    const char *open[DEEPEST];
    size_t lengths[DEEPEST];
    int depth = 0;
    assert(!strncmp(page, doctype, strlen(doctype)) && is_visible(page, "\n"));
    for (const char *p = page + strlen(doctype); (p = strchr(p, '<'));) {
        const bool ends = p[1] == '/';
        const char *name = p + 1 + ends;
        size_t length = 0;
        while (isalnum((unsigned char)name[length]))
            length++;
        p = name + length;
        if (ends) {
            assert(*p == '>' && depth-- > 0 && lengths[depth] == length && !strncmp(open[depth], name, length));
            continue;
        }
        const bool is_empty = is_one_of(empty_elements, name, length);
        assert(is_empty || is_one_of(elements, name, length));
        p = skip_attributes(p);
        if (*p == '/') {
            p++;
            continue;
        }
        assert(*p == '>');
        if (is_empty)
            continue;
        assert(depth < DEEPEST);
        open[depth] = name;
        lengths[depth++] = length;
        /* Their text has no markup in it, and is ours. */
        const char *own = !strncmp(name, "style", 5)    ? tki_report_style
                          : !strncmp(name, "script", 6) ? tki_report_script
                                                        : NULL;
        if (own) {
            assert(!strncmp(p + 1, own, strlen(own)) && p[1 + strlen(own)] == '<' && p[2 + strlen(own)] == '/');
            p += strlen(own);
        }
    }
    assert(depth == 0);
}

static void try_text(tk_ctx *ctx, const char *text, size_t length)
{
    tk_certificate *certificate = NULL;
    char *page = NULL;
    char problem[600] = "";
    /* What contradicts itself is not read, and could not be made to run anything either. */
    if (tk_certificate_parse(ctx, text, length, &certificate) != TK_OK) {
        snprintf(problem, sizeof problem, "%s", tk_ctx_message(ctx));
        json_t *statement = strstr(problem, "it contradicts itself: ") ? json_loadb(text, length, 0, NULL) : NULL;
        certificate = json_is_object(json_object_get(statement, "predicate")) ? tki_certificate_of(statement) : NULL;
    }
    const tk_report_entry entries[] = {{"<a & \"b\">", certificate, problem[0] ? problem : NULL},
                                       {NULL, NULL, problem},
                                       {"again", certificate, NULL}};
    const tk_status status = tk_report_html(ctx, entries, 3, &page);
    assert(status == TK_OK && page);
    check_page(page);
    assert(!certificate == !strstr(page, "<h2>Changes: "));
    free(page);
    tk_certificate_destroy(certificate);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static tk_ctx *ctx; /* pages do not depend on what a context was used for before */
    if (!ctx && tk_ctx_create(&ctx) != TK_OK)
        return 0;
    json_t *statement = json_loadb((const char *)data, size, 0, NULL);
    json_t *predicate = json_object_get(statement, "predicate");
    char hash[65];
    if (json_is_object(predicate) && tki_statement_hash(statement, hash)) {
        json_object_set_new(predicate, "integrity", json_pack("{s:s}", "sha256", hash));
        char *sealed = tki_statement_text(statement);
        if (sealed)
            try_text(ctx, sealed, strlen(sealed));
        free(sealed);
    } else {
        try_text(ctx, (const char *)data, size);
    }
    json_decref(statement);
    return 0;
}
