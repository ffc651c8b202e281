/* RECORDS. Finding the certificate that a lowering of this build, or the plain loops of a definition, already have on this machine. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "certify/consistency.h"
#include "certify/provenance.h"
#include "certify/subject.h"
#include "core/context.h"
#include "core/file.h"
#include "kernel_file/kernel_file.h"
#include "runtime/planner.h"

/* A file's name proves nothing: what counts is the key inside, which the hash of the whole covers. A run of one shape or one family has the same
 * key and shows much less. */
static bool is_good(const tk_certificate *certificate, const char *key)
{
    return tki_certificate_holds(certificate) && !tki_certificate_is_restricted(certificate) &&
           (!strcmp(tki_certificate_text(certificate, "run.kind"), tki_subject_lowering.name) ||
            !strcmp(tki_certificate_text(certificate, "run.kind"), tki_subject_plain.name)) &&
           !strcmp(tki_certificate_text(certificate, "key"), key);
}

/* They are compiled, since the key has the artifact. */
static tk_status find_plain_key(tk_ctx *ctx, const tk_case *c, const char *id, char key[TKI_HASH_HEX])
{
    tki_provenance provenance;
    tk_kernel_file *kernel;
    char backend[32];
    snprintf(backend, sizeof backend, "%.*s", (int)strcspn(id + strlen(TKI_PLAIN_ID), "."),
             id + strlen(TKI_PLAIN_ID));
    const tk_kernel_file_options options = {.size = sizeof options, .backend = backend};
    tk_status status = tk_kernel_file_plain(ctx, c->contract, &options, &kernel);
    if (status != TK_OK)
        return status;
    status = tki_provenance_of_file(ctx, kernel, &provenance);
    if (status == TK_OK && !tki_provenance_key(&provenance, c->contract, id, "", key))
        status = tki_fail(ctx, TK_INTERNAL, "SHA-256 failed");
    tk_kernel_file_close(kernel);
    return status;
}

static tk_status find_key(tk_ctx *ctx, const tk_case *c, const char *id, char key[TKI_HASH_HEX])
{
    tki_plan plan;
    tki_provenance provenance;
    tki_plan_case(ctx, c, NULL, id, &plan);
    if (!plan.lowering)
        return tki_fail(ctx, TK_BAD_ARGUMENT, "%s: no lowering %s%s%s", c->contract->name, id,
                        plan.refusals[0] ? ": " : "", plan.refusals);
    tk_status status = tki_provenance_find(ctx, plan.lowering, (tk_types){c->dtype, c->result_dtype},
                                           (uintptr_t)plan.lowering, &provenance);
    if (status == TK_OK && !tki_provenance_key(&provenance, c->contract, id, "", key))
        status = tki_fail(ctx, TK_INTERNAL, "SHA-256 failed");
    return status;
}

/* Whoever can write there can have anything found. */
static tk_status check_folder(tk_ctx *ctx, const char *state)
{
    char *folder = NULL;
    struct stat about;
    tk_status status = TK_OK;
    if (asprintf(&folder, "%s/certificates", state) < 0)
        return tki_fail(ctx, TK_NO_MEMORY, "no memory for a file name");
    if (stat(folder, &about) == 0) {
        if (about.st_uid != geteuid() && about.st_uid != 0)
            status = tki_fail(ctx, TK_UNAVAILABLE, "%s is not searched for certificates: it belongs to user %u",
                              folder, (unsigned)about.st_uid);
        else if (about.st_mode & (S_IWGRP | S_IWOTH))
            status = tki_fail(ctx, TK_UNAVAILABLE,
                              "%s is not searched for certificates: others can write to it (mode %04o); chmod go-w "
                              "it, and certify again if others could have written",
                              folder, (unsigned)(about.st_mode & 07777));
    }
    free(folder);
    return status;
}

tk_status tk_certificate_find(tk_ctx *ctx, const tk_contract *contract, tk_dtype dtype, tk_dtype index_dtype,
                              const char *lowering, tk_certificate **certificate)
{
    if (!ctx)
        return TK_BAD_ARGUMENT;
    if (!contract || !lowering || !certificate)
        return tki_fail(ctx, TK_BAD_ARGUMENT, "no contract, no lowering, or no pointer for the certificate");
    *certificate = NULL;
    tk_case c = tk_case_init(contract, dtype);
    c.index_dtype = index_dtype;
    /* The id says of which type the results are. */
    tk_case named;
    int i;
    if (tk_lowering_find(lowering, &named, &i) && named.contract == contract && named.dtype == dtype)
        c.result_dtype = named.result_dtype;
    char key[TKI_HASH_HEX];
    char *state = NULL;
    tk_status status = !strncmp(lowering, TKI_PLAIN_ID, strlen(TKI_PLAIN_ID)) ? find_plain_key(ctx, &c, lowering, key)
                                                                              : find_key(ctx, &c, lowering, key);
    if (status == TK_OK)
        status = tki_state_directory(ctx, &state);
    if (status == TK_OK)
        status = check_folder(ctx, state);
    for (int level = TK_EXHAUSTIVE; level >= TK_QUICK && status == TK_OK && !*certificate; level--) {
        char *path = NULL;
        tk_certificate *found = NULL;
        if (asprintf(&path, "%s/certificates/%s.%s.json", state, key, tk_level_name((tk_level)level)) < 0)
            status = tki_fail(ctx, TK_NO_MEMORY, "no memory for a file name");
        else if (tk_certificate_read(ctx, path, &found) == TK_OK && is_good(found, key))
            *certificate = found;
        else
            tk_certificate_destroy(found);
        free(status == TK_OK ? path : NULL);
    }
    free(state);
    if (status == TK_OK && !*certificate)
        status = tki_fail(ctx, TK_UNAVAILABLE, "%s has no certificate of this build on this machine", lowering);
    return status;
}
