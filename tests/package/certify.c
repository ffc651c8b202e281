/* Certifies one case of an op. */
#include <stdio.h>
#include <tokitai_verify.h>

int main(void)
{
    const int64_t dims[] = {100};
    tk_ctx *ctx;
    tk_certificate *certificate = NULL;
    tk_certify_options options = TK_CERTIFY_DEFAULTS;
    options.dims = dims;
    options.skip_mutants = true;
    if (tk_ctx_create(&ctx) != TK_OK)
        return 1;
    bool good = tk_certify(ctx, tk_contract_find("gelu_fwd"), TK_BF16, TK_I32, &options, &certificate) == TK_OK &&
                tk_certificate_verdict(certificate) == TK_HELD;
    puts(good ? tk_certificate_headline(certificate) : tk_ctx_message(ctx));
    tk_certificate_destroy(certificate);
    tk_ctx_destroy(ctx);
    return good ? 0 : 1;
}
