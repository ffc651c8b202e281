/* Starts a kernel server, the program that its argument names, and calls it. */
#include <stdio.h>
#include <tokitai_serve.h>

int main(int argc, char **argv)
{
    char *const program[] = {argc > 1 ? argv[1] : NULL, "kernel", "gelu-bwd", "--backend", "cpu", "--server", NULL};
    tk_ctx *ctx;
    tk_server *server = NULL;
    const void *reply;
    size_t bytes = 0;
    if (tk_ctx_create(&ctx) != TK_OK)
        return 1;
    bool good = tk_server_open(ctx, program, NULL, &server) == TK_OK &&
                tk_server_call(ctx, server, "1 15360 0", 9, &reply, &bytes) == TK_OK;
    if (good)
        printf("%.*s\n", (int)bytes, (const char *)reply);
    else
        puts(tk_ctx_message(ctx));
    tk_server_close(server);
    tk_ctx_destroy(ctx);
    return good ? 0 : 1;
}
