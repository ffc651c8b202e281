/* RECORDS. From what was found to data, and from the data to a sentence. */
#include "certify/cause.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "certify/certificate.h"
#include "certify/headline.h"
#include "certify/outcome.h"
#include "certify/replay_recipe.h"
#include "certify/sanitize.h"
#include "core/float_mode.h"
#include "core/escape.h"
#include "exact/oracle.h"
#include "exact/round.h"
#include "judge/definition_oracle.h"
#include "kernel_file/source_uses.h"
#include "model/attributes.h"

static const char *const kinds[TKI_CAUSES] = {
    [TKI_CAUSE_NONE] = "none",      [TKI_CAUSE_TRIAL] = "trial",         [TKI_CAUSE_LOADING] = "loading",
    [TKI_CAUSE_TIME] = "time",      [TKI_CAUSE_NO_KERNEL] = "no_kernel", [TKI_CAUSE_SANITIZER] = "sanitizer",
    [TKI_CAUSE_EMPTY] = "empty",    [TKI_CAUSE_MUTANT] = "mutant",       [TKI_CAUSE_NO_BOUND] = "no_bound",
    [TKI_CAUSE_DEPENDS] = "depends"};

/* What is admissible beside an interval. */
static const struct {
    uint16_t flag;
    const char *name;
} admitted[] = {{TKI_ADMIT_NAN, "nan"},
                {TKI_ADMIT_PLUS_INF, "plus_infinity"},
                {TKI_ADMIT_MINUS_INF, "minus_infinity"},
                {TKI_ADMIT_ZERO, "zero"},
                {TKI_ADMIT_BITS, "bits"},
                {TKI_ADMIT_RAW_BITS, "raw_bits"}};
enum { ADMITTED = sizeof admitted / sizeof *admitted };

/* -- Written ---------------------------------------------------------------------------------------------------- */

void tki_cause_set_refused(json_t *element, const tki_element *e)
{
    json_object_set_new(element, "outside_ulp", tki_real_json(e->outside));
    if (e->interval)
        return;
    json_t *list = json_array();
    for (int i = 0; i < ADMITTED; i++)
        if (e->admits & admitted[i].flag)
            json_array_append_new(list, json_string(admitted[i].name));
    json_object_set_new(element, "admits", list);
    json_object_set_new(element, "expected", json_integer((json_int_t)e->expected));
}

/* Members that say nothing about this kind are left out. */
json_t *tki_fault_json(const tki_fault *f, const tk_contract *contract)
{
    json_t *json = json_pack("{s:s}", "kind", tki_fault_name(f->kind));
    const char *number = f->kind == TKI_FAULT_SIGNAL || f->kind == TKI_FAULT_PROCESS ||
                                 (f->kind == TKI_FAULT_HEAP && f->number)
                             ? "signal"
                         : f->kind == TKI_FAULT_EXIT    ? "exit_status"
                         : f->kind == TKI_FAULT_REFUSED ? "returned"
                                                        : NULL;
    if (number)
        json_object_set_new(json, number, json_integer(f->number));
    if (f->tensor >= 0) {
        json_object_set_new(json, "tensor", json_string(contract->params[f->tensor].name));
        json_object_set_new(json, "offset", json_integer(f->offset));
        json_object_set_new(json, "bytes", json_integer(f->bytes));
    } else if (f->address) {
        json_object_set_new(json, "address", json_sprintf("0x%02llx", (unsigned long long)f->address));
    }
    if (f->tensor >= 0 || f->kind == TKI_FAULT_HEAP)
        json_object_set_new(json, "wrote", json_boolean(f->wrote));
    if (f->kind == TKI_FAULT_FLOAT_MODE)
        json_object_set_new(json, "mode", json_integer(f->mode));
    if (f->kind == TKI_FAULT_PROCESS)
        json_object_set_new(json, "changed", json_integer(f->changed));
    json_object_set_new(json, "rule", f->rule ? tki_text_json(f->rule) : NULL);
    json_object_set_new(json, "seconds", f->kind == TKI_FAULT_TIMEOUT ? tki_real_json(f->seconds) : NULL);
    json_object_set_new(json, "while", tki_text_json(f->loading ? "loading" : f->late ? "after_the_call" : NULL));
    return json;
}

static bool has_tensor(tki_finding_kind kind)
{
    return kind != TKI_FOUND_NOTHING && kind != TKI_FOUND_WORDS && kind != TKI_FOUND_FAULT &&
           kind != TKI_FOUND_ELEMENT && kind != TKI_FOUND_OTHER_ALONE && kind != TKI_FOUND_OTHER_AGAIN;
}

static bool has_words(const tki_cause *c)
{
    const bool by_trial = c->finding.kind == TKI_FOUND_WORDS || c->finding.kind == TKI_FOUND_INDEX_NOT_NAMED;
    return c->kind == TKI_CAUSE_TRIAL ? by_trial : c->words[0] != 0;
}

static void set_finding(json_t *json, const tki_finding *f, const tk_contract *contract)
{
    json_object_set_new(json, "finding", json_string(tki_finding_name(f->kind)));
    if (has_tensor(f->kind)) {
        json_object_set_new(json, "tensor", json_string(contract->params[f->param].name));
        json_object_set_new(json, "seen", json_pack("[I, I]", (json_int_t)f->seen[0], (json_int_t)f->seen[1]));
    }
    if (has_tensor(f->kind) || f->kind == TKI_FOUND_OTHER_ALONE)
        json_object_set_new(json, "at", json_integer(f->at));
    if (f->changed)
        json_object_set_new(json, "changed",
                            json_pack("{s:s, s:I}", "tensor", contract->params[f->changed_param].name, "at",
                                      (json_int_t)f->changed_at));
    if (f->swapped)
        json_object_set_new(json_object_get(json, "changed"), "swapped", json_true());
}

static void set_unbounded(json_t *json, const tki_unbounded *e, const tki_outcome *o)
{
    json_object_set_new(json, "tensor", json_string(o->contract->params[e->output].name));
    json_object_set_new(json, "at", json_integer((json_int_t)e->index));
    json_object_set_new(json, "node", e->node >= 0 ? json_integer(e->node) : NULL);
    json_object_set_new(json, "trial", tki_trial_json(&o->unbounded_trial));
}

json_t *tki_cause_json(const tki_outcome *o)
{
    const tki_cause *c = &o->cause;
    if (c->kind == TKI_CAUSE_NONE || o->verdict == TK_HELD || o->verdict == TK_PROVED)
        return NULL;
    json_t *json = json_pack("{s:s}", "kind", kinds[c->kind]);
    if (o->verdict == TK_REFUTED)
        json_object_set_new(json, "clause", json_string(o->contract->clauses[o->failed_clause].id));
    if (c->kind == TKI_CAUSE_TRIAL)
        set_finding(json, &c->finding, o->contract);
    json_object_set_new(json, "words", has_words(c) ? tki_text_json(c->words) : NULL);
    json_object_set_new(json, "fits", tki_text_json(c->fits));
    json_object_set_new(json, "name", tki_text_json(c->name));
    json_object_set_new(json, "meaning", tki_text_json(c->meaning));
    if (c->kind == TKI_CAUSE_NO_BOUND && o->judgement.unbounded.present)
        set_unbounded(json, &o->judgement.unbounded, o);
    if (c->kind == TKI_CAUSE_TIME) {
        json_object_set_new(json, "tried", json_integer(c->tried));
        json_object_set_new(json, "of_trials", json_integer(c->of_trials));
    }
    return json;
}

/* -- Read ------------------------------------------------------------------------------------------------------- */

static int param_named(const tk_contract *contract, const char *name)
{
    int p = contract->param_count - 1;
    while (p >= 0 && strcmp(contract->params[p].name, name) != 0)
        p--;
    return p;
}

static int clause_named(const tk_contract *contract, const char *id)
{
    int i = contract->clause_count - 1;
    while (i >= 0 && strcmp(contract->clauses[i].id, id) != 0)
        i--;
    return i;
}

static double real_of(const json_t *value)
{
    const char *text = json_string_value(value);
    return !text ? json_number_value(value) : !strcmp(text, "infinity") ? INFINITY : -INFINITY;
}

static uint32_t end_bits(tk_dtype dtype, const json_t *end)
{
    const tki_format f = tki_format_of(dtype);
    const double value = real_of(end);
    return isinf(value) ? (value < 0 ? f.sign : 0) | (f.largest + 1) : tki_round_double(dtype, value);
}

/* A refused element. */
static bool read_element(const tk_case *c, const json_t *json, tki_element *e)
{
    const json_t *exact = json_object_get(json, "exact"), *ends = json_object_get(json, "admissible");
    const json_t *admits = json_object_get(json, "admits");
    *e = (tki_element){.present = true,
                       .output = param_named(c->contract, tki_text(json, "output")),
                       .clause = clause_named(c->contract, tki_text(json, "clause")),
                       .index = tki_integer(json, "index"),
                       .got = strtoull(tki_text(json, "got_bits"), NULL, 16),
                       .interval = exact != NULL,
                       .expected = (uint64_t)tki_integer(json, "expected"),
                       .exact = real_of(exact),
                       .outside = real_of(json_object_get(json, "outside_ulp"))};
    if (e->output < 0 || e->clause < 0 || (exact && json_array_size(ends) != 2))
        return false;
    const tk_dtype dtype = tk_case_param_dtype(c, e->output);
    const tki_format f = tki_format_of(dtype);
    if (f.number == TKI_SIGNED && f.bits < 64 && e->got >> (f.bits - 1) & 1)
        e->got |= UINT64_MAX << f.bits;
    if (exact) {
        e->lo_bits = end_bits(dtype, json_array_get(ends, 0));
        e->hi_bits = end_bits(dtype, json_array_get(ends, 1));
    }
    for (size_t k = 0; k < json_array_size(admits); k++)
        for (int i = 0; i < ADMITTED; i++)
            if (!strcmp(json_string_value(json_array_get(admits, k)), admitted[i].name))
                e->admits |= admitted[i].flag;
    return true;
}

static bool read_fault(const tk_contract *contract, const json_t *json, tki_fault *f)
{
    static const char *const numbers[] = {"signal", "exit_status", "returned"};
    const char *during = tki_text(json, "while"), *tensor = tki_text(json, "tensor");
    const json_t *rule = json_object_get(json, "rule");
    *f = (tki_fault){.tensor = -1,
                     .offset = tki_integer(json, "offset"),
                     .bytes = tki_integer(json, "bytes"),
                     .wrote = json_is_true(json_object_get(json, "wrote")),
                     .late = !strcmp(during, "after_the_call"),
                     .loading = !strcmp(during, "loading"),
                     .seconds = json_number_value(json_object_get(json, "seconds")),
                     .address = strtoull(tki_text(json, "address"), NULL, 16),
                     .mode = (unsigned)tki_integer(json, "mode"),
                     .changed = (unsigned)tki_integer(json, "changed"),
                     .rule = json_string_value(rule)};
    for (int kind = TKI_FAULT_NONE + 1; kind < TKI_FAULT_KINDS; kind++)
        if (!strcmp(tki_fault_name((tki_fault_kind)kind), tki_text(json, "kind")))
            f->kind = (tki_fault_kind)kind;
    for (int i = 0; i < 3; i++)
        if (json_object_get(json, numbers[i]))
            f->number = (int)tki_integer(json, numbers[i]);
    if (tensor[0]) {
        f->tensor = param_named(contract, tensor);
        if (f->tensor < 0)
            return false;
        f->input = !contract->params[f->tensor].output;
    }
    return f->kind != TKI_FAULT_NONE && (rule || f->kind != TKI_FAULT_FORGED) &&
           tki_integer(json, "mode") >> TKI_DEVIATIONS == 0 &&
           (tki_integer(json, "changed") & ~TKI_CHANGED_TO_REFUTE) == 0;
}

static bool read_finding(const tk_contract *contract, const json_t *cause, tki_finding *f)
{
    const json_t *changed = json_object_get(cause, "changed"), *seen = json_object_get(cause, "seen");
    *f = (tki_finding){.at = tki_integer(cause, "at"),
                       .seen = {(uint64_t)json_integer_value(json_array_get(seen, 0)),
                                (uint64_t)json_integer_value(json_array_get(seen, 1))},
                       .changed = changed != NULL,
                       .swapped = json_object_get(changed, "swapped") != NULL};
    for (int kind = TKI_FOUND_NOTHING + 1; kind < TKI_FINDINGS; kind++)
        if (!strcmp(tki_finding_name((tki_finding_kind)kind), tki_text(cause, "finding")))
            f->kind = (tki_finding_kind)kind;
    if (f->kind == TKI_FOUND_NOTHING)
        return false;
    if (has_tensor(f->kind) && (f->param = param_named(contract, tki_text(cause, "tensor"))) < 0)
        return false;
    f->changed_at = tki_integer(changed, "at");
    return !changed || (f->changed_param = param_named(contract, tki_text(changed, "tensor"))) >= 0;
}

/* The case of the trial that failed, of which sizes do not matter here. */
static bool read_case(const json_t *predicate, const tk_contract *contract, const json_t *failure, tk_case *c)
{
    const json_t *run = json_object_get(predicate, "run");
    json_t *settings = json_pack("{s:O*, s:O*}", "attributes", json_object_get(run, "attributes"), "options",
                                 json_object_get(json_object_get(failure, "trial"), "options"));
    tk_types types;
    const bool good = settings && tk_types_parse(tki_text(run, "dtype"), &types);
    if (good) {
        *c = tk_case_init(contract, types.dtype);
        c->result_dtype = types.result_dtype;
        c->index_dtype = !strcmp(tki_text(run, "index_dtype"), tk_dtype_name(TK_I64)) ? TK_I64 : TK_I32;
        tki_recipe_settings(settings, contract, c->attributes);
    }
    json_decref(settings);
    return good;
}

/* That is a hint in a command: none, or the name of a choice. */
static bool fits_a_choice(const tk_contract *contract, tk_role role, const char *fits)
{
    const int at = tki_attribute_of_role(contract, role);
    const tk_attribute *attribute = at < 0 ? NULL : &contract->attributes[at];
    for (int i = 0; attribute && i < attribute->choice_count; i++)
        if (!strcmp(attribute->choices[i].id, fits))
            return true;
    return !fits[0];
}

static bool say_trial(FILE *out, const json_t *predicate, const tk_contract *contract, const json_t *cause)
{
    const json_t *result = json_object_get(predicate, "result"), *failure = json_object_get(result, "failure");
    const json_t *fault = json_object_get(result, "fault");
    const char *fits = tki_text(cause, "fits");
    const bool refuted = !strcmp(tki_text(predicate, "verdict"), tk_verdict_name(TK_REFUTED));
    const bool given = json_object_get(json_object_get(predicate, "run"), "given") != NULL;
    tki_trial_result r = {0};
    tk_case c;
    char text[sizeof r.words];
    if (!fits_a_choice(contract, TK_ROLE_NUMERICS, fits) || !read_case(predicate, contract, failure, &c) ||
        !read_finding(contract, cause, &r.finding) || (fault && !read_fault(contract, fault, &r.fault)) ||
        (r.finding.kind == TKI_FOUND_FAULT && (!fault || r.fault.kind == TKI_FAULT_NONE)) ||
        (r.finding.kind == TKI_FOUND_ELEMENT && !read_element(&c, failure, &r.judgement.failure)))
        return false;
    snprintf(r.words, sizeof r.words, "%s", tki_text(cause, "words"));
    tki_trial_reason(&r, &c, text, sizeof text);
    fprintf(out, "%s%s", refuted || r.fault.kind == TKI_FAULT_TIMEOUT ? "" : "the kernel could not be run: ", text);
    if (fits[0] && given)
        fprintf(out, "; all elements are within the bound of numerics %s", fits);
    else if (fits[0])
        fprintf(out, "; the failed trial is within the bound of numerics %s: certify with --numerics %s", fits, fits);
    return true;
}

static bool is_meaning(const char *text)
{
    for (int kind = TKI_SANITIZER_STRAY_READ; kind <= TKI_SANITIZER_OTHER; kind++)
        if (!strcmp(text, tki_sanitize_meaning((tki_sanitizer_kind)kind)))
            return true;
    return false;
}

static bool say_loading(FILE *out, const json_t *predicate, const tk_contract *contract, const char *words)
{
    tki_fault fault;
    char text[512];
    const char *fits = tki_text(json_object_get(predicate, "cause"), "fits");
    if (!read_fault(contract, json_object_get(json_object_get(predicate, "result"), "fault"), &fault) ||
        !fits_a_choice(contract, TK_ROLE_DOMAIN, fits))
        return false;
    tki_fault_text(&fault, contract, words[0] ? words : NULL, text, sizeof text);
    fprintf(out, "the kernel %s", text);
    if (fits[0])
        fprintf(out, "; --domain %s admits that", fits);
    return true;
}

static const char *first_use_of(unsigned uses, const json_t *names)
{
    for (size_t i = 0; i < json_array_size(names); i++)
        if (tki_use_is_of(uses, json_string_value(json_array_get(names, i))))
            return tki_use_meaning(json_string_value(json_array_get(names, i)));
    return NULL;
}

static bool say_dependence(FILE *out, const json_t *predicate)
{
    const json_t *names = json_object_get(json_object_get(predicate, "built"), "depends_on");
    const char *of_build = first_use_of(TKI_USES_OF_BUILD, names), *other = first_use_of(TKI_USES_TELLING, names);
    if (of_build)
        return fprintf(out, "the source %s: by that it could tell an instrumented build from the judged one",
                       of_build) > 0;
    return other &&
           fprintf(out,
                   "the source %s: compiled elsewhere it may be another kernel; --keep-artifact judges the library "
                   "that is made here alone, and writes it",
                   other) > 0;
}

static bool say_no_bound(FILE *out, const json_t *predicate, const tk_contract *contract, const json_t *cause)
{
    const json_t *trial = json_object_get(cause, "trial"), *node = json_object_get(cause, "node");
    const int param = param_named(contract, tki_text(cause, "tensor"));
    fprintf(out, "the contract has no bound for %lld of the judged elements",
            (long long)tki_integer(json_object_get(predicate, "result"), "undefined"));
    if (!trial)
        return !node;
    if (param < 0)
        return false;
    fprintf(out, "; the first is %s[%lld] of family %s at ", contract->params[param].name,
            (long long)tki_integer(cause, "at"), tki_text(trial, "family"));
    tki_print_shape(out, contract->name, json_object_get(trial, "shape"));
    if (!node)
        return true;
    const char *value, *line;
    return tki_definition_names(contract, json_integer_value(node), &value, &line) &&
           fprintf(out, ", where nothing is known of %s in the line of %s", value, line) > 0;
}

static bool say_cause(FILE *out, const json_t *predicate, const tk_contract *contract, const json_t *cause)
{
    const json_t *limits = json_object_get(json_object_get(predicate, "run"), "limits");
    const long long tried = tki_integer(cause, "tried"), of_trials = tki_integer(cause, "of_trials");
    const char *name = tki_text(cause, "name"), *meaning = tki_text(cause, "meaning");
    char words[1024];
    const bool refuted = !strcmp(tki_text(predicate, "verdict"), tk_verdict_name(TK_REFUTED));
    int kind = TKI_CAUSE_NONE + 1;
    while (kind < TKI_CAUSES && strcmp(kinds[kind], tki_text(cause, "kind")) != 0)
        kind++;
    if (refuted && kind != TKI_CAUSE_TRIAL && kind != TKI_CAUSE_LOADING && kind != TKI_CAUSE_SANITIZER)
        return false;
    tki_escape_line(tki_text(cause, "words"), strlen(tki_text(cause, "words")), words, sizeof words);
    switch ((tki_cause_kind)kind) {
    case TKI_CAUSE_TRIAL: return say_trial(out, predicate, contract, cause);
    case TKI_CAUSE_LOADING: return say_loading(out, predicate, contract, words);
    case TKI_CAUSE_NO_KERNEL: return fprintf(out, "no kernel to run: '%s'", words) > 0;
    case TKI_CAUSE_SANITIZER:
        return is_meaning(meaning) &&
               fprintf(out, "the kernel %s; compute-sanitizer %s: '%s'", meaning, name, words) > 0;
    case TKI_CAUSE_MUTANT:
        return fprintf(out, "the mutant '%s' was not rejected, so the trials cannot tell", name) > 0;
    case TKI_CAUSE_TIME:
        return fprintf(out,
                       "total time limit of %g seconds reached after %lld of %lld trials%s; --total-timeout raises "
                       "it",
                       json_number_value(json_object_get(limits, "total_seconds")), tried, of_trials,
                       tried < of_trials ? "" : " and a part of the checks after them") > 0;
    case TKI_CAUSE_EMPTY: return fputs("nothing was judged: every output of every trial is empty", out) >= 0;
    case TKI_CAUSE_NO_BOUND: return say_no_bound(out, predicate, contract, cause);
    case TKI_CAUSE_DEPENDS: return say_dependence(out, predicate);
    default: return false;
    }
}

char *tki_reason(const json_t *predicate, const tk_contract *contract)
{
    const json_t *cause = json_object_get(predicate, "cause");
    const char *clause = tki_text(cause, "clause"), *verdict = tki_text(predicate, "verdict");
    const bool holds = !strcmp(verdict, tk_verdict_name(TK_HELD)) || !strcmp(verdict, tk_verdict_name(TK_PROVED));
    const bool refuted = !strcmp(verdict, tk_verdict_name(TK_REFUTED));
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    if (!out)
        return NULL;
    bool good = holds ? !cause : contract && cause && refuted == (clause[0] != 0);
    if (good && !holds) {
        fprintf(out, "%s%s", clause, clause[0] ? ": " : "");
        good = say_cause(out, predicate, contract, cause);
    }
    /* Words from outside may have been cut within a character. */
    char *whole = fclose(out) || !good ? NULL : tki_utf8(text);
    free(text);
    return whole;
}
