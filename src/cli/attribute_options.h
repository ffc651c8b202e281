/* SHOWS. Options of the command line for the attributes of all ops: --domain, --numerics, ... Made from the contracts. */
#pragma once

#include "cli/options.h"
#include "tokitai_verify.h"

/* What was given, in that order. */
typedef struct cli_attributes {
    tk_setting given[TK_MAX_ATTRIBUTES];
    int count;
} cli_attributes;

/* For a row CLI_ATTRIBUTES; one option for each name, however many ops have an attribute of that name. */
const cli_option *cli_attribute_options(void);
const tk_attribute *cli_attribute_of(const cli_option *option);
void cli_attribute_give(const cli_option *option, const char *value, cli_attributes *attributes);

/* "label-smoothing": the option of an attribute. */
enum { CLI_ATTRIBUTE_NAME = 48 };
void cli_attribute_option(const char *attribute, char name[CLI_ATTRIBUTE_NAME]);

/* The attribute that is set, if it is one of every op, or, where the ops were not `named`, one of some that kernels do not see; and if
 * that is a value of it. Else NULL, with a complaint. */
const tk_attribute *cli_setting_fit(const char *who, const tk_setting *setting, const tk_contract *const ops[],
                                    int count, bool named);

/* Sets what the case's op has of them. */
void cli_settings_apply(const tk_setting *settings, int count, tk_case *c);
