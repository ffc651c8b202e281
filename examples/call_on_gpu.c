/* The same calls on a GPU: device memory, a queue of work, one wait at the end. Needs no toolkit to build; where there is no GPU it
 * says why. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <tokitai.h>

enum { N = 1 << 20 };

static tk_status gelu_on_device(tk_ctx *ctx, const uint16_t *x, uint16_t *y)
{
    void *device_x = NULL;
    void *device_y = NULL;
    tk_status status = tk_memory_alloc(ctx, N * sizeof *x, &device_x);
    if (status == TK_OK)
        status = tk_memory_alloc(ctx, N * sizeof *y, &device_y);
    if (status == TK_OK)
        status = tk_memory_write(ctx, device_x, x, N * sizeof *x);
    /* The first call compiles the kernel, or finds it in the user's cache. It returns before the work is done. */
    if (status == TK_OK)
        status = tk_gelu_fwd(ctx, TK_F16, N, device_x, device_y);
    if (status == TK_OK)
        status = tk_ctx_synchronize(ctx);
    if (status == TK_OK)
        status = tk_memory_read(ctx, y, device_y, N * sizeof *y);
    tk_memory_free(ctx, device_x);
    tk_memory_free(ctx, device_y);
    return status;
}

int main(void)
{
    tk_ctx *ctx;
    uint16_t *x = malloc(N * sizeof *x);
    uint16_t *y = malloc(N * sizeof *y);
    if (!x || !y || tk_ctx_create(&ctx) != TK_OK)
        return 1;
    for (int i = 0; i < N; i++)
        x[i] = (uint16_t)i; /* every fp16 pattern, many times over */

    int result = 0;
    tk_status status = tk_ctx_use_device(ctx, "cuda");
    if (status == TK_UNAVAILABLE) {
        printf("no GPU here: %s\n", tk_ctx_message(ctx));
    } else {
        if (status == TK_OK)
            status = gelu_on_device(ctx, x, y);
        if (status == TK_OK)
            printf("gelu(1) = 0x%04x\n", y[0x3c00]);
        else
            fprintf(stderr, "%s: %s\n", tk_status_text(status), tk_ctx_message(ctx));
        result = status != TK_OK;
    }
    tk_ctx_destroy(ctx);
    free(x);
    free(y);
    return result;
}
