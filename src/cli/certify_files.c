/* SHOWS. tokitai certify --kernel and --kernels: each file is compiled once, while the one before it is judged, and judged for every op and type that
 * it is asked for. Several files may be at work side by side, each in a thread with a context of its own; whatever becomes of one, the
 * others go on. */
#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/command_certify.h"
#include "cli/junit.h"
#include "core/escape.h"

enum { MOST_LOG_LINES = 40, MOST_LOG_JSON = 8192 };

typedef struct batch {
    certify_session *s;
    pthread_mutex_t lock; /* over everything below, the session, and both outputs */
    int next;             /* file */
    int finished;
    cli_exit result;
    FILE *lines; /* or NULL */
    junit_case *cases;
    int case_count;
    int case_capacity;
    json_t *written; /* subjects of which a certificate lies in --out */
    bool no_memory;
} batch;

/* One file's result for one op and type, or for all of them if nothing could be run: then `job` is NULL. */
typedef struct finding {
    const char *file;
    const certify_job *job;
    tk_verdict verdict;
    const char *reason;
    const char *log;                   /* of the compiler */
    const tk_certificate *certificate; /* or NULL */
    const char *path;                  /* of the certificate, or NULL */
} finding;

static const char *headline_of(const finding *f)
{
    return f->certificate ? tk_certificate_headline(f->certificate) : tk_verdict_name(f->verdict);
}

static void name_job(const certify_job *j, char *name, size_t size)
{
    snprintf(name, size, "%s%s%s%s", j ? j->contract->name : "all", j ? "." : "",
             j ? cli_name_types(j->types).text : "", j ? certify_index_ending(j) : "");
}

/* JSON has no infinity. */
static json_t *number(double value)
{
    return isfinite(value) ? json_real(value) : json_string("infinity");
}

/* How wrong it is, if it is refuted. */
static void set_refutation(json_t *line, const tk_certificate *certificate)
{
    tk_refutation r;
    if (!tk_certificate_refutation(certificate, &r))
        return;
    json_object_set_new(line, "grade", cli_json_text(r.grade));
    json_object_set_new(line, "wrong", json_integer(r.elements));
    json_object_set_new(line, "wrong_of", json_integer(r.judged));
    json_object_set_new(line, "wrong_nan", json_integer(r.nan));
    json_object_set_new(line, "wrong_median_ulp", number(r.median_ulp));
    json_object_set_new(line, "wrong_worst_ulp", number(r.worst_ulp));
}

static void write_line(batch *b, const finding *f)
{
    json_t *line = json_pack("{s:o, s:s, s:o}", "file", cli_json_text(f->file), "verdict",
                             tk_verdict_name(f->verdict), "reason", cli_json_text(f->reason));
    json_object_set_new(line, "headline", cli_json_text(headline_of(f)));
    if (f->job) {
        json_object_set_new(line, "op", json_string(f->job->contract->name));
        json_object_set_new(line, "dtype", json_string(cli_name_types(f->job->types).text));
        if (tk_contract_takes_index(f->job->contract))
            json_object_set_new(line, "index_dtype", json_string(tk_dtype_name(f->job->index_dtype)));
    }
    if (f->log[0]) {
        char log[MOST_LOG_JSON];
        snprintf(log, sizeof log, "%s", f->log);
        json_object_set_new(line, "log", cli_json_text(log));
    }
    if (f->certificate) {
        const tk_certificate *c = f->certificate;
        json_object_set_new(line, "subject", cli_json_text(tk_certificate_subject(c)));
        json_object_set_new(line, "reproduce", cli_json_text(tk_certificate_reproduce(c)));
        json_object_set_new(line, "elements", json_integer(tk_certificate_elements(c)));
        json_object_set_new(line, "worst_ulp", number(tk_certificate_worst_ulp(c)));
        json_object_set_new(line, "accepted_ulp", number(tk_certificate_accepted_ulp(c)));
        json_object_set_new(line, "bound_used", number(tk_certificate_bound_used(c)));
        json_object_set_new(line, "seconds", json_real(tk_certificate_seconds(c)));
        if (tk_certificate_mutants_kept(c)[0])
            json_object_set_new(line, "mutants_kept", cli_json_text(tk_certificate_mutants_kept(c)));
        set_refutation(line, c);
    }
    json_object_set_new(line, "level", json_string(tk_level_name(b->s->p->options.level)));
    json_object_set_new(line, "seed", json_integer((json_int_t)b->s->p->options.seed));
    if (f->path)
        json_object_set_new(line, "certificate", cli_json_text(f->path));
    char *text = json_dumps(line, JSON_COMPACT | JSON_REAL_PRECISION(9));
    if (text)
        tki_put_json(b->lines, text, strlen(text));
    else
        b->no_memory = true;
    fputs(text ? "\n" : "", b->lines);
    fflush(b->lines);
    free(text);
    json_decref(line);
}

static void keep_case(batch *b, const finding *f)
{
    if (b->case_count == b->case_capacity) {
        int capacity = b->case_capacity ? 2 * b->case_capacity : 64;
        junit_case *larger = realloc(b->cases, (size_t)capacity * sizeof *larger);
        if (!larger) {
            b->no_memory = true;
            return;
        }
        b->cases = larger;
        b->case_capacity = capacity;
    }
    char name[128];
    name_job(f->job, name, sizeof name);
    const char *reproduce = f->certificate ? tk_certificate_reproduce(f->certificate) : "";
    junit_case c = {.suite = strdup(f->file),
                    .name = strdup(name),
                    .verdict = f->verdict,
                    .seconds = f->certificate ? tk_certificate_seconds(f->certificate) : 0,
                    .headline = strdup(headline_of(f)),
                    .reason = strdup(f->reason),
                    .detail = strdup(reproduce[0] ? reproduce : f->log)};
    if (!c.suite || !c.name || !c.headline || !c.reason || !c.detail)
        b->no_memory = true;
    b->cases[b->case_count++] = c;
}

/* The lock is held. */
static void report(batch *b, const finding *f)
{
    if (b->lines)
        write_line(b, f);
    if (b->s->a->junit)
        keep_case(b, f);
}

/* A file of which nothing could be run. */
static void report_unusable(batch *b, const char *file, const char *reason, const char *log, cli_exit result)
{
    pthread_mutex_lock(&b->lock);
    cli_progress_clear(&b->s->progress);
    fflush(stdout);
    bool named = !strncmp(reason, file, strlen(file));
    cli_complain(b->s->a->who, "%s%s%s", named ? "" : file, named ? "" : ": ", reason);
    cli_print_log(log, MOST_LOG_LINES);
    report(b, &(finding){.file = file, .verdict = TK_UNKNOWN, .reason = reason, .log = log});
    b->result = cli_worse(b->result, result);
    pthread_mutex_unlock(&b->lock);
}

typedef struct watched {
    batch *b;
    const char *file;
    const certify_job *job;
} watched;

static void update_progress(double done, const char *what, void *data)
{
    const watched *w = data;
    pthread_mutex_lock(&w->b->lock);
    cli_progress *progress = &w->b->s->progress;
    char name[48];
    name_job(w->job, name, sizeof name);
    snprintf(progress->label, sizeof progress->label, "%.24s %.36s ", basename(w->file), name);
    progress->job = w->b->finished;
    cli_progress_update(done, what, progress);
    pthread_mutex_unlock(&w->b->lock);
}

static void run_job(batch *b, tk_ctx *ctx, const char *file, const tk_kernel_file *kernel, const certify_job *j)
{
    watched w = {b, file, j};
    tk_certify_options options = b->s->p->options;
    options.kernel_file = kernel;
    options.result_dtype = &j->types.result_dtype;
    options.dims = b->s->a->shape ? j->dims : NULL;
    tk_setting settings[TK_MAX_ATTRIBUTES];
    certify_settings_of(b->s->p, j->contract, settings, &options);
    options.progress = update_progress;
    options.progress_data = &w;
    tk_certificate *certificate = NULL;
    const tk_contract *op = cli_op_in(b->s->a->who, ctx, j->contract);
    tk_status status = op ? tk_certify(ctx, op, j->types.dtype, j->index_dtype, &options, &certificate)
                          : TK_NO_MEMORY;
    pthread_mutex_lock(&b->lock);
    finding f = {.file = file, .job = j, .verdict = TK_UNKNOWN, .log = "", .certificate = certificate};
    cli_progress_clear(&b->s->progress);
    if (status != TK_OK) {
        f.reason = tk_ctx_message(ctx);
        cli_complain(b->s->a->who, "%s: %s %s: %s: %s", file, j->contract->name, cli_name_types(j->types).text,
                     tk_status_text(status), tk_ctx_message(ctx));
        b->result = cli_worse(b->result, cli_exit_of(status, CLI_BAD));
        report(b, &f);
    } else {
        char *path = NULL;
        const char *subject = tk_certificate_subject(certificate);
        /* Files of one name but for the ending: the second would replace the certificate of the first. */
        bool again = b->s->a->out && json_object_get(b->written, subject);
        if (again) {
            cli_complain(b->s->a->who, "%s: not written: %s.json is the certificate of another kernel file", file,
                         subject);
            b->result = CLI_BAD;
        }
        b->result = cli_worse(b->result, certify_finish(b->s, ctx, certificate, b->s->p->keep && !again, &path));
        b->result = cli_worse(b->result, certify_keep_artifact(b->s, ctx, kernel, path));
        json_object_set_new(b->written, subject, json_true());
        f.verdict = tk_certificate_verdict(certificate);
        f.reason = tk_certificate_reason(certificate);
        f.path = path;
        if (tk_kernel_file_problem(kernel)[0])
            f.log = tk_kernel_file_log(kernel);
        fflush(stdout);
        cli_print_log(f.log, MOST_LOG_LINES);
        report(b, &f);
        free(path);
    }
    pthread_mutex_unlock(&b->lock);
    tk_certificate_destroy(certificate);
}

/* "...; it defines softmax_fwd, softmax_bwd" */
static void list_defined(const tk_kernel_file *kernel, bool named, char *text, size_t size)
{
    size_t used = (size_t)snprintf(text, size, "%s; it defines",
                                   named ? "defines none of the given ops"
                                         : "defines no op that takes the given types");
    const char *separator = " ";
    for (int i = 0; tk_contract_at(i) && used < size; i++)
        if (tk_kernel_file_defines(kernel, tk_contract_at(i))) {
            used += (size_t)snprintf(text + used, size - used, "%s%s", separator, tk_contract_at(i)->name);
            separator = ", ";
        }
}

/* A file that was copied and compiled, or could not be. */
typedef struct opened {
    const char *file; /* NULL: there are no more */
    tk_kernel_file *kernel;
    tk_status status;
    char message[2048];
} opened;

static void run_file(batch *b, tk_ctx *ctx, const opened *o)
{
    const certify_plan *p = b->s->p;
    if (o->status != TK_OK) {
        report_unusable(b, o->file, o->message, "", cli_exit_of(o->status, CLI_BAD));
        return;
    }
    bool named = b->s->a->ops.count > 0;
    const char *problem = tk_kernel_file_problem(o->kernel);
    int run = 0;
    for (int i = 0; i < p->job_count; i++) {
        if (problem[0] ? !named : !tk_kernel_file_defines(o->kernel, p->jobs[i].contract))
            continue;
        run_job(b, ctx, o->file, o->kernel, &p->jobs[i]);
        run++;
    }
    if (!run && problem[0]) {
        report_unusable(b, o->file, problem, tk_kernel_file_log(o->kernel), CLI_UNKNOWN);
    } else if (!run) {
        char reason[512];
        list_defined(o->kernel, named, reason, sizeof reason);
        report_unusable(b, o->file, reason, "", b->s->a->kernel ? CLI_BAD : CLI_UNKNOWN);
    }
}

/* What opens the next file while the one before it is judged: compilers, and the start of what confines them, mostly wait. */
typedef struct opener {
    batch *b;
    tk_ctx *ctx; /* of its own, since the other one is in use meanwhile */
    opened next;
} opener;

static void *open_next(void *data)
{
    opener *o = data;
    batch *b = o->b;
    pthread_mutex_lock(&b->lock);
    int i = b->next < b->s->p->file_count ? b->next++ : -1;
    pthread_mutex_unlock(&b->lock);
    o->next = (opened){.file = i < 0 ? NULL : b->s->p->files[i]};
    if (!o->next.file)
        return NULL;
    o->next.status = tk_kernel_file_open(o->ctx, o->next.file, &b->s->p->file_options, &o->next.kernel);
    snprintf(o->next.message, sizeof o->next.message, "%s", tk_ctx_message(o->ctx));
    return NULL;
}

/* Takes files until there are none left. */
static void work(batch *b, tk_ctx *ctx)
{
    opener o = {.b = b};
    /* Without memory for another context nothing is opened ahead. */
    bool ahead = tk_ctx_create(&o.ctx) == TK_OK;
    if (!ahead)
        o.ctx = ctx;
    bool known = true; /* a file is asked which ops of the context it defines */
    for (int i = 0; i < b->s->p->op_count; i++)
        known &= cli_op_in(b->s->a->who, o.ctx, b->s->p->ops[i]) != NULL;
    if (known)
        open_next(&o);
    while (o.next.file) {
        opened now = o.next;
        pthread_t thread;
        const bool started = ahead && !pthread_create(&thread, NULL, open_next, &o);
        run_file(b, ctx, &now);
        tk_kernel_file_close(now.kernel);
        pthread_mutex_lock(&b->lock);
        b->finished++;
        pthread_mutex_unlock(&b->lock);
        if (started)
            pthread_join(thread, NULL);
        else
            open_next(&o);
    }
    if (ahead)
        tk_ctx_destroy(o.ctx);
}

/* The processors are shared out among the workers. */
static int threads_of_each(int jobs)
{
    long processors = sysconf(_SC_NPROCESSORS_ONLN);
    if (jobs == 1)
        return 0;
    return processors > jobs ? (int)(processors / jobs) : 1;
}

static void *work_aside(void *data)
{
    batch *b = data;
    tk_ctx *ctx = NULL;
    /* Without memory for another context there is one worker less. */
    if (tk_ctx_create(&ctx) == TK_OK && tk_ctx_set_threads(ctx, threads_of_each(b->s->a->jobs)) == TK_OK)
        work(b, ctx);
    tk_ctx_destroy(ctx);
    return NULL;
}

static bool open_output(const certify_session *s, const char *option, const char *path, FILE **out)
{
    *out = !path ? NULL : !strcmp(path, "-") ? stdout : cli_create(path);
    if (path && !*out)
        cli_complain(s->a->who, "cannot write --%s '%.200s': %s", option, path, strerror(errno));
    return !path || *out;
}

static bool close_output(const certify_session *s, const char *option, const char *path, FILE *out)
{
    if (!out || out == stdout)
        return true;
    bool failed = ferror(out) != 0;
    failed |= fclose(out) != 0;
    if (failed)
        cli_complain(s->a->who, "cannot write all of --%s '%.200s': %s", option, path, strerror(errno));
    return !failed;
}

static int by_suite(const void *a, const void *b)
{
    const junit_case *x = a;
    const junit_case *y = b;
    int order = strcmp(x->suite, y->suite);
    return order ? order : strcmp(x->name, y->name);
}

static void run_all(batch *b, tk_ctx *ctx)
{
    const certify_plan *p = b->s->p;
    pthread_t threads[256];
    int wanted = (b->s->a->jobs < p->file_count ? b->s->a->jobs : p->file_count) - 1;
    int started = 0;
    while (started < wanted && !pthread_create(&threads[started], NULL, work_aside, b))
        started++;
    if (tk_ctx_set_threads(ctx, threads_of_each(b->s->a->jobs)) == TK_OK)
        work(b, ctx);
    for (int i = 0; i < started; i++)
        pthread_join(threads[i], NULL);
}

cli_exit certify_files_run(certify_session *s, tk_ctx *ctx)
{
    batch b = {.s = s, .lock = PTHREAD_MUTEX_INITIALIZER, .written = json_object()};
    FILE *junit = NULL;
    const char *lines_path = s->a->json_lines;
    const char *junit_path = s->a->junit;
    if (!open_output(s, "json-lines", lines_path, &b.lines) || !open_output(s, "junit", junit_path, &junit)) {
        close_output(s, "json-lines", lines_path, b.lines);
        json_decref(b.written);
        return CLI_BAD;
    }
    s->progress.jobs = s->p->file_count;
    run_all(&b, ctx);
    if (junit && !b.no_memory) {
        if (b.case_count)
            qsort(b.cases, (size_t)b.case_count, sizeof *b.cases, by_suite);
        junit_write(junit, b.cases, b.case_count);
    }
    for (int i = 0; i < b.case_count; i++) {
        free(b.cases[i].suite);
        free(b.cases[i].name);
        free(b.cases[i].headline);
        free(b.cases[i].reason);
        free(b.cases[i].detail);
    }
    free(b.cases);
    json_decref(b.written);
    if (b.no_memory) {
        cli_complain(s->a->who, "out of memory: some results were not written");
        b.result = cli_worse(b.result, CLI_BAD);
    }
    bool written = close_output(s, "json-lines", lines_path, b.lines);
    written &= close_output(s, "junit", junit_path, junit);
    return written ? b.result : CLI_BAD;
}
