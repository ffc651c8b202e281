/* RECORDS. proofs.c: the texts of proofs/, and the one list of marked theorems, each with the clauses that it supports. A mark is
 *
 *     (* supports: GEMM.ERR EMBEDDING_BWD.ERR *)
 *     (* says: Any order of n fp32 additions is within (n-1) u times the sum of absolute values. *)
 *     Theorem any_order : ...
 *
 * A mark in any other form, one without a theorem below it, and a clause that no contract has end the build. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "headers/headers.h"
#include "model/made_op.h"

enum { MOST_FILES = 128, MOST_IMPORTS = 128 };

/* What theorems are about and no clause of a contract is. */
static const struct {
    const char *id, *what;
} topics[] = {
    {"ACCEPTANCE", "the rule that decides every element that has a bound"},
    {"TILING", "the index maps of kernels"},
    {"GLUE.UNIQUE", "boxes that are glued to one tensor"},
};

typedef struct source {
    const char *path;
    const char *name; /* "sums.v", in the path */
    char *text;
} source;

typedef struct sources {
    source list[MOST_FILES];
    int count;
} sources;

static bool ends_with(const char *text, const char *end)
{
    const size_t length = strlen(text), least = strlen(end);
    return length >= least && !strcmp(text + length - least, end);
}

/* Numbered as in the list, -1 if there is none. */
static int find_source(const sources *all, const char *name, size_t length)
{
    for (int i = 0; i < all->count; i++)
        if (!strncmp(all->list[i].name, name, length) && !strcmp(all->list[i].name + length, ".v"))
            return i;
    return -1;
}

/* A line's end, or that of the text. */
static const char *end_of_line(const char *at)
{
    const char *end = strchr(at, '\n');
    return end ? end : at + strlen(at);
}

/* -- Strings ------------------------------------------------------------------------------------------------- */

static void write_string(FILE *out, const char *text, size_t length)
{
    fputc('"', out);
    for (size_t i = 0; i < length; i++) {
        const unsigned char c = (unsigned char)text[i];
        if (c == '"' || c == '\\')
            fprintf(out, "\\%c", c);
        else if (c == '\n')
            fputs("\\n", out);
        else if (c == '?' || c < ' ' || c > '~') /* no trigraphs; octal ends after three digits */
            fprintf(out, "\\%03o", c);
        else
            fputc(c, out);
    }
    fputc('"', out);
}

static void write_text(FILE *out, const char *name, int number, const source *s)
{
    fprintf(out, "\nstatic const char %s_%d[] =\n", name, number);
    for (const char *line = s->text; *line;) {
        const char *end = end_of_line(line);
        end += *end == '\n';
        fputs("    ", out);
        write_string(out, line, (size_t)(end - line));
        fputc('\n', out);
        line = end;
    }
    fputs("    \"\";\n", out);
}

/* -- Imports ------------------------------------------------------------------------------------------------- */

/* A file and all that it imports of ours, directly or not, each once, in the order in which they are met. */
static void add_imports(const sources *all, int number, int list[MOST_IMPORTS], int *count)
{
    static const char import[] = "From Tokitai Require";
    for (int i = 0; i < *count; i++)
        if (list[i] == number)
            return;
    if (*count == MOST_IMPORTS)
        generate_refuse((generate_place){all->list[number].path, 0}, "too many imports");
    list[(*count)++] = number;
    const source *s = &all->list[number];
    int line = 0;
    for (const char *at = s->text; *at; at = end_of_line(at), at += *at == '\n') {
        line++;
        if (strncmp(at, import, sizeof import - 1) != 0)
            continue;
        const char *end = end_of_line(at);
        if (end == at || end[-1] != '.')
            generate_refuse((generate_place){s->path, line}, "an import of ours has to be one line");
        for (const char *word = at + sizeof import - 1; word < end;) {
            word += strspn(word, " ");
            const size_t length = strcspn(word, " .\n");
            const int imported = find_source(all, word, length);
            const bool keyword = !strncmp(word, "Import", 6) || !strncmp(word, "Export", 6);
            if (length && imported >= 0)
                add_imports(all, imported, list, count);
            else if (length && !keyword)
                generate_refuse((generate_place){s->path, line}, "imports %.*s, which is nowhere", (int)length, word);
            word += length + (word[length] == '.');
        }
    }
}

static void write_imports(FILE *out, const sources *all, int number)
{
    int list[MOST_IMPORTS], count = 0;
    add_imports(all, number, list, &count);
    fprintf(out, "static const int parts_%d[] = {", number);
    for (int i = 0; i < count; i++)
        fprintf(out, "%d, ", list[i]);
    fputs("-1};\n", out);
}

/* -- Marks --------------------------------------------------------------------------------------------------- */

static bool is_known(const char *id, size_t length)
{
    const tk_contract *contract;
    for (size_t i = 0; i < sizeof topics / sizeof *topics; i++)
        if (strlen(topics[i].id) == length && !strncmp(topics[i].id, id, length))
            return true;
    tki_clauses all;
    for (int op = 0; (contract = generate_contract_at(op)) && tki_clauses_of(contract, &all); op++)
        for (int i = 0; i < all.count; i++)
            if (strlen(all.list[i].id) == length && !strncmp(all.list[i].id, id, length))
                return true;
    return false;
}

/* The text between `begin` and " *)" if the line is such a comment, else NULL. */
static const char *comment(const char *line, const char *begin, size_t *length)
{
    const char *end = end_of_line(line);
    const size_t least = strlen(begin);
    if (strncmp(line, begin, least) != 0)
        return NULL;
    const char *text = line + least;
    if (end - text < 4 || strncmp(end - 3, " *)", 3) != 0 || *text == ' ' || end[-4] == ' ')
        return NULL;
    *length = (size_t)(end - 3 - text);
    return memchr(text, '*', *length) && strstr(text, "*)") < end - 2 ? NULL : text;
}

static void check_supports(generate_place at, const char *ids, size_t length)
{
    for (const char *id = ids; id < ids + length;) {
        size_t own = 0;
        while (id + own < ids + length && id[own] != ' ')
            own++;
        if (!own)
            generate_refuse(at, "a malformed mark: clauses are separated by one blank");
        if (!is_known(id, own))
            generate_refuse(at, "supports %.*s, which no contract has", (int)own, id);
        id += own + 1;
    }
}

/* From "Theorem" to the line before "Proof", which begins a line. */
static size_t statement_length(generate_place at, const char *theorem)
{
    const char *end = theorem;
    do {
        end = end_of_line(end);
        if (!*end)
            generate_refuse(at, "no line below this theorem begins with Proof");
        end++;
    } while (strncmp(end, "Proof", 5) != 0 && *end != '\n');
    if (*end == '\n')
        generate_refuse(at, "no line below this theorem begins with Proof");
    return (size_t)(end - 1 - theorem);
}

static bool speaks_of_a_mark(const char *line)
{
    const char *end = end_of_line(line);
    const char *begin = strstr(line, "(*");
    if (!begin || begin >= end)
        return false;
    begin += 2;
    begin += strspn(begin, " *\t");
    return !strncmp(begin, "supports", 8) || !strncmp(begin, "says", 4);
}

static void write_theorem(FILE *out, generate_place at, int file, const char *marks[2], const size_t lengths[2],
                          const char *theorem)
{
    static const char keyword[] = "Theorem ";
    const char *name = theorem + sizeof keyword - 1;
    size_t length = 0;
    while (isalnum((unsigned char)name[length]) || name[length] == '_' || name[length] == '\'')
        length++;
    if (strncmp(theorem, keyword, sizeof keyword - 1) != 0 || !length)
        generate_refuse(at, "a mark without a theorem directly below it");
    fprintf(out, "    {%d, ", file);
    write_string(out, name, length);
    for (int i = 0; i < 2; i++) {
        fputs(",\n     ", out);
        write_string(out, marks[i], lengths[i]);
    }
    fputs(",\n     ", out);
    write_string(out, theorem, statement_length(at, theorem));
    fputs("},\n", out);
}

static void write_theorems(FILE *out, const source *s, int file)
{
    static const char *const begins[] = {"(* supports: ", "(* says: "};
    const char *marks[2] = {NULL, NULL};
    size_t lengths[2] = {0, 0};
    int found = 0, line = 0;
    for (const char *at = s->text; *at || found; at = end_of_line(at), at += *at == '\n') {
        const generate_place here = {s->path, ++line};
        if (found == 2) {
            write_theorem(out, here, file, marks, lengths, at);
            found = 0;
            continue;
        }
        marks[found] = comment(at, begins[found], &lengths[found]);
        if (!marks[found] && (found || speaks_of_a_mark(at)))
            generate_refuse(here, "a malformed mark: a line '%s... *)' belongs here", begins[found]);
        if (!marks[found])
            continue;
        if (!found)
            check_supports(here, marks[0], lengths[0]);
        found++;
    }
}

/* -- The file ------------------------------------------------------------------------------------------------ */

/* A name to a line, behind which and between which there may be remarks with #. */
static void write_axioms(FILE *out, const source *s)
{
    fputs("\nconst char *const tki_axioms[] = {\n", out);
    for (const char *at = s->text; *at; at = end_of_line(at), at += *at == '\n') {
        const size_t length = strcspn(at, " \t#\n");
        if (!length)
            continue;
        fputs("    ", out);
        write_string(out, at, length);
        fputs(",\n", out);
    }
    fputs("    NULL,\n};\n", out);
}

void generate_proofs(FILE *out)
{
    sources all = {.count = 0};
    source axioms = {.text = NULL};
    for (char **path = generate_inputs; *path; path++) {
        if (all.count == MOST_FILES)
            generate_refuse((generate_place){*path, 0}, "too many files");
        const char *slash = strrchr(*path, '/');
        *(ends_with(*path, ".v") ? &all.list[all.count++] : &axioms) = (source){
            .path = *path, .name = slash ? slash + 1 : *path, .text = generate_read(*path)};
    }
    if (!axioms.text || !all.count)
        generate_refuse((generate_place){"axioms.txt", 0}, "no list of axioms, or no proofs");
    fputs("/* Generated by tokitai-generate from proofs/ and the contracts. */\n#include \"certify/proofs.h\"\n",
          out);
    for (int i = 0; i < all.count; i++)
        write_text(out, "text", i, &all.list[i]);
    fputc('\n', out);
    for (int i = 0; i < all.count; i++)
        write_imports(out, &all, i);
    fputs("\nconst tki_proof_file tki_proof_files[] = {\n", out);
    for (int i = 0; i < all.count; i++)
        fprintf(out, "    {\"proofs/%s\", text_%d, sizeof text_%d - 1, parts_%d},\n", all.list[i].name, i, i, i);
    fputs("    {0},\n};\n\nconst tki_theorem tki_theorems[] = {\n", out);
    for (int i = 0; i < all.count; i++)
        write_theorems(out, &all.list[i], i);
    fputs("    {0},\n};\n", out);
    write_axioms(out, &axioms);
    fputs("\nconst tki_proof_topic tki_proof_topics[] = {\n", out);
    for (size_t i = 0; i < sizeof topics / sizeof *topics; i++)
        fprintf(out, "    {\"%s\", \"%s\"},\n", topics[i].id, topics[i].what);
    fputs("    {0},\n};\n", out);
    for (int i = 0; i < all.count; i++)
        free(all.list[i].text);
    free(axioms.text);
}
