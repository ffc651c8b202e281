/* CHOOSES. Attributes by name, and the matrix unit of a device. */
#include "trials/attribute_settings.h"

#include <stdio.h>
#include <string.h>

#include "core/context.h"
#include "kernel_file/kernel_file.h"
#include "model/attributes.h"
#include "runtime/gpu.h"

tk_status tki_settings_read(tk_ctx *ctx, const tk_contract *contract, const tk_certify_options *options,
                            tk_value attributes[TK_MAX_ATTRIBUTES])
{
    memset(attributes, 0, TK_MAX_ATTRIBUTES * sizeof *attributes);
    for (int i = 0; i < contract->attribute_count; i++)
        attributes[i] = contract->attributes[i].initial;
    for (int s = 0; s < options->setting_count; s++) {
        const tk_setting *setting = &options->settings[s];
        if (!setting->attribute || !setting->value)
            return tki_fail(ctx, TK_BAD_ARGUMENT, "settings[%d] has no attribute or no value", s);
        int i = tk_attribute_find(contract, setting->attribute);
        if (i < 0 || contract->attributes[i].role == TK_ROLE_MATRIX_UNIT)
            return tki_fail(ctx, TK_BAD_ARGUMENT, "%s does not take %s", contract->name, setting->attribute);
        if (!tk_attribute_parse(&contract->attributes[i], setting->value, &attributes[i]))
            return tki_fail(ctx, TK_BAD_ARGUMENT, "%s: unknown %s '%s'", contract->name, setting->attribute,
                            setting->value);
    }
    return TK_OK;
}

bool tki_settings_give_seen(const tk_contract *contract, const tk_certify_options *options)
{
    for (int i = 0; i < contract->attribute_count; i++)
        if (contract->attributes[i].seen_by_kernel && tki_settings_ask_for(options, contract->attributes[i].name))
            return true;
    return false;
}

bool tki_settings_ask_for(const tk_certify_options *options, const char *attribute)
{
    for (int s = 0; s < options->setting_count; s++)
        if (!strcmp(options->settings[s].attribute, attribute))
            return true;
    return false;
}

const char *tki_settings_choice(const tk_contract *contract, const tk_value *attributes, tk_role role)
{
    const int i = tki_attribute_of_role(contract, role);
    return contract->attributes[i].choices[attributes[i].integer].id;
}

bool tki_settings_is_restriction(const tk_contract *contract, const tk_value *attributes, int i)
{
    const tk_attribute *attribute = &contract->attributes[i];
    /* Numerics any come to ieee where nothing else is promised. */
    if (attribute->role == TK_ROLE_NUMERICS && attributes[i].integer == TKI_NUMERICS_IEEE)
        return false;
    return !attribute->seen_by_kernel && attribute->role != TK_ROLE_MATRIX_UNIT &&
           attributes[i].integer != attribute->initial.integer;
}

bool tki_settings_has_numerics(const tk_contract *contract)
{
    return tki_attribute_of_role(contract, TK_ROLE_NUMERICS) >= 0;
}

int tki_settings_unit_of(const char *architecture)
{
    int number = 0;
    if (sscanf(architecture, "sm_%d", &number) != 1)
        return TKI_UNIT_UNKNOWN;
    return number >= 90 ? TKI_UNIT_SM_90 : number >= 80 ? TKI_UNIT_SM_80 : TKI_UNIT_UNKNOWN;
}

int tki_settings_matrix_unit(tk_ctx *ctx, const tki_lowering *lowering, const tk_certify_options *options)
{
    if (lowering && lowering->backend->is_gpu && ctx->device)
        return tki_settings_unit_of(ctx->device->architecture);
    const tk_kernel_file *kernel = options->kernel_file;
    tk_device device;
    int number = 0;
    for (int i = 0; kernel && tk_device_at(i, &device); i++)
        if (!strcmp(device.backend, kernel->backend->name) && number++ == kernel->device)
            return tki_settings_unit_of(device.architecture);
    return TKI_UNIT_UNKNOWN;
}

int64_t tki_settings_values(const tk_attribute *attribute)
{
    return attribute->type == TK_ATTRIBUTE_CHOICE ? attribute->choice_count : attribute->tried_count + 1;
}

tk_value tki_settings_value(const tk_attribute *attribute, int64_t i)
{
    if (attribute->type == TK_ATTRIBUTE_CHOICE)
        return (tk_value){.integer = i};
    return i < attribute->tried_count ? attribute->tried[i] : attribute->initial;
}

void tki_settings_text(const tk_contract *contract, const tk_value *attributes, char *text, size_t size)
{
    text[0] = 0;
    for (int i = 0; i < contract->attribute_count; i++) {
        if (!tki_settings_is_restriction(contract, attributes, i))
            continue;
        size_t used = strlen(text);
        char value[64];
        tk_attribute_print(&contract->attributes[i], attributes[i], value, sizeof value);
        snprintf(text + used, size - used, "%s%s %s", used ? ", " : "", contract->attributes[i].name, value);
    }
}
