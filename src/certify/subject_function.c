/* RECORDS. A function that a program brings along; behind it there may be another program. */
#include <stdio.h>
#include <string.h>

#include "certify/certificate.h"
#include "certify/reproduce.h"
#include "certify/subject.h"

/* Cut to fit, but not within a character. */
static void copy_name(char *place, size_t size, const char *name)
{
    size_t length = strnlen(name, size - 1);
    while (length && ((unsigned char)name[length] & 0xc0) == 0x80)
        length--;
    memcpy(place, name, length);
    place[length] = 0;
}

static tk_status choose(tk_ctx *ctx, tki_outcome *o)
{
    (void)ctx;
    copy_name(o->subject, sizeof o->subject, o->options->kernel_name ? o->options->kernel_name : "function");
    o->backend = tki_backend_find("cpu", "");
    return TK_OK;
}

static tk_status open_subject(tki_subject *subject, tki_outcome *o)
{
    return tki_runner_open(subject->ctx,
                           &(tki_runnable){.kernel = o->options->kernel,
                                           .kernel_data = o->options->kernel_data,
                                           .kernel_problem = o->options->kernel_problem},
                           tki_runner_of(subject->caller));
}

/* Only its program could run it again. */
static void describe(const tki_outcome *o, json_t *run)
{
    json_object_set_new(run, "program", tki_text_json(o->options->kernel_program));
}

static void reproduce(const json_t *predicate, FILE *out)
{
    const char *program = tki_text(json_object_get(predicate, "run"), "program");
    if (program[0])
        tki_print_option(out, "program", program);
}

static tk_status trace(tk_ctx *ctx, const tki_outcome *o, tki_provenance *provenance)
{
    return tki_provenance_find(ctx, NULL, (tk_types){o->dtype, o->result_dtype}, (uintptr_t)o->options->kernel,
                               provenance);
}

const tki_subject_kind tki_subject_function = {"function", .is_user_kernel = true, TKI_SUBJECT_FUNCTIONS};
