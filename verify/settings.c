/* TRUSTED. Attributes by name, and the matrix unit of a device. */
#include "verify/settings.h"

#include <stdio.h>
#include <string.h>

#include "backend/gpu.h"
#include "model/attributes.h"
#include "core/context.h"
#include "verify/kernel_file.h"

tk_status tki_settings_read(tk_ctx *ctx, const tk_contract *contract, const tk_certify_options *options,
                            uint8_t attributes[TK_MAX_ATTRIBUTES])
{
    memset(attributes, 0, TK_MAX_ATTRIBUTES);
    for (int s = 0; s < options->setting_count; s++) {
        const tk_setting *setting = &options->settings[s];
        if (!setting->attribute || !setting->choice)
            return tki_fail(ctx, TK_BAD_ARGUMENT, "setting %d has no attribute or no choice", s);
        int i = tk_attribute_find(contract, setting->attribute);
        if (i < 0 || contract->attributes[i].from_device)
            return tki_fail(ctx, TK_BAD_ARGUMENT, "%s does not take %s", contract->name, setting->attribute);
        int choice = tk_choice_find(&contract->attributes[i], setting->choice);
        if (choice < 0)
            return tki_fail(ctx, TK_BAD_ARGUMENT, "%s: there is no %s '%s'", contract->name, setting->attribute,
                            setting->choice);
        attributes[i] = (uint8_t)choice;
    }
    return TK_OK;
}

bool tki_settings_ask_for(const tk_certify_options *options, const char *attribute)
{
    for (int s = 0; s < options->setting_count; s++)
        if (!strcmp(options->settings[s].attribute, attribute))
            return true;
    return false;
}

const char *tki_settings_choice(const tk_contract *contract, const uint8_t *attributes, int i)
{
    return contract->attributes[i].choices[attributes[i]].id;
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

void tki_settings_text(const tk_contract *contract, const uint8_t *attributes, char *text, size_t size)
{
    text[0] = 0;
    for (int i = 0; i < contract->attribute_count; i++) {
        if (!attributes[i] || contract->attributes[i].from_device)
            continue;
        size_t used = strlen(text);
        snprintf(text + used, size - used, "%s%s %s", used ? ", " : "", contract->attributes[i].name,
                 tki_settings_choice(contract, attributes, i));
    }
}
