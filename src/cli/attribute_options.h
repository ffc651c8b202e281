/* Options of the command line for the attributes of all ops: --domain, --numerics, ... Made from the contracts. */
#pragma once

#include <argp.h>

#include "tokitai_verify.h"

/* What was given, in that order. */
typedef struct cli_attributes {
    tk_setting given[TK_MAX_ATTRIBUTES];
    int count;
} cli_attributes;

/* A child for the parser of a command; its input is a cli_attributes. Its keys are its own, from CLI_ATTRIBUTE_KEYS on. */
enum { CLI_ATTRIBUTE_KEYS = 2048 };
const struct argp *cli_attributes_parser(void);

/* "label-smoothing": the option of an attribute. */
void cli_attribute_option(const char *attribute, char *text, size_t size);

/* The attribute that is set, if it is one of every op, or, where the ops were not `named`, one of some that kernels do not see; and if
 * that is a value of it. Else NULL, with a complaint. */
const tk_attribute *cli_setting_fit(const char *who, const tk_setting *setting, const tk_contract *const ops[],
                                    int count, bool named);

/* Sets what the case's op has of them. */
void cli_settings_apply(const tk_setting *settings, int count, tk_case *c);
