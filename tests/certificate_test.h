/* What the tests of certificates share. */
#ifndef TKI_TESTS_CERTIFICATE_TEST_H
#define TKI_TESTS_CERTIFICATE_TEST_H

#include <dirent.h>
#include <stdlib.h>
#include <string.h>

#include "certify/certificate.h"
#include "tests/op_test.h"

/* An op whose oracle makes no tables, so that certifying three elements takes no time. */
static const char *const quick_op = "embedding_fwd";

/* One trial of three elements. */
static inline tk_certificate *small_certificate(tk_ctx *ctx)
{
    tk_certify_options options = TK_CERTIFY_DEFAULTS;
    options.dims = (int64_t[]){3, 1, 2};
    options.family = "normal";
    return certify_one(ctx, tk_contract_find(quick_op), TK_F16, TK_I32, options);
}

static inline json_t *predicate_of(json_t *statement)
{
    return json_object_get(statement, "predicate");
}

/* The statement with a hash that fits it: what somebody who edits a certificate with care would hand in. */
static inline char *sealed(json_t *statement)
{
    char hash[65];
    assert_true(tki_statement_hash(statement, hash));
    json_object_set_new(predicate_of(statement), "integrity", json_pack("{s:s}", "sha256", hash));
    char *text = tki_statement_text(statement);
    assert_non_null(text);
    return text;
}

static inline json_t *statement_of(tk_certificate *certificate)
{
    json_t *statement = json_loads(tk_certificate_json(certificate), JSON_REJECT_DUPLICATES, NULL);
    assert_non_null(statement);
    return statement;
}

/* Nobody can read what contradicts itself; this is it nevertheless. */
static inline tk_certificate *unread(json_t *statement)
{
    free(sealed(statement));
    tk_certificate *certificate = tki_certificate_of(json_deep_copy(statement));
    assert_non_null(certificate);
    return certificate;
}

/* What stands at a path like run.trials.0.seed. */
static inline json_t *member(json_t *predicate, const char *path)
{
    json_t *at = predicate;
    char copy[128], *rest = NULL;
    snprintf(copy, sizeof copy, "%s", path);
    for (const char *name = strtok_r(copy, ".", &rest); name; name = strtok_r(NULL, ".", &rest))
        at = name[0] >= '0' && name[0] <= '9' ? json_array_get(at, (size_t)atoi(name)) : json_object_get(at, name);
    assert_non_null(at);
    return at;
}

/* Puts a value, given as JSON, at a path of which all but the end is there. */
static inline void set_member(json_t *predicate, const char *path, const char *value)
{
    char copy[128];
    snprintf(copy, sizeof copy, "%s", path);
    char *dot = strrchr(copy, '.');
    const char *name = dot ? dot + 1 : path;
    if (dot)
        *dot = 0;
    json_t *at = dot ? member(predicate, copy) : predicate;
    json_t *new = json_loads(value, JSON_DECODE_ANY, NULL);
    assert_int_equal(
        json_is_array(at) ? json_array_set_new(at, (size_t)atoi(name), new) : json_object_set_new(at, name, new), 0);
}

/* A change of a certificate: by a function, or of one member. */
typedef struct edit {
    void (*by)(json_t *predicate);
    const char *at, *value;
} edit;

static inline void apply(edit e, json_t *predicate)
{
    if (e.by)
        e.by(predicate);
    else if (e.at)
        set_member(predicate, e.at, e.value);
}

/* 0 for a directory that is not there. */
static inline int entries(const char *directory)
{
    int count = 0;
    DIR *list = opendir(directory);
    for (const struct dirent *e; list && (e = readdir(list));)
        count += strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0;
    if (list)
        closedir(list);
    return count;
}

#endif
