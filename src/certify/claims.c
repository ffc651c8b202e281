/* RECORDS. What a certificate claims in sentences: what its verdict rests on, and what it does not show. */
#include "certify/claims.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "certify/certificate.h"
#include "certify/missed_lines.h"
#include "certify/replay_recipe.h"
#include "certify/subject.h"
#include "drivers/backend.h"
#include "kernel_file/covered_lines.h"
#include "kernel_file/source_uses.h"
#include "model/attributes.h"
#include "trials/attribute_settings.h"
#include "trials/op_registry.h"

/* Of so many elements one in a million is among those judged, with 99 chances in a hundred. */
enum { ONE_IN_A_MILLION_SHOWS = 4600000 };

/* What the sentences are made from. */
typedef struct facts {
    const tk_contract *contract;
    const json_t *predicate, *run, *result, *built, *coverage, *mutants;
    const json_t *sanitizer; /* NULL: compute-sanitizer watched nothing */
    const tki_subject_kind *kind;
    const tki_backend *backend;
    const tki_lowering *lowering; /* NULL: it is none */
    tk_value attributes[TK_MAX_ATTRIBUTES];
    bool given, proved;
} facts;

__attribute__((format(printf, 2, 3))) static void say(json_t *list, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    json_array_append_new(list, json_vsprintf(format, arguments));
    va_end(arguments);
}

static bool is(const json_t *object, const char *name, const char *value)
{
    return !strcmp(tki_text(object, name), value);
}

/* -- What they are made from ----------------------------------------------------------------------------------- */

const tki_lowering *tki_lowering_of_run(const json_t *run, const tk_contract *contract)
{
    const tki_lowering *found = NULL;
    tk_types types;
    if (!tk_types_parse(tki_text(run, "dtype"), &types))
        return NULL;
    tk_case c = tk_case_init(contract, types.dtype);
    c.result_dtype = types.result_dtype;
    c.index_dtype = is(run, "index_dtype", tk_dtype_name(TK_I64)) ? TK_I64 : TK_I32;
    for (const tki_lowering *l = tki_lowerings_of(contract); l->backend; l++) {
        char id[TKI_ID_SIZE];
        tki_lowering_id(l, &c, id, sizeof id);
        if (!strcmp(id, tki_text(run, "subject")))
            found = l;
    }
    return found;
}

static bool find_facts(const json_t *predicate, const tk_contract *contract, facts *f)
{
    const json_t *run = json_object_get(predicate, "run");
    *f = (facts){.contract = contract,
                 .predicate = predicate,
                 .run = run,
                 .result = json_object_get(predicate, "result"),
                 .built = json_object_get(predicate, "built"),
                 .coverage = json_object_get(predicate, "coverage"),
                 .mutants = json_object_get(predicate, "mutants"),
                 .sanitizer = json_object_get(json_object_get(predicate, "worker"), "sanitizer"),
                 .kind = tki_subject_kind_named(tki_text(run, "kind")),
                 .backend = tki_backend_find(tki_text(json_object_get(predicate, "machine"), "backend"), ""),
                 .proved = is(predicate, "verdict", tk_verdict_name(TK_PROVED))};
    f->given = f->kind == &tki_subject_given;
    if (!f->kind || !f->backend)
        return false;
    tki_recipe_settings(run, contract, f->attributes);
    f->lowering = f->kind == &tki_subject_lowering ? tki_lowering_of_run(run, contract) : NULL;
    return f->kind != &tki_subject_lowering || f->lowering;
}

/* The clause of that kind, as the certificate has it; NULL if the contract has none. */
static const json_t *clause_of(const facts *f, tk_clause_kind kind)
{
    const int i = tki_clause_find(f->contract, kind);
    return i < 0 ? NULL : json_array_get(json_object_get(f->predicate, "clauses"), (size_t)i);
}

/* -- Evidence -------------------------------------------------------------------------------------------------- */

static bool watched_to_the_end(const json_t *tool)
{
    return json_object_get(tool, "problem") == NULL;
}

/* "memcheck, racecheck and initcheck": the tools that watched to the end. */
static void list_tools(const json_t *tools, char *list, size_t size)
{
    const char *names[TKI_SANITIZER_TOOLS];
    size_t count = 0;
    for (size_t i = 0; i < json_array_size(tools) && count < TKI_SANITIZER_TOOLS; i++)
        if (watched_to_the_end(json_array_get(tools, i)))
            names[count++] = tki_text(json_array_get(tools, i), "tool");
    list[0] = 0;
    for (size_t i = 0; i < count; i++) {
        const size_t used = strlen(list);
        snprintf(list + used, size - used, "%s%s", !i ? "" : i + 1 < count ? ", " : " and ", names[i]);
    }
}

static void say_what_was_watched(json_t *list, const facts *f)
{
    const json_t *tools = json_object_get(f->sanitizer, "tools");
    const char *version = tki_text(f->sanitizer, "version");
    char names[80];
    long long calls = 0, findings = 0;
    for (size_t i = 0; i < json_array_size(tools); i++) {
        const json_t *tool = json_array_get(tools, i);
        if (watched_to_the_end(tool) && tki_integer(tool, "calls") > calls)
            calls = tki_integer(tool, "calls");
        findings |= tki_integer(tool, "findings");
    }
    list_tools(tools, names, sizeof names);
    if (calls)
        say(list, "compute-sanitizer%s%s checked %lld calls of small trials with %s and found %s.",
            version[0] ? " " : "", version, calls, names, findings ? "errors" : "no errors");
}

static bool gave_the_same_bits(const facts *f)
{
    return !is(f->result, "determinism", tk_determinism_name(TK_DETERMINISM_NONE));
}

static void say_how_a_kernel_file_ran(json_t *list, const facts *f)
{
    say(list, "The kernel ran in its own process, confined as `worker` states; inputs, outputs and the judge were in "
              "this process.");
    say(list, "Each trial made two more calls: with one input element changed, which was judged as well, and with "
              "the first inputs again. Some of the shapes were drawn from the seed.");
    if (tki_integer(f->run, "constants"))
        say(list,
            "%lld more calls were judged, with constants of the kernel, their neighbours, sums and products as "
            "sizes, "
            "and as indices, options and elements.",
            tki_integer(f->run, "constants"));
    if (tki_integer(f->run, "came_late"))
        say(list,
            "%lld trials were repeated late in the process that had run all others, after more than 5,000 calls and "
            "5 "
            "seconds; the output bits were %s.",
            tki_integer(f->run, "came_late"), gave_the_same_bits(f) ? "the same" : "not always the same");
    if (tki_integer(f->run, "came_again"))
        say(list,
            "%lld trials were repeated after all others, in another order, every fifth in a fresh process, as its "
            "first call or after a call of another type%s; the output bits were %s.",
            tki_integer(f->run, "came_again"), f->backend->is_gpu ? "" : ", two in three of them with a guarded heap",
            gave_the_same_bits(f) ? "the same" : "not always the same");
    say_what_was_watched(list, f);
}

/* What was judged otherwise than by default. */
static void say_settings(json_t *list, const facts *f)
{
    for (int i = 0; i < f->contract->attribute_count; i++) {
        const tk_attribute *attribute = &f->contract->attributes[i];
        const tk_choice *choice = attribute->type == TK_ATTRIBUTE_CHOICE
                                      ? &attribute->choices[f->attributes[i].integer]
                                      : NULL;
        if (choice &&
            (attribute->role == TK_ROLE_MATRIX_UNIT
                 ? tki_choice_of_role(f->contract, f->attributes, TK_ROLE_NUMERICS) == TKI_NUMERICS_TENSOR_CORE ||
                       tki_choice_of_role(f->contract, f->attributes, TK_ROLE_NUMERICS) == TKI_NUMERICS_TF32
                 : tki_settings_is_restriction(f->contract, f->attributes, i) ||
                       (attribute->role == TK_ROLE_OVERFLOW && tki_run_setting(f->run, attribute))))
            say(list, "%s %s: %s.", attribute->name, choice->id, choice->text);
        if (!choice && tki_settings_is_restriction(f->contract, f->attributes, i)) {
            char value[64];
            tk_attribute_print(attribute, f->attributes[i], value, sizeof value);
            say(list, "%s %s: %s.", attribute->name, value, attribute->text);
        }
    }
}

static bool coverage_is_known(const facts *f)
{
    return json_is_true(json_object_get(f->coverage, "known"));
}

static void say_what_coverage_did(json_t *list, const facts *f)
{
    const json_t *lines = json_object_get(f->coverage, "lines");
    if (!coverage_is_known(f))
        return;
    say(list,
        "An instrumented build of the source made the calls of these trials too, and %lld exploratory calls%s, which "
        "added %lld judged trials.",
        tki_integer(f->coverage, "calls"),
        json_is_true(json_object_get(f->coverage, "spent")) ? " (limit reached)" : "",
        tki_integer(f->coverage, "found"));
    if (json_is_true(json_object_get(lines, "known")))
        say(list, "%lld of %lld source lines with code ran in judged calls.", tki_integer(lines, "run"),
            tki_integer(lines, "count"));
}

static void say_how_it_ran(json_t *list, const facts *f)
{
    const bool on_gpu = f->backend->is_gpu;
    say(list,
        "Each trial ran at least twice, with other array placements%s other initial bytes in every output element; "
        "the output bits %s.",
        on_gpu ? " and" : ", other thread counts and",
        gave_the_same_bits(f) ? "were the same" : "were not always the same");
    if (f->kind->is_kernel_file)
        say_how_a_kernel_file_ran(list, f);
    say_what_coverage_did(list, f);
    const json_t *write = clause_of(f, TK_CLAUSE_WRITE);
    if (!write || is(write, "verdict", tk_verdict_name(TK_REFUTED)))
        return;
    if (on_gpu)
        say(list,
            "After each run, all inputs and the guard bytes around every buffer in device memory were unchanged.");
    else
        say(list, "After each run, all inputs and the guard bytes around every buffer were unchanged; in every "
                  "fourth run each buffer began or ended at a page boundary.");
}

/* What was left out, as the kernel counted it, and by which theorems. */
static void say_what_was_left_out(json_t *list, const facts *f)
{
    const json_t *skipped = json_object_get(f->result, "skipped");
    if (!skipped)
        return;
    say(list,
        "By its own count the kernel left out %lld of %lld slices of the inner size, and of the rest %lld of %lld "
        "parts of tiles, in the first calls of these trials. That this changes no result is proved: %s and %s in %s, "
        "SHA-256 %s.",
        tki_integer(skipped, "slices"), tki_integer(skipped, "of_slices"), tki_integer(skipped, "parts"),
        tki_integer(skipped, "of_parts"), tki_text(skipped, "slices_by"), tki_text(skipped, "parts_by"),
        tki_text(skipped, "file"), tki_text(skipped, "sha256"));
}

static void say_what_was_screened(json_t *list, const facts *f)
{
    const json_t *screened = json_object_get(f->result, "screened");
    const long long trials = tki_integer(screened, "trials");
    const long long least = tki_integer(screened, "least_vectors"), most = tki_integer(screened, "most_vectors");
    char vectors[64];
    if (!screened)
        return;
    if (least == most)
        snprintf(vectors, sizeof vectors, "%lld", most);
    else
        snprintf(vectors, sizeof vectors, "%lld to %lld", least, most);
    say(list,
        "The outputs of %lld large trial%s also passed Freivalds' check as a whole, each with %s random vectors; a "
        "wrong output passes with a probability below 2^-64.",
        trials, trials == 1 ? "" : "s", vectors);
}

static void say_what_was_rejected(json_t *list, const facts *f)
{
    int rejected = 0;
    char settings[TKI_SETTINGS_TEXT];
    for (size_t i = 0; i < json_array_size(f->mutants); i++)
        rejected += json_is_true(json_object_get(json_array_get(f->mutants, i), "rejected"));
    tki_settings_text(f->contract, f->attributes, settings, sizeof settings);
    const size_t count = json_array_size(f->mutants);
    const json_t *how = json_object_get(f->run, "mutants");
    const char *where = settings[0] ? ", on the whole domain with ieee numerics" : "";
    if (count && !how)
        say(list, "%d of %zu mutants were rejected by the same judge on the quick trials%s.", rejected, count, where);
    else if (count && tki_text(how, "kept")[0])
        say(list,
            "%d of %zu mutants were rejected on %s by this build of the judge, %.12s, on the quick trials of seed "
            "%lld%s; this run did not repeat them.",
            rejected, count, tki_text(how, "kept"), tki_text(how, "build"), tki_integer(how, "seed"), where);
    else if (count)
        say(list,
            "%d of %zu mutants were rejected by the same judge on the quick trials of seed %lld, the seed of this "
            "build%s.",
            rejected, count, tki_integer(how, "seed"), where);
}

json_t *tki_evidence_json(const json_t *predicate, const tk_contract *contract)
{
    facts f;
    if (!find_facts(predicate, contract, &f))
        return NULL;
    json_t *list = json_array();
    const json_t *trials = json_object_get(f.run, "trials");
    if (!json_array_size(trials)) {
        say(list, "No trial was completed.");
        return list;
    }
    say(list,
        "%lld output elements from %zu trials were each compared with the admissible interval of their exact value.",
        tki_integer(f.result, "elements"), json_array_size(trials));
    for (size_t i = 0; i < json_array_size(trials); i++)
        if (is(json_array_get(trials, i), "family", "all_patterns"))
            say(list, "Every pattern of every input was tried: %lld of them.",
                tki_integer(json_array_get(trials, i), "elements"));
    if (f.given)
        say(list, "Inputs and outputs were given, in %s memory; `run.given` has the SHA-256 of each.",
            tki_text(json_object_get(f.run, "given"), "memory"));
    else
        say_how_it_ran(list, &f);
    if (tki_integer(f.result, "refined"))
        say(list, "For %lld elements double arithmetic did not decide; the oracle refined the exact value.",
            tki_integer(f.result, "refined"));
    say_what_was_rejected(list, &f);
    say_settings(list, &f);
    if (f.lowering && f.lowering->promise)
        say(list, "The lowering was also judged by its own promise: %s.", f.lowering->promise);
    say_what_was_left_out(list, &f);
    say_what_was_screened(list, &f);
    return list;
}

/* -- What is not claimed --------------------------------------------------------------------------------------- */

static void disclaim_coverage(json_t *list, const facts *f)
{
    const json_t *lines = json_object_get(f->coverage, "lines"), *ranges = json_object_get(lines, "never_ran");
    if (!coverage_is_known(f)) {
        say(list, "Code coverage is unknown: %s.", tki_text(f->coverage, "reason"));
        return;
    }
    say(list, "Coverage comes from an instrumented build in the kernel's own process, which could forge it: it adds "
              "trials, and no verdict rests on it.");
    if (!json_is_true(json_object_get(lines, "known")))
        say(list, "Line coverage is unknown: %s.", tki_text(lines, "reason"));
    else if (json_array_size(ranges)) {
        char missed[512];
        tki_ranges_print(ranges, SIZE_MAX, missed, sizeof missed);
        say(list, "Lines that no judged call ran: %s. Nothing is shown about them.", missed);
    }
    if (tki_integer(f->coverage, "unwatched"))
        say(list,
            "%lld trials were too large for the instrumented build or the available memory: lines that only they run "
            "count as not run.",
            tki_integer(f->coverage, "unwatched"));
}

/* What a device's kernel could do unseen, and whether anybody looked. */
static void disclaim_what_no_output_shows(json_t *list, const facts *f)
{
    const json_t *tools = json_object_get(f->sanitizer, "tools");
    if (!f->kind->is_kernel_file) {
        say(list, "This run cannot detect reads outside the buffers in device memory.");
        return;
    }
    if (!f->sanitizer) {
        say(list,
            "Races between device threads, reads outside the arrays and reads of uninitialised memory were not "
            "checked: %s.",
            tki_text(f->run, "no_sanitizer"));
        return;
    }
    for (size_t i = 0; i < json_array_size(tools); i++)
        if (!watched_to_the_end(json_array_get(tools, i)))
            say(list, "compute-sanitizer's %s did not run to the end: %s.",
                tki_text(json_array_get(tools, i), "tool"), tki_text(json_array_get(tools, i), "problem"));
    say(list, "compute-sanitizer detects races on shared memory, not on device memory; it checked small trials only; "
              "the kernel's host code, in the same process as its library, could have disabled it.");
}

/* What may be another kernel where it is compiled at another place or time, or by another command. */
static void disclaim_what_a_source_asks(json_t *list, const facts *f)
{
    const json_t *depends = json_object_get(f->built, "depends_on");
    for (size_t i = 0; i < json_array_size(depends); i++) {
        const char *meaning = tki_use_meaning(json_string_value(json_array_get(depends, i)));
        if (meaning)
            say(list, "The source %s: where it is compiled otherwise, it may be another kernel than the judged one.",
                meaning);
    }
    if (json_object_get(f->built, "source") && !tki_text(f->built, "text_sha256")[0])
        say(list, "The compiler preprocessed the source for each build anew: that the instrumented build, if there "
                  "was one, was of the same text is not shown.");
}

static void disclaim_a_kernel_file(json_t *list, const facts *f)
{
    say(list, "The kernel can detect that it is being judged: that it does the same elsewhere, or after other calls, "
              "is not shown.");
    say(list,
        "The floating-point mode, signal handlers, locale and guarded heap were looked at in the kernel's own "
        "process, which it could have tampered with; outputs and the bytes around them were read outside of it.");
    const json_t *worker = json_object_get(f->predicate, "worker");
    if (json_is_true(json_object_get(worker, "flushes_subnormals")))
        say(list,
            "Loading the kernel makes its thread flush subnormal numbers to zero; about half of the calls ran so. "
            "What that does to other code in a program is not shown.");
    if (json_is_true(json_object_get(worker, "changes_environment")))
        say(list,
            "Loading the kernel changes the environment of its process. What that does to other code in a program "
            "is not shown.");
    say(list, "Times are by this process's clock, around calls into another process, and include the transfer there "
              "and back.");
    if (f->backend->is_gpu)
        say(list,
            "Its host code ran in the process that reads device memory back: it could have forged the guard bytes "
            "around buffers there, and events. The outputs that came back were judged, whatever wrote them.");
    if (!json_object_get(f->built, "source"))
        say(list, "The kernel file is a compiled library: its source, compiler and options are unknown.");
    else
        say(list, "The named compiler is trusted to have translated the source correctly.");
    disclaim_what_a_source_asks(list, f);
}

/* A source that serves both vendors has been seen to run on one of them only. */
static void disclaim_the_other_vendor(json_t *list, const facts *f)
{
    for (const tki_lowering *l = tki_lowerings_of(f->contract); l->backend; l++) {
        if (!l->backend->is_gpu || l->backend == f->lowering->backend || strcmp(l->source, f->lowering->source) != 0)
            continue;
        say(list, "The same source is compiled for %s as well; no run on an %s device is claimed.", l->backend->title,
            l->backend->maker);
        return;
    }
}

static void disclaim_a_program(json_t *list, const facts *f)
{
    const json_t *proofs = json_object_get(f->predicate, "proofs");
    bool cites = false;
    for (size_t i = 0; i < json_array_size(proofs); i++) {
        const json_t *supports = json_object_get(json_array_get(proofs, i), "supports");
        const char *first = json_string_value(json_array_get(supports, 0));
        cites |= first && strcmp(first, "ACCEPTANCE") != 0;
    }
    say(list, "A program registered the contract and gave its exact values; that they are correct is not shown.%s",
        cites ? " That its clauses follow from the theorems cited for them is that program's word." : "");
}

static void disclaim_proofs(json_t *list, const facts *f)
{
    if (json_array_size(json_object_get(f->predicate, "proofs")))
        say(list, "The theorems in `proofs` are about the contract, in the arithmetic that it assumes, not about "
                  "this kernel; `rests_on` names what shows that the kernel keeps each clause. This run checked no "
                  "proof; proofs/check.sh does.");
}

static void disclaim_what_was_left_out(json_t *list, const facts *f)
{
    const json_t *left_out = json_object_get(f->run, "left_out");
    const long long trials = tki_integer(left_out, "trials");
    if (left_out)
        say(list,
            "Tensors of more than 2^32 elements were not tried: %lld trial%s left out, which take%s at least %.0f "
            "GiB of memory%s.",
            trials, trials == 1 ? " was" : "s were", trials == 1 ? "s" : "",
            json_number_value(json_object_get(left_out, "least_gib")),
            f->backend->is_gpu || f->lowering ? "" : ", or more time than a call has");
}

/* How many elements the outputs of a trial's call have. */
static long long outputs_of_trial(const facts *f, const json_t *trial)
{
    tk_case c = {.contract = f->contract};
    const json_t *shape = json_object_get(trial, "shape"), *options = json_object_get(trial, "options");
    long long elements = 0;
    for (int i = 0; i < f->contract->dim_count; i++)
        c.dims[i] = tki_integer(shape, f->contract->dim_names[i]);
    for (int i = 0; i < f->contract->attribute_count; i++) {
        const json_t *value = json_object_get(options, f->contract->attributes[i].name);
        c.attributes[i] = value ? tki_recipe_value(&f->contract->attributes[i], value) : f->attributes[i];
    }
    for (int p = 0; p < f->contract->param_count; p++)
        elements += f->contract->params[p].output ? tk_case_elements(&c, p) : 0;
    return elements;
}

static void disclaim_samples(json_t *list, const facts *f)
{
    const json_t *trials = json_object_get(f->run, "trials");
    long long sampled = 0, judged = 0, all = 0;
    for (size_t i = 0; i < json_array_size(trials); i++) {
        const json_t *trial = json_array_get(trials, i);
        const long long elements = tki_integer(trial, "elements"), each = outputs_of_trial(f, trial);
        const bool is_sample = elements < each && !is(trial, "family", "all_patterns");
        sampled += is_sample;
        judged += is_sample ? elements : 0;
        all += is_sample ? each : 0;
    }
    if (sampled)
        say(list, "Of large outputs a sample was judged: in %lld trial%s %lld of %lld elements; the others were not.",
            sampled, sampled == 1 ? "" : "s", judged, all);
}

/* Of a function that is not ours, whoever called it. */
static void disclaim_a_function(json_t *list, const facts *f)
{
    if (json_object_get(f->run, "program"))
        say(list,
            "The kernel ran in a program, outside the sandbox, that this command started: %s. What the program "
            "consists of is unknown; the named artifact is its caller.",
            tki_text(f->run, "program"));
    else if (!f->given && !f->kind->planted && !f->kind->is_kernel_file && !json_object_get(f->built, "source"))
        say(list, "The function ran in this process and could have tampered with it; its source, compiler and "
                  "options are unknown.");
    const char *device = tki_text(json_object_get(f->predicate, "machine"), "claimed_device");
    if (device[0])
        say(list,
            "The caller claims that the function computes on the device in `machine.claimed_device`, and what that "
            "device is: %s. The judge saw host memory only.",
            device);
}

json_t *tki_non_claims_json(const json_t *predicate, const tk_contract *contract)
{
    facts f;
    if (!find_facts(predicate, contract, &f))
        return NULL;
    json_t *list = json_array();
    if (!f.proved)
        say(list, "Inputs and shapes other than those %s were not tried.", f.given ? "given" : "listed");
    else
        say(list, "Shapes other than those listed were not tried: the clauses on shape, writing and repetition are "
                  "HELD, not PROVED.");
    if (f.given)
        say(list, "No kernel was run: what computed the outputs, on which device, from which inputs, and whether it "
                  "would reproduce them, is unknown.");
    else
        say(list, "Other %s, compilers, options and library builds than the one named were not tried.",
            f.backend->is_gpu ? "devices, drivers" : "processors");
    if (f.backend->is_gpu)
        disclaim_what_no_output_shows(list, &f);
    if (f.backend->is_gpu && f.lowering)
        disclaim_the_other_vendor(list, &f);
    if (!f.given)
        say(list, "Nothing is claimed about speed: times are of runs under test, not a benchmark.");
    disclaim_a_function(list, &f);
    if (is(json_object_get(predicate, "contract"), "exact_values", "program"))
        disclaim_a_program(list, &f);
    disclaim_proofs(list, &f);
    if (f.kind->is_kernel_file)
        disclaim_a_kernel_file(list, &f);
    if (f.kind->is_user_kernel && !f.given)
        disclaim_coverage(list, &f);
    if (!json_array_size(f.mutants) && !f.kind->planted)
        say(list, "No mutants were run.");
    if (tki_text(json_object_get(f.run, "mutants"), "kept")[0])
        say(list, "This run did not judge the mutants: their verdicts come from a cache file, which anyone who can "
                  "write to the user's cache could have forged.");
    const json_t *index = clause_of(&f, TK_CLAUSE_INDEX);
    if (index && !tki_integer(index, "checks"))
        say(list, "No trial had bad indices: %s was not judged.", tki_text(index, "id"));
    if (tki_integer(f.result, "undecided"))
        say(list, "%lld elements were undecided at the oracle's limit and were accepted.",
            tki_integer(f.result, "undecided"));
    if (is(predicate, "verdict", tk_verdict_name(TK_HELD)) || f.proved)
        disclaim_samples(list, &f);
    disclaim_what_was_left_out(list, &f);
    const bool few = !f.proved && tki_integer(f.result, "elements") < ONE_IN_A_MILLION_SHOWS;
    if (!f.given && (is(f.run, "level", tk_level_name(TK_QUICK)) || few))
        say(list, "At this level a kernel that is wrong at one element in a million can pass.");
    return list;
}

/* -- Coverage -------------------------------------------------------------------------------------------------- */

const char *tki_no_coverage_of_kind(const tki_subject_kind *kind, const tki_backend *backend, bool source_known)
{
    if (kind == &tki_subject_lowering && source_known && !backend->is_gpu)
        return "the tests of the library check that all lines of its own kernels run; a certification does not";
    return kind->is_kernel_file ? NULL : "only kernel files in source form have an instrumented build";
}
