/* RECORDS. What a trial found, in words: the reason in certificates. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/escape.h"
#include "exact/round.h"
#include "judge/trial.h"
#include "model/attributes.h"

/* "NaN or 0" */
static void list_admitted(const tk_case *c, const tki_element *e, char *text, size_t size)
{
    const tk_dtype dtype = tk_case_param_dtype(c, e->output);
    const bool saturates = tki_may_saturate(dtype) &&
                           tki_choice_of_role(c->contract, c->attributes, TK_ROLE_OVERFLOW) == TKI_OVERFLOW_SATURATE;
    const bool none = !saturates && !tki_format_of(dtype).infinity;
    char bits[32];
    snprintf(bits, sizeof bits, "0x%llx", (unsigned long long)e->expected);
    const struct {
        unsigned flag;
        const char *name;
    } names[] = {{TKI_ADMIT_NAN, "NaN"},
                 {TKI_ADMIT_PLUS_INF, saturates ? "the largest number"
                                      : none    ? "NaN"
                                                : "+inf"},
                 {TKI_ADMIT_MINUS_INF, saturates ? "the least number"
                                       : none    ? "NaN"
                                                 : "-inf"},
                 {TKI_ADMIT_ZERO, "0"},
                 {TKI_ADMIT_BITS | TKI_ADMIT_RAW_BITS, bits}};
    size_t used = 0;
    text[0] = 0;
    for (size_t i = 0; i < sizeof names / sizeof *names && used < size; i++)
        if (e->admits & names[i].flag)
            used += (size_t)snprintf(text + used, size - used, "%s%s", used ? " or " : "", names[i].name);
}

static void describe_integer(const tk_case *c, const tki_element *e, char *text, size_t size)
{
    const tk_param *param = &c->contract->params[e->output];
    const bool is_signed = tki_format_of(tk_case_param_dtype(c, e->output)).number == TKI_SIGNED;
    char got[32], expected[32];
    snprintf(got, sizeof got, is_signed ? "%lld" : "%llu", (long long)e->got);
    snprintf(expected, sizeof expected, is_signed ? "%lld" : "%llu", (long long)e->expected);
    if (param->judged == TK_BY_ORDER)
        snprintf(text, size,
                 "%s[%lld] is %s, which selects what does not belong there, or what was selected before: %s",
                 param->name, (long long)e->index, got, c->contract->clauses[e->clause].text);
    else
        snprintf(text, size, "%s[%lld] is %s; only %s is admissible: %s", param->name, (long long)e->index, got,
                 expected, c->contract->clauses[e->clause].text);
}

void tki_element_describe(const tk_case *c, const tki_element *e, char *text, size_t size)
{
    tk_dtype dtype = tk_case_param_dtype(c, e->output);
    const char *name = c->contract->params[e->output].name;
    if (tki_format_of(dtype).number != TKI_FLOATING) {
        describe_integer(c, e, text, size);
        return;
    }
    const uint32_t bits = (uint32_t)e->got;
    double got = tki_decode(dtype, bits);
    char distance[48] = "";
    char admitted[96];
    if (isfinite(e->outside) && e->outside > 0)
        snprintf(distance, sizeof distance, "; %.4g ulp outside", e->outside);
    if (e->interval) {
        snprintf(text, size, "%s[%lld] is 0x%x = %.9g; the exact value is %.9g and [%.9g, %.9g] is admissible%s",
                 name, (long long)e->index, bits, got, e->exact, tki_decode_end(dtype, e->lo_bits),
                 tki_decode_end(dtype, e->hi_bits), distance);
        return;
    }
    list_admitted(c, e, admitted, sizeof admitted);
    snprintf(text, size, "%s[%lld] is 0x%x = %.9g; only %s is admissible: %s%s", name, (long long)e->index, bits, got,
             admitted, c->contract->clauses[e->clause].text, distance);
}

const char *tki_finding_name(tki_finding_kind kind)
{
    static const char *const names[TKI_FINDINGS] = {[TKI_FOUND_NOTHING] = "nothing",
                                                    [TKI_FOUND_WORDS] = "words",
                                                    [TKI_FOUND_FAULT] = "fault",
                                                    [TKI_FOUND_ELEMENT] = "element",
                                                    [TKI_FOUND_WRITTEN_OUTSIDE] = "written_outside",
                                                    [TKI_FOUND_INPUT_CHANGED] = "input_changed",
                                                    [TKI_FOUND_UNWRITTEN] = "unwritten",
                                                    [TKI_FOUND_OTHER_BITS] = "other_bits",
                                                    [TKI_FOUND_OTHER_IN_PLACE] = "other_in_place",
                                                    [TKI_FOUND_OTHER_ALONE] = "other_alone",
                                                    [TKI_FOUND_OTHER_AGAIN] = "other_again",
                                                    [TKI_FOUND_BY_SCREEN] = "by_screen",
                                                    [TKI_FOUND_INDEX_TAKEN] = "index_taken",
                                                    [TKI_FOUND_INDEX_NOT_NAMED] = "index_not_named",
                                                    [TKI_FOUND_INDEX_WRITTEN_FOR] = "index_written_for"};
    return names[kind];
}

#define SAY(...) snprintf(text, size, __VA_ARGS__)

static void say_finding(const tki_trial_result *result, const tk_case *c, char *text, size_t size)
{
    const tki_finding *f = &result->finding;
    const char *name = c->contract->params[f->param].name;
    const long long at = f->at, seen[] = {(long long)f->seen[0], (long long)f->seen[1]};
    char words[sizeof result->words];
    text[0] = 0;
    tki_escape_line(result->words, strlen(result->words), words, sizeof words);
    switch (f->kind) {
    case TKI_FOUND_NOTHING: break;
    case TKI_FOUND_WORDS: SAY("'%.480s'", words); break;
    case TKI_FOUND_FAULT: tki_fault_text(&result->fault, c->contract, NULL, text, size); break;
    case TKI_FOUND_ELEMENT: tki_element_describe(c, &result->judgement.failure, text, size); break;
    case TKI_FOUND_WRITTEN_OUTSIDE: SAY("wrote outside %s, at byte %lld of its %lld", name, at, seen[0]); break;
    case TKI_FOUND_INPUT_CHANGED: SAY("changed its input %s", name); break;
    case TKI_FOUND_UNWRITTEN: SAY("left %s[%lld] unwritten", name, at); break;
    case TKI_FOUND_OTHER_BITS:
        SAY("%s[%lld] was 0x%llx on one run and 0x%llx on another with the same inputs", name, at,
            (unsigned long long)seen[0], (unsigned long long)seen[1]);
        break;
    case TKI_FOUND_OTHER_IN_PLACE: SAY("%s[%lld] has other bits when the op works in place", name, at); break;
    case TKI_FOUND_OTHER_ALONE:
        SAY("rows %lld and on have other bits when they are computed without the rows before them", at);
        break;
    case TKI_FOUND_OTHER_AGAIN: SAY("the same inputs gave other bits when they came again after other calls"); break;
    case TKI_FOUND_BY_SCREEN:
        SAY("%s as a whole fails a check by drawn vectors, though each element passed", name);
        break;
    case TKI_FOUND_INDEX_TAKEN: SAY("%s[%lld] = %lld was not refused", name, at, seen[0]); break;
    case TKI_FOUND_INDEX_NOT_NAMED: SAY("the refusal does not name %s[%lld]: '%.400s'", name, at, words); break;
    case TKI_FOUND_INDEX_WRITTEN_FOR: SAY("wrote to %s although an index is out of range", name); break;
    }
}

void tki_trial_reason(const tki_trial_result *result, const tk_case *c, char *text, size_t size)
{
    const tki_finding *f = &result->finding;
    char found[sizeof result->words];
    say_finding(result, c, found, sizeof found);
    if (f->changed)
        snprintf(text, size, "called again with %s[%lld] %s: %.400s", c->contract->params[f->changed_param].name,
                 (long long)f->changed_at, f->swapped ? "and others swapped" : "changed", found);
    else
        snprintf(text, size, "%s", found);
}
