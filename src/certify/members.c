/* RECORDS. A certificate beside the table of members. */
#include "certify/members.h"

#include <stdio.h>
#include <string.h>

/* Where in a certificate, and where to say what is wrong. */
typedef struct walk {
    const char *kind_name;
    int kind;
    char path[256];
    char *what;
    size_t size;
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

static bool object_is_wrong(walk *w, const char *in, const json_t *object);

/* Of the objects in the value, to which the rest of the type leads. */
static bool value_is_wrong(walk *w, const char *type, const char *in, const json_t *value)
{
    const char *name;
    json_t *part;
    if (*type == '[') {
        for (size_t i = 0; i < json_array_size(value); i++)
            if (value_is_wrong(w, type + 1, in, json_array_get(value, i)))
                return true;
        return false;
    }
    if (*type != '{')
        return object_is_wrong(w, in, value);
    json_object_foreach((json_t *)(uintptr_t)value, name, part)
    {
        if (value_is_wrong(w, type + 1, in, part))
            return true;
    }
    return false;
}

static bool object_is_wrong(walk *w, const char *in, const json_t *object)
{
    const char *name;
    json_t *value;
    json_object_foreach((json_t *)(uintptr_t)object, name, value)
    {
        char of[128];
        const tki_member *m = find(in, name);
        if (!m || !tki_member_is_of(m, w->kind))
            return is_wrong(w, name, "does not belong to");
        tki_member_object(m, of, sizeof of);
        const size_t length = enter(w, name);
        if (of[0] && value_is_wrong(w, m->type, of, value))
            return true;
        w->path[length] = 0;
    }
    for (const tki_member *m = tki_members; m->name; m++)
        if (!strcmp(m->in, in) && m->how & (TKI_SINCE_1 | TKI_SINCE_2) && tki_member_is_of(m, w->kind) &&
            !json_object_get(object, m->name))
            return is_wrong(w, m->name, "is missing from");
    return false;
}

bool tki_members_are_wrong(const tk_certificate *certificate, char *what, size_t size)
{
    const json_t *statement = certificate->statement;
    const json_t *subject = json_array_get(json_object_get(statement, "subject"), 0);
    walk w = {.kind_name = tki_certificate_text(certificate, "run.kind"), .what = what, .size = size};
    while (tki_member_kinds[w.kind] && strcmp(tki_member_kinds[w.kind], w.kind_name) != 0)
        w.kind++;
    if (json_object_size(statement) != 4 || json_object_size(subject) != 2 ||
        json_object_size(json_object_get(subject, "digest")) != 1) {
        snprintf(what, size, "a member of its statement or of its subject does not belong to it");
        return true;
    }
    return object_is_wrong(&w, "", tki_certificate_get(certificate, ""));
}

const json_t *tki_member_get(const tk_certificate *certificate, const tki_member *member)
{
    return json_object_get(tki_certificate_get(certificate, member->in), member->name);
}

void tki_member_path(const tki_member *member, char path[TKI_MEMBER_PATH])
{
    snprintf(path, TKI_MEMBER_PATH, "%s%s%s", member->in, member->in[0] ? "." : "", member->name);
}
