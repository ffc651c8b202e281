/* RECORDS. A planted kernel, which the judge is tried with: a wrong one (mutant) or a correct one (variant). */
#include <stdio.h>

#include "certify/certificate.h"
#include "certify/reproduce.h"
#include "certify/subject.h"
#include "trials/op_registry.h"

static const tki_mutant *find(const tki_outcome *o)
{
    return o->options->mutant ? tki_mutant_find(o->contract, o->options->mutant)
                              : tki_variant_find(o->contract, o->options->variant);
}

static tk_status choose(tk_ctx *ctx, tki_outcome *o)
{
    (void)ctx;
    char types[TKI_TYPES_TEXT];
    tki_outcome_types(o, types);
    snprintf(o->subject, sizeof o->subject, "%s.%s.%s.%s", o->kind->name, o->contract->name, types, find(o)->name);
    o->backend = tki_backend_find("cpu", "");
    return TK_OK;
}

static tk_status open_subject(tki_subject *subject, tki_outcome *o)
{
    o->planted = (tki_mutant_run){.how = find(o)->how};
    return tki_runner_open(subject->ctx, &(tki_runnable){.kernel = find(o)->kernel, .kernel_data = &o->planted},
                           tki_runner_of(subject->caller));
}

static void describe(const tki_outcome *o, json_t *run)
{
    json_object_set_new(run, o->kind->name, json_string(find(o)->name));
}

static void reproduce(const json_t *predicate, FILE *out)
{
    const json_t *run = json_object_get(predicate, "run");
    tki_print_option(out, tki_text(run, "kind"), tki_text(run, tki_text(run, "kind")));
}

/* It is in the library that has the mutants. */
static tk_status trace(tk_ctx *ctx, const tki_outcome *o, tki_provenance *provenance)
{
    return tki_provenance_find(ctx, NULL, (tk_types){o->dtype, o->result_dtype},
                               (uintptr_t)tki_mutants_of(o->contract), provenance);
}

const tki_subject_kind tki_subject_mutant = {"mutant", .planted = true, TKI_SUBJECT_FUNCTIONS};
const tki_subject_kind tki_subject_variant = {"variant", .planted = true, TKI_SUBJECT_FUNCTIONS};
