/* Options of the command line for the attributes of all ops: --domain, --numerics, ... Made from the contracts. */
#ifndef CLI_ATTRIBUTES_H
#define CLI_ATTRIBUTES_H

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

/* Complains, and returns false, if that is no value of the attribute. */
bool cli_attribute_check(const char *who, const tk_attribute *attribute, const char *value);

#endif
