/* UNTRUSTED. Plain loops: the files that they stand in, C, CUDA and HIP. */
#include "generate/plain.h"

#include <stdlib.h>
#include <string.h>

#include "generate/plain_helpers.h"
#include "generate/plain_parts.h"

/* -- Arguments ------------------------------------------------------------------------------------------------------------- */

/* A tensor of the kernel that has the size, always there if possible; TKI_NONE. */
static int tensor_with(const tki_definition *d, int size, int *axis)
{
    for (int conditional = 0; conditional < 2; conditional++)
        for (int i = 0; i < d->param_count; i++) {
            const tki_def_tensor *t = &d->tensors[d->params[i]];
            for (*axis = 0; *axis < t->rank; ++*axis)
                if (t->size[*axis] == size && (t->present.count > 0) == conditional)
                    return i;
        }
    return TKI_NONE;
}

static void write_sizes(generating *g, const char **why)
{
    for (int i = 0; i < g->d->size_count; i++) {
        int axis = 0;
        const int param = tensor_with(g->d, i, &axis);
        if (g->d->sizes[i].derived >= 0)
            continue;
        if (param < 0)
            *why = "a size is that of no tensor, so that a kernel does not get it";
        say(g, "TOKITAI_UNUSED const int64_t n_%s = call->tensors[%d].shape[%d];", g->d->sizes[i].name, param, axis);
    }
    for (int i = 0; i < g->d->derived_count; i++) {
        const tki_def_size *s = &g->d->sizes[g->d->derivation[i]];
        begin(g);
        put(g, "TOKITAI_UNUSED const int64_t n_%s = ", s->name);
        tki_put_int(g, s->derived);
        put(g, ";\n");
    }
}

static void write_arguments(generating *g)
{
    for (int i = 0; i < g->d->attribute_count; i++) {
        const bool real = g->d->attributes[i].type == TK_ATTRIBUTE_REAL;
        say(g, "TOKITAI_UNUSED const %s a_%s = tokitai_%s3(call, \"%s\");", real ? "double" : "int64_t",
            g->d->attributes[i].name, real ? "real" : "integer", g->d->attributes[i].name);
    }
    for (int i = 0; i < g->d->param_count; i++)
        say(g, "TOKITAI_UNUSED const tokitai_tensor3 *const t_%s = &call->tensors[%d];",
            g->d->tensors[g->d->params[i]].name, i);
}

static const char *number_of(const tki_def_tensor *t)
{
    return t->integer ? "int64_t" : "double";
}

static void put_elements(generating *g, const tki_def_tensor *t)
{
    put(g, "1");
    for (int axis = 0; axis < t->rank; axis++) {
        put(g, " * ");
        tki_put_int(g, t->extent[axis]);
    }
}

/* Arrays of what is kept; their number. */
static int write_arrays(generating *g)
{
    int count = 0;
    for (int i = g->d->input_count; i < g->d->tensor_count; i++) {
        const tki_def_tensor *t = &g->d->tensors[i];
        if (!g->kept[i])
            continue;
        begin(g);
        put(g, "%s *const v_%s = blocks[%d] = calloc((size_t)(", number_of(t), t->name, count++);
        put_elements(g, t);
        put(g, ") + 1, 8);\n");
    }
    for (int i = 0; i < g->d->node_count; i++) {
        const tki_def_node *n = &g->d->nodes[i];
        if (!tki_has_array(g, n))
            continue;
        begin(g);
        put(g, "TOKITAI_UNUSED double *const w%d = blocks[%d] = calloc((size_t)(1", i, count++);
        for (int k = 0; k < n->bound_count; k++) {
            put(g, " * ");
            tki_put_int(g, g->d->indices[n->bound[k]].extent);
        }
        put(g, ") + 1, 8);\n");
    }
    return count;
}

static int count_arrays(const generating *g)
{
    int count = 0;
    for (int i = 0; i < g->d->tensor_count; i++)
        count += g->kept[i];
    for (int i = 0; i < g->d->node_count; i++)
        count += tki_has_array(g, &g->d->nodes[i]);
    return count;
}

static void find_kept(generating *g)
{
    for (int i = g->d->input_count; i < g->d->tensor_count; i++)
        g->kept[i] = g->d->tensors[i].role == TKI_TENSOR_BETWEEN;
    for (int i = 0; i < g->d->node_count; i++)
        if (g->d->nodes[i].kind == TKI_NODE_READ && g->d->nodes[i].tensor >= g->d->input_count)
            g->kept[g->d->nodes[i].tensor] = true;
    for (int i = 0; i < g->d->int_count; i++)
        if (g->d->ints[i].kind == TKI_INT_ELEMENT && g->d->ints[i].tensor >= g->d->input_count)
            g->kept[g->d->ints[i].tensor] = true;
}

/* -- GPUs ---------------------------------------------------------------------------------------------------------- */

/* A member of what all threads get, or a thread's own variable for it. */
__attribute__((format(printf, 5, 6))) static void write_given(generating *g, bool own, char kind, const char *name,
                                                              const char *type, ...)
{
    va_list values;
    begin(g);
    put(g, "%s", own ? "TOKITAI_UNUSED " : "");
    va_start(values, type);
    vfprintf(g->out, type, values);
    va_end(values);
    put(g, "%c_%s", kind, name);
    if (own)
        put(g, " = %sgiven.%c_%s", kind == 't' ? "&" : "", kind, name);
    put(g, ";\n");
}

static void write_all_given(generating *g, bool own)
{
    const tki_definition *d = g->d;
    const char *constant = own ? "const " : "";
    for (int i = 0; i < d->param_count; i++)
        write_given(g, own, 't', d->tensors[d->params[i]].name, "%stokitai_tensor3 %s", constant,
                    own ? "*const " : "");
    for (int i = 0; i < d->attribute_count; i++)
        write_given(g, own, 'a', d->attributes[i].name, "%s%s ", constant,
                    d->attributes[i].type == TK_ATTRIBUTE_REAL ? "double" : "int64_t");
    for (int i = 0; i < d->size_count; i++)
        write_given(g, own, 'n', d->sizes[i].name, "%sint64_t ", constant);
    for (int i = d->input_count; i < d->tensor_count; i++)
        if (g->kept[i])
            write_given(g, own, 'v', d->tensors[i].name, "%s *%s", number_of(&d->tensors[i]), constant);
}

static void write_threads(generating *g, int tensor)
{
    const tki_def_tensor *t = &g->d->tensors[tensor];
    put(g, "static __global__ void compute_%s(const arguments given, int64_t count)\n{\n", t->name);
    g->indent = 1;
    write_all_given(g, true);
    say(g, "const int64_t first = blockIdx.x * (int64_t)blockDim.x + threadIdx.x, step = gridDim.x * "
           "(int64_t)blockDim.x;");
    say(g, "for (int64_t element = first; element < count; element += step) {");
    g->indent++;
    if (t->rank > 0)
        say(g, "int64_t rest = element;");
    for (int axis = t->rank - 1; axis >= 0; axis--) {
        begin(g);
        put(g, "TOKITAI_UNUSED const int64_t ");
        tki_put_index(g, t->own[axis]);
        put(g, " = rest %% ");
        tki_put_int(g, t->extent[axis]);
        put(g, ";\n");
        if (axis > 0) {
            begin(g);
            put(g, "rest /= ");
            tki_put_int(g, t->extent[axis]);
            put(g, ";\n");
        }
        g->bound[t->own[axis]] = true;
    }
    tki_write_tensor(g, tensor);
    for (int axis = 0; axis < t->rank; axis++)
        g->bound[t->own[axis]] = false;
    g->indent = 1;
    say(g, "}");
    put(g, "}\n\n");
    g->indent = 0;
}

static void write_allocations(generating *g)
{
    for (int i = g->d->input_count; i < g->d->tensor_count; i++) {
        const tki_def_tensor *t = &g->d->tensors[i];
        if (!g->kept[i])
            continue;
        begin(g);
        put(g, "if (%sMallocAsync((void **)&given.v_%s, (size_t)(", g->gpu, t->name);
        put_elements(g, t);
        put(g, ") * 8 + 8, stream) != %sSuccess)\n", g->gpu);
        say(g, "    failed = 1;");
    }
}

static void write_launches(generating *g)
{
    for (int i = g->d->input_count; i < g->d->tensor_count; i++) {
        const tki_def_tensor *t = &g->d->tensors[i];
        begin(g);
        put(g, "const int64_t count_%s = ", t->name);
        put_elements(g, t);
        put(g, ";\n");
        begin(g);
        put(g, "if (!failed && count_%s > 0", t->name);
        if (t->present.count > 0) {
            put(g, " && ");
            tki_put_condition(g, &t->present);
        }
        put(g, ")\n");
        say(g, "    compute_%s<<<blocks_for(count_%s), THREADS, 0, stream>>>(given, count_%s);", t->name, t->name,
            t->name);
    }
    for (int i = g->d->input_count; i < g->d->tensor_count; i++)
        if (g->kept[i]) {
            say(g, "if (given.v_%s)", g->d->tensors[i].name);
            say(g, "    (void)%sFreeAsync(given.v_%s, stream);", g->gpu, g->d->tensors[i].name);
        }
}

static void write_gpu(generating *g, const char **why)
{
    const tki_definition *d = g->d;
    put(g, "enum { THREADS = 128, MOST_BLOCKS = 65535 };\n\n");
    put(g, "typedef struct arguments {\n");
    g->indent = 1;
    write_all_given(g, false);
    g->indent = 0;
    put(g, "} arguments;\n\n");
    for (int i = d->input_count; i < d->tensor_count; i++)
        write_threads(g, i);
    put(g, "static unsigned blocks_for(int64_t count)\n{\n");
    put(g, "    const int64_t blocks = (count + THREADS - 1) / THREADS;\n");
    put(g, "    return blocks > MOST_BLOCKS ? (unsigned)MOST_BLOCKS : (unsigned)blocks;\n}\n\n");
    put(g, "TOKITAI_KERNEL3(%s)\n{\n", d->name);
    g->indent = 1;
    write_arguments(g);
    write_sizes(g, why);
    say(g, "%sStream_t stream = (%sStream_t)call->stream;", g->gpu, g->gpu);
    say(g, "int failed = 0;");
    say(g, "arguments given = {");
    for (int i = 0; i < d->param_count; i++)
        say(g, "    *t_%s,", d->tensors[d->params[i]].name);
    for (int i = 0; i < d->attribute_count; i++)
        say(g, "    a_%s,", d->attributes[i].name);
    for (int i = 0; i < d->size_count; i++)
        say(g, "    n_%s,", d->sizes[i].name);
    for (int i = d->input_count; i < d->tensor_count; i++)
        if (g->kept[i])
            say(g, "    NULL, /* v_%s */", d->tensors[i].name);
    say(g, "};");
    write_allocations(g);
    write_launches(g);
    say(g, "return failed || %sGetLastError() != %sSuccess;", g->gpu, g->gpu);
    put(g, "}\n");
}

/* -- Files ---------------------------------------------------------------------------------------------------------- */

static void write_host(generating *g, const char **why)
{
    put(g, "TOKITAI_KERNEL3(%s)\n{\n", g->d->name);
    g->indent = 1;
    write_arguments(g);
    write_sizes(g, why);
    const int blocks = count_arrays(g);
    if (blocks > 0) {
        say(g, "void *blocks[%d];", blocks);
        write_arrays(g);
        say(g, "int failed = 0;");
        say(g, "for (int i = 0; i < %d; i++)", blocks);
        say(g, "    failed |= !blocks[i];");
        say(g, "if (!failed) {");
        g->indent++;
    }
    for (int i = g->d->input_count; i < g->d->tensor_count; i++)
        tki_write_tensor(g, i);
    if (blocks > 0) {
        g->indent--;
        say(g, "}");
        say(g, "for (int i = 0; i < %d; i++)", blocks);
        say(g, "    free(blocks[i]);");
    }
    say(g, blocks > 0 ? "return failed;" : "return 0;");
    put(g, "}\n");
}

/* Those that the body, or one of them, calls; on a GPU both sides may. */
static void write_helpers(FILE *out, const char *body, bool gpu)
{
    enum { COUNT = sizeof tki_plain_helpers / sizeof *tki_plain_helpers };
    bool called[COUNT];
    for (int i = COUNT - 1; i >= 0; i--) {
        called[i] = strstr(body, tki_plain_helpers[i].name);
        for (int k = i + 1; k < COUNT; k++)
            called[i] |= called[k] && strstr(tki_plain_helpers[k].text, tki_plain_helpers[i].name);
    }
    for (int i = 0; i < COUNT; i++)
        if (called[i]) {
            const char *text = tki_plain_helpers[i].text, *head = strstr(text, "static ");
            fprintf(out, "%.*s%s%s\n", (int)(head - text), text, gpu ? "TOKITAI_DEVICE" : "static",
                    head + strlen("static"));
        }
}

static void write_file(FILE *out, const tki_definition *d, const char *body, const char *gpu)
{
    fprintf(out, "/* Plain loops, slow and right, of the definition\n *\n");
    for (const char *line = d->text; *line; line = strchr(line, '\n') + 1)
        fprintf(out, " *   %.*s\n", (int)strcspn(line, "\n"), line);
    fprintf(out, "%s */\n", gpu ? " *\n * One thread computes an element of a tensor.\n" : "");
    if (gpu)
        fprintf(out, "#include <%s>\n", !strcmp(gpu, "cuda") ? "cuda_runtime.h" : "hip/hip_runtime.h");
    fprintf(out, "#include <math.h>\n#include <stdint.h>\n#include <stdlib.h>\n\n#include <tokitai_kernel.h>\n\n");
    write_helpers(out, body, gpu);
    fputs(body, out);
}

bool tki_write_plain_loops(FILE *out, const tki_definition *definition, const char *gpu, const char **why)
{
    char *body = NULL;
    size_t size;
    generating *g = calloc(1, sizeof *g);
    FILE *memory = g ? open_memstream(&body, &size) : NULL;
    *why = memory ? NULL : "no memory";
    if (memory) {
        g->out = memory;
        g->d = definition;
        g->gpu = gpu;
        find_kept(g);
        if (gpu)
            write_gpu(g, why);
        else
            write_host(g, why);
        if (is_too_large(g))
            *why = "the kernel would be longer than a megabyte";
        if (fclose(memory) != 0 && !*why)
            *why = "no memory";
    }
    if (!*why)
        write_file(out, definition, body, gpu);
    free(body);
    free(g);
    return !*why;
}
