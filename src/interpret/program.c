/* DECIDES. From a definition and a case to programs and tables, with what they need in memory and work. */
#include "interpret/program.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "exact/domain.h"
#include "exact/floats.h"
#include "exact/kept_table.h"
#include "exact/product_bound.h"
#include "exact/round.h"
#include "interpret/buckets.h"
#include "interpret/choices.h"
#include "interpret/exactly.h"
#include "interpret/products.h"

enum {
    CHEAP = 12,           /* values that an element may need and still be computed again wherever it is read */
    PRODUCTS_A_VALUE = 64 /* that cost as much in a product of matrices */
};

static const tki_def_node *node_of(const tki_interpreter *in, int node)
{
    return &in->d->nodes[node];
}

static double domain_of(const tki_interpreter *in, int count, const int *indices)
{
    double domain = 1;
    for (int i = 0; i < count; i++)
        domain *= (double)tki_extent_of(in, indices[i]);
    return domain;
}

/* -- What is read of inputs ---------------------------------------------------------------------------------------- */

/* The same of numbers whose magnitudes are ordered as their bits are. */
static double largest_of_bits(const void *data, int bytes, tk_dtype dtype, int64_t count)
{
    const tki_format f = tki_format_of(dtype);
    uint32_t largest = 0;
    for (int64_t i = 0; i < count; i++) {
        const uint32_t bits = bytes == 2 ? ((const uint16_t *)data)[i] : ((const uint32_t *)data)[i];
        const uint32_t magnitude = bits & (f.sign - 1);
        largest = magnitude > largest ? magnitude : largest;
    }
    return largest > f.largest ? INFINITY : tki_magnitude_value(f, largest);
}

/* The largest number in an input, or more than that; infinite if there is NaN or an infinity. */
static double largest_input(const tki_interpreter *in)
{
    double largest = 0;
    for (int i = 0; i < in->d->input_count && in->buffers; i++) {
        const int tensor = in->d->params[i];
        if (in->d->tensors[tensor].integer || !tki_condition_holds(&in->d->tensors[tensor].present, in->c))
            continue;
        const tk_dtype dtype = tki_dtype_of(in, tensor);
        const int64_t count = tk_case_elements(in->c, in->d->tensors[tensor].param);
        if (dtype == TK_F32 || dtype == TK_F16 || dtype == TK_BF16) {
            largest = tki_above(largest,
                                largest_of_bits(tki_input_of(in, tensor), dtype == TK_F32 ? 4 : 2, dtype, count));
            continue;
        }
        for (int64_t e = 0; e < count; e++) {
            const double size = fabs(tki_input_value(in, tensor, e));
            if (!isfinite(size))
                return INFINITY;
            largest = tki_above(largest, size);
        }
    }
    return largest;
}

/* Where units align or cut them, numbers below the smallest normal one count for more than they are. */
static void look_for_units(tki_interpreter *in)
{
    for (int i = 0; i < in->d->input_count && in->buffers; i++) {
        const int tensor = in->d->params[i];
        const tki_def_tensor *t = &in->d->tensors[tensor];
        if (t->integer || !tki_condition_holds(&t->present, in->c))
            continue;
        const double normal = ldexp(1, tki_format_of(tki_dtype_of(in, tensor)).exponent_min);
        const int64_t count = tk_case_elements(in->c, t->param);
        for (int64_t e = 0; e < count; e++) {
            const double size = fabs(tki_input_value(in, tensor, e));
            in->inputs[tensor].has_subnormals |= size > 0 && size < normal;
            in->inputs[tensor].largest = isfinite(size) ? tki_above(in->inputs[tensor].largest, size)
                                                        : in->inputs[tensor].largest;
        }
    }
}

static tk_status open_inputs(tki_interpreter *in)
{
    for (int i = 0; i < in->d->input_count; i++) {
        const int tensor = in->d->params[i];
        const tk_dtype dtype = tki_dtype_of(in, tensor);
        void *table = NULL;
        if (!in->d->tensors[tensor].integer && tki_format_of(dtype).bits == 16) {
            const tk_status status = tki_values_open(dtype, &table);
            if (status != TK_OK)
                return status;
        }
        in->decoded[tensor] = table;
    }
    return TK_OK;
}

/* -- Choices ------------------------------------------------------------------------------------------------------- */

static void resolve_choices(tki_interpreter *in)
{
    for (int n = 0; n < in->d->node_count; n++) {
        const tki_def_node *node = node_of(in, n);
        in->resolved[n] = n;
        if (node->kind == TKI_NODE_CHOICE) {
            const int taken = node->operand[tki_condition_holds(&node->condition, in->c) ? 0 : 1];
            in->resolved[n] = taken == TKI_NONE ? TKI_NONE : in->resolved[taken];
        }
    }
}

/* -- Products ------------------------------------------------------------------------------------------------------- */

/* The format of a factor that is an input's element, or zero outside of it; or 0 bits. */
static tki_format format_of_factor(const tki_interpreter *in, int node)
{
    const tki_def_node *n = node_of(in, in->resolved[node]);
    if (n->kind != TKI_NODE_READ || in->d->tensors[n->tensor].role != TKI_TENSOR_INPUT ||
        in->d->tensors[n->tensor].integer ||
        (n->operand[0] != TKI_NONE && !tki_value_is_zero(&in->values[in->resolved[n->operand[0]]])))
        return (tki_format){.bits = 0};
    return tki_format_of(tki_dtype_of(in, n->tensor));
}

/* A factor as a matrix unit takes it. */
typedef struct unit_factor {
    double reach;    /* no larger in any evaluation */
    double normal;   /* those below count for as much where they are aligned; 0: there are none */
    double relative; /* what truncation takes away */
    double absolute; /* of those below the smallest normal number */
} unit_factor;

static unit_factor factor_of_unit(const tki_interpreter *in, int node, tki_format f)
{
    enum { FRACTION = 10 }; /* bits of TF32, whose exponents are those of fp32 */
    const bool given = f.bits != 0, is_cut = !given || f.precision > FRACTION + 1;
    const tki_input_reach input = given ? in->inputs[node_of(in, in->resolved[node])->tensor] : (tki_input_reach){0};
    const bool subnormals = !given || input.has_subnormals;
    const double normal = given ? ldexp(1, f.exponent_min) : TKI_FP32_SMALLEST_NORMAL;
    return (unit_factor){.reach = given ? input.largest : fmin(in->reach[in->resolved[node]], 0x1p128),
                         .normal = subnormals ? normal : 0,
                         .relative = is_cut ? ldexp(1, -FRACTION) : 0,
                         .absolute = is_cut && subnormals ? ldexp(normal, -FRACTION) : 0};
}

/* The reduction of these products is along one axis, along which they lie in memory as in a block. */
static bool is_along_one_axis(const tki_interpreter *in, int left, int right)
{
    for (int i = 0; i < in->d->node_count; i++) {
        const tki_def_node *n = node_of(in, i);
        const int root = n->kind == TKI_NODE_OVER ? in->resolved[n->operand[0]] : TKI_NONE;
        if (root != TKI_NONE && node_of(in, root)->operand[0] == left && node_of(in, root)->operand[1] == right &&
            n->bound_count > 1)
            return false;
    }
    return true;
}

static tki_units units_of(const tki_interpreter *in, int left, int right, tki_format of_left, tki_format of_right)
{
    const tki_matrix_unit unit = tki_matrix_unit_of(in->matrix_unit);
    const unit_factor a = factor_of_unit(in, left, of_left), b = factor_of_unit(in, right, of_right);
    return (tki_units){.used = true,
                       .or_fp32 = in->numerics == TKI_NUMERICS_TF32,
                       .block = is_along_one_axis(in, left, right) ? unit.block : 0,
                       .truncation = unit.truncation,
                       .relative = (a.relative + b.relative + a.relative * b.relative) * TKI_DOUBLE_SLACK,
                       .absolute = (a.absolute * (b.reach + b.absolute) + b.absolute * a.reach) *
                                   (1 + a.relative + b.relative),
                       .aligned = a.normal * (b.reach + b.normal) + b.normal * a.reach};
}

/* Products of two 16-bit inputs are exact in fp32, but for what is below its numbers. */
tki_terms tki_terms_of_products(const tki_interpreter *in, int left, int right)
{
    if (left == TKI_NONE)
        return (tki_terms){.products = false};
    const tki_format a = format_of_factor(in, left), b = format_of_factor(in, right);
    tki_terms terms = {.products = true, .underflow = true};
    if (a.bits != 0 && b.bits != 0 && a.precision + b.precision <= 24)
        terms = (tki_terms){.underflow = tki_format_exponent_lowest(a) + tki_format_exponent_lowest(b) < -149};
    if (in->numerics == TKI_NUMERICS_TF32 ||
        (in->numerics == TKI_NUMERICS_TENSOR_CORE && !terms.products && a.bits == 16 && b.bits == 16))
        terms.units = units_of(in, left, right, a, b);
    return terms;
}

/* -- Programs ------------------------------------------------------------------------------------------------------- */

static void visit(tki_interpreter *in, tki_program *p, bool *seen, int node)
{
    node = node == TKI_NONE ? TKI_NONE : in->resolved[node];
    if (node == TKI_NONE || seen[node] || tki_is_constant(in, node))
        return;
    seen[node] = true;
    const tki_def_node *n = node_of(in, node);
    if (n->kind == TKI_NODE_PIECES)
        for (int i = 0; i < n->piece_count; i++)
            visit(in, p, seen, n->pieces[i].read);
    else if (n->kind != TKI_NODE_OVER && n->kind != TKI_NODE_READ)
        for (int i = 0; i < 3; i++)
            visit(in, p, seen, n->operand[i]);
    p->order[p->count++] = node;
}

static tk_status make_program(tki_interpreter *in, tki_program *p, int root, int count, const int *indices)
{
    bool *seen = calloc((size_t)in->d->node_count, sizeof *seen);
    *p = (tki_program){.root = in->resolved[root],
                       .order = malloc((size_t)in->d->node_count * sizeof *p->order),
                       .index_count = count,
                       .indices = malloc(((size_t)count + 1) * sizeof *p->indices),
                       .domain = domain_of(in, count, indices)};
    if (seen && p->order && p->indices) {
        memcpy(p->indices, indices, (size_t)count * sizeof *indices);
        visit(in, p, seen, p->root);
    }
    free(seen);
    return seen && p->order && p->indices ? TK_OK : TK_NO_MEMORY;
}

/* The indices of a row of a reduction: those of its terms and of its predicate, but for those that it binds. */
static tk_status find_outer(tki_interpreter *in, int node, int *all, int *all_count)
{
    const tki_def_node *n = node_of(in, node), *body = node_of(in, in->resolved[n->operand[0]]);
    bool *used = calloc((size_t)in->d->index_count + 1, sizeof *used);
    int *outer = malloc(((size_t)in->d->index_count + 1) * sizeof *outer);
    if (!used || !outer) {
        free(used);
        free(outer);
        return TK_NO_MEMORY;
    }
    for (int i = 0; i < body->index_count; i++)
        used[body->indices[i]] = true;
    for (int t = 0; t < n->test_count; t++) {
        const int sides[] = {n->tests[t].a, n->tests[t].b};
        for (int side = 0; side < 2; side++)
            for (int i = 0; i < in->d->ints[sides[side]].index_count; i++)
                used[in->d->ints[sides[side]].indices[i]] = true;
    }
    for (int i = 0; i < n->bound_count; i++)
        used[n->bound[i]] = false;
    int count = 0;
    for (int i = 0; i < in->d->index_count; i++)
        if (used[i])
            outer[count++] = i;
    in->outer[node] = outer;
    in->outer_count[node] = count;
    memcpy(all, outer, (size_t)count * sizeof *all);
    memcpy(all + count, n->bound, (size_t)n->bound_count * sizeof *all);
    *all_count = count + n->bound_count;
    free(used);
    return TK_OK;
}

/* -- What is kept --------------------------------------------------------------------------------------------------- */

/* One walk through all that an output needs: what is needed comes before what needs it. */
typedef struct plan {
    tki_interpreter *in;
    int *readers_of_node, *readers_of_tensor;  /* programs in which they occur */
    double *widest_of_node, *widest_of_tensor; /* the largest of these programs' domains */
    int64_t bytes;
    bool refused; /* it needs more values than are computed */
    tk_status status;
} plan;

static void plan_program(plan *p, tki_program *program);

static bool is_made(const tki_program *p)
{
    return p->order != NULL;
}

/* Of so many elements that are asked for; where all are, what is asked for first is not all that may be. */
static void limit_domain(const tki_interpreter *in, tki_program *program, double asked)
{
    if (!isinf(in->asked))
        program->domain = fmin(program->domain, asked);
}

/* `asked`: elements of it that are. */
static void plan_tensor(plan *p, int tensor, double asked)
{
    tki_interpreter *in = p->in;
    const tki_def_tensor *t = &in->d->tensors[tensor];
    tki_program *program = &in->of_tensor[tensor];
    if (is_made(program) || p->status != TK_OK)
        return;
    p->status = make_program(in, program, t->value, t->rank, t->own);
    limit_domain(in, program, asked);
    if (p->status == TK_OK)
        plan_program(p, program);
}

static void plan_body(plan *p, int node, double asked)
{
    tki_interpreter *in = p->in;
    tki_program *program = &in->of_body[node];
    int all[2 * TKI_MOST_INDICES], count;
    if (is_made(program) || p->status != TK_OK)
        return;
    p->status = find_outer(in, node, all, &count);
    if (p->status == TK_OK)
        p->status = make_program(in, program, node_of(in, node)->operand[0], count, all);
    limit_domain(in, program, asked * domain_of(in, node_of(in, node)->bound_count, node_of(in, node)->bound));
    if (p->status == TK_OK)
        plan_program(p, program);
}

/* Tensors that were chosen, and are no kernel's, have to be kept where integers are made of their elements. `found` gets each of them. */
static void visit_chosen(plan *p, int integer, void (*found)(plan *, int tensor))
{
    const tki_def_int *e = &p->in->d->ints[integer];
    if (e->constant || e->kind == TKI_INT_INDEX)
        return;
    if (e->kind != TKI_INT_ELEMENT) {
        visit_chosen(p, e->a, found);
        visit_chosen(p, e->b, found);
        return;
    }
    const tki_def_tensor *t = &p->in->d->tensors[e->tensor];
    for (int axis = 0; axis < t->rank; axis++)
        visit_chosen(p, e->subscripts[axis].value, found);
    if (tki_is_given(p->in, e->tensor))
        return;
    if (tki_chooses(p->in, e->tensor))
        found(p, e->tensor);
    else if (tki_resolved(p->in, t->value) != TKI_NONE &&
             node_of(p->in, p->in->resolved[t->value])->kind == TKI_NODE_INTEGER)
        visit_chosen(p, node_of(p->in, p->in->resolved[t->value])->integer, found);
}

static void visit_chosen_of_node(plan *p, const tki_def_node *n, void (*found)(plan *, int tensor))
{
    if (n->kind == TKI_NODE_INTEGER || (n->kind == TKI_NODE_OVER && n->over == TKI_TOPK))
        visit_chosen(p, n->integer, found);
    for (int axis = 0; n->kind == TKI_NODE_READ && axis < p->in->d->tensors[n->tensor].rank; axis++)
        visit_chosen(p, n->subscripts[axis].value, found);
    for (int i = 0; n->kind == TKI_NODE_OVER && i < n->test_count; i++) {
        visit_chosen(p, n->tests[i].a, found);
        visit_chosen(p, n->tests[i].b, found);
    }
}

static void plan_whole_tensor(plan *p, int tensor)
{
    plan_tensor(p, tensor, INFINITY);
}

static void plan_program(plan *p, tki_program *program)
{
    tki_interpreter *in = p->in;
    for (int i = 0; i < program->count; i++) {
        const int node = program->order[i];
        const tki_def_node *n = node_of(in, node);
        visit_chosen_of_node(p, n, plan_whole_tensor);
        if (n->kind == TKI_NODE_OVER) {
            p->readers_of_node[node]++;
            p->widest_of_node[node] = fmax(p->widest_of_node[node], program->domain);
            plan_body(p, node, program->domain);
        } else if (n->kind == TKI_NODE_READ && !tki_is_given(in, n->tensor)) {
            p->readers_of_tensor[n->tensor]++;
            p->widest_of_tensor[n->tensor] = fmax(p->widest_of_tensor[n->tensor], program->domain);
            plan_tensor(p, n->tensor, program->domain);
        }
    }
}

/* A table, if there is room for it; then it is filled in its turn. */
static bool keep(plan *p, tki_table *table, tki_table_kind kind, int which, int count, const int *indices,
                 size_t bytes)
{
    tki_interpreter *in = p->in;
    const double entries = domain_of(in, count, indices);
    if (in->watch)
        return false;
    if (table->bytes)
        return true;
    if (!(entries * (double)bytes <= (double)(TKI_MOST_KEPT_BYTES - p->bytes)))
        return false;
    p->bytes += (int64_t)(entries * (double)bytes);
    *table = (tki_table){.index_count = count, .indices = indices, .count = (int64_t)entries, .bytes = bytes};
    in->fillings[in->filling_count++] = (tki_filling){kind, which};
    return true;
}

/* Where few elements are asked for: does filling a table cost less than what they need of it? */
static bool is_worth_filling(const plan *p, double filling, double asked)
{
    return isinf(p->in->asked) || filling <= asked;
}

static double cost_of_program(plan *p, tki_program *program);

/* A table by the indices on which the terms of a reduction depend, but for those that it binds. */
static bool keep_special(plan *p, int node)
{
    tki_interpreter *in = p->in;
    const tki_def_node *n = node_of(in, node), *body = node_of(in, in->resolved[n->operand[0]]);
    int *indices = malloc(((size_t)body->index_count + 1) * sizeof *indices), count = 0;
    if (!indices) {
        p->status = TK_NO_MEMORY;
        return false;
    }
    for (int i = 0; i < body->index_count; i++) {
        bool bound = false;
        for (int k = 0; k < n->bound_count; k++)
            bound |= n->bound[k] == body->indices[i];
        if (!bound)
            indices[count++] = body->indices[i];
    }
    in->special_indices[node] = indices;
    return keep(p, &in->special[node], TKI_KEPT_SPECIAL, node, count, indices, sizeof(int64_t));
}

/* What an element costs whose terms may be found by an equation of the predicate. Then those of the other terms that may make NaN
 * are counted beforehand. */
static double find_terms(plan *p, int node, double element, double *filled)
{
    tki_interpreter *in = p->in;
    const tki_def_node *n = node_of(in, node);
    tki_equation q;
    if (!tki_find_equation(in, node, &q))
        return element;
    const double entries = (double)q.groups * (double)q.terms, bytes = entries * sizeof(struct tki_bucket_term);
    if (!in->by_equation[node]) {
        if (!(bytes <= (double)(TKI_MOST_KEPT_BYTES - p->bytes)))
            return element;
        p->bytes += (int64_t)bytes;
        *filled += 4 * entries;
        if (tki_keeps_absent(in, n)) {
            if (!keep_special(p, node))
                return element;
            *filled += (double)in->special[node].count * element;
        }
        in->by_equation[node] = true;
    }
    return element / (double)q.values + 1;
}

/* Programs of the factors, if they are evaluated. */
static bool make_factors(plan *p, int node, const tki_matrices *m)
{
    tki_interpreter *in = p->in;
    const int factors[2] = {m->left, m->right};
    for (int i = 0; i < 2 && !m->gathered && p->status == TK_OK; i++) {
        const tki_def_node *factor = node_of(in, in->resolved[factors[i]]);
        if (!is_made(&in->of_factor[i][node]))
            p->status = make_program(in, &in->of_factor[i][node], factors[i], factor->index_count, factor->indices);
    }
    return p->status == TK_OK;
}

/* Of one element of a reduction, and its tables on the way. */
static double cost_of_over(plan *p, int node, double *filled)
{
    tki_interpreter *in = p->in;
    const tki_def_node *n = node_of(in, node);
    const double rows = domain_of(in, in->outer_count[node], in->outer[node]);
    const double terms = domain_of(in, n->bound_count, n->bound);
    const double body = cost_of_program(p, &in->of_body[node]) + 1;
    double element = terms * body;
    element = find_terms(p, node, element, filled);
    const double own = domain_of(in, n->index_count, n->indices), read = p->widest_of_node[node];
    if (tki_over_accumulates(n->over) && n->index_count == in->outer_count[node] + 1 &&
        is_worth_filling(p, own * body, read / TKI_LANES * element) &&
        keep(p, &in->kept[node], TKI_KEPT_PREFIXES, node, n->index_count, n->indices, sizeof(tki_value))) {
        *filled += domain_of(in, n->index_count, n->indices) * body;
        return 1;
    }
    if (tki_over_has_rows(n->over)) {
        const bool collapses = !tki_over_keeps_axes(n->over);
        element *= 2;
        if (!collapses && is_worth_filling(p, rows * element, read / TKI_LANES * element) &&
            keep(p, &in->rows[node], TKI_KEPT_ROW, node, in->outer_count[node], in->outer[node], sizeof(tki_row))) {
            *filled += rows * element;
            element = body;
        }
    } else if (n->over == TKI_ROTATE_HALF) {
        return body;
    }
    tki_matrices m;
    if (is_worth_filling(p, own * terms / PRODUCTS_A_VALUE, read * element) && tki_find_matrices(in, node, &m) &&
        make_factors(p, node, &m) &&
        keep(p, &in->kept[node], TKI_KEPT_PRODUCT, node, n->index_count, n->indices, sizeof(tki_value))) {
        *filled += own * terms / PRODUCTS_A_VALUE;
        return 1;
    }
    if ((read > own || p->readers_of_node[node] > 1) && is_worth_filling(p, own, read) &&
        keep(p, &in->kept[node], TKI_KEPT_VALUE, node, n->index_count, n->indices, sizeof(tki_value))) {
        *filled += own * element;
        element = 1;
    }
    return element;
}

static double cost_of_read(plan *p, int tensor, double *filled)
{
    tki_interpreter *in = p->in;
    tki_program *program = &in->of_tensor[tensor];
    double element = cost_of_program(p, program);
    const double own = domain_of(in, in->d->tensors[tensor].rank, in->d->tensors[tensor].own);
    if (element > CHEAP && (p->widest_of_tensor[tensor] > own || p->readers_of_tensor[tensor] > 1) &&
        is_worth_filling(p, own, p->widest_of_tensor[tensor]) &&
        keep(p, &in->kept_tensor[tensor], TKI_KEPT_TENSOR, tensor, in->d->tensors[tensor].rank,
             in->d->tensors[tensor].own, sizeof(tki_value))) {
        *filled += own * element;
        element = 1;
    }
    return element;
}

static void keep_chosen(plan *p, int tensor)
{
    tki_interpreter *in = p->in;
    (void)cost_of_program(p, &in->of_tensor[tensor]);
    (void)keep(p, &in->kept_tensor[tensor], TKI_KEPT_TENSOR, tensor, in->d->tensors[tensor].rank,
               in->d->tensors[tensor].own, sizeof(tki_value));
}

/* Values that an element of it needs; what filling tables needs is counted once, in `cost` of the program that first asked. */
static double cost_of_program(plan *p, tki_program *program)
{
    tki_interpreter *in = p->in;
    if (program->cost > 0)
        return program->cost;
    double filled = 0;
    for (int i = 0; i < program->count; i++) {
        const int node = program->order[i];
        const tki_def_node *n = node_of(in, node);
        visit_chosen_of_node(p, n, keep_chosen);
        if (n->kind == TKI_NODE_OVER)
            program->cost += cost_of_over(p, node, &filled);
        else if (n->kind == TKI_NODE_READ && !tki_is_given(in, n->tensor))
            program->cost += cost_of_read(p, n->tensor, &filled);
        else
            program->cost += n->kind == TKI_NODE_PRIMITIVE && n->primitive > TKI_SQUARE ? 4 : 1;
    }
    in->work = fmax(in->work, filled + program->cost * program->domain);
    if (!(in->work <= TKI_MOST_WORK))
        p->refused = true;
    return program->cost;
}

/* -- Tables ------------------------------------------------------------------------------------------------------- */

tki_table *tki_table_of(const tki_interpreter *in, const tki_filling *f)
{
    return f->kind == TKI_KEPT_ROW       ? &in->rows[f->which]
           : f->kind == TKI_KEPT_SPECIAL ? &in->special[f->which]
           : f->kind == TKI_KEPT_TENSOR  ? &in->kept_tensor[f->which]
                                         : &in->kept[f->which];
}

/* Large tables are written once and read a few times: in pages of the usual size, making these takes as long as filling them. */
static void *table_memory(size_t bytes)
{
    enum { LARGE_PAGE = 1 << 21 };
    if (bytes < 2 * LARGE_PAGE)
        return malloc(bytes + 1);
    const size_t whole = (bytes + LARGE_PAGE - 1) / LARGE_PAGE * LARGE_PAGE;
    void *memory = aligned_alloc(LARGE_PAGE, whole);
    if (memory)
        (void)madvise(memory, whole, MADV_HUGEPAGE); /* where there are none it stays as it is */
    return memory;
}

static tk_status make_tables(tki_interpreter *in)
{
    for (int node = 0; node < in->d->node_count; node++) {
        const tk_status status = in->by_equation[node] ? tki_buckets_make(in, node, &in->buckets[node]) : TK_OK;
        if (status != TK_OK)
            return status;
    }
    for (int i = 0; i < in->filling_count; i++) {
        const tki_filling *f = &in->fillings[i];
        tki_table *table = tki_table_of(in, f);
        void *entries = table_memory((size_t)table->count * table->bytes);
        if (!entries)
            return TK_NO_MEMORY;
        const tk_status status = f->kind == TKI_KEPT_PRODUCT ? tki_fill_products(in, f->which, entries)
                                                             : tki_fill_table(in, f, entries);
        table->entries = entries; /* from here on it is read */
        if (status != TK_OK)
            return status;
    }
    return TK_OK;
}

static bool allocate(tki_interpreter *in, plan *p)
{
    const size_t nodes = (size_t)in->d->node_count + 1, tensors = (size_t)in->d->tensor_count + 1;
    in->constants = calloc((size_t)in->d->int_count + 1, sizeof *in->constants);
    in->resolved = calloc(nodes, sizeof *in->resolved);
    in->is_constant = calloc(nodes, sizeof *in->is_constant);
    in->values = calloc(nodes, sizeof *in->values);
    in->decoded = calloc(tensors, sizeof *in->decoded);
    in->of_tensor = calloc(tensors, sizeof *in->of_tensor);
    in->of_body = calloc(nodes, sizeof *in->of_body);
    in->of_factor[0] = calloc(nodes, sizeof *in->of_factor[0]);
    in->of_factor[1] = calloc(nodes, sizeof *in->of_factor[1]);
    in->stated = calloc(tensors, sizeof *in->stated);
    in->outer_count = calloc(nodes, sizeof *in->outer_count);
    in->outer = calloc(nodes, sizeof *in->outer);
    in->kept = calloc(nodes, sizeof *in->kept);
    in->rows = calloc(nodes, sizeof *in->rows);
    in->kept_tensor = calloc(tensors, sizeof *in->kept_tensor);
    in->by_equation = calloc(nodes, sizeof *in->by_equation);
    in->buckets = calloc(nodes, sizeof *in->buckets);
    in->may_be_special = calloc(nodes, sizeof *in->may_be_special);
    in->reach = calloc(nodes, sizeof *in->reach);
    in->inputs = calloc(tensors, sizeof *in->inputs);
    in->special = calloc(nodes, sizeof *in->special);
    in->special_indices = calloc(nodes, sizeof *in->special_indices);
    in->fillings = calloc(3 * nodes + tensors, sizeof *in->fillings);
    *p = (plan){.in = in,
                .readers_of_node = calloc(nodes, sizeof *p->readers_of_node),
                .readers_of_tensor = calloc(tensors, sizeof *p->readers_of_tensor),
                .widest_of_node = calloc(nodes, sizeof *p->widest_of_node),
                .widest_of_tensor = calloc(tensors, sizeof *p->widest_of_tensor)};
    return in->constants && in->resolved && in->is_constant && in->values && in->decoded && in->of_tensor &&
           in->of_body && in->of_factor[0] && in->of_factor[1] && in->outer_count && in->outer && in->kept &&
           in->rows && in->reach && in->inputs && in->kept_tensor && in->by_equation && in->buckets &&
           in->may_be_special && in->special && in->special_indices && in->fillings && p->readers_of_node &&
           p->readers_of_tensor && p->widest_of_node && p->widest_of_tensor;
}

static void plan_output(plan *p, int tensor)
{
    tki_interpreter *in = p->in;
    const tki_def_tensor *t = &in->d->tensors[tensor];
    p->readers_of_tensor[tensor]++;
    plan_tensor(p, tensor, in->asked);
    if (t->stated_bound == TKI_NONE || p->status != TK_OK)
        return;
    p->status = make_program(in, &in->stated[tensor], t->stated_bound, t->rank, t->own);
    if (p->status == TK_OK)
        plan_program(p, &in->stated[tensor]);
}

static tk_status plan_all(tki_interpreter *in, plan *p)
{
    for (int i = in->d->input_count; i < in->d->param_count; i++)
        if (tki_condition_holds(&in->d->tensors[in->d->params[i]].present, in->c))
            plan_output(p, in->d->params[i]);
    if (p->status != TK_OK)
        return p->status;
    for (int i = in->d->input_count; i < in->d->param_count; i++) {
        const int tensor = in->d->params[i];
        double filled = 0;
        if (is_made(&in->of_tensor[tensor]))
            cost_of_read(p, tensor, &filled);
        if (is_made(&in->stated[tensor]))
            cost_of_program(p, &in->stated[tensor]);
    }
    return p->refused ? TK_BAD_ARGUMENT : TK_OK;
}

static tk_status make_interpreter(const tki_definition *d, const tk_case *c, const void *const buffers[],
                                  const tki_watch *watch, double asked, tki_interpreter **made)
{
    const tki_floats floats = tki_floats_begin();
    tki_interpreter *in = calloc(1, sizeof *in);
    plan p = {.in = in};
    tk_status status = TK_NO_MEMORY;
    *made = NULL;
    if (in) {
        *in = (tki_interpreter){.d = d,
                                .c = c,
                                .buffers = buffers,
                                .watch = watch,
                                .asked = asked,
                                .numerics = tki_choice_of_role(c->contract, c->attributes, TK_ROLE_NUMERICS),
                                .matrix_unit = tki_choice_of_role(c->contract, c->attributes, TK_ROLE_MATRIX_UNIT),
                                .rules.flushes = tki_domain_is_normal(c)};
        status = allocate(in, &p) ? tki_elementary_open(&in->rules.tables) : TK_NO_MEMORY;
    }
    if (status == TK_OK) {
        status = tki_definition_settle(d, c, in->constants) != TKI_NONE ? TK_BAD_ARGUMENT : open_inputs(in);
    }
    if (status == TK_OK) {
        resolve_choices(in);
        status = tki_make_constants(in);
        tki_find_specials(in, largest_input(in));
        if (in->numerics == TKI_NUMERICS_TENSOR_CORE || in->numerics == TKI_NUMERICS_TF32)
            look_for_units(in);
    }
    if (status == TK_OK)
        status = plan_all(in, &p);
    if (status == TK_OK && buffers)
        status = make_tables(in);
    free(p.readers_of_node);
    free(p.readers_of_tensor);
    free(p.widest_of_node);
    free(p.widest_of_tensor);
    if (status == TK_OK)
        *made = in;
    else
        tki_interpreter_free(in);
    tki_floats_end(&floats);
    return status;
}

tk_status tki_interpreter_make(const tki_definition *d, const tk_case *c, const void *const buffers[],
                               tki_interpreter **made)
{
    return make_interpreter(d, c, buffers, NULL, INFINITY, made);
}

tk_status tki_interpreter_make_for(const tki_definition *d, const tk_case *c, const void *const buffers[],
                                   double asked, tki_interpreter **made)
{
    return make_interpreter(d, c, buffers, NULL, asked, made);
}

tk_status tki_interpreter_make_watched(const tki_definition *d, const tk_case *c, const void *const buffers[],
                                       const tki_watch *watch, tki_interpreter **made)
{
    return make_interpreter(d, c, buffers, watch, INFINITY, made);
}

static void free_program(tki_program *p)
{
    free(p->order);
    free(p->indices);
}

void tki_interpreter_free(tki_interpreter *in)
{
    if (!in)
        return;
    for (int i = 0; i < in->d->tensor_count && in->of_tensor && in->kept_tensor; i++) {
        free_program(&in->of_tensor[i]);
        free(in->kept_tensor[i].entries);
    }
    for (int i = 0; i < in->d->node_count && in->of_body && in->of_factor[0] && in->of_factor[1] && in->outer &&
                    in->kept && in->rows;
         i++) {
        free_program(&in->of_body[i]);
        free_program(&in->of_factor[0][i]);
        free_program(&in->of_factor[1][i]);
        free(in->outer[i]);
        free(in->kept[i].entries);
        free(in->rows[i].entries);
    }
    for (int i = 0; i < in->d->node_count && in->buckets && in->special && in->special_indices; i++) {
        tki_buckets_free(in->buckets[i]);
        free(in->special[i].entries);
        free(in->special_indices[i]);
    }
    for (int i = 0; i < in->d->tensor_count && in->stated; i++)
        free_program(&in->stated[i]);
    free(in->constants);
    free(in->resolved);
    free(in->is_constant);
    free(in->values);
    free(in->decoded);
    free(in->of_tensor);
    free(in->of_body);
    free(in->of_factor[0]);
    free(in->of_factor[1]);
    free(in->stated);
    free(in->outer_count);
    free(in->outer);
    free(in->kept);
    free(in->rows);
    free(in->kept_tensor);
    free(in->by_equation);
    free(in->buckets);
    free(in->may_be_special);
    free(in->reach);
    free(in->inputs);
    free(in->special);
    free(in->special_indices);
    free(in->fillings);
    free(in);
}
