/* RECORDS. The options of the certification that a certificate records. */
#pragma once

#include <jansson.h>

#include "tokitai_verify.h"

/* It points into the certificate. */
typedef struct tki_recipe {
    const tk_contract *contract;
    tk_dtype dtype, result_dtype, index_dtype;
    tk_certify_options options;
    uint64_t mutants_seed; /* earlier certificates do not name it: theirs ran under the run's */
    int64_t dims[TK_MAX_DIMS];
    tk_setting settings[TK_MAX_ATTRIBUTES];
    char values[TK_MAX_ATTRIBUTES][32]; /* of the settings that are numbers */
    tk_given_input inputs[TK_MAX_PARAMS];
    uint64_t *bits[TK_MAX_PARAMS];
    int64_t planted[TK_MAX_PLANTED];
    tk_kernel_file *kernel_file;
} tki_recipe;

/* All but the kernel file. tki_recipe_free() it whether or not that succeeded. */
TK_MUST_USE tk_status tki_recipe_read(tk_ctx *ctx, const tk_certificate *certificate, tki_recipe *recipe);

/* The file that the certificate names, or the reader's own copy, if it is the one that was judged. */
TK_MUST_USE tk_status tki_recipe_open_kernel_file(tk_ctx *ctx, const tk_certificate *certificate,
                                                  const tk_replay_options *asked, tki_recipe *recipe);

/* The value of an attribute as certificates write it. */
tk_value tki_recipe_value(const tk_attribute *attribute, const json_t *json);

/* All attributes of the contract by a certificate's member `run`: those that it names; where it names none, or one that the contract does
 * not allow, the contract's own. */
void tki_recipe_settings(const json_t *run, const tk_contract *contract, tk_value attributes[TK_MAX_ATTRIBUTES]);

void tki_recipe_free(tki_recipe *recipe);
