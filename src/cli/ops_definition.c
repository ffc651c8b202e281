/* SHOWS. tokitai ops FILE.op --lint and --graph. */
#include "cli/ops_definition.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/common_arguments.h"

static const char *const kinds[] = {
    [TK_LINT_CANCELS] = "cancels", [TK_LINT_RANGE] = "out of range", [TK_LINT_BLIND] = "blind bound",
    [TK_LINT_UNUSED] = "unused",   [TK_LINT_GRADIENT] = "gradient",  [TK_LINT_INDEX] = "index",
};

static bool is_definition(const char *who, const char *option, const tk_contract *contract)
{
    if (!tk_contract_definition(contract))
        cli_complain(who, "--%s is for definitions, and %s is none: FILE.op", option, contract->name);
    return tk_contract_definition(contract) != NULL;
}

static json_t *finding_json(const tk_lint *found)
{
    return json_pack("{s:s, s:i, s:i, s:o}", "kind", kinds[found->kind], "line", found->line, "column", found->column,
                     "text", cli_json_text(found->text));
}

/* Of an op that is the gradient of another: how often they were compared. */
static cli_exit print_nothing_found(const char *who, const tk_contract *contract)
{
    tk_gradient_counts counts;
    const tk_status status = tk_op_gradient(cli_defining(), contract, &counts);
    if (status != TK_OK)
        return cli_exit_with(who, cli_defining(), status);
    printf("%s: nothing found", contract->name);
    if (counts.agree > 0)
        printf("; a gradient in %lld directions; left out: %lld elements at kinks, %lld without a derivative",
               (long long)counts.agree, (long long)counts.kinks, (long long)counts.undefined);
    putchar('\n');
    return CLI_HOLDS;
}

cli_exit cli_ops_lint(const char *who, const char *file, const tk_contract *contract, bool json)
{
    tk_lint *found;
    int count;
    if (!is_definition(who, "lint", contract))
        return CLI_BAD;
    const tk_status status = tk_op_lint(cli_defining(), contract, &found, &count);
    if (status != TK_OK)
        return cli_exit_with(who, cli_defining(), status);
    cli_exit result = count > 0 ? CLI_REFUTED : CLI_HOLDS;
    json_t *list = json ? json_array() : NULL;
    for (int i = 0; i < count; i++) {
        if (json) {
            json_array_append_new(list, finding_json(&found[i]));
            continue;
        }
        cli_print(CLI_PLAIN, file);
        printf(":%d:%d: ", found[i].line, found[i].column);
        cli_print(CLI_WRONG, kinds[found[i].kind]);
        fputs(": ", stdout);
        cli_print(CLI_PLAIN, found[i].text);
        putchar('\n');
    }
    free(found);
    if (json)
        result = cli_worse(result, cli_print_json(list));
    else if (!count)
        result = print_nothing_found(who, contract);
    return result;
}

cli_exit cli_ops_graph(const char *who, const char *path, const tk_contract *contract)
{
    char *svg;
    if (!is_definition(who, "graph", contract) || !cli_can_write(who, "--graph", path))
        return CLI_BAD;
    const tk_status status = tk_op_graph(cli_defining(), contract, &svg);
    if (status != TK_OK)
        return cli_exit_with(who, cli_defining(), status);
    FILE *out = fopen(path, "w");
    const bool written = out && fputs(svg, out) >= 0 && !fclose(out);
    if (!written)
        cli_complain(who, "cannot write --graph '%.200s': %s", path, strerror(errno));
    free(svg);
    return written ? CLI_HOLDS : CLI_BAD;
}
