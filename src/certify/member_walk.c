/* RECORDS. A certificate beside the table of members. */
#include "certify/member_walk.h"

#include <regex.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* Where in a certificate, and where to say what is wrong. */
typedef struct walk {
    const char *kind_name;
    int kind;
    bool whole;      /* of the present form: it has all members that its kind has, and no others */
    bool names_only; /* values are as they are */
    char path[256];
    char *what;
    size_t size;
    regex_t patterns[64]; /* compiled when they are met */
    bool compiled[64];
} walk;

static const tki_member *find(const char *in, const char *name)
{
    for (const tki_member *m = tki_members; m->name; m++)
        if (!strcmp(m->in, in) && !strcmp(m->name, name))
            return m;
    return NULL;
}

/* Puts a name behind the path; returns how long it was. */
static size_t enter(walk *w, const char *name)
{
    const size_t length = strlen(w->path);
    snprintf(w->path + length, sizeof w->path - length, "%s%.80s", length ? "." : "", name);
    return length;
}

static bool is_wrong(walk *w, const char *name, const char *how)
{
    enter(w, name);
    snprintf(w->what, w->size, "%s %s a certificate of kind %.40s", w->path, how, w->kind_name);
    return true;
}

/* -- Values ---------------------------------------------------------------------------------------------------- */

/* Is the text one of "a|b"? */
static bool is_among(const char *text, const char *words)
{
    const size_t own = strlen(text);
    for (;; words++) {
        const size_t length = strcspn(words, "|");
        if (length == own && !memcmp(words, text, own))
            return true;
        words += length;
        if (!*words)
            return false;
    }
}

static bool is_past_day(const char *text)
{
    enum { A_DAY = 24 * 60 * 60 }; /* between clocks */
    struct tm date = {0};
    char again[32];
    if (!strptime(text, "%Y-%m-%dT%H:%M:%SZ", &date))
        return false;
    const time_t at = timegm(&date);
    return gmtime_r(&at, &date) && strftime(again, sizeof again, "%Y-%m-%dT%H:%M:%SZ", &date) &&
           !strcmp(again, text) && at <= time(NULL) + A_DAY;
}

static bool matches(walk *w, const tki_value_type *type, const char *text)
{
    const size_t i = (size_t)(type - tki_value_types);
    if (!w->compiled[i])
        w->compiled[i] = !regcomp(&w->patterns[i], type->pattern, REG_EXTENDED | REG_NOSUB);
    return w->compiled[i] && !regexec(&w->patterns[i], text, 0, NULL, 0);
}

static bool is_of_type(walk *w, const tki_value_type *type, const json_t *value)
{
    const char *text = json_string_value(value);
    const int64_t number = json_integer_value(value), bytes = (int64_t)json_string_length(value);
    if (json_is_integer(value))
        return type->is & TKI_IS_INTEGER && number >= type->least && number <= type->most &&
               (!(type->is & TKI_IS_POWER_OF_TWO) || !(number & (number - 1)));
    if (json_is_real(value))
        return type->is & TKI_IS_REAL && (type->least == INT64_MIN || json_real_value(value) >= (double)type->least);
    if (json_is_boolean(value))
        return type->is & (json_is_true(value) ? TKI_IS_TRUE : TKI_IS_FALSE);
    if (text && type->words && is_among(text, type->words))
        return true;
    return text && type->is & TKI_IS_TEXT && bytes >= type->least && bytes <= type->most &&
           (!type->pattern || matches(w, type, text)) && (!(type->is & TKI_IS_DATE) || is_past_day(text));
}

static bool say_wrong(walk *w, const json_t *value, const char *type, const char *says)
{
    char *text = json_dumps(value, JSON_ENCODE_ANY | JSON_ENSURE_ASCII | JSON_COMPACT | JSON_REAL_PRECISION(17));
    snprintf(w->what, w->size, "%s is %.80s; allowed is %.200s%s%.120s", w->path, text ? text : "?", type,
             says[0] ? ": " : "", says);
    free(text);
    return true;
}

static bool scalar_is_wrong(walk *w, const char *type, const json_t *value)
{
    const size_t length = strcspn(type, "]}");
    char name[256];
    snprintf(name, sizeof name, "%.*s", (int)length, type);
    if (strchr(name, '|')) {
        const char *text = json_string_value(value);
        return (!text || !is_among(text, name)) && say_wrong(w, value, name, "");
    }
    const tki_value_type *row = tki_value_types;
    while (row->name && strcmp(row->name, name) != 0)
        row++;
    return (!row->name || !is_of_type(w, row, value)) && say_wrong(w, value, name, row->name ? row->says : "");
}

/* "first and last line, and the file if it is another" */
static bool range_is_wrong(walk *w, const json_t *range)
{
    const json_t *first = json_array_get(range, 0), *last = json_array_get(range, 1),
                 *file = json_array_get(range, 2);
    const bool good = json_is_integer(first) && json_is_integer(last) && json_integer_value(first) >= 1 &&
                      json_integer_value(last) >= json_integer_value(first) && (!file || json_is_string(file)) &&
                      json_array_size(range) <= 3;
    return !good && say_wrong(w, range, "range", "first and last line, and the file if it is another");
}

static bool object_is_wrong(walk *w, const char *in, const json_t *object);

/* `in`: of the objects in the value, to which the rest of the type leads; "": there are none. */
static bool value_is_wrong(walk *w, const char *type, const char *in, const json_t *value)
{
    const char *name;
    json_t *part;
    if (*type == '[') {
        if (!json_is_array(value))
            return say_wrong(w, value, "a list", "");
        for (size_t i = 0; i < json_array_size(value); i++)
            if (value_is_wrong(w, type + 1, in, json_array_get(value, i)))
                return true;
        return false;
    }
    if (*type != '{' && in[0])
        return object_is_wrong(w, in, value);
    if (*type != '{' && w->names_only)
        return false;
    if (*type != '{')
        return !strncmp(type, "range", 5) ? range_is_wrong(w, value) : scalar_is_wrong(w, type, value);
    if (!json_is_object(value))
        return say_wrong(w, value, "an object", "");
    json_object_foreach((json_t *)(uintptr_t)value, name, part)
    {
        const size_t length = enter(w, name);
        if (value_is_wrong(w, type + 1, in, part))
            return true;
        w->path[length] = 0;
    }
    return false;
}

static bool object_is_wrong(walk *w, const char *in, const json_t *object)
{
    const char *name;
    json_t *value;
    if (!json_is_object(object))
        return say_wrong(w, object, "an object", "");
    json_object_foreach((json_t *)(uintptr_t)object, name, value)
    {
        char of[128];
        const tki_member *m = find(in, name);
        if (!m || !tki_member_is_of(m, w->kind)) {
            if (w->whole)
                return is_wrong(w, name, "does not belong to");
            continue;
        }
        tki_member_object(m, of, sizeof of);
        const size_t length = enter(w, name);
        if (value_is_wrong(w, m->type, of, value))
            return true;
        w->path[length] = 0;
    }
    for (const tki_member *m = tki_members; w->whole && m->name; m++)
        if (!strcmp(m->in, in) && m->how & (TKI_SINCE_1 | TKI_SINCE_2) && tki_member_is_of(m, w->kind) &&
            !json_object_get(object, m->name))
            return is_wrong(w, m->name, "is missing from");
    return false;
}

static int kind_named(const char *name)
{
    int kind = 0;
    while (tki_member_kinds[kind] && strcmp(tki_member_kinds[kind], name) != 0)
        kind++;
    return kind;
}

bool tki_members_are_wrong(const tk_certificate *certificate, char *what, size_t size)
{
    const json_t *statement = certificate->statement;
    const json_t *subject = json_array_get(json_object_get(statement, "subject"), 0);
    const char *kind = tki_certificate_text(certificate, "run.kind");
    walk w = {.kind_name = kind,
              .kind = kind_named(kind),
              .whole = tki_certificate_is_current(certificate) && tki_certificate_of_this_version(certificate),
              .what = what,
              .size = size};
    if (json_object_size(statement) != 4 || json_object_size(subject) != 2 ||
        json_object_size(json_object_get(subject, "digest")) != 1) {
        snprintf(what, size, "a member of its statement or of its subject does not belong to it");
        return true;
    }
    const bool wrong = object_is_wrong(&w, "", tki_certificate_get(certificate, ""));
    for (size_t i = 0; i < sizeof w.compiled / sizeof *w.compiled; i++)
        if (w.compiled[i])
            regfree(&w.patterns[i]);
    return wrong;
}

/* -- Written --------------------------------------------------------------------------------------------------- */

static json_t *object_of(int kind, const char *in, const json_t *given);

/* `in`: as of value_is_wrong(). A new reference. */
static json_t *value_of(int kind, const char *type, const char *in, json_t *given)
{
    const char *name;
    json_t *part;
    if (!in[0])
        return json_incref(given);
    if (*type != '[' && *type != '{')
        return object_of(kind, in, given);
    json_t *value = *type == '[' ? json_array() : json_object();
    for (size_t i = 0; i < json_array_size(given); i++)
        json_array_append_new(value, value_of(kind, type + 1, in, json_array_get(given, i)));
    json_object_foreach(given, name, part) json_object_set_new(value, name, value_of(kind, type + 1, in, part));
    return value;
}

static json_t *object_of(int kind, const char *in, const json_t *given)
{
    char of[128];
    size_t known = 0;
    json_t *object = json_object();
    for (const tki_member *m = tki_members; m->name; m++) {
        json_t *value = strcmp(m->in, in) != 0 ? NULL : json_object_get(given, m->name);
        known += value != NULL;
        if (!value || !tki_member_is_of(m, kind))
            continue;
        tki_member_object(m, of, sizeof of);
        json_object_set_new(object, m->name, value_of(kind, m->type, of, value));
    }
    if (known < json_object_size(given)) /* one is in no row: it stays, so that it is found */
        json_object_update_missing(object, (json_t *)(uintptr_t)given);
    return object;
}

json_t *tki_members_of_kind(const char *kind, const json_t *given)
{
    return object_of(kind_named(kind), "", given);
}

bool tki_members_are_missing(const char *kind, const json_t *predicate, char *what, size_t size)
{
    walk w = {
        .kind_name = kind, .kind = kind_named(kind), .whole = true, .names_only = true, .what = what, .size = size};
    return object_is_wrong(&w, "", predicate);
}

const json_t *tki_member_get(const tk_certificate *certificate, const tki_member *member)
{
    return json_object_get(tki_certificate_get(certificate, member->in), member->name);
}

void tki_member_path(const tki_member *member, char path[TKI_MEMBER_PATH])
{
    snprintf(path, TKI_MEMBER_PATH, "%s%s%s", member->in, member->in[0] ? "." : "", member->name);
}
