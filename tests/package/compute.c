/* Calls an op and asks the cache where it is. */
#include <stdio.h>
#include <tokitai_cache.h>

int main(void)
{
    const uint16_t x[] = {0x3c00}; /* 1 in fp16 */
    uint16_t y[1] = {0};
    char folder[4096] = "";
    tk_ctx *ctx;
    if (tk_ctx_create(&ctx) != TK_OK)
        return 1;
    bool good = tk_gelu_fwd(ctx, TK_F16, 1, x, y) == TK_OK && y[0] == 0x3abb &&
                tk_cache_folder(ctx, folder, sizeof folder) == TK_OK && folder[0];
    printf("0x%04x %s\n", y[0], tk_ctx_message(ctx));
    tk_ctx_destroy(ctx);
    return good ? 0 : 1;
}
