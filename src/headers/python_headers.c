/* SHOWS. _headers.py: the public headers for Python's ctypes: the constants of enums, and the names of those that count from 0; structs and types
 * of functions by their C names; the functions, each with its library; the table of formats.
 *
 * It reads the C that the headers are written in: enums, structs and unions, pointers to functions, declarations. Anything else ends the
 * build. A pointer to void, or to a struct without members here, is a c_void_p. Text is a c_char_p, unless it is to be freed: what is not
 * const, and returned or written through a pointer, is a c_void_p, and so is what a Python function returns. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "headers/headers.h"
#include "model/format.h"

enum { MOST_HEADERS = 16, WORD = 64 };

typedef struct reader {
    char *texts[MOST_HEADERS];
    int count;
    const char *library;
    generate_place place;
    const char *at;     /* behind the word */
    char word[WORD];    /* "" at the end */
    FILE *names, *uses; /* all structs are named before one is used */
} reader;

typedef struct type {
    char base[WORD];
    bool is_const, is_struct;
    int stars;
    bool const_pointer; /* the first star is const */
} type;

typedef enum place_of_type { MEMBER, ARGUMENT, RESULT, CALLBACK_RESULT } place_of_type;

/* -- Words --------------------------------------------------------------------------------------------------- */

/* Blanks, a comment or a directive, to which what is for C++ belongs. */
static size_t length_between(const char *at)
{
    static const char for_others[] = "#ifdef __cplusplus\n";
    const char *end = strncmp(at, "/*", 2) ? NULL : strstr(at, "*/");
    if (end)
        return (size_t)(end - at) + 2;
    end = strncmp(at, for_others, sizeof for_others - 1) ? NULL : strstr(at, "\n#endif");
    if (end)
        return (size_t)(end - at) + 1;
    size_t length = *at == '#' ? strcspn(at, "\n") : strspn(at, " \n");
    while (*at == '#' && at[length] && at[length - 1] == '\\')
        length += 1 + strcspn(at + length + 1, "\n");
    return length;
}

static void next(reader *r)
{
    for (size_t length; (length = length_between(r->at)) > 0;)
        for (; length; length--)
            r->place.line += *r->at++ == '\n';
    size_t length = 0;
    while (isalnum((unsigned char)r->at[length]) || r->at[length] == '_')
        length++;
    length += !length && *r->at;
    if (length >= WORD)
        generate_refuse(r->place, "a word is too long");
    snprintf(r->word, WORD, "%.*s", (int)length, r->at);
    r->at += length;
}

static bool take(reader *r, const char *word)
{
    const bool is_it = !strcmp(r->word, word);
    if (is_it)
        next(r);
    return is_it;
}

static void expect(reader *r, const char *word)
{
    if (!take(r, word))
        generate_refuse(r->place, "'%s' where '%s' belongs", r->word, word);
}

static void take_name(reader *r, char name[WORD])
{
    if (!isalpha((unsigned char)*r->word))
        generate_refuse(r->place, "'%s' where a name belongs", r->word);
    memcpy(name, r->word, WORD);
    next(r);
}

/* -- Types --------------------------------------------------------------------------------------------------- */

static bool is_declared(const reader *r, const char *before, const char *name, const char *behind)
{
    char text[2 * WORD + 32];
    snprintf(text, sizeof text, "%s%s%s", before, name, behind);
    for (int i = 0; i < r->count; i++)
        if (strstr(r->texts[i], text))
            return true;
    return false;
}

/* What ctypes calls it; "None": void, and what has no members here. */
static const char *base_name(const reader *r, const type *t)
{
    static const char *const known[][2] = {{"char", "c_char"},       {"int", "c_int"},       {"unsigned", "c_uint"},
                                           {"double", "c_double"},   {"bool", "c_bool"},     {"int64_t", "c_int64"},
                                           {"uint64_t", "c_uint64"}, {"size_t", "c_size_t"}, {"void", "None"}};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (!strcmp(t->base, known[i][0]))
            return known[i][1];
    if (is_declared(r, "typedef enum ", t->base, " {"))
        return "c_int";
    if (is_declared(r, "typedef struct ", t->base, " {") || is_declared(r, "typedef union ", t->base, " {") ||
        is_declared(r, "(*", t->base, ")("))
        return t->base;
    if (!t->is_struct && !is_declared(r, "typedef struct ", t->base, " "))
        generate_refuse(r->place, "there is no type %s", t->base);
    return "None";
}

static void write_type(const reader *r, const type *t, place_of_type place)
{
    const char *name = base_name(r, t);
    const bool is_text = !strcmp(name, "c_char"), is_nothing = !strcmp(name, "None");
    const bool is_freed = !t->is_const && !t->const_pointer && (place == RESULT || t->stars > 1);
    int stars = t->stars;
    if (is_nothing && !stars && place < RESULT)
        generate_refuse(r->place, "%s has no members here", t->base);
    if (stars && (is_text || is_nothing)) {
        name = is_text && !is_freed && place != CALLBACK_RESULT ? "c_char_p" : "c_void_p";
        stars--;
    }
    for (int i = 0; i < stars; i++)
        fputs("POINTER(", r->uses);
    fputs(name, r->uses);
    for (int i = 0; i < stars; i++)
        fputc(')', r->uses);
}

static void read_stars(reader *r, type *t)
{
    t->const_pointer = false;
    for (t->stars = 0; take(r, "*"); t->stars++)
        t->const_pointer |= take(r, "const") && !t->stars;
}

static void read_type(reader *r, type *t)
{
    t->is_const = take(r, "const");
    t->is_struct = take(r, "struct");
    take_name(r, t->base);
    read_stars(r, t);
}

/* From "(" on. */
static void read_arguments(reader *r)
{
    type t;
    char name[WORD];
    expect(r, "(");
    do {
        read_type(r, &t);
        if (!strcmp(t.base, "void") && !t.stars)
            break; /* it takes none */
        take_name(r, name);
        if (take(r, "[")) {
            t.stars++;
            expect(r, "]");
        }
        write_type(r, &t, ARGUMENT);
        fputs(", ", r->uses);
    } while (take(r, ","));
    expect(r, ")");
    fputs(")", r->uses);
}

/* -- Declarations -------------------------------------------------------------------------------------------- */

/* "*name)(...)". The form has a place for the name. */
static void read_function_type(reader *r, const type *result, const char *before, const char *behind)
{
    char name[WORD];
    expect(r, "*");
    take_name(r, name);
    expect(r, ")");
    fprintf(r->uses, "%s%s%sCFUNCTYPE(", before, name, behind);
    write_type(r, result, CALLBACK_RESULT);
    fputs(", ", r->uses);
    read_arguments(r);
}

/* From "{" on. A type counts from 0, so that a value is a position among its names. */
static void read_constants(reader *r, const char *type_name)
{
    char name[WORD], value[WORD + 8] = "0";
    fprintf(r->uses, "%s%s", type_name ? type_name : "", type_name ? "_names = names_of(" : "");
    expect(r, "{");
    do {
        take_name(r, name);
        fprintf(r->names, "%s = ", name);
        if (!take(r, "="))
            fputs(value, r->names);
        else if (type_name && (strcmp(value, "0") != 0 || strcmp(r->word, "0") != 0))
            generate_refuse(r->place, "%s does not count from 0", type_name);
        for (; isdigit((unsigned char)*r->word) || *r->word == '<'; next(r))
            fputs(r->word, r->names);
        fputs("\n", r->names);
        if (type_name)
            fprintf(r->uses, "\"%s\", ", name);
        snprintf(value, sizeof value, "%s + 1", name);
    } while (take(r, ","));
    expect(r, "}");
    fputs(type_name ? ")\n" : "", r->uses);
}

static void read_member(reader *r, type *t)
{
    char name[WORD];
    if (take(r, "("))
        read_function_type(r, t, "    (\"", "\", ");
    else {
        take_name(r, name);
        fprintf(r->uses, "    (\"%s\", ", name);
        write_type(r, t, MEMBER);
        if (take(r, "[")) {
            if (!isdigit((unsigned char)*r->word) && !is_declared(r, " ", r->word, " = "))
                generate_refuse(r->place, "there is no constant %s", r->word);
            fprintf(r->uses, " * %s", r->word);
            next(r);
            expect(r, "]");
        }
    }
    fputs("),\n", r->uses);
}

static void read_members(reader *r, const char *name, const char *kind)
{
    fprintf(r->names, "class %s(%s):\n    pass\n", name, kind);
    fprintf(r->uses, "%s._fields_ = [\n", name);
    for (expect(r, "{"); !take(r, "}"); expect(r, ";")) {
        type t;
        read_type(r, &t);
        read_member(r, &t);
        for (; take(r, ","); read_member(r, &t))
            read_stars(r, &t);
    }
    fputs("]\n", r->uses);
}

static void read_typedef(reader *r)
{
    char name[WORD];
    type t;
    const bool is_enum = take(r, "enum"), is_union = take(r, "union"), is_struct = take(r, "struct");
    if (!is_enum && !is_union && !is_struct) {
        read_type(r, &t);
        expect(r, "(");
        read_function_type(r, &t, "", " = ");
        fputs("\n", r->uses);
        return;
    }
    take_name(r, name);
    if (is_enum)
        read_constants(r, name);
    else if (is_union || strcmp(r->word, name) != 0)
        read_members(r, name, is_union ? "Union" : "Structure");
    expect(r, name);
}

static void read_declaration(reader *r)
{
    char name[WORD];
    type t;
    const bool is_data = take(r, "extern");
    take(r, "TK_MUST_USE");
    read_type(r, &t);
    if (t.is_struct && !t.stars && !strcmp(r->word, ";"))
        return; /* "struct tk_case;" */
    take_name(r, name);
    while (is_data && *r->word && strcmp(r->word, ";") != 0)
        next(r); /* Python has no use for it */
    if (is_data)
        return;
    fprintf(r->uses, "FUNCTIONS[\"%s\"] = (\"%s\", ", name, r->library);
    write_type(r, &t, RESULT);
    fputs(", (", r->uses);
    read_arguments(r);
    fputs(")\n", r->uses);
}

static void read_header(reader *r, const char *path)
{
    r->place = (generate_place){path, 1};
    r->at = r->texts[r->count++] = generate_read(path);
    for (next(r); *r->word; expect(r, ";")) {
        if (take(r, "typedef"))
            read_typedef(r);
        else if (take(r, "enum"))
            read_constants(r, NULL);
        else
            read_declaration(r);
    }
}

/* The facts of model/format.h, by name, in the order of tk_dtype. */
static void write_formats(FILE *out)
{
    static const char *const numbers[] = {"floating", "signed", "unsigned", "complex"};
    fputs("class Format(NamedTuple):\n    number: str\n    bits: int\n    precision: int\n    exponent_min: int\n"
          "    sign: int\n    largest: int\n    infinity: int\n    nan: int\n"
          "FORMATS = {\n",
          out);
    for (tk_dtype dtype = 0; tki_is_dtype(dtype); dtype++) {
        const tki_format f = tki_format_of(dtype);
        fprintf(out, "    \"%s\": Format(\"%s\", %d, %d, %d, %#x, %#x, %#x, %#x),\n", f.name, numbers[f.number],
                f.bits, f.precision, f.exponent_min, f.sign, f.largest, f.infinity, f.nan);
    }
    fputs("}\n", out);
}

void generate_python(FILE *out)
{
    char *uses = NULL;
    size_t bytes;
    reader r = {.names = out, .uses = open_memstream(&uses, &bytes)};
    if (!r.uses)
        generate_refuse((generate_place){"_headers.py", 0}, "no memory");
    fputs("\"\"\"Made from the public headers when Tokitai is built. headers/python_headers.c says what is "
          "what.\"\"\"\n"
          "from ctypes import CFUNCTYPE, POINTER, Structure, Union, c_bool, c_char, c_char_p, c_double, c_int, "
          "c_int64\n"
          "from ctypes import c_size_t, c_uint, c_uint64, c_void_p\n"
          "from os.path import commonprefix\n"
          "from typing import Any, NamedTuple\n"
          "def names_of(*constants: str) -> tuple[str, ...]:\n"
          "    common = len(commonprefix(constants).rpartition(\"_\")[0]) + 1\n"
          "    return tuple(name[common:].lower() for name in constants)\n"
          "# By name: the library, the result, the arguments.\n"
          "FUNCTIONS: dict[str, tuple[str, Any, tuple[Any, ...]]] = {}\n",
          out);
    write_formats(out);
    for (char **input = generate_inputs; *input; input++) {
        if (strstr(*input, ".so"))
            r.library = *input;
        else if (!r.library || r.count == MOST_HEADERS)
            generate_refuse((generate_place){*input, 0}, "of no library, or too many");
        else
            read_header(&r, *input);
    }
    if (fclose(r.uses) != 0)
        generate_refuse((generate_place){"_headers.py", 0}, "no memory");
    fputs(uses, out);
    free(uses);
    while (r.count)
        free(r.texts[--r.count]);
}
