/* SHOWS. The graph of a definition as SVG: each value with its share of the error bound, at drawn inputs. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/context.h"
#include "core/escape.h"
#include "model/op.h"
#include "trials/points.h"

enum { WIDTH = 196, HEIGHT = 46, APART = 62, DOWN = 20, MARGIN = 20, HEAD = 56 };

static const char style[] =
    "<style>svg{--page:#fff;--card:#f6f8fa;--ink:#1c2128;--faint:#57606a;--line:#8c959f;--own:#c4281c;--through:#"
    "4f8fd0}"
    "@media(prefers-color-scheme:dark){svg{--page:#0f1419;--card:#181f27;--ink:#e3e8ee;--faint:#9aa7b4;--line:#"
    "6e7a87;"
    "--own:#ff7b72;--through:#5b9bdc}}.page{fill:var(--page)}.card{fill:var(--card);stroke:var(--line)}"
    "text{fill:var(--ink);font:13px system-ui,sans-serif}.faint{fill:var(--faint);font-size:11px}"
    ".lead{stroke:var(--line);fill:none}.own{fill:var(--own)}.through{fill:var(--through)}</style>";

typedef struct box {
    int64_t elements; /* that depend on it; 0: it is not drawn */
    int column, row;
    double through, own; /* sums of their shares */
} box;

typedef struct drawing {
    const tki_definition *d;
    FILE *out;
    box *boxes; /* [node_count] */
    int columns, rows;
} drawing;

/* Means over all elements of all outputs at all points of normal numbers. */
static tk_status gather(drawing *g, const tki_points *points)
{
    tk_status status = TK_OK;
    tki_share *shares = calloc((size_t)g->d->node_count + 1, sizeof *shares);
    for (int p = 0; p < points->count && shares && status == TK_OK; p++)
        for (int i = g->d->input_count; i < g->d->param_count && tki_point_is_normal(&points->list[p]); i++) {
            const int tensor = g->d->params[i];
            const int64_t count = tki_point_elements(&points->list[p], tensor);
            for (int64_t k = 0; k < count && k < 8 && status == TK_OK; k++) {
                status = tki_point_shares(&points->list[p], tensor, k, shares);
                for (int n = 0; n < g->d->node_count && status == TK_OK; n++) {
                    g->boxes[n].elements += shares[n].met;
                    g->boxes[n].through += shares[n].through;
                    g->boxes[n].own += shares[n].own;
                }
            }
        }
    free(shares);
    return shares ? status : TK_NO_MEMORY;
}

/* What a node is computed from: its operands, and of a read the value of the tensor. */
static int source_of(const drawing *g, int node, int k)
{
    const tki_def_node *n = &g->d->nodes[node];
    int source = k < 3 ? n->operand[k] : TKI_NONE;
    if (n->kind == TKI_NODE_READ)
        source = k == 0 ? g->d->tensors[n->tensor].value : TKI_NONE;
    while (source != TKI_NONE && g->d->nodes[source].kind == TKI_NODE_CHOICE)
        source = g->boxes[g->d->nodes[source].operand[0]].elements > 0 ? g->d->nodes[source].operand[0]
                                                                       : g->d->nodes[source].operand[1];
    return source != TKI_NONE && g->boxes[source].elements > 0 ? source : TKI_NONE;
}

/* A column behind what it is computed from: ids of operands are smaller, those of tensors need a second look. */
static void place(drawing *g)
{
    int *next = calloc((size_t)g->d->node_count + 2, sizeof *next);
    for (bool moved = true; moved;) {
        moved = false;
        for (int i = 0; i < g->d->node_count; i++)
            for (int k = 0; k < 3 && g->boxes[i].elements > 0; k++) {
                const int source = source_of(g, i, k);
                if (source == TKI_NONE || g->boxes[source].column < g->boxes[i].column)
                    continue;
                g->boxes[i].column = g->boxes[source].column + 1;
                moved = true;
            }
    }
    for (int i = 0; i < g->d->node_count && next; i++) {
        if (g->boxes[i].elements == 0)
            continue;
        g->boxes[i].row = next[g->boxes[i].column]++;
        g->columns = g->boxes[i].column + 1 > g->columns ? g->boxes[i].column + 1 : g->columns;
        g->rows = g->boxes[i].row + 1 > g->rows ? g->boxes[i].row + 1 : g->rows;
    }
    free(next);
}

static double left_of(const box *b)
{
    return MARGIN + (double)b->column * (WIDTH + APART);
}

static double top_of(const box *b)
{
    return HEAD + (double)b->row * (HEIGHT + DOWN);
}

static void put_text(FILE *out, double x, double y, const char *class, const char *text)
{
    fprintf(out, "<text x=\"%.1f\" y=\"%.1f\" class=\"%s\">", x, y, class);
    tki_put_xml(out, text, TKI_TEXT_MOST);
    fputs("</text>\n", out);
}

static void put_leads(const drawing *g, int node)
{
    const box *b = &g->boxes[node];
    for (int k = 0; k < 3; k++) {
        const int source = source_of(g, node, k);
        if (source == TKI_NONE)
            continue;
        const box *from = &g->boxes[source];
        const double x = left_of(from) + WIDTH, y = top_of(from) + HEIGHT / 2.0;
        const double to_x = left_of(b), to_y = top_of(b) + HEIGHT / 2.0, half = (to_x - x) / 2;
        fprintf(g->out, "<path class=\"lead\" d=\"M%.1f %.1fC%.1f %.1f %.1f %.1f %.1f %.1f\"/>\n", x, y, x + half, y,
                to_x - half, to_y, to_x, to_y);
    }
}

/* "mean -> rstd": what it is, and which tensor's value. */
static void name_of(const drawing *g, int node, char *text, size_t size)
{
    const tki_def_node *n = &g->d->nodes[node];
    snprintf(text, size, "%s", n->kind == TKI_NODE_READ ? g->d->tensors[n->tensor].name : tki_node_name(n));
    for (int i = 0; i < g->d->tensor_count; i++)
        if (g->d->tensors[i].value == node) {
            const size_t used = strlen(text);
            snprintf(text + used, size - used, " \xe2\x86\x92 %s", g->d->tensors[i].name);
            return;
        }
}

static void put_box(const drawing *g, int node)
{
    const box *b = &g->boxes[node];
    const tki_def_node *n = &g->d->nodes[node];
    const double x = left_of(b), y = top_of(b), of = (double)b->elements;
    const double own = b->own / of, through = b->through / of;
    char text[160];
    fprintf(g->out, "<g><rect class=\"card\" x=\"%.1f\" y=\"%.1f\" width=\"%d\" height=\"%d\" rx=\"5\"/>\n", x, y,
            WIDTH, HEIGHT);
    fprintf(g->out, "<rect class=\"through\" x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"4\"/>\n", x,
            y + HEIGHT - 4, WIDTH * through);
    fprintf(g->out, "<rect class=\"own\" x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"4\"/>\n", x, y + HEIGHT - 4,
            WIDTH * (own < through ? own : through));
    name_of(g, node, text, sizeof text);
    put_text(g->out, x + 8, y + 17, "", text);
    snprintf(text, sizeof text, "%d:%d  own %.1f %%, through %.1f %%", n->position.line, n->position.column,
             100 * own, 100 * through);
    put_text(g->out, x + 8, y + 34, "faint", text);
    fputs("</g>\n", g->out);
}

static void draw(const drawing *g)
{
    const int width = 2 * MARGIN + g->columns * (WIDTH + APART) - APART, height = HEAD + g->rows * (HEIGHT + DOWN);
    char text[256];
    snprintf(text, sizeof text, "%s: shares of the error bound", g->d->name);
    fprintf(g->out, "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %d\" role=\"img\" aria-label=\"",
            width, height);
    tki_put_xml(g->out, text, TKI_TEXT_MOST);
    fprintf(g->out, "\">%s<rect class=\"page\" width=\"%d\" height=\"%d\"/>\n", style, width, height);
    put_text(g->out, MARGIN, 22, "", text);
    put_text(g->out, MARGIN, 40, "faint",
             "means over elements that depend on it, of normal inputs; own: what it adds, through: with what comes "
             "from below");
    for (int i = 0; i < g->d->node_count; i++)
        if (g->boxes[i].elements > 0)
            put_leads(g, i);
    for (int i = 0; i < g->d->node_count; i++)
        if (g->boxes[i].elements > 0)
            put_box(g, i);
    fputs("</svg>\n", g->out);
}

tk_status tk_op_graph(tk_ctx *ctx, const tk_contract *contract, char **svg)
{
    tki_points points;
    size_t size;
    if (!ctx)
        return TK_BAD_ARGUMENT;
    if (!contract || !svg)
        return tki_fail(ctx, TK_BAD_ARGUMENT, "no contract, or no pointer for the graph");
    *svg = NULL;
    if (!tki_contract_is_known(ctx, contract) || !tk_contract_definition(contract))
        return tki_fail(ctx, TK_BAD_ARGUMENT, "%s is not made from a definition in this context", contract->name);
    tk_status status = tki_points_make(ctx, contract, &points);
    if (status != TK_OK)
        return status;
    drawing g = {.d = tki_definition_of(contract)};
    g.boxes = calloc((size_t)g.d->node_count + 1, sizeof *g.boxes);
    status = g.boxes ? gather(&g, &points) : TK_NO_MEMORY;
    tki_points_free(&points);
    if (status == TK_OK)
        place(&g);
    g.out = status == TK_OK ? open_memstream(svg, &size) : NULL;
    if (g.out)
        draw(&g);
    free(g.boxes);
    if (status == TK_BAD_ARGUMENT)
        return tki_fail(ctx, TK_UNSUPPORTED, "%s is not evaluated, so that no bound is known", contract->name);
    return g.out && !fclose(g.out) ? TK_OK : tki_fail(ctx, TK_NO_MEMORY, "no memory for the graph");
}
