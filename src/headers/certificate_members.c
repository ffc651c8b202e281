/* RECORDS. certificate.schema.json and certificate_members.md, from the table of all members of certificates. The schema comes by standard input, and in
 * it
 *
 *     "@members": "run"     stands for type, required and properties of the object `run`,
 *     "@objects": {}        for all objects that it does not name so,
 *     "@types": {}          for the types of values that are no objects,
 *     "@kinds"              for which kinds of subjects have which members,
 *     "@most_clauses"       for how many clauses a contract can have.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "certify/member_table.h"
#include "headers/headers.h"

enum { PATH = 128, ALWAYS = TKI_SINCE_1 | TKI_SINCE_2 };

/* A string of JSON; with `between`, texts with | between them. */
static void write_string(FILE *out, const char *text, const char *between)
{
    fputc('"', out);
    for (; *text && (!between || (*text != ']' && *text != '}')); text++)
        if (*text == '|' && between)
            fputs(between, out);
        else
            fprintf(out, *text == '"' || *text == '\\' ? "\\%c" : "%c", *text);
    fputc('"', out);
}

/* The members of a schema that say of what type the member is. */
static void write_type(FILE *out, const tki_member *m, const char *type)
{
    char in[PATH];
    tki_member_object(m, in, sizeof in);
    if (*type == '[' || *type == '{') {
        fprintf(out, *type == '[' ? "\"type\": \"array\", \"items\": { "
                                  : "\"type\": \"object\", \"additionalProperties\": { ");
        write_type(out, m, type + 1);
        fputs(" }", out);
    } else if (strchr(type, '|')) {
        fputs("\"enum\": [", out);
        write_string(out, type, "\", \"");
        fputc(']', out);
    } else {
        fprintf(out, "\"$ref\": \"#/$defs/%.*s\"", in[0] ? PATH : (int)strcspn(type, "]}"), in[0] ? in : type);
    }
}

/* Those that every certificate has; of a kind: those that others have not. */
static void write_required(FILE *out, const char *in, int kind)
{
    const char *separator = "\"required\": [";
    for (const tki_member *m = tki_members; m->name; m++)
        if (!strcmp(m->in, in) && m->how & ALWAYS && (kind < 0 ? !m->kinds : m->kinds && tki_member_is_of(m, kind))) {
            fprintf(out, "%s\"%s\"", separator, m->name);
            separator = ", ";
        }
    fprintf(out, "%s], \"properties\": {", *separator == ',' ? "" : separator);
}

static void write_members(FILE *out, const char *in)
{
    const char *separator = "\n        ";
    fputs("\"type\": \"object\", \"additionalProperties\": false, ", out);
    write_required(out, in, -1);
    for (const tki_member *m = tki_members; m->name; m++)
        if (!strcmp(m->in, in)) {
            fprintf(out, "%s\"%s\": { \"description\": ", separator, m->name);
            write_string(out, m->says, NULL);
            fputs(", ", out);
            write_type(out, m, m->type);
            fputs(" }", out);
            separator = ",\n        ";
        }
    fputs(" }", out);
}

/* Is it the first of its object? */
static bool is_first(const tki_member *member)
{
    const tki_member *m = tki_members;
    while (strcmp(m->in, member->in) != 0)
        m++;
    return m == member;
}

static void write_objects(FILE *out, const char *template)
{
    const char *separator = "";
    for (const tki_member *m = tki_members; m->name; m++) {
        char mark[PATH];
        snprintf(mark, sizeof mark, "\"@members\": \"%s\"", m->in);
        if (!is_first(m) || strstr(template, mark))
            continue;
        fprintf(out, "%s\"%s\": { ", separator, m->in);
        write_members(out, m->in);
        fputs(" }", out);
        separator = ",\n    ";
    }
}

/* Of an object, which members a kind of subject has, and which it lacks. */
static void write_kind(FILE *out, const char *in, int kind)
{
    const char *separator = " ";
    write_required(out, in, kind);
    for (const tki_member *m = tki_members; m->name; m++) {
        char object[PATH];
        tki_member_object(m, object, sizeof object);
        const bool has = tki_member_is_of(m, kind);
        if (strcmp(m->in, in) != 0 || (has && (!object[0] || m->type[0] == '{')))
            continue;
        fprintf(out, "%s\"%s\": ", separator, m->name);
        separator = ", ";
        fputs(!has ? "false" : m->type[0] == '[' ? "{ \"items\": { " : "{ ", out);
        if (has)
            write_kind(out, object, kind);
        fputs(!has ? "" : m->type[0] == '[' ? " } }" : " }", out);
    }
    fputs(" }", out);
}

static void write_integers(FILE *out, const tki_value_type *type)
{
    if (type->is & TKI_IS_POWER_OF_TWO) {
        fprintf(out, "\"enum\": [%" PRId64, type->least);
        for (int64_t power = 2 * type->least; power <= type->most; power *= 2)
            fprintf(out, ", %" PRId64, power);
        fputc(']', out);
        return;
    }
    fprintf(out, "\"type\": \"integer\", \"minimum\": %" PRId64 ", \"maximum\": %" PRId64, type->least, type->most);
}

/* One of the things that a value of the type may be. */
static void write_alternative(FILE *out, const tki_value_type *type, unsigned is)
{
    if (is == TKI_IS_INTEGER) {
        write_integers(out, type);
    } else if (is == TKI_IS_REAL) {
        fputs("\"type\": \"number\"", out);
        if (type->least > INT64_MIN)
            fprintf(out, ", \"minimum\": %" PRId64, type->least);
    } else if (is == TKI_IS_TEXT) {
        fputs("\"type\": \"string\"", out);
        if (type->least > 0)
            fprintf(out, ", \"minLength\": 1, \"maxLength\": %" PRId64, type->most);
        fputs(type->pattern ? ", \"pattern\": " : "", out);
        if (type->pattern)
            write_string(out, type->pattern, NULL);
    } else {
        fprintf(out, "\"const\": %s", is == TKI_IS_TRUE ? "true" : "false");
    }
}

static void write_types(FILE *out)
{
    for (const tki_value_type *t = tki_value_types; t->name; t++) {
        const char *separator = ", \"anyOf\": [ { ";
        fprintf(out, "%s\"%s\": { \"description\": ", t > tki_value_types ? ",\n    " : "", t->name);
        write_string(out, t->says, NULL);
        for (unsigned is = TKI_IS_INTEGER; is <= TKI_IS_FALSE; is *= 2)
            if (t->is & is) {
                fputs(separator, out);
                write_alternative(out, t, is);
                separator = " }, { ";
            }
        if (t->words) {
            fprintf(out, "%s\"enum\": [", separator);
            write_string(out, t->words, "\", \"");
            fputc(']', out);
        }
        fputs(" } ] }", out);
    }
}

void generate_schema(FILE *out)
{
    static const char members[] = "\"@members\": \"", objects[] = "\"@objects\": {}", kinds[] = "\"@kinds\"",
                      most_clauses[] = "\"@most_clauses\"", types[] = "\"@types\": {}";
    static char template[1 << 16], in[PATH];
    template[fread(template, 1, sizeof template - 1, stdin)] = 0;
    for (const char *at = template; *at;) {
        if (!strncmp(at, members, strlen(members))) {
            at += strlen(members);
            snprintf(in, sizeof in, "%.*s", (int)strcspn(at, "\""), at);
            at += strlen(in) + 1;
            write_members(out, in);
        } else if (!strncmp(at, objects, strlen(objects))) {
            at += strlen(objects);
            write_objects(out, template);
        } else if (!strncmp(at, types, strlen(types))) {
            at += strlen(types);
            write_types(out);
        } else if (!strncmp(at, kinds, strlen(kinds))) {
            at += strlen(kinds);
            for (int kind = 0; tki_member_kinds[kind]; kind++) {
                fprintf(out, "%s{ \"if\": { \"properties\": { \"run\": { \"properties\": { \"kind\": { ",
                        kind ? ",\n        " : "");
                fprintf(out, "\"const\": \"%s\" } } } } }, \"then\": { ", tki_member_kinds[kind]);
                write_kind(out, "", kind);
                fputs(" } }", out);
            }
        } else if (!strncmp(at, most_clauses, strlen(most_clauses))) {
            at += strlen(most_clauses);
            fprintf(out, "%d", TK_MAX_CLAUSES);
        } else {
            fputc(*at++, out);
        }
    }
}

void generate_member_page(FILE *out)
{
    fputs("# Members of certificates\n\nMade from src/certify/member_table.c. docs/certificate.md explains them.\n",
          out);
    for (const tki_member *first = tki_members; first->name; first++) {
        if (!is_first(first))
            continue;
        fprintf(out, "\n## %s\n\n| member | type | in certificates | |\n|---|---|---|---|\n",
                first->in[0] ? first->in : "The predicate");
        for (const tki_member *m = first; m->name; m++) {
            if (strcmp(m->in, first->in) != 0)
                continue;
            fprintf(out, "| `%s` | ", m->name);
            write_string(out, m->type, "\", \"");
            fputs(m->how & TKI_SINCE_1 ? " | all" : m->how & TKI_SINCE_2 ? " | all since v2" : " | some", out);
            for (int kind = 0; m->kinds && tki_member_kinds[kind]; kind++)
                fprintf(out, "%s%s", tki_member_is_of(m, kind) ? " " : "",
                        tki_member_is_of(m, kind) ? tki_member_kinds[kind] : "");
            fprintf(out, " | %s |\n", m->says);
        }
    }
}
