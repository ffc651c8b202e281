/* SHOWS. Attributes of contracts as options. */
#include "cli/attribute_options.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/common_arguments.h"

enum { HELP_SIZE = 512, MOST = 2 * TK_MAX_ATTRIBUTES };

static cli_option options[MOST + 1];
static const tk_attribute *attributes[MOST];
static char names[MOST][CLI_ATTRIBUTE_NAME], choices[MOST][HELP_SIZE], help[MOST][HELP_SIZE];

void cli_attribute_option(const char *attribute, char name[CLI_ATTRIBUTE_NAME])
{
    snprintf(name, CLI_ATTRIBUTE_NAME, "%s", attribute);
    for (char *c = name; *c; c++)
        if (*c == '_')
            *c = '-';
}

static bool has_range(const tk_attribute *attribute)
{
    return attribute->type == TK_ATTRIBUTE_REAL ? attribute->least.real != -0x1.fffffep127
                                                : attribute->least.integer != INT64_MIN;
}

/* "amount of label smoothing; from 0 to 1. Default: 0" */
static void write_help(const tk_attribute *attribute, char text[HELP_SIZE])
{
    char initial[32], least[32], most[32], range[96] = "";
    tk_attribute_print(attribute, attribute->initial, initial, sizeof initial);
    tk_attribute_print(attribute, attribute->least, least, sizeof least);
    tk_attribute_print(attribute, attribute->most, most, sizeof most);
    if (attribute->type != TK_ATTRIBUTE_CHOICE && has_range(attribute))
        snprintf(range, sizeof range, "; from %s to %s", least, most);
    const bool asks = strchr(attribute->text, '?') != NULL;
    snprintf(text, HELP_SIZE, "%s%s%s Default: %s", attribute->text, range, asks ? "" : ".", initial);
    if (islower((unsigned char)text[1]))
        text[0] = (char)toupper((unsigned char)text[0]);
}

/* "ieee|tensor_core": those that are not there yet, since ops may share a name and have choices of their own. */
static void add_choices(const tk_attribute *attribute, char text[HELP_SIZE])
{
    for (int k = 0; k < attribute->choice_count; k++) {
        const char *id = attribute->choices[k].id;
        bool there = false;
        for (const char *at = text; *at && !there; at += strcspn(at, "|") + (at[strcspn(at, "|")] != 0))
            there = strcspn(at, "|") == strlen(id) && !strncmp(at, id, strlen(id));
        if (!there)
            snprintf(text + strlen(text), HELP_SIZE - strlen(text), "%s%s", text[0] ? "|" : "", id);
    }
}

static void add(const tk_attribute *attribute, int *count)
{
    for (int i = 0; i < *count; i++)
        if (!strcmp(attributes[i]->name, attribute->name)) {
            add_choices(attribute, choices[i]);
            return;
        }
    if (attribute->role == TK_ROLE_MATRIX_UNIT || *count == MOST)
        return;
    const int i = (*count)++;
    attributes[i] = attribute;
    cli_attribute_option(attribute->name, names[i]);
    write_help(attribute, help[i]);
    choices[i][0] = 0;
    add_choices(attribute, choices[i]);
    options[i] = (cli_option){.kind = CLI_ATTRIBUTE,
                              .name = names[i],
                              .argument = attribute->choice_count ? choices[i] : "NUMBER",
                              .help = help[i]};
}

const cli_option *cli_attribute_options(void)
{
    int count = 0;
    const tk_contract *op;
    for (int i = 0; (op = i < tk_contract_count() ? tk_contract_at(i) : cli_defined_at(i - tk_contract_count())); i++)
        for (int k = 0; k < op->attribute_count; k++)
            add(&op->attributes[k], &count);
    return options;
}

const tk_attribute *cli_attribute_of(const cli_option *option)
{
    return attributes[option - options];
}

void cli_attribute_give(const cli_option *option, const char *value, cli_attributes *a)
{
    if (a->count < TK_MAX_ATTRIBUTES)
        a->given[a->count++] = (tk_setting){cli_attribute_of(option)->name, value};
}

static bool complain_number(const char *who, const tk_attribute *attribute, const char *value)
{
    char option[CLI_ATTRIBUTE_NAME], least[32], most[32];
    cli_attribute_option(attribute->name, option);
    tk_attribute_print(attribute, attribute->least, least, sizeof least);
    tk_attribute_print(attribute, attribute->most, most, sizeof most);
    if (has_range(attribute))
        cli_complain(who, "--%s must be a number from %s to %s, not '%.80s'", option, least, most, value);
    else
        cli_complain(who, "--%s must be a %s number, not '%.80s'", option,
                     attribute->type == TK_ATTRIBUTE_REAL ? "finite" : "64-bit", value);
    return false;
}

static bool check_value(const char *who, const tk_attribute *attribute, const char *value)
{
    const char *ids[TK_MAX_CHOICES];
    tk_value parsed;
    if (tk_attribute_parse(attribute, value, &parsed))
        return true;
    if (attribute->type != TK_ATTRIBUTE_CHOICE)
        return complain_number(who, attribute, value);
    for (int i = 0; i < attribute->choice_count; i++)
        ids[i] = attribute->choices[i].id;
    cli_complain_unknown(who, attribute->name, value, ids, attribute->choice_count);
    return false;
}

const tk_attribute *cli_setting_fit(const char *who, const tk_setting *setting, const tk_contract *const ops[],
                                    int count, bool named)
{
    char option[CLI_ATTRIBUTE_NAME];
    const tk_attribute *attribute = NULL, *found;
    const char *without = NULL;
    cli_attribute_option(setting->attribute, option);
    for (int i = 0; i < count; i++) {
        const int place = tk_attribute_find(ops[i], setting->attribute);
        found = place >= 0 ? &ops[i]->attributes[place] : NULL;
        attribute = found ? found : attribute;
        without = found ? without : ops[i]->name;
    }
    if (without && (named || !attribute || attribute->seen_by_kernel)) {
        cli_complain(who, named ? "%s does not take --%s" : "%s does not take --%s; name the ops that do", without,
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
