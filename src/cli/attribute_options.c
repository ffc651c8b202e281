#include "cli/attribute_options.h"

#include <stdio.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/common_arguments.h"

enum { NAME_SIZE = 48, HELP_SIZE = 512 };

/* One option for each name, however many ops have an attribute of that name. */
static struct argp_option options[TK_MAX_ATTRIBUTES + 1];
static const char *attributes[TK_MAX_ATTRIBUTES];
static char option_names[TK_MAX_ATTRIBUTES][NAME_SIZE];
static char help[TK_MAX_ATTRIBUTES][HELP_SIZE];

void cli_attribute_option(const char *attribute, char *text, size_t size)
{
    snprintf(text, size, "%s", attribute);
    for (char *c = text; *c; c++)
        if (*c == '_')
            *c = '-';
}

/* "ieee, tensor_core or any (the default): whose arithmetic ..." */
static void write_help(const tk_attribute *attribute, char *text)
{
    size_t length = 0;
    for (int i = 0; i < attribute->choice_count && length < HELP_SIZE; i++)
        length += (size_t)snprintf(text + length, HELP_SIZE - length, "%s%s%s",
                                   i == 0                             ? ""
                                   : i == attribute->choice_count - 1 ? " or "
                                                                      : ", ",
                                   attribute->choices[i].id, i == attribute->initial.integer ? " (the default)" : "");
    if (length < HELP_SIZE)
        snprintf(text + length, HELP_SIZE - length, "%s%s", length ? ": " : "", attribute->text);
}

static bool is_listed(const char *name, int count)
{
    for (int i = 0; i < count; i++)
        if (!strcmp(attributes[i], name))
            return true;
    return false;
}

static void add(const tk_attribute *attribute, int *count)
{
    if (attribute->from_device || *count == TK_MAX_ATTRIBUTES || is_listed(attribute->name, *count))
        return;
    const int i = (*count)++;
    attributes[i] = attribute->name;
    cli_attribute_option(attribute->name, option_names[i], NAME_SIZE);
    write_help(attribute, help[i]);
    options[i] = (struct argp_option){.name = option_names[i],
                                      .key = CLI_ATTRIBUTE_KEYS + i,
                                      .arg = attribute->type == TK_ATTRIBUTE_CHOICE ? "NAME" : "NUMBER",
                                      .doc = help[i]};
}

static error_t parse_option(int key, char *argument, struct argp_state *state)
{
    cli_attributes *a = state->input;
    const int i = key - CLI_ATTRIBUTE_KEYS;
    if (i < 0 || i >= TK_MAX_ATTRIBUTES || !attributes[i])
        return ARGP_ERR_UNKNOWN;
    for (int k = 0; k < a->count; k++)
        if (a->given[k].attribute == attributes[i])
            argp_error(state, "--%s is given twice", option_names[i]);
    if (a->count < TK_MAX_ATTRIBUTES)
        a->given[a->count++] = (tk_setting){attributes[i], argument};
    return 0;
}

const struct argp *cli_attributes_parser(void)
{
    static const struct argp parser = {.options = options, .parser = parse_option};
    int count = 0;
    for (int op = 0; op < tk_contract_count(); op++)
        for (int i = 0; i < tk_contract_at(op)->attribute_count; i++)
            add(&tk_contract_at(op)->attributes[i], &count);
    return &parser;
}

static bool complain_number(const char *who, const tk_attribute *attribute, const char *value)
{
    char option[NAME_SIZE], least[32], most[32];
    const bool any = attribute->type == TK_ATTRIBUTE_REAL ? attribute->least.real == -0x1.fffffep127
                                                          : attribute->least.integer == INT64_MIN;
    cli_attribute_option(attribute->name, option, sizeof option);
    tk_attribute_print(attribute, attribute->least, least, sizeof least);
    tk_attribute_print(attribute, attribute->most, most, sizeof most);
    if (!any)
        cli_complain(who, "--%s '%.80s' is not a number from %s to %s", option, value, least, most);
    else
        cli_complain(who, "--%s '%.80s' is not a %s number", option, value,
                     attribute->type == TK_ATTRIBUTE_REAL ? "finite" : "64-bit");
    return false;
}

static bool check_value(const char *who, const tk_attribute *attribute, const char *value)
{
    const char *names[TK_MAX_CHOICES];
    tk_value parsed;
    if (tk_attribute_parse(attribute, value, &parsed))
        return true;
    if (attribute->type != TK_ATTRIBUTE_CHOICE)
        return complain_number(who, attribute, value);
    for (int i = 0; i < attribute->choice_count; i++)
        names[i] = attribute->choices[i].id;
    cli_complain_unknown(who, attribute->name, value, names, attribute->choice_count);
    return false;
}

const tk_attribute *cli_setting_fit(const char *who, const tk_setting *setting, const tk_contract *const ops[],
                                    int count, bool named)
{
    char option[NAME_SIZE];
    const tk_attribute *attribute = NULL, *found;
    const char *without = NULL;
    cli_attribute_option(setting->attribute, option, sizeof option);
    for (int i = 0; i < count; i++) {
        const int place = tk_attribute_find(ops[i], setting->attribute);
        found = place >= 0 ? &ops[i]->attributes[place] : NULL;
        attribute = found ? found : attribute;
        without = found ? without : ops[i]->name;
    }
    if (without && (named || !attribute || attribute->seen_by_kernel)) {
        cli_complain(who, named ? "%s does not take --%s" : "%s, for one, does not take --%s: name the ops", without,
                     option);
        return NULL;
    }
    return attribute && check_value(who, attribute, setting->value) ? attribute : NULL;
}

void cli_settings_apply(const tk_setting *settings, int count, tk_case *c)
{
    for (int i = 0; i < count; i++) {
        const int found = tk_attribute_find(c->contract, settings[i].attribute);
        if (found >= 0)
            (void)tk_attribute_parse(&c->contract->attributes[found], settings[i].value, &c->attributes[found]);
    }
}
