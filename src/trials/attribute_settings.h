/* CHOOSES. The attributes of a certification: what the options ask for, and what the device that a kernel runs on decides. */
#pragma once

#include "model/lowering.h"
#include "tokitai_verify.h"

/* The values that the options ask for, the others at their defaults. TK_BAD_ARGUMENT for one that the op does not have. */
TK_MUST_USE tk_status tki_settings_read(tk_ctx *ctx, const tk_contract *contract, const tk_certify_options *options,
                                        tk_value attributes[TK_MAX_ATTRIBUTES]);

bool tki_settings_ask_for(const tk_certify_options *options, const char *attribute);

/* Do they set an attribute that kernels see? */
bool tki_settings_give_seen(const tk_contract *contract, const tk_certify_options *options);

/* Does the i-th attribute restrict the whole certificate: not at its default, and neither a kernel's nor a device's? */
bool tki_settings_is_restriction(const tk_contract *contract, const tk_value *attributes, int i);

/* Is its bound one of several arithmetics? */
bool tki_settings_has_numerics(const tk_contract *contract);

/* The name of the choice of the i-th attribute. */
const char *tki_settings_choice(const tk_contract *contract, const tk_value *attributes, tk_role role);

/* TKI_UNIT_... of the device of that lowering (may be NULL), or of the options' kernel file. */
int tki_settings_matrix_unit(tk_ctx *ctx, const tki_lowering *lowering, const tk_certify_options *options);

/* TKI_UNIT_... of "sm_90". */
int tki_settings_unit_of(const char *architecture);

enum { TKI_SETTINGS_TEXT = TK_MAX_ATTRIBUTES * 80 }; /* of all attributes: names, and values in up to 40 bytes */

/* How many values trials give an attribute, and the i-th of them: each choice, or each of those tried and the default. */
int64_t tki_settings_values(const tk_attribute *attribute);
tk_value tki_settings_value(const tk_attribute *attribute, int64_t i);

/* "domain normal, numerics tensor_core": what is not at its default; "" if everything is. */
void tki_settings_text(const tk_contract *contract, const tk_value *attributes, char *text, size_t size);
