/* CHOOSES. A user's source becomes a shared library, inside the sandbox: a compiler can be made to read any file and to load plugins. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "compile/run_program.h"
#include "core/clock.h"
#include "core/context.h"
#include "core/limits.h"
#include "isolate/tool_folders.h"
#include "isolate/worker_process.h"
#include "isolate/worker_reply.h"
#include "isolate/worker_spawn.h"

enum { MOST_LOG = 1 << 20 };

/* What it prints is kept in memory, so that less than a file may have is enough. */
static size_t room_for_log(const tki_worker_terms *terms)
{
    const int64_t most = tki_limits_of(&terms->limits).output_bytes;
    return most < MOST_LOG ? (size_t)most : MOST_LOG;
}

const tki_language *tki_language_of(tk_ctx *ctx, const char *file)
{
    const char *dot = strrchr(file, '.');
    for (int b = 0; dot && b < TKI_BACKENDS; b++)
        for (const tki_language *language = tki_backends[b].languages; language->ending; language++)
            if (!strcmp(dot, language->ending))
                return language;
    if (ctx)
        (void)tki_fail(ctx, TK_BAD_ARGUMENT, "'%.200s' does not end in .c, .cpp, .cc, .cu, .hip or .so", file);
    return NULL;
}

static const char *name_of(const tki_worker_source *source)
{
    return source->shown ? source->shown : source->file;
}

static void add_words(tki_strings *list, const char *text)
{
    for (text += strspn(text, " \t\n"); *text; text += strspn(text, " \t\n")) {
        int length = (int)strcspn(text, " \t\n");
        tki_strings_add(list, "%.*s", length, text);
        text += length;
    }
}

bool tki_language_compiler(const char *name, char *path, size_t size)
{
    static const char *const folders[] = {"/usr/local/cuda/bin", "/opt/rocm/bin", NULL};
    if (!strchr(name, '/'))
        return tki_program_find(name, folders, path, size);
    char *real = realpath(name, NULL);
    snprintf(path, size, "%s", real ? real : name);
    free(real);
    return access(path, X_OK) == 0;
}

static void add_includes(tki_strings *list, const char *option, const tki_worker_source *source)
{
    for (int i = 0; source->includes && source->includes[i]; i++) {
        char *folder = realpath(source->includes[i], NULL); /* the worker has another working directory */
        if (folder)
            tki_strings_add(list, "%s%s", option, folder);
        free(folder);
    }
}

/* What a source makes of the date, it makes everywhere. A compiler may not know the variable of the environment. */
static const char *const fixed_date[] = {"-Wno-builtin-macro-redefined", "-D__DATE__=\"" TKI_FIXED_DATE "\"",
                                         "-D__TIME__=\"" TKI_FIXED_TIME "\"",
                                         "-D__TIMESTAMP__=\"" TKI_FIXED_STAMP "\""};

/* Arguments of the worker program: what may be read, then the command. */
static bool make_arguments(const tki_worker_source *source, const tki_language *language, const char *compiler,
                           const char *file, tki_worker_build *build, tki_strings *list)
{
    tki_strings_add(list, "without=%u", source->without);
    tki_terms_add(&source->terms, list);
    tki_strings_add(list, "read=%s", file);
    if (source->object)
        tki_strings_add(list, "read=%s", source->object);
    add_includes(list, "read=", source);
    tki_strings_allow_program(list, compiler);
    for (int i = 0; source->readable && source->readable[i]; i++)
        tki_strings_add(list, "read=%s", source->readable[i]);
    tki_strings_add(list, "--");
    int command = list->count;
    tki_strings_add(list, "%s", compiler);
    add_words(list, source->flags ? source->flags : language->flags);
    add_words(list, language->always);
    add_words(list, source->more_flags ? source->more_flags : "");
    for (size_t i = 0; source->preprocess && i < sizeof fixed_date / sizeof *fixed_date; i++)
        tki_strings_add(list, "%s", fixed_date[i]);
    if (source->preprocess)
        tki_strings_add(list, "-E");
    else if (source->flags && strstr(source->flags, "-finput-charset")) /* what was preprocessed is UTF-8 already */
        tki_strings_add(list, "-finput-charset=UTF-8");
    add_includes(list, "-I", source);
    if (source->folder) /* what debuggers are told */
        tki_strings_add(list, "-fdebug-prefix-map=%s=/%s", build->scratch.path, TKI_SOURCE_LINK);
    tki_strings_add(list, "-o");
    tki_strings_add(list, "%s", build->artifact);
    tki_strings_add(list, "%s", file);
    if (source->object)
        tki_strings_add(list, "%s", source->object);
    add_words(list, language->last);
    size_t size = 1;
    for (int i = command; i < list->count; i++)
        size += strlen(list->items[i]) + 1;
    build->command = list->failed ? NULL : calloc(1, size);
    for (int i = command; i < list->count && build->command; i++) {
        strcat(build->command, i > command ? " " : "");
        strcat(build->command, list->items[i]);
    }
    return build->command != NULL;
}

static tk_status run(tk_ctx *ctx, const tki_worker_source *source, const tki_strings *arguments, const char *compiler,
                     tki_worker_build *build)
{
    tki_strings environment = {0};
    tki_child child = {.scratch = build->scratch};
    tki_frame frame;
    double seconds = source->seconds > 0 ? source->seconds : 300, deadline = tki_ctx_deadline(ctx, seconds);
    tki_child_environment(&environment, false);
    tki_strings_add(&environment, "SOURCE_DATE_EPOCH=" TKI_FIXED_EPOCH);
    tk_status status = environment.failed ? tki_fail(ctx, TK_NO_MEMORY, "no memory for an environment")
                                          : tki_child_start(ctx, arguments->items, environment.items, true, &child);
    tki_strings_free(&environment);
    if (status != TK_OK)
        return status;
    const tki_wire_reply *reply = (const tki_wire_reply *)(const void *)frame.bytes;
    tki_receipt receipt = tki_child_receive(&child, deadline, &frame);
    int end = -1;
    if (receipt == TKI_RECEIPT_FRAME && !tki_wire_check_reply(frame.bytes, frame.size, TKI_WIRE_CONFINED, 0, 0)) {
        tki_confinement_read(reply, TKI_SANITIZER_NONE, &build->confinement);
        status = tki_terms_accept(ctx, &source->terms, &build->confinement);
    }
    if (status != TK_OK)
        ;
    else if (receipt == TKI_RECEIPT_TIMEOUT ||
             (receipt == TKI_RECEIPT_FRAME &&
              !tki_child_read_until_end(&child, deadline, build->log, room_for_log(&source->terms), &end)))
        status = tki_ctx_out_of_time(ctx)
                     ? tki_ctx_fail_late(ctx)
                     : tki_fail(ctx, TK_TIMEOUT, "%s did not end within %g seconds", compiler, seconds);
    else if (receipt != TKI_RECEIPT_FRAME ||
             tki_wire_check_reply(frame.bytes, frame.size, TKI_WIRE_CONFINED, 0, 0) != NULL)
        status = tki_fail(ctx, TK_UNAVAILABLE,
                          "tokitai-worker does not run on this system, or its version differs from the library's");
    else if (!WIFEXITED(end))
        status = tki_fail(ctx, TK_BAD_FILE, "%s was ended by signal %d", compiler, WTERMSIG(end));
    else if (WEXITSTATUS(end))
        status = tki_fail(ctx, TK_BAD_FILE, "%s does not compile: %s ended with status %d", name_of(source), compiler,
                          WEXITSTATUS(end));
    tki_child_end(&child);
    return status;
}

static tk_status compile(tk_ctx *ctx, const tki_worker_source *source, const tki_language *language, const char *file,
                         tki_worker_build *build)
{
    const char *name = source->compiler ? source->compiler : language->compiler;
    char compiler[PATH_MAX];
    tki_strings arguments = {0};
    struct stat about;
    if (!tki_language_compiler(name, compiler, sizeof compiler))
        return tki_fail(ctx, TK_UNAVAILABLE, "%s needs the compiler %s, which was not found", name_of(source), name);
    tk_status status = tki_scratch_make(ctx, &build->scratch);
    if (status != TK_OK)
        return status;
    if (source->folder && symlinkat(source->folder, build->scratch.folder, TKI_SOURCE_LINK))
        return tki_fail(ctx, TK_IO, "cannot write to '%.200s': %s", build->scratch.path, strerror(errno));
    snprintf(build->artifact, sizeof build->artifact, "%s/kernel%s", build->scratch.path,
             source->preprocess ? language->text : ".so");
    build->log = calloc(1, MOST_LOG);
    bool ready = make_arguments(source, language, compiler, file, build, &arguments) && build->log;
    status = ready ? run(ctx, source, &arguments, compiler, build)
                   : tki_fail(ctx, TK_NO_MEMORY, "no memory for a compilation");
    tki_strings_free(&arguments);
    /* The compiler is foreign code by now: a link could lead anywhere. */
    const bool made = status == TK_OK && !lstat(build->artifact, &about) && S_ISREG(about.st_mode);
    if (status == TK_OK && !made && source->preprocess)
        build->artifact[0] = 0;
    else if (status == TK_OK && !made)
        status = tki_fail(ctx, TK_BAD_FILE, "%s: %s made no library", name_of(source), compiler);
    return status;
}

tk_status tki_worker_tool(tk_ctx *ctx, const tki_scratch *folder, const char *const command[],
                          const char *const readable[], double seconds, const tki_worker_terms *terms, char **output)
{
    tki_strings arguments = {0};
    tki_worker_build build = {.scratch = *folder};
    *output = NULL;
    tki_terms_add(terms, &arguments);
    for (int i = 0; readable[i]; i++)
        tki_strings_add(&arguments, "read=%s", readable[i]);
    tki_strings_allow_program(&arguments, command[0]);
    tki_strings_add(&arguments, "--");
    for (int i = 0; command[i]; i++)
        tki_strings_add(&arguments, "%s", command[i]);
    build.log = calloc(1, MOST_LOG);
    tk_status status = build.log && !arguments.failed
                           ? run(ctx, &(tki_worker_source){.file = command[0], .seconds = seconds, .terms = *terms},
                                 &arguments, command[0], &build)
                           : tki_fail(ctx, TK_NO_MEMORY, "no memory for %s", command[0]);
    if (status == TK_OK && strlen(build.log) + 1 >= room_for_log(terms))
        status = tki_fail(ctx, TK_BAD_FILE, "%s printed too much", command[0]);
    if (status == TK_OK) {
        *output = build.log;
        build.log = NULL;
    }
    free(build.log);
    tki_strings_free(&arguments);
    return status;
}

tk_status tki_worker_compile(tk_ctx *ctx, const tki_worker_source *source, tki_worker_build *build)
{
    *build = (tki_worker_build){0};
    const tki_language *language = source->language ? source->language : tki_language_of(ctx, source->file);
    if (!language)
        return TK_BAD_ARGUMENT;
    char *file = realpath(source->file, NULL);
    if (!file)
        return tki_fail(ctx, TK_IO, "%s: %s", name_of(source), strerror(errno));
    tk_status status = TK_OK;
    if (!language->compiler)
        snprintf(build->artifact, sizeof build->artifact, "%s", file);
    else
        status = compile(ctx, source, language, file, build);
    free(file);
    return status;
}

void tki_worker_build_close(tki_worker_build *build)
{
    tki_scratch_remove(&build->scratch);
    free(build->command);
    free(build->log);
    *build = (tki_worker_build){0};
}
