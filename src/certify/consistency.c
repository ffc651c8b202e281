/* RECORDS. A certificate's members held against each other. */
#include "certify/consistency.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "certify/cause.h"
#include "certify/claims.h"
#include "certify/given_outputs.h"
#include "certify/headline.h"
#include "certify/magnitudes.h"
#include "certify/member_walk.h"
#include "certify/outcome_claims.h"
#include "certify/planned_trials.h"
#include "certify/process_claims.h"
#include "certify/proofs.h"
#include "certify/provenance.h"
#include "certify/replay_recipe.h"
#include "certify/reproduce.h"
#include "core/context.h"
#include "core/hash.h"
#include "model/case.h"
#include "model/format.h"
#include "trials/attribute_settings.h"
#include "model/mutant.h"
#include "trials/kept_mutants.h"
#include "trials/op_registry.h"

/* Where the first contradiction goes. */
typedef struct finding {
    const tk_certificate *certificate;
    const tk_contract *contract; /* of the op that it is about; NULL: not known here */
    char *what;
    size_t size;
} finding;

__attribute__((format(printf, 2, 3))) static bool contradicts(const finding *f, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(f->what, f->size, format, arguments);
    va_end(arguments);
    return true;
}

static const json_t *get(const finding *f, const char *path)
{
    return tki_certificate_get(f->certificate, path);
}

/* Sums that overflow are larger than any number of elements. */
static void add(json_int_t *sum, json_int_t more)
{
    if (__builtin_add_overflow(*sum, more, sum))
        *sum = INT64_MAX;
}

bool tki_certificate_is_restricted(const tk_certificate *certificate)
{
    static const char *const members[] = {"run.shape", "run.family", "run.options", "run.inputs"};
    for (size_t i = 0; i < sizeof members / sizeof *members; i++)
        if (tki_certificate_get(certificate, members[i]))
            return true;
    return false;
}

json_t *tki_trial_without_results(const json_t *trial)
{
    json_t *copy = json_copy((json_t *)(uintptr_t)trial);
    for (const tki_member *m = tki_members; m->name; m++)
        if (m->how & TKI_OUTCOME)
            json_object_del(copy, m->name);
    return copy;
}

/* -- The verdict --------------------------------------------------------------------------------------------- */

static bool headline_is_another(const finding *f)
{
    const char *verdict = tki_certificate_text(f->certificate, "verdict");
    if (strcmp(verdict, tk_verdict_name(tk_certificate_verdict(f->certificate))) != 0)
        return contradicts(f, "unknown verdict '%.40s'", verdict);
    /* Those of earlier versions have none. */
    const char *headline = json_string_value(get(f, "headline"));
    if (get(f, "headline") && (!headline || strcmp(headline, tk_certificate_headline(f->certificate)) != 0))
        return contradicts(f, "its headline is '%.200s'; its other members give '%.200s'", headline ? headline : "",
                           tk_certificate_headline(f->certificate));
    bool has_reason = tk_certificate_reason(f->certificate)[0] != 0;
    if (has_reason == tki_certificate_holds(f->certificate))
        return contradicts(f, "its verdict is %s %s a reason", verdict, has_reason ? "with" : "without");
    return false;
}

static bool clauses_differ(const finding *f)
{
    const json_t *clauses = get(f, "clauses");
    const tk_verdict verdict = tk_certificate_verdict(f->certificate);
    bool refuted = false, proved = false;
    json_int_t checks = 0;
    for (size_t i = 0; i < json_array_size(clauses); i++) {
        const json_t *clause = json_array_get(clauses, i);
        const char *said = tki_text(clause, "verdict");
        const json_int_t judged = tki_integer(clause, "checks"), failures = tki_integer(clause, "failures");
        const char *id = tki_text(clause, "id");
        const bool is_refuted = !strcmp(said, tk_verdict_name(TK_REFUTED));
        const bool is_proved = !strcmp(said, tk_verdict_name(TK_PROVED));
        const bool is_open = !strcmp(said, "NOT JUDGED");
        if (!is_refuted && !is_proved && !is_open && strcmp(said, tk_verdict_name(TK_HELD)) != 0)
            return contradicts(f, "clause %.80s has no verdict", id);
        if (judged < 0 || failures < 0 || is_refuted != (failures > 0) || (!is_refuted && is_open != (judged == 0)))
            return contradicts(f, "clause %.80s is %.20s with %lld checks and %lld failures", id, said,
                               (long long)judged, (long long)failures);
        refuted |= is_refuted;
        proved |= is_proved;
        add(&checks, judged);
    }
    if (refuted != (verdict == TK_REFUTED))
        return contradicts(f, "its verdict is %s, but %s clause is refuted", tk_verdict_name(verdict),
                           refuted ? "a" : "no");
    if (proved != (verdict == TK_PROVED))
        return contradicts(f, "its verdict is %s, but %s clause is proved", tk_verdict_name(verdict),
                           proved ? "a" : "no");
    if (tki_certificate_holds(f->certificate) && checks < tk_certificate_elements(f->certificate))
        return contradicts(f, "its clauses have %lld judged elements but only %lld checks",
                           (long long)tk_certificate_elements(f->certificate), (long long)checks);
    return false;
}

static bool is_sha256(const char *hex)
{
    return strlen(hex) == TKI_HASH_HEX - 1 && strspn(hex, "0123456789abcdef") == TKI_HASH_HEX - 1;
}

/* -- What was run -------------------------------------------------------------------------------------------- */

static bool every_trial_has(const json_t *trials, const char *name, const json_t *value)
{
    for (size_t i = 0; i < json_array_size(trials); i++)
        if (!json_equal(json_object_get(json_array_get(trials, i), name), value))
            return false;
    return true;
}

/* A restriction that the trials do not show, or one that they show alone: the latter is how the run of one case would read as a whole. */
static bool restriction_differs(const finding *f)
{
    static const char *const members[] = {"shape", "family", "options"};
    const json_t *trials = get(f, "run.trials"), *first = json_array_get(trials, 0);
    const bool restricted = tki_certificate_is_restricted(f->certificate);
    for (size_t i = 0; i < sizeof members / sizeof *members; i++) {
        const json_t *value = json_object_get(get(f, "run"), members[i]);
        /* A family is not drawn of a shape without elements. */
        if (value && strcmp(members[i], "family") != 0 && !every_trial_has(trials, members[i], value))
            return contradicts(f, "its run is restricted to one %s, but it lists trials of others", members[i]);
    }
    if (tki_certificate_holds(f->certificate) && !json_array_size(trials))
        return contradicts(f, "it lists no trials");
    const bool whole = !restricted && tki_certificate_holds(f->certificate),
               one_case = get(f, "run.shape") || get(f, "run.family");
    if (whole && every_trial_has(trials, "shape", json_object_get(first, "shape")) &&
        strcmp(tki_text(first, "family"), "all_patterns") != 0)
        return contradicts(f, "all its trials have one shape, but its run is not restricted to one");
    if (whole && json_array_size(trials) > 1 && every_trial_has(trials, "family", json_object_get(first, "family")))
        return contradicts(f, "all its trials have one family, but its run is not restricted to one");
    if (one_case && json_array_size(get(f, "mutants")))
        return contradicts(f, "its run is restricted, but it lists mutants");
    return false;
}

static bool trials_differ(const finding *f)
{
    const json_t *trials = get(f, "run.trials");
    json_int_t elements = 0, found = 0;
    bool all_patterns = false;
    for (size_t i = 0; i < json_array_size(trials); i++) {
        const json_t *trial = json_array_get(trials, i);
        if (tki_integer(trial, "elements") < 0)
            return contradicts(f, "trial %zu has a negative number of elements", i);
        if (tki_certificate_is_current(f->certificate) &&
            (!json_object_get(trial, "elements") || !json_object_get(trial, "output_sha256")))
            return contradicts(f, "trial %zu lacks its elements or the hash of its outputs", i);
        add(&elements, tki_integer(trial, "elements"));
        found += json_object_get(trial, "found_by") != NULL;
        all_patterns |= !strcmp(tki_text(trial, "family"), "all_patterns");
    }
    if (tki_certificate_holds(f->certificate) && elements != tk_certificate_elements(f->certificate))
        return contradicts(f, "%lld elements were judged, but its trials have %lld",
                           (long long)tk_certificate_elements(f->certificate), (long long)elements);
    if (json_is_true(get(f, "coverage.known")) && tki_certificate_holds(f->certificate) &&
        found < tki_certificate_integer(f->certificate, "coverage.found"))
        return contradicts(f, "coverage added %lld trials, but %lld are listed",
                           (long long)tki_certificate_integer(f->certificate, "coverage.found"), (long long)found);
    if (tk_certificate_verdict(f->certificate) == TK_PROVED && !all_patterns)
        return contradicts(f, "its verdict is PROVED, but no trial has the family all_patterns");
    return false;
}

/* It begins with the backend or the kind, the op and the dtype; of what we planted, and of tensors, nothing follows that. */
static bool subject_differs(const finding *f)
{
    const tk_certificate *c = f->certificate;
    const char *kind = tki_certificate_text(c, "run.kind"), *subject = tk_certificate_subject(c);
    const bool plain = !strcmp(kind, "plain"), file = plain || !strcmp(kind, "kernel");
    const bool lowering = !strcmp(kind, "lowering"), given = !strcmp(kind, "given");
    const char *backend = tki_certificate_text(c, file ? "run.kernel.backend" : "machine.backend");
    char begin[256];
    if (!tki_subject_kind_named(kind))
        return contradicts(f, "unknown kind of subject '%.40s'", kind);
    if (!strcmp(kind, "function"))
        return false;
    snprintf(begin, sizeof begin, "%s%s%s.%s.%s%s%s", file ? kind : "", file ? "." : "",
             file || lowering ? backend : kind, tki_certificate_text(c, "run.op"),
             tki_certificate_text(c, "run.dtype"), given || plain ? "" : ".",
             file || lowering || given ? "" : tki_text(get(f, "run"), kind));
    const bool is_whole = !file && !lowering;
    if (is_whole ? strcmp(subject, begin) != 0 : strncmp(subject, begin, strlen(begin)) != 0)
        return contradicts(f, "its subject is %.80s; its run gives %.80s%s", subject, begin, is_whole ? "" : "...");
    return false;
}

/* Outputs that were given: one case, and nothing that only a run of a kernel shows. */
static bool given_differs(const finding *f)
{
    const tk_certificate *c = f->certificate;
    const json_t *outputs = get(f, "run.given.outputs"), *trials = get(f, "run.trials");
    const json_t *trial = json_array_get(trials, 0);
    const bool given = !strcmp(tki_certificate_text(c, "run.kind"), "given");
    const bool as_level = !strcmp(tki_certificate_text(c, "run.level"), "given");
    if (given != as_level || given != (get(f, "run.given") != NULL))
        return contradicts(f, "its kind, level and tensors disagree on whether outputs were given");
    if (!given)
        return false;
    if (json_array_size(get(f, "mutants")))
        return contradicts(f, "its outputs were given, but it lists mutants");
    if (!get(f, "proofs"))
        return contradicts(f, "its outputs were given, but it has no member `proofs`");
    if (!json_is_object(get(f, "run.given.inputs")) || !json_is_object(outputs) || !get(f, "run.shape") ||
        json_array_size(trials) != 1 || strcmp(tki_text(trial, "family"), "given") != 0)
        return contradicts(f, "its outputs were given, but it is not of one case with its tensors");
    if (tk_certificate_verdict(c) == TK_PROVED)
        return contradicts(f, "its outputs were given, but its verdict is PROVED");
    if (strcmp(tki_certificate_text(c, "result.determinism"), "none") != 0)
        return contradicts(f, "its outputs were given, but it claims determinism");
    json_int_t elements = 0;
    const char *name;
    json_t *tensor;
    json_object_foreach((json_t *)(uintptr_t)outputs, name, tensor) add(&elements, tki_integer(tensor, "elements"));
    if (elements != tki_integer(trial, "elements"))
        return contradicts(f, "the given outputs have %lld elements, its trial has %lld", (long long)elements,
                           (long long)tki_integer(trial, "elements"));
    return false;
}

/* -- What came out ------------------------------------------------------------------------------------------- */

/* Of the histogram: how many elements it has, -1 if a bin has less than none; its last bin that has any lies above `from` and up to `to`. */
static json_int_t histogram_elements(const json_t *bins, double *from, double *to)
{
    json_int_t elements = 0;
    double end = -1;
    if (json_array_size(bins) != TKI_ULP_BINS)
        return -1;
    for (size_t i = 0; i < json_array_size(bins); i++) {
        const json_t *bin = json_array_get(bins, i), *up_to = json_object_get(bin, "up_to_ulp");
        const json_int_t count = tki_integer(bin, "elements");
        const double before = end;
        end = json_is_string(up_to) ? __builtin_inf() : json_number_value(up_to);
        if (count < 0 || (i < TKI_ULP_BINS - 1 ? end != tki_ulp_bin_ends[i] : !json_is_string(up_to)))
            return -1;
        if (count) {
            *from = before;
            *to = end;
        }
        add(&elements, count);
    }
    return elements;
}

/* In formats without infinities NaN stands for what is too large: whether it is admitted is the judge's to say. */
static bool is_too_large(const finding *f, const json_t *element)
{
    const json_t *ends = json_object_get(element, "admissible");
    tk_types types;
    return json_is_string(json_object_get(element, "got")) &&
           (json_is_string(json_array_get(ends, 0)) || json_is_string(json_array_get(ends, 1))) &&
           tk_types_parse(tki_certificate_text(f->certificate, "run.dtype"), &types) &&
           tki_format_of(types.result_dtype).infinity == 0;
}

static bool is_text(const json_t *value, const char *text)
{
    return json_is_string(value) && !strcmp(json_string_value(value), text);
}

/* Of numbers, where the clause is a bound. */
static bool is_outside(const json_t *element)
{
    const json_t *ends = json_object_get(element, "admissible"), *got = json_object_get(element, "got");
    const json_t *low = json_array_get(ends, 0), *high = json_array_get(ends, 1);
    if (json_array_size(ends) != 2 || (json_is_string(got) && !is_text(got, "nan")))
        return json_is_string(got) && !json_equal(got, low) && !json_equal(got, high) && json_array_size(ends) == 2;
    return json_is_string(got) || is_text(low, "infinity") || is_text(high, "-infinity") ||
           (json_is_number(low) && json_number_value(got) < json_number_value(low)) ||
           (json_is_number(high) && json_number_value(got) > json_number_value(high));
}

static bool figures_differ(const finding *f)
{
    const json_t *worst = get(f, "result.worst");
    const double worst_ulp = tk_certificate_worst_ulp(f->certificate);
    double last_from = -1, last_to = 0;
    const json_int_t elements = histogram_elements(get(f, "result.ulp_histogram"), &last_from, &last_to);
    if (elements < 0)
        return contradicts(f, "its histogram has other bins than all have, or a negative number of elements");
    if (tki_certificate_holds(f->certificate) && elements != tk_certificate_elements(f->certificate))
        return contradicts(f, "%lld elements were judged, but its histogram has %lld",
                           (long long)tk_certificate_elements(f->certificate), (long long)elements);
    if (elements && !(worst_ulp > last_from && worst_ulp <= last_to))
        return contradicts(f, "its largest error is %g ulp; its histogram puts it above %g and up to %g", worst_ulp,
                           last_from < 0 ? 0 : last_from, last_to);
    if (worst && !json_equal(json_object_get(worst, "error_ulp"), get(f, "result.worst_ulp")))
        return contradicts(f, "its largest error is %g ulp; its worst element has another error", worst_ulp);
    if (tki_certificate_holds(f->certificate) && worst && !is_too_large(f, worst) && is_outside(worst))
        return contradicts(f, "its verdict is %s, but its worst element is outside the admissible interval",
                           tki_certificate_text(f->certificate, "verdict"));
    if (get(f, "result.failure") && json_object_get(get(f, "result.failure"), "exact") &&
        !is_too_large(f, get(f, "result.failure")) && !is_outside(get(f, "result.failure")))
        return contradicts(f, "the element that refutes it is inside its admissible interval");
    if (tk_certificate_accepted_ulp(f->certificate) > worst_ulp)
        return contradicts(f, "an accepted element has a larger error than the worst");
    if (tki_certificate_holds(f->certificate) && (tki_certificate_integer(f->certificate, "result.undefined") ||
                                                  get(f, "result.refutation") || get(f, "result.failure")))
        return contradicts(f, "its verdict is %s, but its result has a failure",
                           tk_verdict_name(tk_certificate_verdict(f->certificate)));
    return false;
}

/* Those of earlier versions do not have it. */
static bool magnitudes_differ(const finding *f)
{
    const json_t *by_magnitude = get(f, "result.by_magnitude");
    tki_magnitudes_sum sum;
    double from, to = 0;
    if (!by_magnitude)
        return false;
    const json_int_t elements = histogram_elements(get(f, "result.ulp_histogram"), &from, &to);
    if (!tki_magnitudes_add_up(by_magnitude, &sum))
        return contradicts(f, "its errors by magnitude are malformed");
    if (sum.elements != elements)
        return contradicts(f, "its histogram has %lld elements; its errors by magnitude have %lld",
                           (long long)elements, (long long)sum.elements);
    if (sum.ulps < tk_certificate_worst_ulp(f->certificate) || sum.ulps > to)
        return contradicts(f, "its largest error is %g ulp; by magnitude it is %g ulp",
                           tk_certificate_worst_ulp(f->certificate), sum.ulps);
    if (tki_certificate_holds(f->certificate) && sum.bound_used != tk_certificate_bound_used(f->certificate))
        return contradicts(f, "it used %g of the bound; by magnitude it is %g",
                           tk_certificate_bound_used(f->certificate), sum.bound_used);
    return false;
}

static bool mutants_differ(const finding *f)
{
    const json_t *mutants = get(f, "mutants");
    int rejected;
    int count = tk_certificate_mutants(f->certificate, &rejected);
    if (tki_certificate_holds(f->certificate) && rejected < count)
        return contradicts(f, "its verdict is %s, but a mutant was not rejected",
                           tk_verdict_name(tk_certificate_verdict(f->certificate)));
    for (int i = 0; i < count; i++) {
        const json_t *mutant = json_array_get(mutants, (size_t)i);
        if (json_is_true(json_object_get(mutant, "rejected")) != (json_object_get(mutant, "clause") != NULL))
            return contradicts(f, "mutant %d was %s a clause", i,
                               json_object_get(mutant, "clause") ? "not rejected, by" : "rejected without");
    }
    return false;
}

static bool has_clause(const finding *f, const char *id)
{
    const json_t *clauses = get(f, "clauses");
    for (size_t i = 0; i < json_array_size(clauses); i++)
        if (!strcmp(tki_text(json_array_get(clauses, i), "id"), id))
            return true;
    return !strcmp(id, "ACCEPTANCE");
}

/* All that the quick trials can reject are run, in their order; each is what it is, and a clause of the contract rejected it. */
static bool mutants_are_others(const finding *f)
{
    const json_t *mutants = get(f, "mutants");
    const size_t count = json_array_size(mutants);
    size_t i = 0;
    tk_types types;
    if (!f->contract || !count || !tk_types_parse(tki_certificate_text(f->certificate, "run.dtype"), &types))
        return false;
    for (const tki_mutant *m = tki_mutants_of(f->contract); m->name; m++) {
        const json_t *said = json_array_get(mutants, i);
        if (!tki_mutant_is_wrong(m, TK_QUICK, types))
            continue;
        if (strcmp(tki_text(said, "name"), m->name) != 0 || strcmp(tki_text(said, "what"), m->what) != 0)
            return contradicts(f, "its mutant %zu is %.60s; this version runs %.60s there: %.120s", i,
                               tki_text(said, "name"), m->name, m->what);
        if (json_object_get(said, "clause") && !has_clause(f, tki_text(said, "clause")))
            return contradicts(f, "its mutant %.60s was rejected by %.60s, which it does not have", m->name,
                               tki_text(said, "clause"));
        i++;
    }
    return i < count && contradicts(f, "it lists %zu mutants; %s has %zu", count, f->contract->name, i);
}

/* Their seed follows from the build that ran them; certificates of earlier builds do not name it. */
static bool mutants_seed_differs(const finding *f)
{
    const tk_certificate *c = f->certificate;
    const json_t *how = get(f, "run.mutants"), *kept = json_object_get(how, "kept");
    const json_t *build = json_object_get(how, "build"), *seed = json_object_get(how, "seed");
    uint64_t due;
    if (!how && tki_certificate_is_current(c) && json_array_size(get(f, "mutants")))
        return contradicts(f, "it lists mutants, but not how they were judged");
    if (!how)
        return false;
    if (!json_array_size(get(f, "mutants")))
        return contradicts(f, "it has a seed for mutants, but no mutant was run");
    if (build && !is_sha256(tki_text(how, "build")))
        return contradicts(f, "the build that ran its mutants has no SHA-256");
    if (!json_is_integer(seed) ||
        !tki_mutants_seed(tki_text(how, "build"), tki_certificate_text(c, "run.op"),
                          tki_certificate_text(c, "run.dtype"), tki_certificate_text(c, "run.index_dtype"), &due) ||
        (uint64_t)json_integer_value(seed) != due)
        return contradicts(f, "the seed of its mutants is not the seed of the build that ran them");
    if (kept && (!build || !tki_is_date(tki_text(how, "kept")) ||
                 strcmp(tki_text(how, "kept"), tki_certificate_text(c, "created")) > 0))
        return contradicts(f,
                           "the verdicts on its mutants are of '%.40s', by %s build; the certificate is of '%.40s'",
                           tki_text(how, "kept"), build ? "a" : "no", tki_certificate_text(c, "created"));
    return false;
}

/* -- What it rests on ---------------------------------------------------------------------------------------- */

/* A theorem of this version is known to support a clause, or not to, unless a program says so of its own; of another version only that
 * version knew. */
static bool citation_differs(const finding *f, const json_t *proof)
{
    const char *file = tki_text(proof, "file"), *name = tki_text(proof, "theorem");
    const tki_theorem *theorem = tki_citation_of(proof) == TKI_CITED_SAME ? tki_theorem_find(file, name) : NULL;
    const json_t *supports = json_object_get(proof, "supports");
    const bool by_program = get(f, "contract.exact_values") != NULL;
    if (!file[0] || !name[0] || strlen(tki_text(proof, "sha256")) != 64 || !json_array_size(supports) ||
        json_array_size(supports) > TKI_MOST_PROOFS)
        return contradicts(f, "one of its proofs lacks its file, theorem, hash or clauses");
    for (size_t i = 0; i < json_array_size(supports); i++) {
        const char *id = json_string_value(json_array_get(supports, i));
        if (!id || !has_clause(f, id))
            return contradicts(f, "it cites %.60s %.60s for %.60s, which it does not have", file, name, id ? id : "");
        if (theorem && !by_program && !tki_theorem_supports(theorem, id))
            return contradicts(f, "it cites %.60s %.60s for %.60s, which that theorem does not support", file, name,
                               id);
    }
    return false;
}

/* Those of earlier versions have neither member. */
static bool basis_differs(const finding *f)
{
    const json_t *proofs = get(f, "proofs"), *rests_on = get(f, "rests_on");
    if (!proofs && !rests_on)
        return false;
    if (!json_is_array(proofs) || !json_is_object(rests_on))
        return contradicts(f, "`proofs` or `rests_on` is missing");
    if (json_array_size(proofs) > TKI_MOST_PROOFS || json_array_size(get(f, "clauses")) > TKI_MOST_PROOFS)
        return contradicts(f, "it has too many proofs or clauses");
    for (size_t i = 0; i < json_array_size(proofs); i++) {
        const json_t *proof = json_array_get(proofs, i);
        if (citation_differs(f, proof))
            return true;
        for (size_t k = 0; k < i; k++)
            if (!strcmp(tki_text(json_array_get(proofs, k), "theorem"), tki_text(proof, "theorem")) &&
                !strcmp(tki_text(json_array_get(proofs, k), "file"), tki_text(proof, "file")))
                return contradicts(f, "it cites %.60s %.60s twice", tki_text(proof, "file"),
                                   tki_text(proof, "theorem"));
    }
    json_t *expected = tki_rests_on_json(get(f, "clauses"), proofs, get(f, "run.given") != NULL);
    const bool same = json_equal(expected, rests_on);
    const char *id;
    json_t *own;
    const char *other = "";
    json_object_foreach(expected, id, own)
    {
        if (!other[0] && !json_equal(own, json_object_get(rests_on, id)))
            other = id;
    }
    if (!same && !other[0])
        contradicts(f, "`rests_on` names a clause that it does not have");
    else if (!same)
        contradicts(f, "what clause %.80s rests on does not follow from its verdict and the proofs", other);
    json_decref(expected);
    return !same;
}

/* -- What it is about ---------------------------------------------------------------------------------------- */

/* The text and its hash, also of an op that is not known here. */
static bool definition_differs(const finding *f)
{
    char hash[TKI_HASH_HEX] = "";
    const char *text = tki_certificate_text(f->certificate, "contract.definition");
    if (text[0])
        tki_hash_bytes(text, strlen(text), hash);
    if (strcmp(hash, tki_certificate_text(f->certificate, "contract.definition_sha256")) != 0)
        return contradicts(f, "the SHA-256 of its definition is another one");
    return false;
}

static bool contract_differs(const finding *f)
{
    const tk_contract *contract = f->contract;
    const json_t *clauses = get(f, "clauses");
    if (!contract)
        return false;
    const char *definition = tk_contract_definition(contract);
    const char *const texts[][2] = {{"contract.summary", contract->summary},
                                    {"contract.formula", contract->formula},
                                    {"contract.bound", contract->bound},
                                    {"contract.definition", definition ? definition : ""}};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        if (strcmp(tki_certificate_text(f->certificate, texts[i][0]), texts[i][1]) != 0)
            return contradicts(f, "its %s is not that of %s", texts[i][0], contract->name);
    if (json_array_size(clauses) != (size_t)contract->clause_count)
        return contradicts(f, "it has %zu clauses, %s has %d", json_array_size(clauses), contract->name,
                           contract->clause_count);
    for (int i = 0; i < contract->clause_count; i++) {
        const json_t *clause = json_array_get(clauses, (size_t)i);
        if (strcmp(tki_text(clause, "id"), contract->clauses[i].id) != 0 ||
            strcmp(tki_text(clause, "text"), contract->clauses[i].text) != 0)
            return contradicts(f, "its clause %.80s is not that of %s", tki_text(clause, "id"), contract->name);
    }
    return false;
}

static finding about(const tk_ctx *ctx, const tk_certificate *certificate, char *what, size_t size)
{
    return (finding){.certificate = certificate,
                     .contract = tki_certificate_contract(ctx, certificate),
                     .what = what,
                     .size = size};
}

bool tki_certificate_has_other_contract(const tk_ctx *ctx, const tk_certificate *certificate, char *what, size_t size)
{
    const finding f = about(ctx, certificate, what, size);
    return contract_differs(&f);
}

static void copy(char *place, size_t size, const tk_certificate *certificate, const char *path)
{
    snprintf(place, size, "%s", tki_certificate_text(certificate, path));
}

/* The tensor that was given is that of the case; its hash goes to `hash`. */
static bool tensor_differs(const finding *f, const tk_case *c, int p, const json_t *tensor, char hash[TKI_HASH_HEX])
{
    const json_t *elements = json_object_get(tensor, "elements");
    snprintf(hash, TKI_HASH_HEX, "%s", tki_text(tensor, "sha256"));
    if (json_object_size(tensor) == 2 && json_is_integer(elements) && strlen(tki_text(tensor, "sha256")) == 64 &&
        json_integer_value(elements) == tk_case_elements(c, p))
        return false;
    return contradicts(f, "the given %s does not fit its case", c->contract->params[p].name);
}

/* What an element was found in is the one case. */
static bool is_of_case(const json_t *element, const json_t *trial)
{
    json_t *own = tki_trial_without_results(trial);
    const bool same = !element || json_equal(json_object_get(element, "trial"), own);
    json_decref(own);
    return same;
}

/* What follows from the tensors: what the certificate is about, and by whom nothing was run. */
static bool given_subject_differs(const finding *f, const tki_given *given)
{
    const tk_certificate *c = f->certificate;
    const json_t *trial = json_array_get(get(f, "run.trials"), 0);
    char hash[TKI_HASH_HEX], artifact[128];
    snprintf(artifact, sizeof artifact, "%s.tensors", f->contract->name);
    if (!tki_given_hash(given, hash) || strcmp(hash, tki_certificate_text(c, "built.artifact_sha256")) != 0)
        return contradicts(f, "the hashes of its tensors do not give its artifact's SHA-256");
    if (strcmp(artifact, tki_certificate_text(c, "built.artifact")) != 0)
        return contradicts(f, "its outputs were given, but its artifact is %.80s",
                           tki_certificate_text(c, "built.artifact"));
    if (!is_of_case(get(f, "result.worst"), trial) || !is_of_case(get(f, "result.failure"), trial))
        return contradicts(f, "one of its elements is of another case");
    if (tki_certificate_real(c, "result.kernel_seconds") != 0)
        return contradicts(f, "its outputs were given, but a kernel took %g seconds",
                           tki_certificate_real(c, "result.kernel_seconds"));
    if (strcmp(tki_certificate_text(c, "machine.backend"), "cpu") != 0)
        return contradicts(f, "its outputs were given, but its backend is %.40s, not cpu",
                           tki_certificate_text(c, "machine.backend"));
    return false;
}

/* The tensors that were given are those of the case, and no clause was judged that only a run of a kernel shows. */
static bool given_case_differs(const finding *f)
{
    const tk_contract *contract = f->contract;
    const json_t *given = get(f, "run.given"), *shape = get(f, "run.shape"), *clauses = get(f, "clauses");
    const json_t *inputs = json_object_get(given, "inputs"), *outputs = json_object_get(given, "outputs");
    const char *memory = tki_text(given, "memory");
    if (!contract || !given)
        return false;
    tki_given all = {.c = {.contract = contract}};
    size_t count[2] = {0, 0};
    for (int d = 0; d < contract->dim_count; d++)
        all.c.dims[d] = tki_integer(shape, contract->dim_names[d]);
    tki_recipe_settings(get(f, "run"), contract, all.c.attributes);
    for (int p = 0; p < contract->param_count; p++) {
        const tk_param *param = &contract->params[p];
        if (!tk_case_has(&all.c, p))
            continue;
        count[param->output]++;
        if (tensor_differs(f, &all.c, p, json_object_get(param->output ? outputs : inputs, param->name), all.hash[p]))
            return true;
    }
    if (json_object_size(inputs) != count[false] || json_object_size(outputs) != count[true])
        return contradicts(f, "it has a tensor that its case does not have");
    if (strcmp(memory, "host") != 0 && strcmp(memory, "device") != 0)
        return contradicts(f, "run.given.memory is neither host nor device");
    for (int i = 0; i < contract->clause_count; i++)
        if (contract->clauses[i].kind >= TK_CLAUSE_PROMISE &&
            tki_integer(json_array_get(clauses, (size_t)i), "checks") != 0)
            return contradicts(f, "clause %.80s was judged, but no kernel was run", contract->clauses[i].id);
    snprintf(all.output_hash, sizeof all.output_hash, "%s",
             tki_text(json_array_get(get(f, "run.trials"), 0), "output_sha256"));
    return given_subject_differs(f, &all);
}

/* The key is made from the contract, the subject, the artifact, its options and the device. */
static bool key_differs(const finding *f)
{
    const tk_certificate *c = f->certificate;
    const tk_contract *contract = f->contract;
    char key[TKI_HASH_HEX], settings[TKI_SETTINGS_TEXT];
    tk_value attributes[TK_MAX_ATTRIBUTES] = {{0}};
    const tki_backend *backend = tki_backend_find(tki_certificate_text(c, "machine.backend"), "");
    tki_provenance p = {.on_gpu = !backend || backend->is_gpu};
    if (!contract)
        return false;
    tki_recipe_settings(get(f, "run"), contract, attributes);
    tki_settings_text(contract, attributes, settings, sizeof settings);
    copy(p.artifact_hash, sizeof p.artifact_hash, c, "built.artifact_sha256");
    copy(p.options, sizeof p.options, c, "built.options");
    copy(p.device.name, sizeof p.device.name, c, p.on_gpu ? "machine.host" : "machine.device");
    copy(p.device.detail, sizeof p.device.detail, c, "machine.features");
    copy(p.gpu.name, sizeof p.gpu.name, c, "machine.device");
    copy(p.gpu.uuid, sizeof p.gpu.uuid, c, "machine.uuid");
    copy(p.gpu.architecture, sizeof p.gpu.architecture, c, "machine.architecture");
    copy(p.gpu.driver, sizeof p.gpu.driver, c, "machine.driver");
    if (!tki_provenance_key(&p, contract, tk_certificate_subject(c), settings, key) ||
        strcmp(key, tki_certificate_text(c, "key")) != 0)
        return contradicts(f, "its key does not follow from its contract, subject, artifact, options and device");
    return false;
}

static bool artifact_differs(const finding *f)
{
    const json_t *subjects = json_object_get(f->certificate->statement, "subject");
    const json_t *digest = json_object_get(json_array_get(subjects, 0), "digest");
    if (json_array_size(subjects) != 1 ||
        strcmp(tki_text(digest, "sha256"), tki_certificate_text(f->certificate, "built.artifact_sha256")) != 0)
        return contradicts(f, "its statement names another file than its artifact");
    return false;
}

/* -- What follows from the other members ---------------------------------------------------------------------- */

static bool members_differ(const finding *f)
{
    return tki_members_are_wrong(f->certificate, f->what, f->size);
}

/* Parts of a version as one number; -1: too large for one. */
static int64_t version_number(const char *text)
{
    int64_t number = 0;
    for (int part = 0; part < 3; part++) {
        char *end;
        const long long value = strtoll(text, &end, 10);
        if (value < 0 || value > 99999)
            return -1;
        number = number * 100000 + value;
        text = end + (*end == '.');
    }
    return number;
}

/* A form is written from one version on, up to the next one; what a later version says cannot be checked here. */
static bool version_differs(const finding *f)
{
    const char *said = tki_certificate_text(f->certificate, "tokitai");
    const int64_t version = version_number(said), second = version_number("0.2.0");
    if (version < 0 || version > version_number(tk_version()))
        return contradicts(f, "tokitai is %.40s; this is %s, which cannot check what a later version writes", said,
                           tk_version());
    if ((version < second) == tki_certificate_is_current(f->certificate))
        return contradicts(f, "tokitai is %.40s, which did not write this form", said);
    return false;
}

/* Of indices and of all tensors, as the contract has them for the types of the run. */
static bool types_differ(const finding *f)
{
    const json_t *said = get(f, "run.tensor_types"), *index = get(f, "run.index_dtype");
    tk_types types;
    if (!f->contract)
        return false;
    if ((index != NULL) != tk_contract_takes_index(f->contract))
        return contradicts(f, "run.index_dtype is %s, but %s takes %s index", index ? "there" : "missing",
                           f->contract->name, index ? "no" : "an");
    if (!tk_types_parse(tki_certificate_text(f->certificate, "run.dtype"), &types))
        return contradicts(f, "run.dtype is %.40s, which are no types",
                           tki_certificate_text(f->certificate, "run.dtype"));
    tk_case c = tk_case_init(f->contract, types.dtype);
    c.result_dtype = types.result_dtype;
    c.index_dtype = !strcmp(json_string_value(index) ? json_string_value(index) : "", tk_dtype_name(TK_I64)) ? TK_I64
                                                                                                             : TK_I32;
    if (json_object_size(said) != (size_t)f->contract->param_count)
        return contradicts(f, "run.tensor_types has %zu tensors, %s has %d", json_object_size(said),
                           f->contract->name, f->contract->param_count);
    for (int p = 0; p < f->contract->param_count; p++)
        if (strcmp(tki_text(said, f->contract->params[p].name), tk_dtype_name(tk_case_param_dtype(&c, p))) != 0)
            return contradicts(f, "run.tensor_types.%.60s is not %s", f->contract->params[p].name,
                               tk_dtype_name(tk_case_param_dtype(&c, p)));
    return false;
}

static bool process_differs(const finding *f)
{
    return tki_process_contradicts(f->certificate, f->what, f->size);
}

static bool outcome_differs(const finding *f)
{
    return f->contract && tki_outcome_contradicts(f->certificate, f->contract, f->what, f->size);
}

/* The theorems of its clauses, all of them; which those are is not known here if it cites some as this version does not have them: check says so. */
static bool proofs_differ(const finding *f)
{
    const json_t *said = get(f, "proofs");
    for (size_t i = 0; i < json_array_size(said); i++)
        if (tki_citation_of(json_array_get(said, i)) != TKI_CITED_SAME)
            return false;
    json_t *due = f->contract ? tki_proofs_json(f->contract) : NULL;
    const bool same = !due || json_equal(due, said);
    json_decref(due);
    return !same && contradicts(f, "its proofs are not those that its clauses have");
}

/* The file's name, the clause behind a refutation. */
static bool derived_members_differ(const finding *f)
{
    const tk_certificate *c = f->certificate;
    const char *artifact = tki_certificate_text(c, "built.artifact"), *slash = strrchr(artifact, '/');
    const json_t *subject = json_array_get(json_object_get(c->statement, "subject"), 0);
    const char *reason = tk_certificate_reason(c), *colon = strchr(reason, ':');
    const json_t *clauses = get(f, "clauses");
    if (strcmp(tki_text(subject, "name"), slash ? slash + 1 : artifact) != 0)
        return contradicts(f, "its statement names %.80s, its artifact is %.80s", tki_text(subject, "name"),
                           artifact);
    if (tk_certificate_verdict(c) != TK_REFUTED)
        return false;
    for (size_t i = 0; colon && i < json_array_size(clauses); i++) {
        const json_t *clause = json_array_get(clauses, i);
        if (tki_integer(clause, "failures") && strlen(tki_text(clause, "id")) == (size_t)(colon - reason) &&
            !strncmp(tki_text(clause, "id"), reason, (size_t)(colon - reason)))
            return false;
    }
    return contradicts(f, "its reason does not begin with a refuted clause");
}

/* `expected` is taken over; NULL: not known here. */
static bool sentences_differ(const finding *f, const char *member, json_t *expected)
{
    const json_t *said = get(f, member);
    const bool same = !expected || json_equal(expected, said);
    for (size_t i = 0; !same && (i < json_array_size(expected) || i < json_array_size(said)); i++) {
        const char *due = json_string_value(json_array_get(expected, i));
        const char *is = json_string_value(json_array_get(said, i));
        if (due && is && !strcmp(due, is))
            continue;
        contradicts(f, "its `%s` does not follow from its other members: expected '%.200s', found '%.200s'", member,
                    due ? due : "", is ? is : "");
        break;
    }
    json_decref(expected);
    return !same;
}

bool tki_certificate_has_sentences(const tk_ctx *ctx, const tk_certificate *certificate)
{
    const tk_contract *contract = tki_certificate_contract(ctx, certificate);
    json_t *evidence = contract && tki_certificate_of_this_version(certificate)
                           ? tki_evidence_json(tki_certificate_get(certificate, ""), contract)
                           : NULL;
    json_decref(evidence);
    return evidence != NULL;
}

/* `due` is taken over; NULL: it does not follow. */
static bool text_differs(const finding *f, const char *member, char *due)
{
    const char *said = tki_certificate_text(f->certificate, member);
    const bool same = due && !strcmp(due, said);
    if (!due)
        contradicts(f, "its `%s` does not follow: the data that it is made of is missing, or not of this run",
                    member);
    else if (!same)
        contradicts(f, "its `%s` does not follow from its other members: expected '%.200s', found '%.200s'", member,
                    due, said);
    free(due);
    return !same;
}

static bool claims_differ(const finding *f)
{
    const json_t *predicate = get(f, "");
    if (f->contract && (text_differs(f, "reason", tki_reason(predicate, f->contract)) ||
                        text_differs(f, "reproduce", tki_reproduce(predicate, f->contract))))
        return true;
    return f->contract && (sentences_differ(f, "evidence", tki_evidence_json(predicate, f->contract)) ||
                           sentences_differ(f, "non_claims", tki_non_claims_json(predicate, f->contract)));
}

bool tki_certificate_contradicts(const tk_ctx *ctx, const tk_certificate *certificate, char *what, size_t size)
{
    typedef bool (*rule)(const finding *);
    static const rule rules[] = {version_differs,    clauses_differ,  headline_is_another, restriction_differs,
                                 trials_differ,      subject_differs, given_differs,       figures_differ,
                                 magnitudes_differ,  mutants_differ,  artifact_differs,    basis_differs,
                                 definition_differs, members_differ};
    /* Those of an earlier form may have another contract and have their key from less; what they are is said beside them. */
    static const rule of_this_version[] = {contract_differs, key_differs, given_case_differs, mutants_seed_differs,
                                           mutants_are_others};
    static const rule of_this_form[] = {types_differ,    derived_members_differ, process_differs,
                                        outcome_differs, proofs_differ,          claims_differ};
    const finding f = about(ctx, certificate, what, size);
    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++)
        if (rules[i](&f))
            return true;
    const bool current = tki_certificate_is_current(certificate);
    if ((!current && !get(&f, "headline")) || !tki_certificate_of_this_version(certificate))
        return false;
    for (size_t i = 0; i < sizeof of_this_version / sizeof *of_this_version; i++)
        if (of_this_version[i](&f))
            return true;
    for (size_t i = 0; current && i < sizeof of_this_form / sizeof *of_this_form; i++)
        if (of_this_form[i](&f))
            return true;
    return false;
}

/* Of another version only that version knows which there are. */
static tk_status trials_are_planned(tk_ctx *ctx, const tk_certificate *certificate)
{
    tki_planned planned;
    char message[sizeof ctx->message];
    if (!tki_certificate_is_current(certificate) || !tki_certificate_of_this_version(certificate))
        return TK_OK;
    tk_status status = tki_planned_trials(ctx, certificate, &planned);
    snprintf(message, sizeof message, "%s", ctx->message);
    if (status == TK_BAD_FILE)
        return tki_fail(ctx, status, "it contradicts itself: no run has its settings: %.400s", message);
    if (status != TK_OK || !planned.known)
        return status;
    if (planned.wrong[0])
        return tki_fail(ctx, TK_BAD_FILE, "it contradicts itself: %s", planned.wrong);
    if (tki_certificate_holds(certificate) && planned.listed < planned.made)
        return tki_fail(
            ctx, TK_BAD_FILE,
            "it contradicts itself: it lists %lld of the %lld trials that its level, seed and restriction "
            "have",
            (long long)planned.listed, (long long)planned.made);
    return TK_OK;
}

tk_status tk_certificate_agrees(tk_ctx *ctx, const tk_certificate *certificate)
{
    char what[600];
    if (!ctx)
        return TK_BAD_ARGUMENT;
    if (!certificate)
        return tki_fail(ctx, TK_BAD_ARGUMENT, "no certificate");
    const tk_status status = tki_certificate_define(ctx, certificate);
    /* The language of another version may have been another one: then the op is not known. */
    if (status != TK_OK && (status != TK_BAD_FILE || tki_certificate_of_this_version(certificate)))
        return status;
    if (tki_certificate_contradicts(ctx, certificate, what, sizeof what))
        return tki_fail(ctx, TK_BAD_FILE, "it contradicts itself: %s", what);
    return trials_are_planned(ctx, certificate);
}
