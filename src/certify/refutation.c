/* RECORDS. From the trials that failed to a grade, and from the grade to a line for people. */
#include "certify/refutation.h"

#include <math.h>
#include <string.h>

/* Of what is not about the values of elements. */
static bool breaks_structure(const tki_outcome *o, int clause)
{
    return o->refuted[clause] && o->contract->clauses[clause].kind >= TK_CLAUSE_WRITE;
}

/* Over all clauses; returns the number of elements. */
static int64_t sum_refused(const tki_judgement *j, tki_refused *sum)
{
    int64_t elements = 0;
    *sum = (tki_refused){0};
    for (int i = 0; i < TK_MAX_CLAUSES; i++) {
        elements += j->failed[i];
        tki_refused_add(sum, &j->refused[i]);
    }
    return elements;
}

tki_grade tki_grade_of(const tki_outcome *o)
{
    tki_refused refused;
    int64_t elements = sum_refused(&o->failing, &refused);
    for (int i = 0; i < o->contract->clause_count; i++)
        if (breaks_structure(o, i))
            return TKI_STRUCTURAL;
    if (elements > 0 && refused.worst <= 2)
        return TKI_SLIGHT;
    return refused.nan + refused.special == 0 && refused.gross < elements - refused.gross ? TKI_INEXACT : TKI_GROSS;
}

/* The end of the histogram's bin that the middle one of the elements lies in. */
static double median_up_to(const tki_refused *refused, int64_t elements)
{
    int64_t below = 0;
    for (int i = 0; i < TKI_ULP_BINS - 1; i++) {
        below += refused->histogram[i];
        if (2 * below >= elements)
            return tki_ulp_bin_ends[i];
    }
    return INFINITY;
}

static void set_figures(json_t *json, const tki_refused *refused, int64_t elements, int64_t judged)
{
    json_object_set_new(json, "elements", json_integer(elements));
    json_object_set_new(json, "of_elements", json_integer(judged));
    if (elements == 0)
        return;
    json_object_set_new(json, "median_up_to_ulp", tki_real_json(median_up_to(refused, elements)));
    json_object_set_new(json, "worst_ulp", tki_real_json(refused->worst));
    json_object_set_new(json, "gross", json_integer(refused->gross));
    json_object_set_new(json, "nan", json_integer(refused->nan));
    json_object_set_new(json, "special", json_integer(refused->special));
    json_object_set_new(json, "ulp_histogram", tki_histogram_json(refused->histogram));
}

json_t *tki_refutation_json(const tki_outcome *o)
{
    static const char *const names[] = {"slight", "inexact", "gross", "structural"};
    tki_refused refused;
    int64_t elements = sum_refused(&o->failing, &refused);
    json_t *clauses = json_array();
    json_t *structural = json_array();
    for (int i = 0; i < o->contract->clause_count; i++) {
        const char *id = o->contract->clauses[i].id;
        if (breaks_structure(o, i))
            json_array_append_new(structural, json_string(id));
        if (o->failing.failed[i] == 0)
            continue;
        json_t *clause = json_pack("{s:s}", "id", id);
        set_figures(clause, &o->failing.refused[i], o->failing.failed[i], o->failing.judged[i]);
        json_array_append_new(clauses, clause);
    }
    json_t *json = json_pack("{s:s, s:b, s:I, s:I, s:o, s:o}", "grade", names[tki_grade_of(o)], "complete",
                             o->complete, "trials", (json_int_t)o->failed_trials, "of_trials", (json_int_t)o->tried,
                             "clauses", clauses, "structural", structural);
    if (json)
        set_figures(json, &refused, elements, o->failing.elements);
    return json;
}

/* -- For people -------------------------------------------------------------------------------------------- */

/* A count; an edited certificate may hold one that could not be added to another. */
static int64_t integer(const json_t *json, const char *name)
{
    const int64_t most = (int64_t)1 << 60;
    int64_t value = json_integer_value(json_object_get(json, name));
    return value < 0 ? 0 : value > most ? most : value;
}

/* Infinite, as JSON has it, or absent: NaN. */
static double distance(const json_t *json, const char *name)
{
    const json_t *value = json_object_get(json, name);
    return json_is_number(value) ? json_number_value(value) : NAN;
}

void tki_print_count(FILE *out, int64_t count)
{
    char digits[32];
    int length = snprintf(digits, sizeof digits, "%lld", (long long)count);
    for (int i = 0; i < length; i++) {
        if (i > 0 && (length - i) % 3 == 0 && digits[i - 1] != '-')
            fputc(',', out);
        fputc(digits[i], out);
    }
}

static void print_kind(FILE *out, int64_t count, const char *kind)
{
    if (count == 0)
        return;
    fputs(", ", out);
    tki_print_count(out, count);
    fputs(kind, out);
}

static void print_distances(FILE *out, const json_t *json, int64_t elements, bool slight)
{
    double worst = distance(json, "worst_ulp");
    double median = distance(json, "median_up_to_ulp");
    int64_t nan = integer(json, "nan");
    int64_t special = integer(json, "special");
    if (slight || (elements == 1 && !isnan(worst))) {
        fprintf(out, elements == 1 ? ", by %.4g ulp" : ", by at most %.4g ulp", worst);
    } else if (nan + special < elements) {
        if (!isnan(median))
            fprintf(out, ", half of them by at most %.4g ulp", median);
        else if (2 * (nan + special) < elements)
            fputs(", half of them by more than 1024 ulp", out);
        if (!isnan(worst))
            fprintf(out, ", the worst by %.4g ulp", worst);
    }
    print_kind(out, nan, " NaN");
    print_kind(out, special, " where only NaN or an infinity is right");
}

/* "12 of 4,096 elements (0.29 %) wrong" */
static void print_share(FILE *out, int64_t elements, int64_t judged)
{
    double share = 100 * (double)elements / (double)judged;
    fputs(elements == judged && judged > 1 ? "all " : "", out);
    tki_print_count(out, elements);
    if (elements != judged || judged == 1) {
        fputs(" of ", out);
        tki_print_count(out, judged);
    }
    fputs(judged == 1 ? " element" : " elements", out);
    if (elements != judged && judged >= 100)
        fprintf(out, share < 10 ? " (%.2g %%)" : " (%.0f %%)", share);
    fputs(" wrong", out);
}

void tki_refutation_print(FILE *out, const json_t *refutation)
{
    const char *grade = json_string_value(json_object_get(refutation, "grade"));
    const json_t *structural = json_object_get(refutation, "structural");
    int64_t elements = integer(refutation, "elements");
    int64_t judged = integer(refutation, "of_elements");
    fputs(grade ? grade : "", out);
    for (size_t i = 0; i < json_array_size(structural); i++) {
        const char *id = json_string_value(json_array_get(structural, i));
        fprintf(out, "%s%s", i ? ", " : " (", id ? id : "");
    }
    fputs(json_array_size(structural) ? ")" : "", out);
    const bool complete = json_is_true(json_object_get(refutation, "complete"));
    /* What the other trials would have shown is not known. */
    fputs(complete || json_array_size(structural) ? "" : " so far", out);
    if (elements == 0)
        return;
    fputs(": ", out);
    print_share(out, elements, judged);
    if (complete && integer(refutation, "of_trials") > 1) {
        fputs(" in ", out);
        tki_print_count(out, integer(refutation, "trials"));
        fputs(" of ", out);
        tki_print_count(out, integer(refutation, "of_trials"));
        fputs(" trials", out);
    }
    print_distances(out, refutation, elements, grade && !strcmp(grade, "slight"));
}
