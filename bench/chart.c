/* Results as SVG, without any library: a panel of bars for each case, or of curves for each op and dtype. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "bench/bench.h"

enum { COLUMNS = 3, PANEL_WIDTH = 400, PANEL_GAP = 30, MARGIN = 20, BAR = 18, CURVE_HEIGHT = 300, MOST_NAMES = 40 };

/* -- Text and colours ----------------------------------------------------------------------------------------------- */

static void put_text(FILE *file, double x, double y, const char *attributes, const char *text)
{
    fprintf(file, "<text x=\"%.1f\" y=\"%.1f\" %s>", x, y, attributes);
    for (; *text; text++) {
        switch (*text) {
        case '&': fputs("&amp;", file); break;
        case '<': fputs("&lt;", file); break;
        case '>': fputs("&gt;", file); break;
        default: fputc((unsigned char)*text < 0x20 ? '?' : *text, file);
        }
    }
    fputs("</text>\n", file);
}

/* Ours are blue, limits grey, each peer has its own; the same in every panel. */
static const char *colour_of(const bench_arm *arm)
{
    static const struct {
        const char *part, *colour;
    } colours[] = {{".avx512", "#0b5cad"},  {".avx2", "#4f9be0"},  {".neon", "#0b5cad"},  {".scalar", "#a9cdf0"},
                   {"openblas", "#e07b00"}, {"onednn", "#c0392b"}, {"blis", "#8e44ad"},   {"libxsmm", "#b8860b"},
                   {"sleef", "#1e8449"},    {"plain", "#7d6608"},  {"pytorch", "#d6478f"}};
    if (arm->kind == BENCH_LIMIT)
        return strstr(arm->name, "non-temporal") ? "#444444" : "#999999";
    for (size_t i = 0; i < sizeof colours / sizeof *colours; i++)
        if (strstr(arm->name, colours[i].part))
            return colours[i].colour;
    return "#0b5cad";
}

static void format_case(const tk_case *c, bool with_shape, char *text, size_t size)
{
    int length = snprintf(text, size, "%s %s", c->contract->name, tk_dtype_name(c->dtype));
    for (int d = 0; with_shape && d < c->contract->dim_count; d++)
        length += snprintf(text + length, size - (size_t)length, "%s%lld", d ? " x " : "  ", (long long)c->dims[d]);
}

/* -- Bars: the share of the limit ----------------------------------------------------------------------------------- */

static double panel_x(int column)
{
    return MARGIN + column * (double)(PANEL_WIDTH + PANEL_GAP);
}

static int shown_arms(const bench_result *r)
{
    int count = 0;
    for (int i = 0; i < r->arm_count; i++)
        count += !r->arms[i].differs && r->arms[i].kind != BENCH_LIMIT;
    return count;
}

static void put_bars(FILE *file, const bench_result *r, double x, double y)
{
    char title[160];
    int line = 0;
    format_case(&r->c, true, title, sizeof title);
    put_text(file, x, y, "class=\"title\"", title);
    for (int i = 0; i < r->arm_count; i++) {
        const bench_arm *arm = &r->arms[i];
        if (arm->differs || arm->kind == BENCH_LIMIT)
            continue;
        double share = r->limit / arm->best;
        double top = y + 10 + line++ * (double)BAR;
        char label[192];
        const double full = PANEL_WIDTH - 90;
        fprintf(file, "<rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%d\" fill=\"%s\"/>\n", x, top,
                fmin(1.2, fmax(share, 0.003)) * full / 1.2, BAR - 3, colour_of(arm));
        snprintf(label, sizeof label, "%s  %.0f%%", arm->name, 100 * share);
        put_text(file, x + fmin(1.2, share) * full / 1.2 + 4, top + BAR - 6, "class=\"label\"", label);
    }
    double at = x + (PANEL_WIDTH - 90) / 1.2;
    fprintf(file, "<line x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\" class=\"limit\"/>\n", at, y + 6, at,
            y + 10 + line * (double)BAR);
}

static double bars_height(const bench_result *results, int count, int from)
{
    int most = 0;
    for (int i = from; i < count && i < from + COLUMNS; i++)
        most = shown_arms(&results[i]) > most ? shown_arms(&results[i]) : most;
    return 40 + most * (double)BAR;
}

static void put_all_bars(FILE *file, const bench_result *results, int count, double y)
{
    for (int i = 0; i < count; i += COLUMNS) {
        for (int k = i; k < count && k < i + COLUMNS; k++)
            put_bars(file, &results[k], panel_x(k - i), y);
        y += bars_height(results, count, i);
    }
}

/* -- Curves: time per element, or operations per second for a GEMM, against size ---------------------------------------- */

static bool same_panel(const bench_result *a, const bench_result *b)
{
    return a->c.contract == b->c.contract && a->c.dtype == b->c.dtype && a->c.index_dtype == b->c.index_dtype;
}

/* The result that begins the panel-th panel; its end in *end. */
static int panel_begin(const bench_result *results, int count, int panel, int *end)
{
    int begin = 0;
    for (int i = 0; i <= panel; i++) {
        begin = i ? *end : 0;
        for (*end = begin; *end < count && same_panel(&results[begin], &results[*end]);)
            ++*end;
    }
    return begin;
}

static int panel_count(const bench_result *results, int count)
{
    int panels = 0;
    for (int i = 0; i < count; i++)
        panels += i == 0 || !same_panel(&results[i - 1], &results[i]);
    return panels;
}

static double size_of(const bench_result *r)
{
    return r->work_flops > 0 ? (double)r->c.dims[0] : r->elements;
}

static double height_of(const bench_result *r, double seconds)
{
    return r->work_flops > 0 ? 1e-9 * r->work_flops / seconds : 1e9 * seconds / r->elements;
}

typedef struct frame {
    double x, y, width, height;
    double low_x, high_x, low_y, high_y; /* logarithms to base 2 */
} frame;

static double at_x(const frame *f, double size)
{
    return f->x + (log2(size) - f->low_x) / (f->high_x - f->low_x) * f->width;
}

static double at_y(const frame *f, double value)
{
    return f->y + f->height - (log2(value) - f->low_y) / (f->high_y - f->low_y) * f->height;
}

static frame make_frame(const bench_result *results, int begin, int end, double x, double y)
{
    frame f = {x + 45, y + 12, PANEL_WIDTH - 60, CURVE_HEIGHT - 130, INFINITY, -INFINITY, INFINITY, -INFINITY};
    for (int i = begin; i < end; i++) {
        f.low_x = fmin(f.low_x, log2(size_of(&results[i])));
        f.high_x = fmax(f.high_x, log2(size_of(&results[i])));
        for (int k = 0; k < results[i].arm_count; k++) {
            if (results[i].arms[k].differs)
                continue;
            double value = log2(height_of(&results[i], results[i].arms[k].best));
            f.low_y = fmin(f.low_y, floor(value));
            f.high_y = fmax(f.high_y, ceil(value));
        }
    }
    f.high_x = fmax(f.high_x, f.low_x + 1);
    f.high_y = fmax(f.high_y, f.low_y + 1);
    return f;
}

static void put_axes(FILE *file, const frame *f, bool rate)
{
    char text[48];
    fprintf(file, "<rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\" class=\"frame\"/>\n", f->x, f->y,
            f->width, f->height);
    const double step_y = ceil((f->high_y - f->low_y) / 8);
    for (double v = f->low_y; v <= f->high_y; v += step_y) {
        double y = at_y(f, exp2(v));
        fprintf(file, "<line x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\" class=\"grid\"/>\n", f->x, y,
                f->x + f->width, y);
        snprintf(text, sizeof text, "%.3g", exp2(v));
        put_text(file, f->x - 4, y + 3, "class=\"tick\" text-anchor=\"end\"", text);
    }
    for (double v = ceil(f->low_x); v <= f->high_x; v += f->high_x - f->low_x > 10 ? 3 : 1) {
        snprintf(text, sizeof text, rate ? "%.0f" : "2^%.0f", rate ? exp2(v) : v);
        put_text(file, at_x(f, exp2(v)), f->y + f->height + 12, "class=\"tick\" text-anchor=\"middle\"", text);
    }
    put_text(file, f->x + f->width, f->y + f->height + 24, "class=\"tick\" text-anchor=\"end\"",
             rate ? "GFLOP/s against m = n = k" : "ns per element against elements");
}

static const bench_arm *find_arm(const bench_result *r, const char *name)
{
    for (int i = 0; i < r->arm_count; i++)
        if (!strcmp(r->arms[i].name, name) && !r->arms[i].differs)
            return &r->arms[i];
    return NULL;
}

static void put_curve(FILE *file, const frame *f, const bench_result *results, int begin, int end, const char *name,
                      int line)
{
    const bench_arm *any = NULL;
    fputs("<polyline fill=\"none\" points=\"", file);
    for (int i = begin; i < end; i++) {
        const bench_arm *arm = find_arm(&results[i], name);
        if (!arm)
            continue;
        any = arm;
        fprintf(file, "%.1f,%.1f ", at_x(f, size_of(&results[i])), at_y(f, height_of(&results[i], arm->best)));
    }
    if (!any) {
        fputs("\"/>\n", file);
        return;
    }
    fprintf(file, "\" stroke=\"%s\" stroke-width=\"%s\"%s/>\n", colour_of(any),
            any->kind == BENCH_LOWERING ? "2.5" : "1.3", any->kind == BENCH_LIMIT ? " stroke-dasharray=\"4 3\"" : "");
    double x = f->x + (line % 2) * (f->width / 2);
    double y = f->y + f->height + 38 + (line / 2) * 13.0;
    fprintf(file, "<rect x=\"%.1f\" y=\"%.1f\" width=\"10\" height=\"4\" fill=\"%s\"/>\n", x, y - 6, colour_of(any));
    put_text(file, x + 14, y, "class=\"tick\"", name);
}

static void put_panel(FILE *file, const bench_result *results, int begin, int end, double x, double y)
{
    const char *names[MOST_NAMES];
    char title[96];
    int count = 0;
    frame f = make_frame(results, begin, end, x, y);
    format_case(&results[begin].c, false, title, sizeof title);
    put_text(file, x, y, "class=\"title\"", title);
    put_axes(file, &f, results[begin].work_flops > 0);
    for (int i = begin; i < end; i++) {
        for (int k = 0; k < results[i].arm_count; k++) {
            bool known = false;
            for (int n = 0; n < count; n++)
                known |= !strcmp(names[n], results[i].arms[k].name);
            if (!known && count < MOST_NAMES)
                names[count++] = results[i].arms[k].name;
        }
    }
    for (int n = 0; n < count; n++)
        put_curve(file, &f, results, begin, end, names[n], n);
}

static void put_all_curves(FILE *file, const bench_result *results, int count, double y)
{
    for (int p = 0; p < panel_count(results, count); p++) {
        int end = 0;
        int begin = panel_begin(results, count, p, &end);
        put_panel(file, results, begin, end, panel_x(p % COLUMNS), y + p / COLUMNS * (double)CURVE_HEIGHT);
    }
}

/* -- The file ------------------------------------------------------------------------------------------------------- */

bool bench_chart_write(const char *path, const bench_result *results, int count, bool growth)
{
    FILE *file = fopen(path, "w");
    if (!file)
        return false;
    const double top = 60;
    double height = top;
    if (growth)
        height += (panel_count(results, count) + COLUMNS - 1) / COLUMNS * (double)CURVE_HEIGHT;
    for (int i = 0; !growth && i < count; i += COLUMNS)
        height += bars_height(results, count, i);
    fprintf(file,
            "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%.0f\" height=\"%.0f\" font-family=\"sans-serif\">\n"
            "<style>.head{font-size:16px;font-weight:bold}.title{font-size:13px;font-weight:bold}"
            ".label{font-size:11px}.tick{font-size:10px;fill:#444}.frame{fill:none;stroke:#888}"
            ".grid{stroke:#e4e4e4}.limit{stroke:#444;stroke-dasharray:4 3}</style>\n"
            "<rect width=\"100%%\" height=\"100%%\" fill=\"white\"/>\n",
            panel_x(COLUMNS), height);
    put_text(file, MARGIN, 28, "class=\"head\"",
             growth ? "Time against size, best of many runs; dashed: the machine's limits"
                    : "Share of the machine's limit, best of many runs; dashed: the limit itself");
    if (growth)
        put_all_curves(file, results, count, top);
    else
        put_all_bars(file, results, count, top);
    fputs("</svg>\n", file);
    bool good = !ferror(file);
    int error = errno;
    if (fclose(file) != 0)
        return false;
    errno = error;
    return good;
}
