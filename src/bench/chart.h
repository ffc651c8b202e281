/* SHOWS. What the parts of a chart share. */
#pragma once

#include <stdio.h>

#include "bench/bench.h"

enum { BENCH_PANEL_COLUMNS = 3, BENCH_PANEL_WIDTH = 400, BENCH_PANEL_HEIGHT = 310 };

/* Where a panel draws: its place, and the ranges of its axes. */
typedef struct bench_frame {
    double x, y, width, height;
    double low_x, high_x; /* logarithms to base 2 */
    double low_y, high_y; /* the same, but for rates, which begin at 0 */
    double step_y;        /* between lines of the grid */
    bool rate;
} bench_frame;

/* Whether there is anything to draw: without values, or with values that no double holds, a range has no end or no step. */
bool bench_has_range(const bench_frame *f);
double bench_at_x(const bench_frame *f, double value);
double bench_at_y(const bench_frame *f, double value);
void bench_put_frame(FILE *file, const bench_frame *f);
void bench_put_axes_title(FILE *file, const bench_frame *f, const char *title);
void bench_put_tick_x(FILE *file, const bench_frame *f, double value, const char *text);
void bench_put_tick_y(FILE *file, const bench_frame *f, double value, const char *text);
void bench_put_line(FILE *file, double x1, double y1, double x2, double y2, const char *attributes);

double bench_panel_x(int column);
void bench_put_text(FILE *file, double x, double y, const char *attributes, const char *text);

/* Ours are blue, limits grey, each peer has its own; the same in every panel. */
const char *bench_arm_colour(const bench_arm *arm);
/* The op and the dtype stand above the panel: "cpu.gelu_fwd.f16.avx512" is "tokitai avx512". */
void bench_format_arm(const bench_arm *arm, char *text, size_t size);

/* Products over their arithmetic intensity, below what the memory and the arithmetic were measured to give: a panel for each pair of types. */
int bench_roofline_panels(const bench_result *results, int count);
void bench_put_roofline(FILE *file, const bench_result *results, int count, double y);
