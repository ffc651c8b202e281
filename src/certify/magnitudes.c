/* RECORDS. Errors by magnitude: written down, and read again. */
#include "certify/magnitudes.h"

#include <math.h>
#include <string.h>

#include "certify/outcome.h"

/* NULL: there are none. */
static json_t *magnitude_json(const tki_magnitude *m)
{
    if (!m->elements)
        return NULL;
    return json_pack("{s:I, s:o, s:o}", "elements", (json_int_t)m->elements, "worst_ulp", tki_real_json(m->ulps),
                     "bound_used", tki_real_json(m->bound_used));
}

static json_t *binades_json(const tki_magnitude binades[TKI_BINADES])
{
    json_t *list = json_array();
    for (int i = 0; i < TKI_BINADES; i++) {
        json_t *binade = magnitude_json(&binades[i]);
        json_object_set_new(binade, "exponent", json_integer(TKI_BINADE_LEAST + i));
        json_array_append_new(list, binade);
    }
    return list;
}

json_t *tki_magnitudes_json(const tk_case *c, const tki_magnitude magnitudes[TKI_MAGNITUDES])
{
    const int input = tki_counted_by_input(c);
    json_t *json = json_pack("{s:o}", "positive", binades_json(&magnitudes[TKI_MAGNITUDE_POSITIVE]));
    if (input >= 0) {
        json_object_set_new(json, "input", json_string(c->contract->params[input].name));
        json_object_set_new(json, "negative", binades_json(&magnitudes[TKI_MAGNITUDE_NEGATIVE]));
    }
    json_object_set_new(json, "subnormal", magnitude_json(&magnitudes[TKI_MAGNITUDE_SUBNORMAL]));
    json_object_set_new(json, "other", magnitude_json(&magnitudes[TKI_MAGNITUDE_OTHER]));
    return json;
}

static bool read_real(const json_t *value, double *real)
{
    const char *text = json_string_value(value);
    *real = text && !strcmp(text, "infinity") ? INFINITY : json_is_number(value) ? json_number_value(value) : -1;
    return *real >= 0;
}

bool tki_magnitude_read(const json_t *part, tki_magnitude *m)
{
    const json_t *elements = json_object_get(part, "elements");
    *m = (tki_magnitude){.elements = json_integer_value(elements)};
    return json_is_integer(elements) && m->elements > 0 && read_real(json_object_get(part, "worst_ulp"), &m->ulps) &&
           read_real(json_object_get(part, "bound_used"), &m->bound_used);
}

static bool add_part(const json_t *part, tki_magnitudes_sum *sum)
{
    tki_magnitude m;
    if (!tki_magnitude_read(part, &m) || __builtin_add_overflow(sum->elements, m.elements, &sum->elements))
        return false;
    sum->ulps = fmax(sum->ulps, m.ulps);
    sum->bound_used = fmax(sum->bound_used, m.bound_used);
    return true;
}

/* Each binade once, in increasing order. */
static bool add_binades(const json_t *list, tki_magnitudes_sum *sum)
{
    json_int_t last = TKI_BINADE_LEAST - 1;
    for (size_t i = 0; i < json_array_size(list); i++) {
        const json_t *binade = json_array_get(list, i), *exponent = json_object_get(binade, "exponent");
        if (!json_is_integer(exponent) || json_integer_value(exponent) <= last ||
            json_integer_value(exponent) > TKI_BINADE_MOST || !add_part(binade, sum))
            return false;
        last = json_integer_value(exponent);
    }
    return true;
}

bool tki_magnitudes_add_up(const json_t *by_magnitude, tki_magnitudes_sum *sum)
{
    static const char *const lists[] = {"negative", "positive"}, *const singles[] = {"subnormal", "other"};
    *sum = (tki_magnitudes_sum){0};
    if (!json_is_object(by_magnitude) || !json_is_array(json_object_get(by_magnitude, "positive")) ||
        (json_object_get(by_magnitude, "input") != NULL) != json_is_array(json_object_get(by_magnitude, "negative")))
        return false;
    for (int i = 0; i < 2; i++) {
        const json_t *single = json_object_get(by_magnitude, singles[i]);
        if (!add_binades(json_object_get(by_magnitude, lists[i]), sum) || (single && !add_part(single, sum)))
            return false;
    }
    return true;
}
