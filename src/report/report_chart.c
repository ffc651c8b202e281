/* SHOWS. Charts of a certificate as SVG. Their unit is about a pixel of a telephone's screen: they are as wide as one, and
 * wider screens show several beside each other. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "certify/magnitudes.h"
#include "report/report.h"

enum { WIDTH = 360, LEFT = 46, RIGHT = 352, TOP = 24, BOTTOM = 164, HEIGHT = 204, MOST_BINS = 16, GAP = 46 };

static void begin_figure(FILE *out, const char *title, int height)
{
    tki_html_put(out, "<figure><figcaption>", title, "");
    fprintf(out, "</figcaption><svg viewBox=\"0 0 %d %d\" role=\"img\" aria-label=\"", WIDTH, height);
    tki_html_put(out, "", title, "\">");
}

static void end_figure(FILE *out)
{
    fputs("</svg></figure>\n", out);
}

static void put_text(FILE *out, double x, double y, const char *anchor, const char *style, const char *text)
{
    fprintf(out, "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"%s\" class=\"%s\">", x, y, anchor, style);
    tki_html_put(out, "", text, "</text>");
}

/* "950", "1.2k", "34M" */
static void format_compact(double value, char *text)
{
    static const char units[] = {0, 'k', 'M', 'G', 'T', 'P', 'E'};
    size_t unit = 0;
    while (value >= 999.5 && unit + 1 < sizeof units) {
        value /= 1000;
        unit++;
    }
    const int decimals = value < 9.95 && value != floor(value);
    snprintf(text, 16, "%.*f%.*s", decimals, value, unit > 0, &units[unit]);
}

/* -- Scales of values that are not negative ------------------------------------------------------------------------- */

typedef struct scale {
    bool logarithmic; /* of 1 + value */
    double most;      /* the end; finite */
    bool infinite;    /* infinity has a place above it */
} scale;

static double place(const scale *s, double value)
{
    if (isinf(value))
        return TOP;
    const double top = s->infinite ? TOP + 14 : TOP;
    const double share = s->logarithmic ? log1p(value) / log1p(s->most) : value / s->most;
    return BOTTOM - (BOTTOM - top) * fmin(1, fmax(0, share));
}

static void put_level(FILE *out, const scale *s, double value, const char *label)
{
    const double y = place(s, value);
    fprintf(out, "<line x1=\"%d\" y1=\"%.1f\" x2=\"%d\" y2=\"%.1f\" class=\"grid\"/>", LEFT, y, RIGHT, y);
    put_text(out, LEFT - 4, y + 3.5, "end", "soft", label);
}

/* Lines across with their values; `percent` writes 1 as 100 %. */
static void put_levels(FILE *out, const scale *s, bool percent)
{
    char label[32];
    if (!s->logarithmic) {
        const int parts = percent ? 4 : s->most <= 5 ? (int)s->most : 4;
        for (int i = 0; i <= parts; i++) {
            const double value = s->most * i / parts;
            snprintf(label, sizeof label, percent ? "%.0f %%" : "%g", percent ? 100 * value : value);
            put_level(out, s, value, label);
        }
    } else {
        const int decades = (int)fmax(1, ceil(log10(s->most)));
        const int step = decades / 6 + 1;
        put_level(out, s, 0, "0");
        for (int d = 0; d <= decades; d += step) {
            const double value = pow(10, d);
            format_compact(value, label);
            if (value >= 1e21)
                snprintf(label, sizeof label, "%.0e", value);
            strcat(label, percent ? "\xc3\x97" : "");
            if (value <= s->most && place(s, value) < BOTTOM - 9)
                put_level(out, s, value, label);
        }
    }
    if (s->infinite)
        put_level(out, s, INFINITY, "\xe2\x88\x9e");
}

/* -- The histogram -------------------------------------------------------------------------------------------------- */

void tki_chart_histogram(FILE *out, const json_t *histogram, const char *title, const char *axis, bool wrong)
{
    const size_t count = json_array_size(histogram);
    double most = 10;
    if (!count || count > MOST_BINS)
        return;
    for (size_t i = 0; i < count; i++)
        most = fmax(most, tki_json_real(json_array_get(histogram, i), "elements"));
    const scale s = {.logarithmic = true, .most = pow(10, ceil(log10(most * 1.6)))};
    begin_figure(out, title, HEIGHT);
    put_levels(out, &s, false);
    const double slot = (double)(RIGHT - LEFT) / (double)count;
    for (size_t i = 0; i < count; i++) {
        const json_t *bin = json_array_get(histogram, i);
        const double elements = fmax(0, tki_json_real(bin, "elements")), end = tki_json_real(bin, "up_to_ulp");
        const double x = LEFT + slot * (double)i, y = place(&s, elements);
        char label[32], number[16];
        snprintf(label, sizeof label, isinf(end) ? "more" : "%.4g", end);
        if (elements > 0) {
            format_compact(elements, number);
            fprintf(out,
                    "<rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\" class=\"%s\"><title>%.0f "
                    "elements</title></rect>",
                    x + 2, y, slot - 4, BOTTOM - y, wrong ? "red" : "bar", elements);
            put_text(out, x + slot / 2, y - 3, "middle", "", number);
        }
        put_text(out, x + slot / 2, BOTTOM + 13, "middle", "soft", label);
    }
    fprintf(out, "<line x1=\"%d\" y1=\"%d\" x2=\"%d\" y2=\"%d\" class=\"axis\"/>", LEFT, BOTTOM, RIGHT, BOTTOM);
    put_text(out, (LEFT + RIGHT) / 2.0, BOTTOM + 32, "middle", "soft", axis);
    put_text(out, 2, 10, "start", "soft", "elements");
    end_figure(out);
}

/* -- By magnitude --------------------------------------------------------------------------------------------------- */

/* The columns, from left to right: negative numbers, zero, positive ones; then, apart, what is no number. */
typedef struct columns {
    tki_magnitude at[TKI_MAGNITUDES];
    int least, most; /* exponents that occur */
    bool is_signed;  /* by an input, which has a sign */
    int count;       /* without what is no number */
    double slot;
} columns;

static void read_binades(const json_t *list, columns *c, int first)
{
    for (size_t i = 0; i < json_array_size(list) && i < TKI_BINADES; i++) {
        const json_t *binade = json_array_get(list, i);
        const json_int_t exponent = json_integer_value(json_object_get(binade, "exponent"));
        tki_magnitude m;
        if (exponent < TKI_BINADE_LEAST || exponent > TKI_BINADE_MOST || !tki_magnitude_read(binade, &m))
            continue;
        c->at[first + (int)exponent - TKI_BINADE_LEAST] = m;
        c->least = c->count++ ? (exponent < c->least ? (int)exponent : c->least) : (int)exponent;
        c->most = c->count > 1 && c->most > exponent ? c->most : (int)exponent;
    }
}

static bool read_columns(const json_t *by_magnitude, columns *c)
{
    *c = (columns){.is_signed = json_object_get(by_magnitude, "input") != NULL};
    read_binades(json_object_get(by_magnitude, "positive"), c, TKI_MAGNITUDE_POSITIVE);
    read_binades(json_object_get(by_magnitude, "negative"), c, TKI_MAGNITUDE_NEGATIVE);
    (void)tki_magnitude_read(json_object_get(by_magnitude, "subnormal"), &c->at[TKI_MAGNITUDE_SUBNORMAL]);
    (void)tki_magnitude_read(json_object_get(by_magnitude, "other"), &c->at[TKI_MAGNITUDE_OTHER]);
    const bool any = c->count || c->at[TKI_MAGNITUDE_SUBNORMAL].elements;
    const int binades = c->count ? c->most - c->least + 1 : 0;
    c->count = (c->is_signed ? 2 * binades : binades) + 1;
    c->slot = (RIGHT - GAP - LEFT) / (double)c->count;
    return any;
}

/* The left end of a column. */
static double column_x(const columns *c, int magnitude)
{
    const int binades = c->is_signed ? (c->count - 1) / 2 : 0;
    int column;
    if (magnitude == TKI_MAGNITUDE_OTHER)
        return RIGHT - 20;
    if (magnitude == TKI_MAGNITUDE_SUBNORMAL)
        column = binades;
    else if (magnitude >= TKI_MAGNITUDE_NEGATIVE)
        column = c->most - (magnitude - TKI_MAGNITUDE_NEGATIVE + TKI_BINADE_LEAST);
    else
        column = binades + 1 + (magnitude - TKI_MAGNITUDE_POSITIVE + TKI_BINADE_LEAST) - c->least;
    return LEFT + c->slot * column;
}

/* "2^-14", with raised digits. */
static void format_power(bool negative, int exponent, char text[48])
{
    static const char *const raised[] = {"\xe2\x81\xb0", "\xc2\xb9",     "\xc2\xb2",     "\xc2\xb3",
                                         "\xe2\x81\xb4", "\xe2\x81\xb5", "\xe2\x81\xb6", "\xe2\x81\xb7",
                                         "\xe2\x81\xb8", "\xe2\x81\xb9"};
    char digits[8];
    int used = snprintf(text, 48, "%s2%s", negative ? "\xe2\x88\x92" : "", exponent < 0 ? "\xe2\x81\xbb" : "");
    snprintf(digits, sizeof digits, "%u", (unsigned)abs(exponent) % 1000);
    for (const char *d = digits; *d; d++)
        used += snprintf(text + used, 48 - (size_t)used, "%s", raised[*d - '0']);
}

/* Labels about 46 units apart, the ends and zero among them. */
static void put_magnitude_axis(FILE *out, const columns *c, const char *name)
{
    char label[48];
    const int half = c->is_signed ? 2 : 1, binades = (c->count - 1) / half;
    const double room = 46 / fmax(c->slot, 0.1);
    const int step = (int)fmax(1, ceil(room));
    for (int side = 0; side < half && binades; side++) {
        const int first = side ? TKI_MAGNITUDE_NEGATIVE : TKI_MAGNITUDE_POSITIVE;
        for (int e = c->most; e >= c->least; e -= step) {
            /* Not into the label of zero. */
            if ((e - c->least + 1) * c->slot < 26)
                continue;
            const double x = column_x(c, first + e - TKI_BINADE_LEAST) + c->slot / 2;
            format_power(side, e, label);
            fprintf(out, "<line x1=\"%.1f\" y1=\"%d\" x2=\"%.1f\" y2=\"%d\" class=\"axis\"/>", x, BOTTOM, x,
                    BOTTOM + 3);
            put_text(out, x, BOTTOM + 14, "middle", "soft", label);
        }
    }
    put_text(out, column_x(c, TKI_MAGNITUDE_SUBNORMAL) + c->slot / 2, BOTTOM + 14, "middle", "soft", "0");
    put_text(out, WIDTH - 1, BOTTOM + 14, "end", "soft", "\xe2\x88\x9e, NaN");
    fprintf(out, "<path d=\"M%d %dH%dM%d %dH%d\" class=\"axis\"/>", LEFT, BOTTOM, RIGHT - GAP, RIGHT - 22, BOTTOM,
            RIGHT);
    fprintf(out, "<text x=\"%.1f\" y=\"%d\" text-anchor=\"middle\" class=\"soft\">", (LEFT + RIGHT) / 2.0,
            BOTTOM + 32);
    if (c->is_signed)
        tki_html_put(out, "input ", name, ", by binades</text>");
    else
        fputs("exact value, rounded, by binades</text>", out);
}

typedef enum quantity { ELEMENTS, ULPS, SHARE } quantity;

static double quantity_of(const tki_magnitude *m, quantity q)
{
    return q == ELEMENTS ? (double)m->elements : q == ULPS ? m->ulps : m->bound_used;
}

static scale scale_for(const columns *c, quantity q)
{
    double most = q == ULPS ? 2 : 1; /* up to 1e300, so that all that is computed from it is finite */
    bool infinite = false;
    for (int i = 0; i < TKI_MAGNITUDES; i++) {
        const double value = quantity_of(&c->at[i], q);
        infinite |= isinf(value);
        most = isinf(value) ? most : fmax(most, fmin(value, 1e300));
    }
    if (q == ELEMENTS || (q == ULPS && most > 16) || (q == SHARE && most > 1))
        return (scale){
            .logarithmic = true, .most = pow(10, ceil(log10(fmax(most, 10)) + 1e-9)), .infinite = infinite};
    return (scale){.most = q == ULPS && most > 5 ? 4 * ceil(most / 4) : ceil(most), .infinite = infinite};
}

static void put_magnitudes(FILE *out, const columns *c, quantity q, const char *name, const char *title)
{
    static const char *const units[] = {"elements", "ulp", "share of the bound"};
    const scale s = scale_for(c, q);
    begin_figure(out, title, HEIGHT);
    put_levels(out, &s, q == SHARE);
    put_text(out, 2, 10, "start", "soft", units[q]);
    for (int i = 0; i < TKI_MAGNITUDES; i++) {
        const double value = quantity_of(&c->at[i], q);
        if (!c->at[i].elements || !(value > 0))
            continue;
        const double width = i == TKI_MAGNITUDE_OTHER ? 20 : c->slot;
        const double y = place(&s, value), gap = width > 4 ? 1 : 0;
        const bool red = q != ELEMENTS && c->at[i].bound_used > 1;
        fprintf(out, "<rect x=\"%.2f\" y=\"%.1f\" width=\"%.2f\" height=\"%.1f\" class=\"%s\"><title>",
                column_x(c, i), y, fmax(width - gap, 0.6), BOTTOM - y,
                red            ? "red"
                : isinf(value) ? "far"
                               : "bar");
        char power[48] = "0 and subnormal numbers";
        if (i == TKI_MAGNITUDE_OTHER)
            snprintf(power, sizeof power, "infinite, NaN or an integer");
        else if (i != TKI_MAGNITUDE_SUBNORMAL)
            format_power(i >= TKI_MAGNITUDE_NEGATIVE, (i - TKI_MAGNITUDE_POSITIVE) % TKI_BINADES + TKI_BINADE_LEAST,
                         power);
        fprintf(out, "%s: %lld elements, at most %.6g ulp, %.4g of the bound</title></rect>", power,
                (long long)c->at[i].elements, c->at[i].ulps, c->at[i].bound_used);
    }
    if (q == SHARE) {
        const double y = place(&s, 1);
        fprintf(out, "<line x1=\"%d\" y1=\"%.1f\" x2=\"%d\" y2=\"%.1f\" class=\"limit\"/>", LEFT, y, RIGHT, y);
    }
    put_magnitude_axis(out, c, name);
    end_figure(out);
}

void tki_chart_magnitudes(FILE *out, const json_t *by_magnitude)
{
    columns c;
    if (!read_columns(by_magnitude, &c))
        return;
    const char *name = tki_text(by_magnitude, "input");
    put_magnitudes(out, &c, ULPS, name, c.is_signed ? "Largest error by input" : "Largest error by exact value");
    put_magnitudes(out, &c, SHARE, name,
                   c.is_signed ? "Share of the bound used, by input" : "Share of the bound used, by exact value");
    put_magnitudes(out, &c, ELEMENTS, name,
                   c.is_signed ? "Elements judged, by input" : "Elements judged, by exact value");
}

/* -- A gauge -------------------------------------------------------------------------------------------------------- */

void tki_chart_share(FILE *out, double share)
{
    const double full = 300;
    if (isnan(share) || share < 0)
        return;
    begin_figure(out, "Largest share of the bound used by an accepted element", 44);
    fprintf(out, "<rect x=\"4\" y=\"6\" width=\"%.1f\" height=\"14\" rx=\"3\" class=\"groove\"/>", full);
    fprintf(out, "<rect x=\"4\" y=\"6\" width=\"%.1f\" height=\"14\" rx=\"3\" class=\"%s\"/>", full * fmin(1, share),
            share > 1 ? "red" : "bar");
    fprintf(out, "<text x=\"%.1f\" y=\"17\" text-anchor=\"start\">", full + 10);
    tki_html_share(out, share);
    fputs("</text>", out);
    put_text(out, 4, 34, "start", "soft", "0");
    put_text(out, 4 + full / 2, 34, "middle", "soft", "50 %");
    put_text(out, 4 + full, 34, "end", "soft", "100 %: the limit");
    end_figure(out);
}
