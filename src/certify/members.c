/* TRUSTED. The members of a certificate. What is inside of an element, a clause's refutation, a mutant or a worker is not looked into. */
#include "certify/members.h"

#include <stdio.h>
#include <string.h>

/* Kinds of subjects, by the bits of a set. */
enum {
    LOWERING = 1 << 0,
    MUTANT = 1 << 1,
    VARIANT = 1 << 2,
    FUNCTION = 1 << 3,
    KERNEL = 1 << 4,
    GIVEN = 1 << 5,
    RUN = LOWERING | MUTANT | VARIANT | FUNCTION | KERNEL, /* a kernel was run */
    ALL = RUN | GIVEN
};

static const struct {
    const char *name;
    unsigned bit;
} kinds[] = {{"lowering", LOWERING}, {"mutant", MUTANT}, {"variant", VARIANT},
             {"function", FUNCTION}, {"kernel", KERNEL}, {"given", GIVEN}};

/* In the predicate. A path to an array stands for each of its items. */
static const struct {
    const char *in, *name;
    unsigned kinds;
} members[] = {
    {"", "tokitai", ALL},
    {"", "verdict", ALL},
    {"", "headline", ALL},
    {"", "reason", ALL},
    {"", "reproduce", RUN},
    {"", "key", ALL},
    {"", "created", ALL},
    {"", "contract", ALL},
    {"", "run", ALL},
    {"", "clauses", ALL},
    {"", "proofs", ALL},
    {"", "rests_on", ALL},
    {"", "result", ALL},
    {"", "mutants", ALL},
    {"", "built", ALL},
    {"", "machine", ALL},
    {"", "worker", KERNEL},
    {"", "coverage", ALL},
    {"", "evidence", ALL},
    {"", "non_claims", ALL},
    {"", "integrity", ALL},
    {"contract", "summary", ALL},
    {"contract", "formula", ALL},
    {"contract", "bound", ALL},
    {"run", "op", ALL},
    {"run", "dtype", ALL},
    {"run", "index_dtype", ALL},
    {"run", "kind", ALL},
    {"run", "subject", ALL},
    {"run", "mutant", MUTANT},
    {"run", "variant", VARIANT},
    {"run", "kernel", KERNEL},
    {"run", "program", FUNCTION},
    {"run", "given", GIVEN},
    {"run", "sanitize", KERNEL},
    {"run", "no_sanitizer", KERNEL},
    {"run", "came_again", KERNEL},
    {"run", "limits", RUN},
    {"run", "numerics", ALL},
    {"run", "attributes", ALL},
    {"run", "level", ALL},
    {"run", "seed", RUN},
    {"run", "refusals", LOWERING},
    {"run", "keep_going", RUN},
    {"run", "threads", RUN},
    {"run", "alignment", RUN},
    {"run", "planted", RUN},
    {"run", "coverage", RUN},
    {"run", "shape", ALL},
    {"run", "family", RUN},
    {"run", "options", ALL},
    {"run", "inputs", RUN},
    {"run", "left_out", RUN},
    {"run", "mutants", LOWERING | FUNCTION | KERNEL},
    {"run", "trials", ALL},
    {"run.mutants", "seed", LOWERING | FUNCTION | KERNEL},
    {"run.mutants", "build", LOWERING | FUNCTION | KERNEL},
    {"run.mutants", "kept", LOWERING | FUNCTION | KERNEL},
    {"run.given", "memory", GIVEN},
    {"run.given", "inputs", GIVEN},
    {"run.given", "outputs", GIVEN},
    {"run.trials", "family", ALL},
    {"run.trials", "shape", ALL},
    {"run.trials", "seed", RUN},
    {"run.trials", "options", ALL},
    {"run.trials", "threads", RUN},
    {"run.trials", "alignment", RUN},
    {"run.trials", "found_by", KERNEL},
    {"run.trials", "planted", RUN},
    {"run.trials", "elements", ALL},
    {"run.trials", "output_sha256", ALL},
    {"run.trials", "chunks", RUN},
    {"clauses", "id", ALL},
    {"clauses", "text", ALL},
    {"clauses", "verdict", ALL},
    {"clauses", "checks", ALL},
    {"clauses", "failures", ALL},
    {"result", "elements", ALL},
    {"result", "ulp_histogram", ALL},
    {"result", "by_magnitude", ALL},
    {"result", "worst_ulp", ALL},
    {"result", "accepted", ALL},
    {"result", "refutation", ALL},
    {"result", "bound_used", ALL},
    {"result", "absolute_error", ALL},
    {"result", "row_sum_error", ALL},
    {"result", "refined", ALL},
    {"result", "undecided", ALL},
    {"result", "undefined", ALL},
    {"result", "screened", RUN},
    {"result", "skipped", LOWERING},
    {"result", "determinism", ALL},
    {"result", "kernel_seconds", ALL},
    {"result", "judge_seconds", ALL},
    {"result", "seconds", ALL},
    {"result", "worst", ALL},
    {"result", "failure", ALL},
    {"result", "fault", RUN},
    {"built", "artifact", ALL},
    {"built", "artifact_sha256", ALL},
    {"built", "source", LOWERING | KERNEL},
    {"built", "source_sha256", LOWERING | KERNEL},
    {"built", "compiler", LOWERING | KERNEL},
    {"built", "options", LOWERING | KERNEL},
    {"built", "kernels", LOWERING},
    {"built", "note", LOWERING},
    {"built", "log", KERNEL},
    {"machine", "backend", ALL},
    {"machine", "device", ALL},
    {"machine", "claimed_device", FUNCTION},
    {"machine", "features", ALL},
    {"machine", "units", ALL},
    {"machine", "uuid", LOWERING | KERNEL},
    {"machine", "architecture", LOWERING | KERNEL},
    {"machine", "driver", LOWERING | KERNEL},
    {"machine", "memory_bytes", LOWERING | KERNEL},
    {"machine", "host", LOWERING | KERNEL},
    {"coverage", "known", ALL},
    {"coverage", "reason", ALL},
    {"coverage", "blocks", KERNEL},
    {"coverage", "edges", KERNEL},
    {"coverage", "calls", KERNEL},
    {"coverage", "found", KERNEL},
    {"coverage", "spent", KERNEL},
    {"coverage", "unwatched", KERNEL},
    {"coverage", "lines", KERNEL},
};

static bool is_attribute(const tk_contract *contract, const char *in, const char *name)
{
    const int i = tk_attribute_find(contract, name);
    return !strcmp(in, "run") && i >= 0 && !contract->op && !contract->attributes[i].seen_by_kernel;
}

static bool is_member(const tk_contract *contract, unsigned kind, const char *in, const char *name)
{
    for (size_t i = 0; i < sizeof members / sizeof *members; i++)
        if (!strcmp(members[i].in, in) && !strcmp(members[i].name, name))
            return members[i].kinds & kind;
    return is_attribute(contract, in, name);
}

static bool is_foreign(const tk_contract *contract, unsigned kind, const char *in, const json_t *object, char *path,
                       size_t size)
{
    const char *name;
    json_t *value;
    json_object_foreach((json_t *)(uintptr_t)object, name, value)
    {
        if (is_member(contract, kind, in, name))
            continue;
        snprintf(path, size, "%s%s%.80s", in, in[0] ? "." : "", name);
        return true;
    }
    return false;
}

/* The statement's own members, around the predicate. */
static bool statement_is_foreign(const json_t *statement, char *path, size_t size)
{
    static const char *const own[] = {"_type", "subject", "predicateType", "predicate"};
    const json_t *subject = json_array_get(json_object_get(statement, "subject"), 0);
    const char *name;
    json_t *value;
    json_object_foreach((json_t *)(uintptr_t)statement, name, value)
    {
        bool among = false;
        for (size_t i = 0; i < sizeof own / sizeof *own; i++)
            among |= !strcmp(own[i], name);
        if (!among) {
            snprintf(path, size, "%.80s", name);
            return true;
        }
    }
    if (json_object_size(subject) == 2 && json_object_size(json_object_get(subject, "digest")) == 1)
        return false;
    snprintf(path, size, "subject");
    return true;
}

void tki_members_foreign(const tk_certificate *certificate, const tk_contract *contract, char *path, size_t size)
{
    const char *name = tki_certificate_text(certificate, "run.kind"), *before = NULL;
    unsigned kind = 0;
    path[0] = 0;
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        kind |= !strcmp(kinds[i].name, name) ? kinds[i].bit : 0;
    if (statement_is_foreign(certificate->statement, path, size))
        return;
    for (size_t i = 0; i < sizeof members / sizeof *members; i++) {
        const char *in = members[i].in;
        if (before && !strcmp(before, in))
            continue;
        before = in;
        const json_t *place = tki_certificate_get(certificate, in);
        if (is_foreign(contract, kind, in, place, path, size))
            return;
        for (size_t k = 0; k < json_array_size(place); k++)
            if (is_foreign(contract, kind, in, json_array_get(place, k), path, size))
                return;
    }
}
