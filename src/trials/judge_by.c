/* CHOOSES. How kernels of an op that a program registered are judged, in the same form as for ours. */
#include <stdlib.h>
#include <string.h>

#include "core/context.h"
#include "core/sized_options.h"
#include "exact/domain.h"
#include "judge/program_oracle.h"
#include "model/case.h"
#include "trials/op_registry.h"

enum { MOST_PLANTED = 256 };

/* -- Hints -------------------------------------------------------------------------------------------------------- */

static const tk_reference *reference_of(const tk_case *c)
{
    return c->contract->op->reference;
}

/* What a program set, as far as the contract allows it. */
static void take(tk_case *c, const tk_case *set, bool sizes)
{
    bool good = sizes;
    for (int i = 0; i < c->contract->attribute_count; i++) {
        const tk_attribute *attribute = &c->contract->attributes[i];
        if (attribute->seen_by_kernel && tki_attribute_allows(attribute, set->attributes[i]))
            c->attributes[i] = set->attributes[i];
    }
    tk_case sized = *c;
    memcpy(sized.dims, set->dims, sizeof sized.dims);
    for (int p = 0; p < c->contract->param_count; p++)
        good &= tk_case_elements(&sized, p) >= 0;
    if (good)
        *c = sized;
}

static double work(const tk_case *c)
{
    return reference_of(c)->work(c, reference_of(c)->user_data);
}

static void draw(tk_case *c, const tk_draw *how, tki_random *random)
{
    tk_case drawn = *c;
    reference_of(c)->draw(&drawn, how, tki_random_u64(random), reference_of(c)->user_data);
    take(c, &drawn, false);
}

static void further(tk_case *c, int i, tki_random *random)
{
    tk_case drawn = *c;
    reference_of(c)->further(&drawn, i, tki_random_u64(random), reference_of(c)->user_data);
    take(c, &drawn, true);
}

static void fill(const tk_case *c, int param, tk_drawn how, void *data, tki_random *random)
{
    reference_of(c)->fill(c, param, how, data, tki_random_u64(random), reference_of(c)->user_data);
}

static void set(tk_case *c, int i)
{
    tk_case chosen = *c;
    reference_of(c)->set(&chosen, i, reference_of(c)->user_data);
    take(c, &chosen, false);
}

static const char *wrong_hints(const tk_reference *r)
{
    enum { MOST_FURTHER = 256, MOST_SETS = 64 };
    if (r->further_count < 0 || r->further_count > MOST_FURTHER || !r->further != !r->further_count)
        return "further_count is not from 0 to 256, or not set together with `further`";
    return r->set_count < 0 || r->set_count > MOST_SETS || !r->set != !r->set_count
               ? "set_count is not from 0 to 64, or not set together with `set`"
               : NULL;
}

static const tki_trial_hints *keep_hints(tki_made_op *op, const tk_reference *r)
{
    const tki_trial_hints hints = {.work = r->work ? work : NULL,
                                   .draw = r->draw ? draw : NULL,
                                   .further_count = r->further_count,
                                   .further = r->further ? further : NULL,
                                   .fill = r->fill ? fill : NULL,
                                   .set_count = r->set_count,
                                   .set = r->set ? set : NULL};
    return tki_made_op_keep(op, &hints, sizeof hints);
}

/* -- Theorems ----------------------------------------------------------------------------------------------------- */

static bool is_theorem(const tk_support *s)
{
    tk_theorem theorem;
    for (int i = 0; tk_theorem_at(i, &theorem); i++)
        if (!strcmp(theorem.file, s->file) && !strcmp(theorem.name, s->theorem))
            return true;
    return false;
}

static const char *wrong_supports(const tk_contract *contract, const tk_reference *r)
{
    enum { MOST_SUPPORTS = 512 };
    if (r->support_count < 0 || r->support_count > MOST_SUPPORTS || !r->supports != !r->support_count)
        return "support_count is not from 0 to 512, or not set together with `supports`";
    for (int i = 0; i < r->support_count; i++) {
        const tk_support *s = &r->supports[i];
        bool has_clause = false;
        for (int k = 0; k < contract->clause_count && s->clause; k++)
            has_clause |= !strcmp(contract->clauses[k].id, s->clause);
        if (!has_clause)
            return "`supports` names a clause that the contract does not have";
        if (!s->file || !s->theorem || !is_theorem(s))
            return "`supports` names a theorem that this version does not have";
    }
    return NULL;
}

/* The rows, and the end. */
static const tk_support *keep_supports(tki_made_op *op, const tk_reference *r)
{
    tk_support *rows = tki_made_op_keep(op, NULL, ((size_t)r->support_count + 1) * sizeof *rows);
    for (int i = 0; i < r->support_count && rows; i++)
        rows[i] = (tk_support){tki_made_op_keep_text(op, r->supports[i].clause),
                               tki_made_op_keep_text(op, r->supports[i].file),
                               tki_made_op_keep_text(op, r->supports[i].theorem)};
    return rows;
}

/* -- Mutants and variants ----------------------------------------------------------------------------------------- */

static int run_planted(const tk_case *c, void *const buffers[], void *user_data)
{
    const tki_mutant_run *run = user_data;
    const tk_planted *planted = run->how;
    return planted->kernel(c, buffers, planted->user_data);
}

/* The rows, and the end. */
static const tki_mutant *keep_planted(tki_made_op *op, int count, const tk_planted given[])
{
    tki_mutant *rows = tki_made_op_keep(op, NULL, ((size_t)count + 1) * sizeof *rows);
    tk_planted *kept = tki_made_op_keep(op, given, (size_t)count * sizeof *given);
    for (int i = 0; i < count && !op->is_incomplete; i++)
        rows[i] = (tki_mutant){.name = tki_made_op_keep_text(op, given[i].name),
                               .what = tki_made_op_keep_text(op, given[i].what),
                               .kernel = run_planted,
                               .how = &kept[i],
                               .level = given[i].level};
    return rows;
}

static const char *wrong_planted(int count, const tk_planted list[])
{
    if (count < 0 || count > MOST_PLANTED || (count && !list))
        return "more mutants or variants than allowed, or a count without an array";
    for (int i = 0; i < count; i++) {
        if (!tki_is_name(list[i].name, TKI_MOST_NAME) || !list[i].what || !list[i].kernel)
            return "a mutant or variant has no name of lower-case letters, digits and _, no description or no "
                   "function";
        if ((unsigned)list[i].level > TK_FULL)
            return "a mutant's level is neither quick nor full";
        for (int k = 0; k < i; k++)
            if (!strcmp(list[i].name, list[k].name))
                return "two mutants or variants have the same name";
    }
    return NULL;
}

/* The first input whose range holds no number of one of its formats, so that nothing can be drawn; -1: none. */
static int empty_range(const tk_contract *contract)
{
    for (int p = 0; p < contract->param_count; p++)
        for (int i = 0; i < 2 * contract->type_count; i++) {
            tk_case c = tk_case_init(contract, contract->types[i / 2].dtype);
            c.result_dtype = contract->types[i / 2].result_dtype;
            tki_set_role(contract, c.attributes, TK_ROLE_DOMAIN, i % 2);
            if (tki_domain_limits(&c, p) && !tki_domain_allows(&c, p, tki_domain_place(&c, p, UINT32_MAX)))
                return p;
        }
    return -1;
}

tk_status tk_contract_judge_by(tk_ctx *ctx, const tk_contract *contract, const tk_reference *given)
{
    tk_reference reference = TK_REFERENCE_DEFAULTS;
    tki_made_op *op = tki_made_op_of(ctx, contract);
    if (!ctx)
        return TK_BAD_ARGUMENT;
    tk_status status = tki_options_take(ctx, "tk_reference", given, &reference, sizeof reference);
    if (status != TK_OK)
        return status;
    if (!op || !reference.enclose)
        return tki_fail(ctx, TK_BAD_ARGUMENT, "no registered contract, or no reference");
    if (op->op.judging)
        return tki_fail(ctx, TK_BAD_ARGUMENT, "%s: it already has a reference", contract->name);
    const int empty = empty_range(contract);
    if (empty >= 0)
        return tki_fail(ctx, TK_BAD_ARGUMENT, "%s: the range of %s holds no number of its type", contract->name,
                        contract->params[empty].name);
    const char *wrong = wrong_planted(reference.mutant_count, reference.mutants);
    if (!wrong)
        wrong = wrong_planted(reference.variant_count, reference.variants);
    if (!wrong)
        wrong = wrong_hints(&reference);
    if (!wrong)
        wrong = wrong_supports(contract, &reference);
    if (wrong)
        return tki_fail(ctx, TK_BAD_ARGUMENT, "%s: %s", contract->name, wrong);
    op->is_incomplete = false;
    const tki_judging judging = {.oracle = &tki_program_oracle,
                                 .mutants = keep_planted(op, reference.mutant_count, reference.mutants),
                                 .variants = keep_planted(op, reference.variant_count, reference.variants),
                                 .hints = keep_hints(op, &reference),
                                 .supports = keep_supports(op, &reference)};
    const tki_judging *kept = tki_made_op_keep(op, &judging, sizeof judging);
    const tk_reference *functions = tki_made_op_keep(op, &reference, sizeof reference);
    if (op->is_incomplete)
        return tki_fail(ctx, TK_NO_MEMORY, "no memory for the reference of %s", contract->name);
    op->op.judging = kept;
    op->op.reference = functions;
    return TK_OK;
}
