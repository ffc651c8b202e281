/* DECIDES. How large the values of a definition may become, by the largest number among its inputs and before any is evaluated: what cannot
 * overflow is finite in every evaluation. Not tight, and infinite wherever that takes more than a line. */
#include "interpret/program.h"

/* Room for the roundings of an operation, and of reckoning here; of a sum, for those of as many terms as this. */
#define ROOM 4
#define MOST_TERMS 0x1p24
#define TINY 0x1p-100

static double of_operand(const tki_interpreter *in, const tki_def_node *n, int k, const double largest[])
{
    const int node = n->operand[k] == TKI_NONE ? TKI_NONE : in->resolved[n->operand[k]];
    return node == TKI_NONE ? 0 : largest[node];
}

static double of_read(const tki_interpreter *in, const tki_def_node *n, double of_inputs, const double largest[])
{
    const tki_def_tensor *t = &in->d->tensors[n->tensor];
    const double inside = t->integer                    ? ROOM * 0x1p63
                          : t->role == TKI_TENSOR_INPUT ? of_inputs
                                                        : largest[in->resolved[t->value]];
    return fmax(inside, of_operand(in, n, 0, largest));
}

static double of_primitive(const tki_interpreter *in, const tki_def_node *n, const double largest[])
{
    const double a = of_operand(in, n, 0, largest), b = of_operand(in, n, 1, largest);
    switch (n->primitive) {
    case TKI_ADD:
    case TKI_SUBTRACT: return ROOM * (a + b);
    case TKI_MULTIPLY: return ROOM * (a * b) + TINY;
    case TKI_SQUARE: return ROOM * (a * a) + TINY;
    case TKI_FMA: return ROOM * (a * b + of_operand(in, n, 2, largest)) + TINY;
    case TKI_NEGATE:
    case TKI_ABS: return a;
    case TKI_MIN:
    case TKI_MAX: return fmax(a, b);
    case TKI_TANH:
    case TKI_ERF:
    case TKI_SIGMOID:
    case TKI_NORMAL_CDF:
    case TKI_ONE_MINUS_SIGMOID:
    case TKI_SILU:
    case TKI_SOFTPLUS:
    case TKI_MISH:
    case TKI_GELU:
    case TKI_GELU_TANH:
    case TKI_LOG_SIGMOID: return ROOM * (a + 1);
    default: return INFINITY;
    }
}

static double of_over(const tki_interpreter *in, const tki_def_node *n, const double largest[])
{
    const double body = of_operand(in, n, 0, largest);
    double terms = 1;
    for (int k = 0; k < n->bound_count; k++)
        terms *= (double)tki_extent_of(in, n->bound[k]);
    switch (n->over) {
    case TKI_SUM:
    case TKI_CUMSUM: return terms <= MOST_TERMS ? ROOM * terms * body : INFINITY;
    case TKI_SOFTMAX: return body + 1;
    case TKI_ROTATE_HALF: return body;
    default: return INFINITY;
    }
}

static double of_node(const tki_interpreter *in, int node, double of_inputs, const double largest[])
{
    const tki_def_node *n = &in->d->nodes[node];
    double most = 0;
    if (in->is_constant[node])
        return in->values[node].state == TKI_IS_FINITE ? tki_value_magnitude(&in->values[node]) + in->values[node].e
                                                       : INFINITY;
    switch (n->kind) {
    case TKI_NODE_INTEGER: return ROOM * 0x1p63;
    case TKI_NODE_READ: return of_read(in, n, of_inputs, largest);
    case TKI_NODE_PRIMITIVE: return of_primitive(in, n, largest);
    case TKI_NODE_SELECT: return fmax(of_operand(in, n, 1, largest), of_operand(in, n, 2, largest));
    case TKI_NODE_OVER: return of_over(in, n, largest);
    case TKI_NODE_PIECES:
        for (int i = 0; i < n->piece_count; i++)
            most = fmax(most, largest[n->pieces[i].read]);
        return most;
    case TKI_NODE_COMPARE:
    case TKI_NODE_AND: return 0;
    default: return INFINITY;
    }
}

/* Is it a product of which a factor may be no number? */
static bool is_special_product(const tki_interpreter *in, const tki_def_node *n)
{
    if (n->kind != TKI_NODE_PRIMITIVE || (n->primitive != TKI_MULTIPLY && n->primitive != TKI_FMA))
        return false;
    for (int i = 0; i < 2; i++)
        if (in->resolved[n->operand[i]] != TKI_NONE && in->may_be_special[in->resolved[n->operand[i]]])
            return true;
    return false;
}

/* In the order of the nodes: what a value is made of comes before it. An infinity times zero is no number, and no reason to call a value finite. */
void tki_find_specials(tki_interpreter *in, double of_inputs)
{
    double largest[TKI_MOST_NODES];
    for (int node = 0; node < in->d->node_count; node++) {
        largest[node] = INFINITY;
        if (in->resolved[node] == node)
            largest[node] = of_node(in, node, of_inputs, largest);
        if (!(largest[node] < TKI_FP32_OVERFLOW / ROOM))
            largest[node] = INFINITY;
        in->may_be_special[node] = isinf(largest[node]);
        in->pads_by_absence |= is_special_product(in, &in->d->nodes[node]);
        in->reach[node] = largest[node];
    }
}
