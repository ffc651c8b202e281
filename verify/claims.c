/* TRUSTED. What a certificate claims in sentences: what its verdict rests on, and what it does not show. */
#include "verify/claims.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "model/attributes.h"
#include "verify/kernel_file.h"
#include "verify/proofs.h"
#include "verify/registry.h"
#include "verify/settings.h"
#include "verify/subject.h"

/* Of so many elements one in a million is among those judged, with 99 chances in a hundred. */
enum { ONE_IN_A_MILLION_SHOWS = 4600000 };

__attribute__((format(printf, 2, 3))) static void say(json_t *list, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    json_array_append_new(list, json_vsprintf(format, arguments));
    va_end(arguments);
}

/* "memcheck, racecheck and initcheck": the tools that watched to the end. */
static void list_tools(const tki_sanitized *s, char *text, size_t size)
{
    int tools[TKI_SANITIZER_TOOLS], count = 0;
    for (int tool = TKI_SANITIZER_MEMCHECK; tool < TKI_SANITIZER_TOOLS; tool++)
        if (s->tools[tool].complete)
            tools[count++] = tool;
    text[0] = 0;
    for (int i = 0; i < count; i++) {
        size_t used = strlen(text);
        snprintf(text + used, size - used, "%s%s",
                 !i              ? ""
                 : i + 1 < count ? ", "
                                 : " and ",
                 tki_sanitizer_name((tki_sanitizer_tool)tools[i]));
    }
}

static void say_what_was_watched(json_t *list, const tki_sanitized *s)
{
    char tools[80];
    int64_t calls = 0;
    for (int tool = TKI_SANITIZER_MEMCHECK; tool < TKI_SANITIZER_TOOLS; tool++)
        if (s->tools[tool].complete && s->tools[tool].calls > calls)
            calls = s->tools[tool].calls;
    list_tools(s, tools, sizeof tools);
    if (calls)
        say(list, "compute-sanitizer%s%s watched %lld calls of small trials under %s, and found %s.",
            s->version[0] ? " " : "", s->version, (long long)calls, tools, s->tool ? "a mistake" : "nothing");
}

static void say_how_a_stranger_ran(json_t *list, const tki_outcome *o)
{
    say(list, "The kernel ran in a process of its own, shut in as `worker` says; inputs, outputs and judge were in "
              "this one.");
    say(list, "In each trial it was called once more with one input element changed, which was judged as well, and "
              "then with the first inputs again; some of the shapes were drawn from the seed.");
    if (o->came_again)
        say(list,
            "%lld trials came again after all others, in another order, every fifth in a fresh process, as its first "
            "call or behind one of the other type%s; the bits were %s.",
            (long long)o->came_again, o->backend->is_gpu ? "" : ", two in three of them with a guarded heap",
            o->determinism == TK_DETERMINISM_NONE ? "not always the same" : "the same");
    say_what_was_watched(list, &o->sanitized);
}

/* What was judged otherwise than by default. */
static void say_settings(json_t *list, const tki_outcome *o)
{
    for (int i = 0; i < o->contract->attribute_count; i++) {
        const tk_attribute *attribute = &o->contract->attributes[i];
        const tk_choice *choice = attribute->type == TK_ATTRIBUTE_CHOICE
                                      ? &attribute->choices[o->attributes[i].integer]
                                      : NULL;
        if (choice && (attribute->from_device ? o->attributes[TKI_NUMERICS].integer
                                              : tki_settings_is_restriction(o->contract, o->attributes, i)))
            say(list, "%s %s: %s.", attribute->name, choice->id, choice->text);
        if (!choice && tki_settings_is_restriction(o->contract, o->attributes, i)) {
            char value[64];
            tk_attribute_print(attribute, o->attributes[i], value, sizeof value);
            say(list, "%s %s: %s.", attribute->name, value, attribute->text);
        }
    }
}

const char *tki_no_coverage(const tki_outcome *o)
{
    if (o->kind == &tki_subject_lowering && !o->contract->registered && !o->backend->is_gpu)
        return "the library's own kernels are held to all of their lines when it is tested, not here";
    if (!o->kind->stranger)
        return "only kernel files that come as source are built a second time, instrumented";
    if (o->options->skip_coverage)
        return "it was not asked for";
    if (o->options->dims || o->options->family)
        return "the run was restricted";
    if (o->exploration.known)
        return NULL;
    return o->exploration.why[0] ? o->exploration.why : "there was a verdict before it was looked at";
}

static void say_what_coverage_did(json_t *list, const tki_outcome *o)
{
    const tki_exploration *x = &o->exploration;
    if (tki_no_coverage(o))
        return;
    say(list,
        "An instrumented build of the source made the calls of these trials as well, and %lld of its own to find out "
        "what its comparisons wait for%s; %lld trials were judged because of them.",
        (long long)x->calls, x->spent ? ", which was as many as it may" : "", (long long)x->found);
    if (x->lines_known)
        say(list, "%lld of %lld lines of the source that hold code ran in calls that were judged.",
            (long long)x->lines.run, (long long)x->lines.count);
}

static void disclaim_coverage(json_t *list, const tki_outcome *o)
{
    const tki_exploration *x = &o->exploration;
    if (tki_no_coverage(o)) {
        say(list, "Which of the kernel's code ran is not known: %s.", tki_no_coverage(o));
        return;
    }
    say(list, "What coverage says comes out of the kernel's own process, in a build of its own, and could be forged: "
              "it adds trials, and no verdict rests on it.");
    if (!x->lines_known)
        say(list, "Which lines of the source ran is not known: %s.", x->no_lines);
    else if (x->lines.missed_count) {
        char lines[512];
        tki_lines_print(&x->lines, lines, sizeof lines);
        say(list, "Lines that no judged call has run: %s. Nothing is shown of what they do.", lines);
    }
    if (x->unwatched)
        say(list,
            "%lld trials were too large for the instrumented build, or for the memory at hand: what they alone run "
            "counts as not run.",
            (long long)x->unwatched);
}

static void say_how_it_ran(json_t *list, const tki_outcome *o)
{
    const bool on_gpu = o->backend->is_gpu;
    say(list,
        "Each trial ran at least twice, with its arrays at other kinds of places, %sother bytes in every element of "
        "its "
        "outputs; the bits %s.",
        on_gpu ? "" : "other numbers of threads and ",
        o->determinism == TK_DETERMINISM_NONE ? "were not always the same" : "were the same");
    if (o->kind->stranger)
        say_how_a_stranger_ran(list, o);
    say_what_coverage_did(list, o);
    const int write = tki_clause_find(o->contract, TK_CLAUSE_WRITE);
    if (write >= 0 && !o->refuted[write] && on_gpu)
        say(list, "Bytes around every buffer in device memory and all inputs were unchanged after each run.");
    else if (write >= 0 && !o->refuted[write])
        say(list, "Bytes around every buffer and all inputs were unchanged after each run; in every fourth run each "
                  "buffer began or ended with a page.");
}

/* What was left out, as the kernel counted it, and by which theorems. */
static void say_what_was_left_out(json_t *list, const tki_outcome *o)
{
    char hash[TKI_HASH_HEX];
    const char *const *by = o->lowering ? o->lowering->leaves_out_by : NULL;
    const tki_theorem *theorem = by && by[0] ? tki_theorem_find(by[0], by[1]) : NULL;
    if (!theorem || !tki_theorem_hash(theorem, hash))
        return;
    say(list,
        "By its own count the kernel left out %lld of %lld slices of the inner size, and of the rest %lld of %lld "
        "parts of tiles, in the first calls of these trials. That this changes no result is proved: %s and %s in %s, "
        "SHA-256 %s.",
        (long long)o->skipped.slices, (long long)o->skipped.all_slices, (long long)o->skipped.parts,
        (long long)o->skipped.all_parts, by[1], by[2], by[0], hash);
}

static void say_what_was_screened(json_t *list, const tki_outcome *o)
{
    char vectors[64];
    if (!o->screened)
        return;
    if (o->screened_by_least == o->screened_by_most)
        snprintf(vectors, sizeof vectors, "%d", o->screened_by_most);
    else
        snprintf(vectors, sizeof vectors, "%d to %d", o->screened_by_least, o->screened_by_most);
    say(list,
        "The outputs of %lld large trial%s also passed Freivalds' check as a whole, each with %s drawn vectors: so "
        "many that a wrong one passes with a probability below 2^-64.",
        (long long)o->screened, o->screened == 1 ? "" : "s", vectors);
}

json_t *tki_evidence_json(const tki_outcome *o)
{
    json_t *list = json_array();
    const tki_judgement *j = &o->judgement;
    if (!o->trial_count) {
        say(list, "No trial was completed.");
        return list;
    }
    char settings[TKI_SETTINGS_TEXT];
    tki_settings_text(o->contract, o->attributes, settings, sizeof settings);
    say(list,
        "%lld output elements from %lld trials were each compared with the admissible interval of their exact value.",
        (long long)j->elements, (long long)o->trial_count);
    if (o->domain)
        say(list, "Every pattern of every input was tried: %lld of them.", (long long)o->domain->elements);
    if (o->given)
        say(list, "Inputs and outputs were given, in %s memory; `run.given` has the SHA-256 of each.",
            o->given->on_device ? "device" : "host");
    else
        say_how_it_ran(list, o);
    if (j->refined)
        say(list, "For %lld elements double arithmetic did not decide and the oracle refined the exact value.",
            (long long)j->refined);
    int rejected = 0;
    for (int i = 0; i < o->mutant_count; i++)
        rejected += o->mutants[i].rejected;
    if (o->mutants_run)
        say(list, "%d of %d planted wrong kernels were rejected by the same judge on the quick trials%s.", rejected,
            o->mutant_count, settings[0] ? ", in the whole domain and by the bound of ieee arithmetic" : "");
    say_settings(list, o);
    if (o->lowering && o->lowering->promise)
        say(list, "The lowering was also judged by its own promise: %s.", o->lowering->promise);
    say_what_was_left_out(list, o);
    say_what_was_screened(list, o);
    return list;
}

/* What a device's kernel could do unseen, and whether anybody looked. */
static void disclaim_what_no_output_shows(json_t *list, const tki_outcome *o)
{
    const tki_sanitized *s = &o->sanitized;
    if (!o->kind->stranger) {
        say(list, "Reads outside the buffers in device memory cannot be seen by this run.");
        return;
    }
    if (!s->wanted || !s->here) {
        say(list,
            "Races between the device's threads, reads outside the arrays and of memory that nothing has written "
            "were not looked for: %s.",
            !o->backend->has_sanitizer ? "compute-sanitizer is for CUDA"
            : !s->wanted               ? "compute-sanitizer was not asked to"
            : !s->ran                  ? "it did not come to that"
                                       : "compute-sanitizer is not here");
        return;
    }
    for (int tool = TKI_SANITIZER_MEMCHECK; tool < TKI_SANITIZER_TOOLS; tool++)
        if (s->tools[tool].problem[0])
            say(list, "What compute-sanitizer's %s looks for was not looked for, or not to the end: %s.",
                tki_sanitizer_name((tki_sanitizer_tool)tool), s->tools[tool].problem);
    say(list,
        "compute-sanitizer sees races for shared memory, not those for device memory; it saw small trials; and the "
        "kernel's host code, beside its library in one process, could have silenced it.");
}

static void disclaim_a_stranger(json_t *list, const tki_outcome *o)
{
    say(list,
        "The kernel can tell that it is being judged: that it does the same elsewhere, or after other calls than "
        "these, is not shown.");
    say(list,
        "The times are by this process's clock, around calls into another process, and hold the way there and back.");
    if (o->backend->is_gpu)
        say(list,
            "Its host code ran beside the driver, in the process that reads device memory back: it could have forged "
            "the bytes around buffers there, and events; outputs it can only make right or wrong.");
    if (o->options->kernel_file->is_library)
        say(list, "The library was brought compiled: its source, compiler and options are not known.");
    else
        say(list, "That the artifact does what the source says rests on the compiler named.");
}

/* A source that serves both vendors has been seen to run on one of them only. */
static void disclaim_the_other_vendor(json_t *list, const tki_outcome *o)
{
    for (const tki_lowering *row = tki_lowerings_of(o->contract); row->backend; row++) {
        if (!row->backend->is_gpu || row->backend == o->lowering->backend ||
            strcmp(row->source, o->lowering->source) != 0)
            continue;
        say(list, "The same source is compiled for %s as well; no run on an %s device is claimed.",
            row->backend->title, row->backend->maker);
        return;
    }
}

static void disclaim_proofs(json_t *list, const tki_outcome *o)
{
    json_t *proofs = tki_proofs_json(o->contract);
    if (json_array_size(proofs))
        say(list,
            "The theorems in `proofs` are about the contract, in the arithmetic that it assumes, not about this "
            "kernel: that the kernel keeps a clause rests on what `rests_on` names beside it. This run checked "
            "no proof; proofs/check.sh does.");
    json_decref(proofs);
}

json_t *tki_non_claims_json(const tki_outcome *o)
{
    json_t *list = json_array();
    if (o->verdict != TK_PROVED)
        say(list, "Inputs and shapes other than those %s were not tried.", o->given ? "given" : "listed");
    else
        say(list, "Shapes other than those listed were not tried: the clauses on shape, writing and repetition are "
                  "HELD, not PROVED.");
    if (o->given)
        say(list,
            "No kernel was run: what computed the outputs, on which device, from these inputs or others, and whether "
            "it would compute them again, is not known.");
    else
        say(list, "Other %s, compilers, options and library builds than the one named were not tried.",
            o->backend->is_gpu ? "devices, drivers" : "processors");
    if (o->backend->is_gpu)
        disclaim_what_no_output_shows(list, o);
    if (o->backend->is_gpu && o->lowering)
        disclaim_the_other_vendor(list, o);
    if (!o->given)
        say(list, "Nothing is claimed about speed: the times are of runs under test, not a benchmark.");
    if (o->kind == &tki_subject_function && o->options->kernel_program)
        say(list,
            "The kernel was in a program, not shut in, that this command started: %s. What that program is made of "
            "is not known; the artifact named is what called it.",
            o->options->kernel_program);
    else if (o->kind == &tki_subject_function || (o->kind == &tki_subject_lowering && o->contract->registered))
        say(list, "The function ran inside this process, which it could have tampered with; its source, compiler and "
                  "options are not "
                  "known.");
    if (o->contract->registered)
        say(list, "A program registered the contract and gave its exact values: that they are right is not shown.");
    disclaim_proofs(list, o);
    if (o->kind->stranger)
        disclaim_a_stranger(list, o);
    if (o->kind->brought && !o->given)
        disclaim_coverage(list, o);
    if (!o->mutants_run && !o->kind->planted)
        say(list, "No planted wrong kernels were run beside it.");
    int index = tki_clause_find(o->contract, TK_CLAUSE_INDEX);
    if (index >= 0 && o->structural[index] == 0)
        say(list, "Bad indices were not among the trials: %s was not judged.", o->contract->clauses[index].id);
    if (o->judgement.undecided)
        say(list, "%lld elements could not be decided at the oracle's limit and were accepted.",
            (long long)o->judgement.undecided);
    if (o->left_out)
        say(list,
            "Tensors of more than 2^32 elements were not tried: %d trial%s left out, which take%s at least %.0f GiB "
            "of "
            "memory%s.",
            o->left_out, o->left_out == 1 ? " was" : "s were", o->left_out == 1 ? "s" : "", o->left_out_gib,
            o->backend->is_gpu || o->lowering ? "" : ", or longer than a call may");
    if (o->given)
        return list;
    if (o->level == TK_QUICK ||
        (o->contract->registered && o->judgement.elements < ONE_IN_A_MILLION_SHOWS && o->verdict != TK_PROVED))
        say(list, "At this level a kernel that is wrong at one element in a million can pass.");
    return list;
}
