/* Fuzz target: the predicate of a certificate of gluing. One that is refused has a message that can be shown; one that is taken has a verdict,
 * and says of itself again what it says. */
#include <assert.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "glue/glue_certificate.h"
#include "tests/fuzz/escape.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    tk_ctx *ctx;
    json_t *predicate = json_loadb((const char *)data, size, JSON_REJECT_DUPLICATES, NULL);
    if (tk_ctx_create(&ctx) != TK_OK)
        abort();
    const tk_status status = tki_glue_agrees(ctx, predicate);
    if (status == TK_OK) {
        const char *verdict = json_string_value(json_object_get(predicate, "verdict"));
        json_t *evidence = tki_glue_evidence(predicate);
        assert(verdict && (!strcmp(verdict, "GLUED") || !strcmp(verdict, "CHOSEN")));
        assert(json_array_size(evidence) >= 2);
        json_decref(evidence);
    } else {
        assert(status == TK_BAD_FILE && is_visible(tk_ctx_message(ctx), ""));
    }
    json_decref(predicate);
    tk_ctx_destroy(ctx);
    return 0;
}
