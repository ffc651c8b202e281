/* SHOWS. Results as SVG, without any library: a panel of bars for each case, or of curves or a map for each op and dtype. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "bench/chart.h"
#include "core/escape.h"

enum {
    COLUMNS = BENCH_PANEL_COLUMNS,
    PANEL_WIDTH = BENCH_PANEL_WIDTH,
    PANEL_GAP = 30,
    MARGIN = 20,
    BAR = 18,
    CURVE_HEIGHT = BENCH_PANEL_HEIGHT,
    MOST_CURVES = BENCH_ARMS + 1,
    MAP_HEIGHT = 370,
    MAP_DOT = 9,
    MOST_DOTS = 1024,
    MOST_SIZES = 32
};

/* -- Text and colours ----------------------------------------------------------------------------------------------- */

void bench_put_text(FILE *file, double x, double y, const char *attributes, const char *text)
{
    fprintf(file, "<text x=\"%.1f\" y=\"%.1f\" %s>", x, y, attributes);
    tki_put_xml(file, text, TKI_TEXT_MOST);
    fputs("</text>\n", file);
}

void bench_put_line(FILE *file, double x1, double y1, double x2, double y2, const char *attributes)
{
    fprintf(file, "<line x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\" %s/>\n", x1, y1, x2, y2, attributes);
}

const char *bench_arm_colour(const bench_arm *arm)
{
    static const struct {
        const char *part, *colour;
    } colours[] = {{".avx512", "#0b5cad"},        {".avx2", "#4f9be0"},    {".neon", "#0b5cad"},
                   {".scalar", "#a9cdf0"},        {".hopper", "#0b5cad"},  {".shared", "#4f9be0"},
                   {"torch.compile", "#c0392b"},  {"triton", "#1e8449"},   {"openblas", "#e07b00"},
                   {"cublaslt, then", "#8e44ad"}, {"cublaslt", "#e07b00"}, {".tensor", "#a9cdf0"},
                   {"onednn", "#c0392b"},         {"blis", "#8e44ad"},     {"libxsmm", "#b8860b"},
                   {"sleef", "#1e8449"},          {"plain", "#7d6608"},    {"pytorch", "#d6478f"}};
    if (arm->kind == BENCH_LIMIT)
        return strstr(arm->name, "non-temporal") ? "#444444" : "#999999";
    for (size_t i = 0; i < sizeof colours / sizeof *colours; i++)
        if (strstr(arm->name, colours[i].part))
            return colours[i].colour;
    return "#0b5cad";
}

void bench_format_arm(const bench_arm *arm, char *text, size_t size)
{
    const char *variant = arm->name;
    for (int dots = 0; arm->kind == BENCH_LOWERING && dots < 3 && strchr(variant, '.'); dots++)
        variant = strchr(variant, '.') + 1;
    snprintf(text, size, "%s%s", arm->kind == BENCH_LOWERING ? "tokitai " : "", variant);
}

static void format_case(const bench_result *r, bool with_shape, char *text, size_t size)
{
    const tk_case *c = &r->c;
    int length = snprintf(text, size, "%s %s", c->contract->name, tk_dtype_name(c->dtype));
    for (int d = 0; with_shape && d < c->contract->dim_count; d++)
        length += snprintf(text + length, size - (size_t)length, "%s%lld", d ? " x " : "  ", (long long)c->dims[d]);
    if (bench_heeds_indices(c->contract))
        length += snprintf(text + length, size - (size_t)length, "  %s", bench_indices_name(r->indices));
    bench_format_attributes(c, text + length, size - (size_t)length);
}

/* -- Bars: the share of the limit ----------------------------------------------------------------------------------- */

double bench_panel_x(int column)
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

/* What a full bar is: the limit, or the fastest arm where there is none. */
static double full_bar(const bench_result *r)
{
    double fastest = INFINITY;
    for (int i = 0; i < r->arm_count; i++)
        if (!r->arms[i].differs && r->arms[i].kind != BENCH_LIMIT)
            fastest = fmin(fastest, bench_time(r, &r->arms[i]));
    return r->limit > 0 ? r->limit : fastest;
}

static void put_bars(FILE *file, const bench_result *r, double x, double y)
{
    char title[160];
    int line = 0;
    const double whole = full_bar(r);
    format_case(r, true, title, sizeof title);
    bench_put_text(file, x, y, "class=\"title\"", title);
    for (int i = 0; i < r->arm_count; i++) {
        const bench_arm *arm = &r->arms[i];
        if (arm->differs || arm->kind == BENCH_LIMIT)
            continue;
        double share = whole / bench_time(r, arm);
        double top = y + 10 + line++ * (double)BAR;
        char name[160];
        char label[192];
        const double full = PANEL_WIDTH - 90;
        fprintf(file, "<rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%d\" fill=\"%s\"/>\n", x, top,
                fmin(1.2, fmax(share, 0.003)) * full / 1.2, BAR - 3, bench_arm_colour(arm));
        bench_format_arm(arm, name, sizeof name);
        snprintf(label, sizeof label, "%s%s  %.0f%%", name, arm->threads != r->threads ? ", one thread" : "",
                 100 * share);
        bench_put_text(file, x + fmin(1.2, share) * full / 1.2 + 4, top + BAR - 6, "class=\"label\"", label);
    }
    double at = x + (PANEL_WIDTH - 90) / 1.2;
    bench_put_line(file, at, y + 6, at, y + 10 + line * (double)BAR, "class=\"limit\"");
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
    for (int i = 0; i < count && !ferror(file); i += COLUMNS) {
        for (int k = i; k < count && k < i + COLUMNS; k++)
            put_bars(file, &results[k], bench_panel_x(k - i), y);
        y += bars_height(results, count, i);
    }
}

/* -- Curves: time per element, or operations per second for a GEMM, against size ---------------------------------------- */

static bool same_panel(const bench_result *a, const bench_result *b)
{
    return a->c.contract == b->c.contract && a->c.dtype == b->c.dtype && a->c.index_dtype == b->c.index_dtype &&
           a->indices == b->indices;
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

double bench_at_x(const bench_frame *f, double value)
{
    return f->x + (log2(value) - f->low_x) / (f->high_x - f->low_x) * f->width;
}

double bench_at_y(const bench_frame *f, double value)
{
    const double place = f->rate ? value : log2(value);
    return f->y + f->height - (place - f->low_y) / (f->high_y - f->low_y) * f->height;
}

/* 1, 2 or 5 times a power of ten: the least of them that is a tenth or more of the range */
static double rate_step(double range)
{
    const double power = pow(10, floor(log10(range / 10)));
    const double part = range / 10 / power;
    return (part <= 1 ? 1 : part <= 2 ? 2 : part <= 5 ? 5 : 10) * power;
}

bool bench_has_range(const bench_frame *f)
{
    return isfinite(f->low_x) && isfinite(f->high_x) && isfinite(f->low_y) && isfinite(f->high_y) &&
           isnormal(f->step_y) && f->step_y > 0;
}

void bench_put_frame(FILE *file, const bench_frame *f)
{
    fprintf(file, "<rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\" class=\"frame\"/>\n", f->x, f->y,
            f->width, f->height);
}

void bench_put_axes_title(FILE *file, const bench_frame *f, const char *title)
{
    bench_put_text(file, f->x + f->width, f->y + f->height + 24, "class=\"tick\" text-anchor=\"end\"", title);
}

void bench_put_tick_x(FILE *file, const bench_frame *f, double value, const char *text)
{
    bench_put_text(file, bench_at_x(f, value), f->y + f->height + 12, "class=\"tick\" text-anchor=\"middle\"", text);
}

void bench_put_tick_y(FILE *file, const bench_frame *f, double value, const char *text)
{
    bench_put_text(file, f->x - 4, bench_at_y(f, value) + 3, "class=\"tick\" text-anchor=\"end\"", text);
}

static void put_axes(FILE *file, const bench_frame *f)
{
    char text[48];
    bench_put_frame(file, f);
    for (double v = f->low_y; v <= f->high_y; v += f->step_y) {
        const double value = f->rate ? v : exp2(v);
        const double y = bench_at_y(f, value);
        bench_put_line(file, f->x, y, f->x + f->width, y, "class=\"grid\"");
        snprintf(text, sizeof text, "%.3g", value);
        bench_put_tick_y(file, f, value, text);
    }
    for (double v = ceil(f->low_x); v <= f->high_x; v += f->high_x - f->low_x > 10 ? 3 : 1) {
        snprintf(text, sizeof text, f->rate ? "%.0f" : "2^%.0f", f->rate ? exp2(v) : v);
        bench_put_tick_x(file, f, exp2(v), text);
    }
    bench_put_axes_title(file, f, f->rate ? "GFLOP/s against m = n = k" : "ns per element against elements");
}

typedef struct curve {
    char label[160];
    const char *colour;
    const char *style;         /* more attributes of the line */
    double values[MOST_SIZES]; /* 0 where it has none */
} curve;

/* Ours are thick; of two by the same peer the second is dotted. */
static void style_curve(const bench_arm *arm, const curve *curves, int count, curve *c)
{
    c->colour = bench_arm_colour(arm);
    c->style = arm->kind == BENCH_LOWERING ? "stroke-width=\"2.5\"" : "stroke-width=\"1.3\"";
    for (int i = 0; i < count; i++)
        if (!strcmp(curves[i].colour, c->colour))
            c->style = "stroke-width=\"1.3\" stroke-dasharray=\"1 2\"";
    bench_format_arm(arm, c->label, sizeof c->label);
}

/* All arms but the limits, of which one is drawn: what each result takes it to be. */
static int collect_curves(const bench_result *results, int begin, int end, curve *curves)
{
    int count = 0;
    for (int i = begin; i < end; i++) {
        for (int k = 0; k < results[i].arm_count; k++) {
            const bench_arm *arm = &results[i].arms[k];
            curve made = {.label = ""};
            int at = 0;
            if (arm->differs || arm->kind == BENCH_LIMIT || arm->threads != results[i].threads)
                continue;
            style_curve(arm, curves, count, &made);
            while (at < count && strcmp(curves[at].label, made.label) != 0)
                at++;
            if (at == MOST_CURVES - 1)
                continue;
            if (at == count)
                curves[count++] = made;
            curves[at].values[i - begin] = height_of(&results[i], bench_time(&results[i], arm));
        }
    }
    curves[count] = (curve){.label = "the machine's limit",
                            .colour = "#444444",
                            .style = "stroke-width=\"1.3\" stroke-dasharray=\"4 3\""};
    for (int i = begin; i < end; i++)
        if (results[i].limit > 0)
            curves[count].values[i - begin] = height_of(&results[i], results[i].limit);
    return count + 1;
}

static bench_frame make_frame(const bench_result *results, int count, const curve *curves, int curve_count, double x,
                              double y)
{
    bench_frame f = {.x = x + 45, .y = y + 12, .width = PANEL_WIDTH - 60, .height = CURVE_HEIGHT - 130};
    double least = INFINITY;
    double most = 0;
    for (int i = 0; i < count; i++) {
        for (int k = 0; k < curve_count; k++) {
            if (!(curves[k].values[i] > 0))
                continue;
            least = fmin(least, curves[k].values[i]);
            most = fmax(most, curves[k].values[i]);
        }
    }
    f.rate = results[0].work_flops > 0;
    f.low_x = log2(size_of(&results[0]));
    f.high_x = fmax(log2(size_of(&results[count - 1])), f.low_x + 1);
    f.low_y = f.rate ? 0 : floor(log2(least));
    f.high_y = f.rate ? 1.05 * most : fmax(ceil(log2(most)), f.low_y + 1);
    f.step_y = f.rate ? rate_step(f.high_y) : ceil((f.high_y - f.low_y) / 8);
    return f;
}

static void put_curve(FILE *file, const bench_frame *f, const bench_result *results, int count, const curve *c,
                      int line)
{
    fprintf(file, "<polyline fill=\"none\" stroke=\"%s\" %s points=\"", c->colour, c->style);
    for (int i = 0; i < count; i++)
        if (c->values[i] > 0)
            fprintf(file, "%.1f,%.1f ", bench_at_x(f, size_of(&results[i])), bench_at_y(f, c->values[i]));
    fputs("\"/>\n", file);
    double x = f->x + (line % 2) * (f->width / 2);
    double y = f->y + f->height + 40 + (line / 2) * 14.0;
    fprintf(file, "<line x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\" stroke=\"%s\" %s/>\n", x, y - 4, x + 18,
            y - 4, c->colour, c->style);
    bench_put_text(file, x + 23, y, "class=\"tick\"", c->label);
}

static void put_panel(FILE *file, const bench_result *results, int begin, int end, double x, double y)
{
    curve curves[MOST_CURVES];
    char title[96];
    if (end - begin > MOST_SIZES)
        end = begin + MOST_SIZES;
    const int count = collect_curves(results, begin, end, curves);
    const bench_frame f = make_frame(results + begin, end - begin, curves, count, x, y);
    format_case(&results[begin], false, title, sizeof title);
    bench_put_text(file, x, y, "class=\"title\"", title);
    if (!bench_has_range(&f)) {
        bench_put_text(file, f.x, f.y + 12, "class=\"tick\"", "no times to draw");
        return;
    }
    put_axes(file, &f);
    /* Ours come first and are drawn last, on top. */
    for (int n = count - 1; n >= 0; n--)
        put_curve(file, &f, results + begin, end - begin, &curves[n], n);
}

/* -- Maps: shares of the limit over rows and columns ------------------------------------------------------------------- */

/* From dark red at a half and less over yellow at three quarters to blue at the limit. */
static void format_share_colour(double share, char text[8])
{
    static const struct {
        double share;
        int red, green, blue;
    } stops[] = {{0.5, 165, 0, 38}, {0.75, 254, 224, 144}, {0.95, 116, 173, 209}, {1.05, 49, 54, 149}};
    enum { STOPS = sizeof stops / sizeof *stops };
    int i = 0;
    while (i < STOPS - 2 && share > stops[i + 1].share)
        i++;
    const double span = stops[i + 1].share - stops[i].share;
    const double part = fmin(1, fmax(0, (share - stops[i].share) / span));
    snprintf(text, 8, "#%02x%02x%02x", (unsigned)(stops[i].red + part * (stops[i + 1].red - stops[i].red)) & 0xff,
             (unsigned)(stops[i].green + part * (stops[i + 1].green - stops[i].green)) & 0xff,
             (unsigned)(stops[i].blue + part * (stops[i + 1].blue - stops[i].blue)) & 0xff);
}

static const bench_arm *first_lowering(const bench_result *r)
{
    for (int i = 0; i < r->arm_count; i++)
        if (r->arms[i].kind == BENCH_LOWERING)
            return &r->arms[i];
    return NULL;
}

/* A frame over the rows (up) and columns (to the right) of all results, in powers of two. */
static bench_frame map_frame(const bench_result *results, int count, double x, double y)
{
    bench_frame f = {.x = x + 45, .y = y + 12, .width = PANEL_WIDTH - 60, .height = MAP_HEIGHT - 110, .step_y = 2};
    f.low_x = f.low_y = INFINITY;
    f.high_x = f.high_y = -INFINITY;
    for (int i = 0; i < count; i++) {
        f.low_y = fmin(f.low_y, floor(log2((double)results[i].c.dims[0])));
        f.high_y = fmax(f.high_y, ceil(log2((double)results[i].c.dims[0])));
        f.low_x = fmin(f.low_x, floor(log2((double)results[i].c.dims[1])));
        f.high_x = fmax(f.high_x, ceil(log2((double)results[i].c.dims[1])));
    }
    f.high_x = fmax(f.high_x, f.low_x + 1);
    f.high_y = fmax(f.high_y, f.low_y + 1);
    return f;
}

static void put_map_axes(FILE *file, const bench_frame *f)
{
    char text[16];
    bench_put_frame(file, f);
    for (double v = f->low_y; v <= f->high_y; v += f->step_y) {
        snprintf(text, sizeof text, "2^%.0f", v);
        bench_put_tick_y(file, f, exp2(v), text);
    }
    for (double v = f->low_x; v <= f->high_x; v += f->step_y) {
        snprintf(text, sizeof text, "2^%.0f", v);
        bench_put_tick_x(file, f, exp2(v), text);
    }
    bench_put_axes_title(file, f, "rows against columns");
}

/* Squares have rows of whole 16-byte packs, circles have not. */
static void put_dot(FILE *file, const bench_frame *f, const bench_result *r, double share)
{
    char colour[8];
    format_share_colour(share, colour);
    const double x = bench_at_x(f, (double)r->c.dims[1]);
    const double y = bench_at_y(f, (double)r->c.dims[0]);
    const int64_t row_bytes = r->c.dims[1] * (int64_t)tk_dtype_size(r->c.dtype);
    if (row_bytes % 16 == 0)
        fprintf(file, "<rect x=\"%.1f\" y=\"%.1f\" width=\"%d\" height=\"%d\" fill=\"%s\" class=\"dot\">",
                x - 0.5 * MAP_DOT, y - 0.5 * MAP_DOT, MAP_DOT, MAP_DOT, colour);
    else
        fprintf(file, "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"%.1f\" fill=\"%s\" class=\"dot\">", x, y, 0.55 * MAP_DOT,
                colour);
    fprintf(file, "<title>%lld x %lld: %.0f%%</title></%s>\n", (long long)r->c.dims[0], (long long)r->c.dims[1],
            100 * share, row_bytes % 16 == 0 ? "rect" : "circle");
}

static void put_scale(FILE *file, const bench_frame *f)
{
    static const double shares[] = {0.5, 0.6, 0.7, 0.75, 0.8, 0.9, 0.95, 1.0, 1.05};
    enum { SHARES = sizeof shares / sizeof *shares };
    for (int i = 0; i < SHARES; i++) {
        char colour[8];
        char text[16];
        const double x = f->x + i * f->width / SHARES;
        format_share_colour(shares[i], colour);
        fprintf(file, "<rect x=\"%.1f\" y=\"%.1f\" width=\"%d\" height=\"%d\" fill=\"%s\" class=\"dot\"/>\n", x,
                f->y + f->height + 34, MAP_DOT, MAP_DOT, colour);
        snprintf(text, sizeof text, "%.0f%%", 100 * shares[i]);
        bench_put_text(file, x + MAP_DOT + 2, f->y + f->height + 42, "class=\"tick\"", text);
    }
}

static void put_map(FILE *file, const bench_result *results, int count, double x, double y)
{
    char name[96];
    char title[192];
    const bench_frame f = map_frame(results, count, x, y);
    const bench_arm *arm = first_lowering(&results[0]);
    double shares[MOST_DOTS];
    const int shown = count < MOST_DOTS ? count : MOST_DOTS;
    const int found = arm ? bench_shares_of(results, shown, arm->name, NULL, shares) : 0;
    format_case(&results[0], false, name, sizeof name);
    if (found == 0 || results[0].c.contract->dim_count != 2) {
        bench_put_text(file, x, y, "class=\"title\"", name);
        bench_put_text(file, f.x, f.y + 12, "class=\"tick\"", "no shares to draw");
        return;
    }
    snprintf(title, sizeof title, "%s: median %.0f%%, least %.0f%% of a copy", name, 100 * shares[found / 2],
             100 * shares[0]);
    bench_put_text(file, x, y, "class=\"title\"", title);
    put_map_axes(file, &f);
    for (int i = 0; i < shown; i++) {
        const bench_arm *ours = first_lowering(&results[i]);
        if (ours && results[i].limit > 0)
            put_dot(file, &f, &results[i], results[i].limit / bench_time(&results[i], ours));
    }
    put_scale(file, &f);
}

/* -- The file ------------------------------------------------------------------------------------------------------- */

/* A panel for each op and dtype. */
static void put_all_panels(FILE *file, const bench_result *results, int count, bench_chart chart, double y)
{
    const int panels = panel_count(results, count);
    const double height = chart == BENCH_MAP ? MAP_HEIGHT : CURVE_HEIGHT;
    for (int p = 0; p < panels && !ferror(file); p++) {
        int end = 0;
        int begin = panel_begin(results, count, p, &end);
        if (chart == BENCH_MAP)
            put_map(file, results + begin, end - begin, bench_panel_x(p % COLUMNS), y + p / COLUMNS * height);
        else
            put_panel(file, results, begin, end, bench_panel_x(p % COLUMNS), y + p / COLUMNS * height);
    }
}

static void format_heading(const bench_result *r, bench_chart chart, char *text, size_t size)
{
    const char *which = r && r->by_median ? "median" : "best";
    const char *time = r && r->processor_time ? "Processor time" : "Time";
    if (chart == BENCH_CURVES)
        snprintf(text, size, "%s against size, %s of many runs", time, which);
    else if (chart == BENCH_MAP)
        snprintf(text, size, "Share of copy speed over drawn shapes, %s of many runs; squares: whole 16-byte packs",
                 which);
    else
        snprintf(text, size, "Share of the limit, %s of many runs; without a limit, of the fastest arm", which);
}

bool bench_chart_write(const char *path, const bench_result *results, int count, bench_chart chart)
{
    FILE *file = fopen(path, "w");
    if (!file)
        return false;
    const double top = 60;
    const int panels = chart != BENCH_BARS ? panel_count(results, count) : count;
    const int columns = chart != BENCH_CURVES && panels < 2 ? 2 : panels; /* their headings are wide */
    double height = top;
    if (chart != BENCH_BARS)
        height += (panels + COLUMNS - 1) / COLUMNS * (double)(chart == BENCH_MAP ? MAP_HEIGHT : CURVE_HEIGHT);
    for (int i = 0; chart == BENCH_BARS && i < count; i += COLUMNS)
        height += bars_height(results, count, i);
    const int rooflines = chart == BENCH_BARS ? bench_roofline_panels(results, count) : 0;
    const double bars_end = height;
    height += (rooflines + COLUMNS - 1) / COLUMNS * (double)BENCH_PANEL_HEIGHT;
    fprintf(
        file,
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%.0f\" height=\"%.0f\" font-family=\"sans-serif\">\n"
        "<style>.head{font-size:14px;font-weight:bold}.title{font-size:13px;font-weight:bold}"
        ".label{font-size:11px}.tick{font-size:10px;fill:#444}.frame{fill:none;stroke:#888}"
        ".dot{stroke:#333;stroke-width:0.4}.grid{stroke:#e4e4e4}.limit{stroke:#444;stroke-dasharray:4 3}</style>\n"
        "<rect width=\"100%%\" height=\"100%%\" fill=\"white\"/>\n",
        bench_panel_x(columns < COLUMNS ? columns : COLUMNS), height);
    char heading[128];
    format_heading(count ? &results[0] : NULL, chart, heading, sizeof heading);
    bench_put_text(file, MARGIN, 28, "class=\"head\"", heading);
    if (chart == BENCH_BARS)
        put_all_bars(file, results, count, top);
    else
        put_all_panels(file, results, count, chart, top);
    if (rooflines)
        bench_put_roofline(file, results, count, bars_end);
    fputs("</svg>\n", file);
    bool good = !ferror(file);
    int error = errno;
    if (fclose(file) != 0)
        return false;
    errno = error;
    return good;
}
