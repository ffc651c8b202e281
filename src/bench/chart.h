/* What the parts of a chart share. */
#pragma once

#include <stdio.h>

#include "bench/bench.h"

enum { BENCH_PANEL_COLUMNS = 3, BENCH_PANEL_WIDTH = 400, BENCH_PANEL_HEIGHT = 310 };

double bench_panel_x(int column);
void bench_put_text(FILE *file, double x, double y, const char *attributes, const char *text);

/* Ours are blue, limits grey, each peer has its own; the same in every panel. */
const char *bench_arm_colour(const bench_arm *arm);
/* The op and the dtype stand above the panel: "cpu.gelu_fwd.f16.avx512" is "tokitai avx512". */
void bench_format_arm(const bench_arm *arm, char *text, size_t size);

/* Products over their arithmetic intensity, below what the memory and the arithmetic were measured to give: a panel for each pair of types. */
int bench_roofline_panels(const bench_result *results, int count);
void bench_put_roofline(FILE *file, const bench_result *results, int count, double y);
