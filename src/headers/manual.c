/* tokitai.1: the manual page as it comes by standard input, with the types and attributes of the contracts where its comments ask for them. */
#include <ctype.h>
#include <string.h>

#include "headers/headers.h"
#include "model/case.h"

enum { LINE = 4096 };

/* The first op that has an attribute of that name, and how many ops have it. */
static int count_ops(const char *name, int *first)
{
    int count = 0;
    const tk_contract *contract;
    for (int i = 0; (contract = generate_contract_at(i)); i++)
        if (tk_attribute_find(contract, name) >= 0 && !count++)
            *first = i;
    return count;
}

/* The i-th attribute that an option sets, each name once; NULL past the end. */
static const tk_attribute *attribute_at(int number)
{
    const tk_contract *contract;
    for (int op = 0; (contract = generate_contract_at(op)); op++)
        for (int i = 0; i < contract->attribute_count; i++) {
            int first = 0;
            count_ops(contract->attributes[i].name, &first);
            if (first == op && !contract->attributes[i].from_device && !number--)
                return &contract->attributes[i];
        }
    return NULL;
}

/* "Fl -label-smoothing Ar number" */
static void write_option(FILE *out, const tk_attribute *attribute)
{
    fputs("Fl -", out);
    for (const char *c = attribute->name; *c; c++)
        fputc(*c == '_' ? '-' : *c, out);
    fprintf(out, " Ar %s\n", attribute->type == TK_ATTRIBUTE_CHOICE ? "name" : "number");
}

/* A minus sign is written so that it can be copied. */
static void write_text(FILE *out, const char *text)
{
    for (; *text; text++) {
        if (*text == '-')
            fputc('\\', out);
        fputc(*text, out);
    }
}

/* False where all ops have it. */
static bool write_ops(FILE *out, const char *name)
{
    const tk_contract *contract;
    int first = 0, total = 0;
    while (generate_contract_at(total))
        total++;
    const int count = count_ops(name, &first);
    if (count == total)
        return false;
    fputs("Of\n.Cm", out);
    for (int i = 0, left = count; (contract = generate_contract_at(i)); i++)
        if (tk_attribute_find(contract, name) >= 0)
            fprintf(out, " %s%s", contract->name, --left ? " ," : "");
    fputs(" :\n", out);
    return true;
}

/* "From 0 to 1; the default is 0." */
static void write_range(FILE *out, const tk_attribute *attribute)
{
    char initial[32], least[32], most[32];
    const bool any = attribute->type == TK_ATTRIBUTE_REAL ? attribute->least.real == -0x1.fffffep127
                                                          : attribute->least.integer == INT64_MIN;
    tk_attribute_print(attribute, attribute->initial, initial, sizeof initial);
    tk_attribute_print(attribute, attribute->least, least, sizeof least);
    tk_attribute_print(attribute, attribute->most, most, sizeof most);
    if (!any) {
        fputs("From ", out);
        write_text(out, least);
        fputs(" to ", out);
        write_text(out, most);
        fputs(".\n", out);
    }
    fputs("The default is ", out);
    write_text(out, initial);
    fputs(".\n", out);
}

static void write_attribute(FILE *out, const tk_attribute *attribute)
{
    fputs(".It ", out);
    write_option(out, attribute);
    const char *text = attribute->text;
    if (!write_ops(out, attribute->name))
        fputc(toupper((unsigned char)*text++), out);
    write_text(out, text);
    fputs(".\n", out);
    for (int i = 0; i < attribute->choice_count; i++) {
        const bool is_default = i == attribute->initial.integer;
        fprintf(out, ".Cm %s %s\n%s", attribute->choices[i].id, is_default ? "," : ":",
                is_default ? "the default: " : "");
        write_text(out, attribute->choices[i].text);
        fputs(".\n", out);
    }
    if (attribute->type != TK_ATTRIBUTE_CHOICE)
        write_range(out, attribute);
}

static void write_attributes(FILE *out, bool seen_by_kernel)
{
    const tk_attribute *attribute;
    for (int i = 0; (attribute = attribute_at(i)); i++)
        if (attribute->seen_by_kernel == seen_by_kernel)
            write_attribute(out, attribute);
}

static void write_synopsis(FILE *out)
{
    const tk_attribute *attribute;
    for (int i = 0; (attribute = attribute_at(i)); i++) {
        fputs(".Op ", out);
        write_option(out, attribute);
    }
}

static bool takes(const tk_contract *contract, tk_types types)
{
    for (int i = 0; i < contract->type_count; i++)
        if (contract->types[i].dtype == types.dtype && contract->types[i].result_dtype == types.result_dtype)
            return true;
    return false;
}

/* Each once. */
static void write_types(FILE *out)
{
    const tk_contract *contract;
    for (int op = 0; (contract = generate_contract_at(op)); op++)
        for (int i = 0; i < contract->type_count; i++) {
            char name[32];
            bool again = false;
            for (int earlier = 0; earlier < op; earlier++)
                again |= takes(generate_contract_at(earlier), contract->types[i]);
            tk_types_name(contract->types[i], name, sizeof name);
            if (!again)
                fprintf(out, ".Cm %s ,\n", name);
        }
}

void generate_manual(FILE *out)
{
    char line[LINE];
    while (fgets(line, sizeof line, stdin)) {
        if (!strcmp(line, ".\\\" synopsis of the attributes\n"))
            write_synopsis(out);
        else if (!strcmp(line, ".\\\" attributes of certificates\n"))
            write_attributes(out, false);
        else if (!strcmp(line, ".\\\" attributes of trials\n"))
            write_attributes(out, true);
        else if (!strcmp(line, ".\\\" types\n"))
            write_types(out);
        else
            fputs(line, out);
    }
}
