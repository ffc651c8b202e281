/* SHOWS. A roofline: what each arm did in a second, over how much there is to do with each byte. Above it cannot go: by the memory on the left, by
 * the arithmetic on the right. The memory's line is the fastest copy of the results, the other the multiply-adds where they were measured
 * (on the CPU), elsewhere the highest rate that any arm reached. */
#include <math.h>
#include <string.h>

#include "bench/chart.h"

enum { MOST_NAMES = 2 * BENCH_ARMS };

typedef struct roof {
    double bandwidth; /* bytes in a second */
    double peak;      /* operations in a second */
    bool is_reached;  /* by an arm: nothing else was measured */
} roof;

static bool same_types(const bench_result *a, const bench_result *b)
{
    return a->c.dtype == b->c.dtype && a->c.result_dtype == b->c.result_dtype;
}

/* The first product of its types among the results? */
static bool begins_panel(const bench_result *results, int i)
{
    for (int k = 0; k < i; k++)
        if (results[k].work_flops > 0 && same_types(&results[k], &results[i]))
            return false;
    return results[i].work_flops > 0 && results[i].work_bytes > 0;
}

int bench_roofline_panels(const bench_result *results, int count)
{
    int panels = 0;
    for (int i = 0; i < count; i++)
        panels += begins_panel(results, i);
    return panels;
}

static bool is_shown(const bench_result *r, const bench_arm *arm)
{
    return arm->kind != BENCH_LIMIT && !arm->differs && arm->threads == r->threads && bench_time(r, arm) > 0;
}

static double intensity_of(const bench_result *r)
{
    return r->work_flops / r->work_bytes;
}

static roof roof_of(const bench_result *results, int count, const bench_result *like)
{
    roof top = {.is_reached = true};
    double reached = 0;
    for (int i = 0; i < count; i++) {
        const bench_result *r = &results[i];
        for (int k = 0; k < r->arm_count && r->work_flops > 0 && same_types(r, like); k++) {
            const bench_arm *arm = &r->arms[k];
            const double seconds = bench_time(r, arm);
            if (is_shown(r, arm))
                reached = fmax(reached, r->work_flops / seconds);
            if (arm->kind != BENCH_LIMIT || !(seconds > 0) || arm->threads != r->threads)
                continue;
            if (strstr(arm->name, "copy"))
                top.bandwidth = fmax(top.bandwidth, r->work_bytes / seconds);
            if (strstr(arm->name, "multiply-add")) {
                top.peak = fmax(top.peak, r->work_flops / seconds);
                top.is_reached = false;
            }
        }
    }
    if (top.peak < reached) {
        top.peak = reached;
        top.is_reached = true;
    }
    return top;
}

/* Operations for each byte to the right, TFLOP/s up. */
static bench_frame roof_frame_of(const bench_result *results, int count, const bench_result *like, const roof *top,
                                 double x, double y)
{
    bench_frame f = {.x = x + 50, .y = y + 12, .width = BENCH_PANEL_WIDTH - 70, .height = BENCH_PANEL_HEIGHT - 130};
    double least = INFINITY, most = 0, lowest = INFINITY;
    for (int i = 0; i < count; i++) {
        const bench_result *r = &results[i];
        if (!(r->work_flops > 0) || !same_types(r, like))
            continue;
        least = fmin(least, intensity_of(r));
        most = fmax(most, intensity_of(r));
        for (int k = 0; k < r->arm_count; k++)
            if (is_shown(r, &r->arms[k]))
                lowest = fmin(lowest, r->work_flops / bench_time(r, &r->arms[k]));
    }
    f.low_x = floor(log2(least)) - 1;
    f.high_x = ceil(log2(most)) + 1;
    f.high_y = ceil(log2(1e-12 * top->peak)) + 0.5;
    f.low_y = fmin(floor(log2(1e-12 * lowest)), f.high_y - 2.5);
    f.step_y = ceil((f.high_y - f.low_y) / 8);
    return f;
}

static double roof_y(const bench_frame *f, double rate)
{
    return bench_at_y(f, 1e-12 * rate);
}

static void put_roof_axes(FILE *file, const bench_frame *f)
{
    char text[48];
    const double step_x = ceil((f->high_x - f->low_x) / 10);
    bench_put_frame(file, f);
    for (double v = f->low_y; v <= f->high_y; v += f->step_y) {
        const double y = bench_at_y(f, exp2(v));
        bench_put_line(file, f->x, y, f->x + f->width, y, "class=\"grid\"");
        snprintf(text, sizeof text, "%.4g", exp2(v));
        bench_put_tick_y(file, f, exp2(v), text);
    }
    for (double v = f->low_x; v <= f->high_x; v += step_x) {
        snprintf(text, sizeof text, "%.4g", exp2(v));
        bench_put_tick_x(file, f, exp2(v), text);
    }
    bench_put_axes_title(file, f, "TFLOP/s against operations for each byte");
}

static void put_roof(FILE *file, const bench_frame *f, const roof *top)
{
    char text[96];
    const double left = exp2(f->low_x), right = exp2(f->high_x), floor_rate = 1e12 * exp2(f->low_y);
    const double ridge = top->bandwidth > 0 ? top->peak / top->bandwidth : left;
    if (top->bandwidth > 0) {
        const double from = fmin(right, fmax(left, floor_rate / top->bandwidth)), to = fmin(right, fmax(from, ridge));
        bench_put_line(file, bench_at_x(f, from), roof_y(f, from * top->bandwidth), bench_at_x(f, to),
                       roof_y(f, fmin(top->peak, to * top->bandwidth)), "class=\"limit\"");
        snprintf(text, sizeof text, "copy: %.4g GB/s", 1e-9 * top->bandwidth);
        bench_put_text(file, f->x + 6, f->y + 14, "class=\"tick\"", text);
    }
    if (ridge < right)
        bench_put_line(file, bench_at_x(f, fmax(left, ridge)), roof_y(f, top->peak), bench_at_x(f, right),
                       roof_y(f, top->peak), "class=\"limit\"");
    snprintf(text, sizeof text, "%s: %.3g TFLOP/s", top->is_reached ? "highest measured" : "multiply-adds",
             1e-12 * top->peak);
    bench_put_text(file, f->x + f->width - 4, roof_y(f, top->peak) - 4, "class=\"tick\" text-anchor=\"end\"", text);
}

/* Each name once, below the panel. */
static void put_name(FILE *file, const bench_frame *f, const bench_arm *arm, char names[MOST_NAMES][160], int *count)
{
    char name[160];
    bench_format_arm(arm, name, sizeof name);
    for (int i = 0; i < *count; i++)
        if (!strcmp(names[i], name))
            return;
    if (*count == MOST_NAMES)
        return;
    const double x = f->x + (*count % 2) * (f->width / 2), y = f->y + f->height + 40 + (*count / 2) * 14.0;
    strcpy(names[(*count)++], name);
    fprintf(file, "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"3.5\" fill=\"%s\"/>\n", x + 5, y - 4, bench_arm_colour(arm));
    bench_put_text(file, x + 14, y, "class=\"tick\"", name);
}

static void put_roof_panel(FILE *file, const bench_result *results, int count, const bench_result *like, double x,
                           double y)
{
    char names[MOST_NAMES][160], title[96], types[32];
    int named = 0;
    const roof top = roof_of(results, count, like);
    const bench_frame f = roof_frame_of(results, count, like, &top, x, y);
    tk_types_name((tk_types){like->c.dtype, like->c.result_dtype}, types, sizeof types);
    snprintf(title, sizeof title, "roofline of products, %s", types);
    bench_put_text(file, x, y, "class=\"title\"", title);
    if (!bench_has_range(&f) || !(top.peak > 0)) {
        bench_put_text(file, f.x, f.y + 12, "class=\"tick\"", "no times to draw");
        return;
    }
    put_roof_axes(file, &f);
    put_roof(file, &f, &top);
    for (int i = 0; i < count; i++) {
        const bench_result *r = &results[i];
        for (int k = r->arm_count - 1; k >= 0 && r->work_flops > 0 && same_types(r, like); k--) {
            const bench_arm *arm = &r->arms[k];
            if (!is_shown(r, arm))
                continue;
            fprintf(file, "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"3.5\" fill=\"%s\" fill-opacity=\"0.8\"/>\n",
                    bench_at_x(&f, intensity_of(r)), roof_y(&f, r->work_flops / bench_time(r, arm)),
                    bench_arm_colour(arm));
            put_name(file, &f, arm, names, &named);
        }
    }
}

void bench_put_roofline(FILE *file, const bench_result *results, int count, double y)
{
    int panel = 0;
    for (int i = 0; i < count && !ferror(file); i++) {
        if (!begins_panel(results, i))
            continue;
        put_roof_panel(file, results, count, &results[i], bench_panel_x(panel % BENCH_PANEL_COLUMNS),
                       y + panel / BENCH_PANEL_COLUMNS * (double)BENCH_PANEL_HEIGHT);
        panel++;
    }
}
