/* SHOWS. An element on the number line, to scale: its exact value, what is admissible, the output, and the numbers of its
 * format around them. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "exact/round.h"
#include "model/case.h"
#include "report/report.h"

enum { WIDTH = 360, LEFT = 14, RIGHT = 346, AXIS = 58, HEIGHT = 132, MOST_TICKS = 64 };

typedef struct element {
    double exact, lo, hi, got;
    char bits[24];
    bool has_format;
    tk_dtype format; /* of the output */
    bool accepted;
} element;

/* The format follows from how many digits the bits have and from the types of the run, if the bits are those of `got`: a
 * certificate may say anything. */
static void read_format(const tk_certificate *c, element *e)
{
    tk_types types;
    if (!tk_types_parse(tki_certificate_text(c, "run.dtype"), &types))
        return;
    const tk_dtype formats[] = {types.dtype, types.result_dtype, TK_F32};
    char *end;
    const unsigned long long pattern = strtoull(e->bits, &end, 16);
    const size_t digits = strlen(e->bits);
    for (size_t i = 0; i < sizeof formats / sizeof *formats && !e->has_format; i++) {
        const tki_format f = tki_format_of(formats[i]);
        if (*end || f.number != TKI_FLOATING || digits != 2 + (size_t)f.bits / 4)
            continue;
        const double value = tki_decode(formats[i], (uint32_t)pattern);
        e->has_format = value == e->got || (isnan(value) && isnan(e->got));
        e->format = formats[i];
    }
}

static bool read_element(const tk_certificate *c, const json_t *json, element *e)
{
    const json_t *ends = json_object_get(json, "admissible");
    *e = (element){.exact = tki_json_real(json, "exact"), .got = tki_json_real(json, "got")};
    json_t *pair = json_pack("{s:O*, s:O*}", "lo", json_array_get(ends, 0), "hi", json_array_get(ends, 1));
    e->lo = tki_json_real(pair, "lo");
    e->hi = tki_json_real(pair, "hi");
    json_decref(pair);
    snprintf(e->bits, sizeof e->bits, "%s", tki_text(json, "got_bits"));
    e->accepted = e->got >= e->lo && e->got <= e->hi;
    read_format(c, e);
    return isfinite(e->exact) && e->lo <= e->hi;
}

/* Where numbers of a format stand in its order. */
static int64_t rank_of(tk_dtype format, double value)
{
    const uint32_t bits = tki_round_double(format, value), sign = tki_format_of(format).sign;
    return bits & sign ? -(int64_t)(bits - sign) : (int64_t)bits;
}

static double number_at(tk_dtype format, int64_t rank)
{
    const tki_format f = tki_format_of(format);
    const int64_t end = f.largest;
    const int64_t at = rank > end ? end : rank < -end ? -end : rank;
    return tki_decode(format, at < 0 ? (uint32_t)-at | f.sign : (uint32_t)at);
}

/* The part of the line that is drawn. */
typedef struct window {
    double from, to;
} window;

static void include_value(window *w, double value)
{
    if (!isfinite(value))
        return;
    w->from = fmin(w->from, value);
    w->to = fmax(w->to, value);
}

/* Two numbers of the format more on each side; without a format, and in any case, a margin. */
static window with_margin(const element *e, window w)
{
    if (e->has_format) {
        include_value(&w, number_at(e->format, rank_of(e->format, w.from) - 2));
        include_value(&w, number_at(e->format, rank_of(e->format, w.to) + 2));
    }
    const double width = w.to - w.from;
    const double margin = width > 0 ? width * 0.04 : fabs(w.from) * 1e-6 + 1e-300;
    return (window){w.from - margin, w.to + margin};
}

static double x_of(const window *w, double value)
{
    const double share = (value / 2 - w->from / 2) / (w->to / 2 - w->from / 2);
    return LEFT + (RIGHT - LEFT) * fmin(1, fmax(0, isnan(share) ? 0.5 : share));
}

/* Text whose middle is at x as far as the picture has room, with a line from (x, y0) to it. */
static void put_label(FILE *out, double x, double y0, double y, const char *text)
{
    const double half = 2.75 * (double)strlen(text);
    const double at = fmin(WIDTH - 2 - half, fmax(2 + half, x));
    fprintf(out, "<line x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\" class=\"lead\"/>", x, y0, x,
            y > y0 ? y - 9 : y + 3);
    fprintf(out, "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"middle\" class=\"over\">", at, y);
    tki_html_put(out, "", text, "</text>");
}

/* The numbers of the format; those of a part that has too many are left out. Says how many. */
static int put_ticks(FILE *out, const element *e, const window *w)
{
    if (!e->has_format)
        return 0;
    const int64_t first = rank_of(e->format, w->from), last = rank_of(e->format, w->to);
    int ticks = 0;
    if (last - first > MOST_TICKS)
        return 0;
    for (int64_t rank = first; rank <= last; rank++) {
        const double value = number_at(e->format, rank), x = x_of(w, value);
        if (value < w->from || value > w->to)
            continue;
        fprintf(out, "<line x1=\"%.1f\" y1=\"%d\" x2=\"%.1f\" y2=\"%d\" class=\"tick\"><title>%.9g</title></line>", x,
                AXIS - 6, x, AXIS + 6, value);
        ticks++;
    }
    return ticks;
}

static void put_output(FILE *out, const element *e, const window *w)
{
    char text[96];
    const bool drawn = e->got >= w->from && e->got <= w->to;
    const double x = drawn ? x_of(w, e->got) : e->got < w->from ? LEFT : e->got > w->to ? RIGHT : WIDTH / 2.0;
    const char *style = e->accepted ? "out-good" : "out-bad";
    snprintf(text, sizeof text, "output %.9g (%s)%s", e->got, e->bits,
             drawn            ? ""
             : isnan(e->got)  ? ", not on the line"
             : e->got < w->to ? ", to the left"
                              : ", to the right");
    if (drawn)
        fprintf(out, "<path d=\"M%.1f %dl-5 -10h10z\" class=\"%s\"/>", x, AXIS - 3, style);
    else if (!isnan(e->got))
        fprintf(out, "<path d=\"M%.1f %dl%d -6v12z\" class=\"%s\"/>", x, AXIS, e->got < w->from ? 10 : -10, style);
    put_label(out, x, AXIS - 14, 16, text);
}

static void put_line(FILE *out, const element *e, window w, const char *title)
{
    char text[160];
    tki_html_put(out, "<figure><figcaption>", title, "");
    fprintf(out,
            "</figcaption><svg viewBox=\"0 0 %d %d\" role=\"img\" aria-label=\"the element on the number line\">",
            WIDTH, HEIGHT);
    const double lo = x_of(&w, e->lo), hi = x_of(&w, e->hi);
    fprintf(out, "<rect x=\"%.1f\" y=\"%d\" width=\"%.1f\" height=\"16\" rx=\"2\" class=\"band\"/>", lo - 1, AXIS - 8,
            hi - lo + 2);
    fprintf(out, "<line x1=\"2\" y1=\"%d\" x2=\"%d\" y2=\"%d\" class=\"axis\"/>", AXIS, WIDTH - 2, AXIS);
    const int ticks = put_ticks(out, e, &w);
    const double exact = x_of(&w, e->exact);
    put_output(out, e, &w);
    fprintf(out, "<path d=\"M%.1f %dl4.5 6l-4.5 6l-4.5 -6z\" class=\"exact\"/>", exact, AXIS - 6);
    snprintf(text, sizeof text, e->lo == e->hi ? "admissible %.9g only" : "admissible %.9g to %.9g", e->lo, e->hi);
    put_label(out, (lo + hi) / 2, AXIS + 9, 106, text);
    snprintf(text, sizeof text, "exact %.12g", e->exact);
    put_label(out, exact, AXIS + 8, 88, text);
    if (ticks)
        snprintf(text, sizeof text, "ticks: the numbers of %s", tki_format_of(e->format).name);
    else
        snprintf(text, sizeof text, "the numbers of the format are too dense to draw");
    fprintf(out, "<text x=\"%d\" y=\"124\" text-anchor=\"middle\" class=\"soft\">", WIDTH / 2);
    tki_html_put(out, "", text, "</text></svg></figure>\n");
}

void tki_number_line(FILE *out, const tk_certificate *c, const json_t *json)
{
    element e;
    if (!read_element(c, json, &e))
        return;
    window interval = {e.exact, e.exact};
    include_value(&interval, e.lo);
    include_value(&interval, e.hi);
    window whole = interval;
    include_value(&whole, e.got);
    const window near = with_margin(&e, interval), all = with_margin(&e, whole);
    /* Where the output is far off, the interval is a point beside it. */
    const bool far = near.to / 2 - near.from / 2 < 0.12 * (all.to / 2 - all.from / 2);
    fputs("<div class=\"charts\">", out);
    put_line(out, &e, all, far ? "To scale, complete" : "To scale");
    if (far)
        put_line(out, &e, near, "To scale, around the admissible interval");
    fputs("</div>\n", out);
}
