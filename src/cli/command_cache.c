/* SHOWS. tokitai cache: the compiled GPU kernels, and the verdicts on mutants, that are kept for later use. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "cli/cli.h"
#include "cli/common_arguments.h"
#include "tokitai_cache.h"
#include "tokitai_verify.h"

typedef struct arguments {
    cli_words words; /* the action and the keys */
    const char *who, *backend, *architecture, *source, *dtype;
    bool json, repair;
} arguments;

static const cli_option option_list[] = {
    CLI_JSON,
    CLI_ROW(CLI_FLAG, "repair", NULL, repair, "verify: remove damaged entries; they are built again when needed"),
    CLI_HEADING("What to build:"),
    CLI_BACKEND("GPU", ": cuda or hip"),
    CLI_ROW(CLI_TEXT, "architecture", "NAME", architecture, "Architecture, such as sm_90 or gfx942"),
    CLI_ROW(CLI_TEXT, "source", "NAME", source, "One kernel source, such as ops/gelu/kernel.cu"),
    CLI_DTYPE("|all", ". Default: all"),
    {0},
};

static json_t *json_kernels(const tk_cache_entry *entry)
{
    json_t *list = json_array();
    for (int i = 0; i < entry->kernel_count; i++) {
        const tk_kernel_resources *k = &entry->kernels[i];
        json_array_append_new(list, json_pack("{s:o, s:i, s:i, s:i, s:i, s:i}", "name", cli_json_text(k->name),
                                              "registers", k->registers, "shared_bytes", k->shared_bytes,
                                              "stack_bytes", k->stack_bytes, "spill_store_bytes",
                                              k->spill_store_bytes, "spill_load_bytes", k->spill_load_bytes));
    }
    return list;
}

static json_t *json_entry(const tk_cache_entry *entry)
{
    json_t *item = json_pack("{s:o, s:o, s:I}", "key", cli_json_text(entry->key), "path", cli_json_text(entry->path),
                             "bytes", (json_int_t)entry->bytes);
    if (entry->last_used)
        json_object_set_new(item, "last_used", json_integer((json_int_t)entry->last_used));
    if (entry->damage[0]) {
        json_object_set_new(item, "damage", cli_json_text(entry->damage));
        return item;
    }
    json_object_update_new(
        item, json_pack("{s:s, s:o, s:s, s:o, s:o, s:o, s:o, s:o, s:o}", "backend", entry->backend, "source",
                        cli_json_text(entry->source), "dtype", cli_name_types(entry->types).text, "architecture",
                        cli_json_text(entry->architecture), "compiler", cli_json_text(entry->compiler), "options",
                        cli_json_text(entry->options), "warnings", cli_json_text(entry->warnings), "note",
                        cli_json_text(entry->note), "kernels", json_kernels(entry)));
    return item;
}

/* ------------------------------------------------------------------------------------------------------------
 * list and verify
 * ------------------------------------------------------------------------------------------------------------ */

enum { SHORT_KEY = 12, MOST_COLUMNS = 7, WIDTH = 300 };

/* A file of the cache, as it is shown. */
typedef struct shown {
    char key[65], path[4096], damage[256];
    int64_t bytes;
    bool wrong;
    json_t *json;                   /* of --json, else NULL */
    char text[MOST_COLUMNS][WIDTH]; /* its row of the table */
} shown;

/* Kernels, what 'tokitai tune' has kept, or the verdicts on mutants. */
typedef struct files {
    bool as_json;
    cli_table table;
    shown *list; /* [count] */
    int count;
    bool out_of_memory;
} files;

/* Another one, with the members that all have; `what` it is of. NULL without memory. */
static shown *add_file(files *all, const char *key, const char *path, const char *damage, int64_t bytes,
                       const char *what)
{
    shown *more = realloc(all->list, (size_t)(all->count + 1) * sizeof *more);
    all->out_of_memory = !more;
    if (!more)
        return NULL;
    all->list = more;
    shown *f = &all->list[all->count++];
    *f = (shown){.bytes = bytes, .wrong = damage[0] != 0};
    snprintf(f->key, sizeof f->key, "%s", key);
    snprintf(f->path, sizeof f->path, "%s", path);
    snprintf(f->damage, sizeof f->damage, "%s", damage);
    snprintf(f->text[0], WIDTH, "%.*s", SHORT_KEY, key);
    snprintf(f->text[1], WIDTH, "%s", damage[0] ? "(damaged)" : what);
    return f;
}

static json_t *json_verdicts(const tk_kept_mutants *k)
{
    json_t *item = json_pack("{s:o, s:o, s:I, s:I}", "key", cli_json_text(k->key), "path", cli_json_text(k->path),
                             "bytes", (json_int_t)k->bytes, "last_used", (json_int_t)k->last_used);
    if (k->damage[0])
        json_object_set_new(item, "damage", cli_json_text(k->damage));
    else
        json_object_update_new(item, json_pack("{s:o, s:o, s:o, s:I, s:o, s:i, s:i, s:b}", "mutants_of",
                                               cli_json_text(k->op), "dtype", cli_json_text(k->types), "index_dtype",
                                               k->index_type[0] ? cli_json_text(k->index_type) : json_null(), "seed",
                                               (json_int_t)k->seed, "date", cli_json_text(k->date), "mutants",
                                               k->count, "rejected", k->rejected, "used", k->is_current));
    return item;
}

static json_t *json_tuning(const tk_tuning *t)
{
    json_t *item = json_pack("{s:o, s:o, s:I, s:I}", "key", cli_json_text(t->key), "path", cli_json_text(t->path),
                             "bytes", (json_int_t)t->bytes, "written", (json_int_t)t->written);
    if (t->damage[0])
        json_object_set_new(item, "damage", cli_json_text(t->damage));
    else
        json_object_update_new(item, json_pack("{s:o, s:o, s:o, s:o, s:b, s:i}", "tuning", cli_json_text(t->lowering),
                                               "device", cli_json_text(t->device), "architecture",
                                               cli_json_text(t->architecture), "source", cli_json_text(t->source),
                                               "used", t->is_current, "cases", t->case_count));
    return item;
}

static void format_time(int64_t seconds, char *text, size_t size)
{
    time_t when = (time_t)seconds;
    struct tm parts;
    if (!localtime_r(&when, &parts) || !strftime(text, size, "%Y-%m-%d %H:%M", &parts))
        snprintf(text, size, "?");
}

static bool collect(const tk_cache_entry *entry, void *data)
{
    files *all = data;
    shown *f = add_file(all, entry->key, entry->path, entry->damage, entry->bytes, entry->source);
    if (!f)
        return false;
    f->json = all->as_json ? json_entry(entry) : NULL;
    if (!entry->damage[0])
        tk_types_name(entry->types, f->text[2], WIDTH);
    snprintf(f->text[3], WIDTH, "%s", entry->architecture);
    snprintf(f->text[4], WIDTH, "%s", entry->compiler);
    cli_format_bytes(entry->bytes, f->text[5], WIDTH);
    format_time(entry->last_used, f->text[6], WIDTH);
    return true;
}

static bool collect_tuning(const tk_tuning *t, void *data)
{
    files *all = data;
    shown *f = add_file(all, t->key, t->path, t->damage, t->bytes, t->lowering);
    if (!f)
        return false;
    f->json = all->as_json ? json_tuning(t) : NULL;
    snprintf(f->text[2], WIDTH, "%s", t->device);
    snprintf(f->text[3], WIDTH, "%d", t->case_count);
    snprintf(f->text[4], WIDTH, "%s", t->damage[0] ? "no" : t->is_current ? "yes" : "no, other source");
    format_time(t->written, f->text[5], WIDTH);
    return true;
}

static bool collect_verdicts(const tk_kept_mutants *k, void *data)
{
    files *all = data;
    shown *f = add_file(all, k->key, k->path, k->damage, k->bytes, k->op);
    if (!f)
        return false;
    f->json = all->as_json ? json_verdicts(k) : NULL;
    f->wrong = k->damage[0] || k->rejected < k->count;
    snprintf(f->text[2], WIDTH, "%s%s%s", k->types, k->index_type[0] ? " " : "", k->index_type);
    snprintf(f->text[3], WIDTH, "%d/%d", k->rejected, k->count);
    snprintf(f->text[4], WIDTH, "%s", k->damage[0] ? "no" : k->is_current ? "yes" : "no, other build");
    snprintf(f->text[5], WIDTH, "%s", k->date);
    return true;
}

static void print_files(files *all)
{
    for (int i = 0; i < all->count; i++)
        for (int column = 0; column < all->table.count; column++)
            cli_table_fit(&all->table, column, all->list[i].text[column]);
    cli_table_head(&all->table);
    for (int i = 0; i < all->count; i++) {
        cli_cell cells[MOST_COLUMNS];
        for (int column = 0; column < all->table.count; column++)
            cells[column] = (cli_cell){all->list[i].text[column], all->list[i].wrong ? CLI_WRONG : CLI_PLAIN};
        cli_table_row(&all->table, cells);
    }
}

static void print_sum(tk_ctx *ctx, const files *all)
{
    char folder[4096], size[32];
    int64_t bytes = 0;
    for (int i = 0; i < all->count; i++)
        bytes += all->list[i].bytes;
    cli_format_bytes(bytes, size, sizeof size);
    printf("%s%d %s, %s, in ", all->count ? "\n" : "", all->count,
           all->count == 1 ? "compiled kernel" : "compiled kernels", size);
    cli_print(CLI_PLAIN, tk_cache_folder(ctx, folder, sizeof folder) == TK_OK ? folder : "?");
    putchar('\n');
}

/* Complains of what is damaged, and removes it if that was asked for. */
static cli_exit report_one(const arguments *a, tk_ctx *ctx, const char *key, const char *path, const char *damage)
{
    if (!damage[0])
        return CLI_HOLDS;
    if (!a->repair) {
        cli_complain(a->who, "damaged: %s: %s", path, damage);
    } else if (tk_cache_clear(ctx, key, NULL, NULL) == TK_OK) {
        cli_complain(a->who, "damaged, and removed: %s: %s", path, damage);
    } else {
        cli_complain(a->who, "damaged: %s: %s; %s", path, damage, tk_ctx_message(ctx));
        return CLI_BAD;
    }
    return CLI_REFUTED;
}

enum { KERNELS, TUNINGS, VERDICTS, KINDS };

static cli_exit report_damage(const arguments *a, tk_ctx *ctx, const files all[KINDS])
{
    cli_exit result = CLI_HOLDS;
    for (int kind = 0; kind < KINDS; kind++)
        for (int i = 0; i < all[kind].count; i++) {
            const shown *f = &all[kind].list[i];
            result = cli_worse(result, report_one(a, ctx, f->key, f->path, f->damage));
        }
    return result;
}

static cli_exit show_all(const arguments *a, tk_ctx *ctx, bool verify, files all[KINDS])
{
    cli_exit result = CLI_HOLDS;
    if (a->json) {
        json_t *list = json_array();
        for (int kind = 0; kind < KINDS; kind++)
            for (int i = 0; i < all[kind].count; i++)
                json_array_append(list, all[kind].list[i].json);
        result = cli_print_json(list);
    } else {
        for (int kind = 0; kind < KINDS && !verify; kind++) {
            if (kind != KERNELS && all[kind].count)
                putchar('\n');
            if (all[kind].count)
                print_files(&all[kind]);
        }
        print_sum(ctx, &all[KERNELS]);
    }
    return verify ? cli_worse(result, report_damage(a, ctx, all)) : result;
}

static cli_exit show(const arguments *a, tk_ctx *ctx, bool verify)
{
    files all[KINDS] = {
        [KERNELS].table = cli_table_of("key|source|dtype|architecture|compiler|#size|last used"),
        [TUNINGS].table = cli_table_of("key|tuning of|device|#cases|used|written"),
        [VERDICTS].table = cli_table_of("key|mutants of|dtype|#rejected|used|judged"),
    };
    cli_exit result;
    for (int kind = 0; kind < KINDS; kind++)
        all[kind].as_json = a->json;
    tk_status status = tk_cache_each(ctx, verify, collect, &all[KERNELS]);
    if (status == TK_OK)
        status = tk_tuning_each(ctx, collect_tuning, &all[TUNINGS]);
    if (status == TK_OK)
        status = tk_kept_mutants_each(ctx, collect_verdicts, &all[VERDICTS]);
    if (status != TK_OK) {
        cli_complain(a->who, "%s", tk_ctx_message(ctx));
        result = cli_exit_of(status, CLI_BAD);
    } else if (all[KERNELS].out_of_memory || all[TUNINGS].out_of_memory || all[VERDICTS].out_of_memory) {
        cli_complain(a->who, "out of memory");
        result = CLI_UNKNOWN;
    } else {
        result = show_all(a, ctx, verify, all);
    }
    for (int kind = 0; kind < KINDS; kind++) {
        for (int i = 0; i < all[kind].count; i++)
            json_decref(all[kind].list[i].json);
        free(all[kind].list);
    }
    return result;
}

/* ------------------------------------------------------------------------------------------------------------
 * clear
 * ------------------------------------------------------------------------------------------------------------ */

static cli_exit clear(const arguments *a, tk_ctx *ctx)
{
    enum { LEAST_KEY = 4, WHOLE_KEY = 64 };
    cli_exit result = CLI_HOLDS;
    int removed = 0;
    int64_t freed = 0;
    const cli_words keys = {a->words.list + 1, a->words.count - 1};
    for (int i = 0; i < keys.count; i++) {
        size_t length = strlen(keys.list[i]);
        if (length < LEAST_KEY || length > WHOLE_KEY || strspn(keys.list[i], "0123456789abcdef") != length) {
            cli_complain(a->who, "PREFIX must be the beginning of a key, at least %d hexadecimal digits, not '%s'",
                         LEAST_KEY, keys.list[i]);
            return CLI_BAD;
        }
    }
    for (int i = 0; i < keys.count || i == 0; i++) {
        const char *key = keys.count ? keys.list[i] : NULL;
        int some = 0;
        int64_t bytes = 0;
        tk_status status = tk_cache_clear(ctx, key, &some, &bytes);
        removed += some;
        freed += bytes;
        result = cli_worse(result, cli_exit_with(a->who, ctx, status));
        if (status == TK_OK && key && !some) {
            cli_complain(a->who, "no entry has a key that begins with '%s'", key);
            result = CLI_BAD;
        }
    }
    if (a->json)
        return cli_worse(result,
                         cli_print_json(json_pack("{s:i, s:I}", "removed", removed, "bytes", (json_int_t)freed)));
    char size[32];
    cli_format_bytes(freed, size, sizeof size);
    printf("%d removed, %s\n", removed, size);
    return result;
}

/* ------------------------------------------------------------------------------------------------------------
 * build
 * ------------------------------------------------------------------------------------------------------------ */

static void print_built(const tk_cache_entry *entry)
{
    cli_print(CLI_PLAIN, entry->source);
    printf(" %s, ", cli_name_types(entry->types).text);
    cli_print(CLI_PLAIN, entry->architecture);
    fputs(", ", stdout);
    cli_print(CLI_PLAIN, entry->compiler);
    printf(", %s in %.2f s\n", entry->was_cached ? "found" : "built", entry->seconds);
    for (int i = 0; i < entry->kernel_count; i++) {
        const tk_kernel_resources *k = &entry->kernels[i];
        bool spills = k->spill_store_bytes > 0 || k->spill_load_bytes > 0;
        printf("    ");
        cli_print(CLI_BOLD, k->name);
        printf("%*s %3d registers, %6d B shared, %4d B stack, ", 24 - (int)strlen(k->name), "", k->registers,
               k->shared_bytes, k->stack_bytes);
        char text[64];
        snprintf(text, sizeof text, spills ? "spills %d B, loads %d B" : "no spills", k->spill_store_bytes,
                 k->spill_load_bytes);
        cli_print(spills ? CLI_DOUBTFUL : CLI_PLAIN, text);
        putchar('\n');
    }
    if (entry->warnings[0]) {
        printf("    warning: ");
        cli_print(CLI_DOUBTFUL, entry->warnings);
        putchar('\n');
    }
    if (entry->note[0]) {
        printf("    note: ");
        cli_print(CLI_FAINT, entry->note);
        putchar('\n');
    }
    fflush(stdout);
}

/* A compiler's message has several lines. */
static void complain_lines(const char *who, const char *message)
{
    while (*message) {
        size_t length = strcspn(message, "\n");
        cli_complain(who, "%.*s", (int)length, message);
        message += length + (message[length] == '\n');
    }
}

static bool is_all(const char *dtype)
{
    return !dtype || !strcmp(dtype, "all");
}

static cli_exit build_one(const arguments *a, tk_ctx *ctx, const char *source, tk_types types, tk_cache_entry *entry,
                          json_t *list)
{
    tk_status status = tk_cache_build(ctx, a->backend, source, a->architecture, types, entry);
    if (status == TK_UNSUPPORTED && !a->source)
        return CLI_HOLDS; /* a source for other architectures is no part of "all" */
    if (status != TK_OK) {
        complain_lines(a->who, tk_ctx_message(ctx));
        return status == TK_INTERNAL ? CLI_REFUTED : cli_exit_of(status, CLI_BAD);
    }
    if (list)
        json_array_append_new(list, json_entry(entry));
    else
        print_built(entry);
    return CLI_HOLDS;
}

static bool is_compiled_for(const char *source, tk_types types)
{
    tk_types taken;
    for (int i = 0; tk_cache_types_at(source, i, &taken); i++)
        if (taken.dtype == types.dtype && taken.result_dtype == types.result_dtype)
            return true;
    return false;
}

/* The types that were asked for: one, or all that the source is compiled for. */
static cli_exit build_source(const arguments *a, tk_ctx *ctx, const char *source, tk_cache_entry *entry, json_t *list)
{
    cli_exit result = CLI_HOLDS;
    tk_types types;
    if (!is_all(a->dtype)) {
        (void)tk_types_parse(a->dtype, &types);
        /* A source of other types is no part of "all" either. */
        return a->source || is_compiled_for(source, types) ? build_one(a, ctx, source, types, entry, list)
                                                           : CLI_HOLDS;
    }
    if (!tk_cache_types_at(source, 0, &types))
        return build_one(a, ctx, source, (tk_types){TK_F16, TK_F16}, entry,
                         list); /* tells that there is no such source */
    for (int i = 0; tk_cache_types_at(source, i, &types) && result != CLI_BAD; i++)
        result = cli_worse(result, build_one(a, ctx, source, types, entry, list));
    return result;
}

static cli_exit build(const arguments *a, tk_ctx *ctx)
{
    cli_types types;
    const tk_contract *ops[CLI_MOST_OPS];
    const int op_count = cli_choose_ops(a->who, NULL, 0, ops);
    cli_exit result = CLI_HOLDS;
    if (!a->backend || !a->architecture) {
        cli_complain(a->who, "build needs --backend and --architecture, such as --backend cuda --architecture sm_90");
        return CLI_BAD;
    }
    if (!cli_choose_types(a->who, a->dtype, ops, op_count, &types))
        return CLI_BAD;
    json_t *list = a->json ? json_array() : NULL;
    tk_cache_entry *entry = malloc(sizeof *entry);
    const char *source;
    if (!entry) {
        cli_complain(a->who, "out of memory");
        json_decref(list);
        return CLI_UNKNOWN;
    }
    for (int i = 0; (source = a->source ? a->source : tk_cache_source_at(i)); i++) {
        result = cli_worse(result, build_source(a, ctx, source, entry, list));
        if (a->source || result == CLI_BAD || result == CLI_UNKNOWN)
            break; /* the others would fail for the same reason */
    }
    free(entry);
    return a->json ? cli_worse(result, cli_print_json(list)) : result;
}

enum { LIST, VERIFY, CLEAR, BUILD, ACTIONS };
static const char *const actions[] = {"list", "verify", "clear", "build"};

/* An option that would go unheard is refused: 'clear --source X' looks as if it removed less than all. */
static bool check_options(const arguments *a, int action)
{
    const char *to_build = a->backend        ? "backend"
                           : a->architecture ? "architecture"
                           : a->source       ? "source"
                           : a->dtype        ? "dtype"
                                             : NULL;
    const bool repairs = a->repair && action != VERIFY;
    const char *wrong = repairs ? "repair" : action != BUILD ? to_build : NULL;
    if (wrong)
        cli_complain(a->who, "%s does not take --%s; %s does", actions[action], wrong,
                     actions[repairs ? VERIFY : BUILD]);
    return !wrong;
}

static cli_exit run(int argc, char **argv)
{
    arguments a = {.who = argv[0]};
    cli_parse(&cli_cache, argc, argv, &a);
    int action = 0;
    while (action < ACTIONS && strcmp(a.words.list[0], actions[action]) != 0)
        action++;
    if (action == ACTIONS) {
        cli_complain_unknown(a.who, "action", a.words.list[0], actions, ACTIONS);
        return CLI_BAD;
    }
    if (!check_options(&a, action))
        return CLI_BAD;
    tk_ctx *ctx = cli_open(a.who);
    if (!ctx)
        return CLI_UNKNOWN;
    if (action != BUILD) /* which shows the notes of each kernel with it */
        cli_show_notes(ctx, a.who);
    cli_exit result = action == CLEAR   ? clear(&a, ctx)
                      : action == BUILD ? build(&a, ctx)
                                        : show(&a, ctx, action == VERIFY);
    tk_ctx_destroy(ctx);
    return result;
}

const cli_command cli_cache = {
    .name = "cache",
    .summary = "list, verify, clear or build what is kept in the cache directory",
    .arguments = "list\nverify\nclear [PREFIX...]\nbuild",
    .words = offsetof(arguments, words),
    .options = option_list,
    .run = run,
    .doc =
        "GPU kernels are embedded in the library as source text. Each is compiled when it is first used, and the "
        "result is kept in the cache directory, under the SHA-256 of the source and all that it includes, the "
        "options, the compiler and its version, and the architecture. Before every load the entry's hashes are "
        "verified; an entry that was truncated, swapped or edited is built again. The directory also has the choices "
        "that 'tokitai tune' measured and the verdicts of 'tokitai certify' on mutants.\n\n"
        "list shows the entries, the most recently used first, then tunings and verdicts on mutants, and whether "
        "they are of this version and thus used. verify checks every hash of every entry and names the damaged ones. "
        "clear removes the entries, tunings and verdicts whose key begins with PREFIX, or all, and locks and old "
        "temporary files. build compiles every kernel source for an architecture unless it is already compiled, and "
        "prints the resources of each kernel (registers, shared memory, stack, spills); it needs a compiler, but no "
        "device."
        "\vThe compilers are tried in this order: for cuda the library NVRTC, then nvcc; for hip the library HIPRTC, "
        "then hipcc, then clang++ of version 17 or later. A kernel that cannot be kept, and why, is reported on "
        "standard error and in the certificate. An option that an action does not take is an error.\n\n"
        "Exit status: 0 done; 1 an entry is damaged, or a kernel does not compile; 2 wrong usage, or a file that "
        "cannot be read or removed; 3 no compiler.",
};
