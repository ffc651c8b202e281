/* RECORDS. The level, the seed and the restriction of a run say which trials there are; a certificate has to list those. */
#include "certify/planned_trials.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "certify/certify.h"
#include "certify/outcome.h"
#include "certify/replay_compare.h"
#include "certify/replay_recipe.h"
#include "core/context.h"

json_t *tki_trial_places(const tki_trials *plan, int times[])
{
    json_t *places = json_object();
    bool good = places != NULL;
    for (int64_t i = 0; i < plan->count && good; i++) {
        json_t *trial = tki_trial_json(&plan->list[i]);
        char *name = tki_trial_name(trial);
        const json_t *first = name ? json_object_get(places, name) : NULL;
        good = name && (first || !json_object_set_new(places, name, json_integer(i)));
        if (times && !(i && tki_of_one_domain(&plan->list[i - 1], &plan->list[i])))
            times[first ? json_integer_value(first) : i]++;
        free(name);
        json_decref(trial);
    }
    if (good)
        return places;
    json_decref(places);
    return NULL;
}

bool tki_of_one_domain(const tki_trial *a, const tki_trial *b)
{
    return a->family == TKI_ALL_PATTERNS && b->family == TKI_ALL_PATTERNS;
}

static int64_t output_elements(const tk_case *c)
{
    int64_t elements = 0;
    for (int p = 0; p < c->contract->param_count; p++)
        elements += c->contract->params[p].output ? tk_case_elements(c, p) : 0;
    return elements;
}

/* Outputs of kernel files are judged again with one input changed, where there is one to change, and some with pairs swapped. Where a sample
 * is judged, nothing is changed, but of few elements pairs may be. */
static bool has_its_elements(const json_t *listed, const tki_trial *trial, bool is_kernel_file)
{
    const int64_t each = output_elements(&trial->c), all = tki_integer(listed, "elements");
    if (trial->sampled)
        return all > 0 && all <= (is_kernel_file ? 2 : 1) * each;
    return trial->family == TKI_ALL_PATTERNS || all == each ||
           (is_kernel_file && (all == 2 * each || all == 3 * each));
}

static void look_up(const tk_certificate *certificate, const tki_trials *plan, const json_t *places,
                    const int times[], int taken[], tki_planned *planned)
{
    const json_t *trials = tki_certificate_get(certificate, "run.trials");
    const bool is_kernel_file = tki_certificate_is_of_file(certificate);
    for (size_t i = 0; i < json_array_size(trials); i++) {
        const json_t *trial = json_array_get(trials, i);
        char *name = tki_trial_name(trial);
        const json_t *place = name ? json_object_get(places, name) : NULL;
        const int64_t at = place ? json_integer_value(place) : -1;
        const char *wrong = at < 0                   ? is_kernel_file && json_object_get(trial, "found_by")
                                                           ? NULL
                                                           : "is none that this version makes for its level, seed and restriction"
                            : taken[at] == times[at] ? "is listed too often"
                            : !has_its_elements(trial, &plan->list[at], is_kernel_file)
                                ? "has another number of elements"
                                : NULL;
        if (wrong && !planned->wrong[0])
            snprintf(planned->wrong, sizeof planned->wrong, "trial %zu, %.200s, %s", i, name ? name : "", wrong);
        if (at >= 0)
            taken[at]++;
        free(name);
    }
    for (int64_t i = 0; i < plan->count; i++) {
        if (plan->list[i].where_memory_allows)
            continue;
        planned->made += times[i];
        planned->listed += taken[i];
    }
}

tk_status tki_planned_trials(tk_ctx *ctx, const tk_certificate *certificate, tki_planned *planned)
{
    tki_recipe r = {0};
    tki_trials plan = {0};
    *planned = (tki_planned){0};
    if (tki_certificate_get(certificate, "run.given") || !tki_certificate_contract(ctx, certificate))
        return TK_OK;
    tk_status status = tki_recipe_read(ctx, certificate, &r);
    /* Which kernel it is makes no difference, and it may not be here. */
    r.options.lowering = r.options.mutant = r.options.variant = NULL;
    if (status == TK_OK)
        status = tki_certify_trials_make(ctx, r.contract, r.dtype, r.index_dtype, &r.options, &plan);
    int *times = calloc((size_t)plan.count + 1, sizeof *times),
        *taken = calloc((size_t)plan.count + 1, sizeof *taken);
    json_t *places = status == TK_OK && times ? tki_trial_places(&plan, times) : NULL;
    if (status == TK_OK && (!places || !taken))
        status = tki_fail(ctx, TK_NO_MEMORY, "no memory for the trials of a certificate");
    planned->known = status == TK_OK;
    if (status == TK_OK)
        look_up(certificate, &plan, places, times, taken, planned);
    free(times);
    free(taken);
    json_decref(places);
    free(plan.list);
    tki_recipe_free(&r);
    return status == TK_OK || status == TK_NO_MEMORY ? status : TK_BAD_FILE;
}
