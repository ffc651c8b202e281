/* CHOOSES. Options of programs that were compiled with another version of the header. */
#include "core/sized_options.h"

#include <string.h>

#include "core/context.h"

enum { MOST_BYTES = 1 << 16 }; /* more is no size: nobody has set it */

tk_status tki_options_take(tk_ctx *ctx, const char *name, const void *given, void *taken, size_t size)
{
    const unsigned char *bytes = given;
    size_t has;
    if (!given)
        return TK_OK;
    memcpy(&has, given, sizeof has);
    if (has < sizeof has || has > MOST_BYTES)
        return tki_fail(ctx, TK_BAD_ARGUMENT, "%s has no valid size; start from its defaults", name);
    for (size_t i = size; i < has; i++)
        if (bytes[i])
            return tki_fail(ctx, TK_BAD_ARGUMENT, "%s sets a member that version %s of the library does not know",
                            name, tk_version());
    memcpy(taken, given, has < size ? has : size);
    memcpy(taken, &size, sizeof size);
    return TK_OK;
}
