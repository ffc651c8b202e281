/* RECORDS. A lowering: one of ours, or an implementation that a program registered. */
#include <stdio.h>
#include <string.h>

#include "certify/certificate.h"
#include "certify/reproduce.h"
#include "certify/subject.h"
#include "core/context.h"
#include "runtime/planner.h"
#include "trials/attribute_settings.h"

const tki_backend *tki_subject_backend(const tk_certify_options *options)
{
    if (options->backend)
        return tki_backend_find(options->backend, "");
    const tki_backend *of_lowering = tki_backend_find(options->lowering, ".");
    return of_lowering ? of_lowering : tki_backend_find("cpu", "");
}

static tk_status choose(tk_ctx *ctx, tki_outcome *o)
{
    const tk_certify_options *options = o->options;
    tk_case c = tki_outcome_case(o);
    tk_status status = tki_settings_read(ctx, o->contract, options, c.attributes);
    if (status != TK_OK)
        return status;
    const tki_backend *backend = tki_subject_backend(options);
    tki_plan plan = {0};
    if (backend)
        tki_plan_case(ctx, &c, backend, options->lowering, &plan);
    if (!plan.lowering)
        return tki_fail(ctx, options->lowering ? TK_BAD_ARGUMENT : TK_UNSUPPORTED, "%s: no lowering %s%s%s",
                        o->contract->name, options->lowering ? options->lowering : "takes this case on that backend",
                        plan.refusals[0] ? ": " : "", plan.refusals);
    o->lowering = plan.lowering;
    o->backend = plan.lowering->backend;
    tki_lowering_id(plan.lowering, &c, o->subject, sizeof o->subject);
    snprintf(o->refusals, sizeof o->refusals, "%s", plan.refusals);
    return TK_OK;
}

static tk_status open_subject(tki_subject *subject, tki_outcome *o)
{
    subject->lowering = o->lowering;
    return tki_runner_open(subject->ctx, &(tki_runnable){.lowering = o->lowering, .host_buffers = true},
                           tki_runner_of(subject->caller));
}

static void describe(const tki_outcome *o, json_t *run)
{
    if (o->refusals[0])
        json_object_set_new(run, "refusals", json_string(o->refusals));
}

static void reproduce(const json_t *predicate, FILE *out)
{
    tki_print_option(out, "lowering", tki_text(json_object_get(predicate, "run"), "subject"));
}

static tk_status trace(tk_ctx *ctx, const tki_outcome *o, tki_provenance *provenance)
{
    const tk_types types = {o->dtype, o->result_dtype};
    if (!o->lowering->source)
        return tki_provenance_of_program(ctx, o->lowering->kernels, provenance);
    return tki_provenance_find(ctx, o->lowering, types, (uintptr_t)o->lowering, provenance);
}

const tki_subject_kind tki_subject_lowering = {"lowering", TKI_SUBJECT_FUNCTIONS};
