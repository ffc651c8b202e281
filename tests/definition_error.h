/* What is wrong with a definition, in words. */
#pragma once

#include "define/definition.h"

static inline const char *said(const tki_definition_error *error)
{
    static char text[256];
    return tki_definition_error_text(error, text, sizeof text);
}
