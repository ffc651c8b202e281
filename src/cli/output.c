/* SHOWS. How the program speaks: messages, tables, colour, JSON, progress, and the certainty that all of it was written. */
#include "cli/cli.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdio_ext.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "core/escape.h"

cli_exit cli_worse(cli_exit a, cli_exit b)
{
    static const int weight[] = {[CLI_HOLDS] = 0, [CLI_UNKNOWN] = 1, [CLI_REFUTED] = 2, [CLI_BAD] = 3};
    return weight[a] >= weight[b] ? a : b;
}

cli_exit cli_exit_of(tk_status status, cli_exit bad_file)
{
    switch (status) {
    case TK_OK: return CLI_HOLDS;
    case TK_BAD_ARGUMENT:
    case TK_BAD_INDEX:
    case TK_IO: return CLI_BAD;
    case TK_BAD_FILE: return bad_file;
    case TK_KERNEL_FAULT: return CLI_REFUTED;
    case TK_UNSUPPORTED:
    case TK_UNAVAILABLE:
    case TK_NO_MEMORY:
    case TK_TIMEOUT:
    case TK_INTERNAL: return CLI_UNKNOWN;
    }
    return CLI_UNKNOWN;
}

cli_exit cli_exit_with(const char *who, tk_ctx *ctx, tk_status status)
{
    if (status != TK_OK)
        cli_complain(who, "%s", tk_ctx_message(ctx));
    return cli_exit_of(status, CLI_BAD);
}

/* ------------------------------------------------------------------------------------------------------------
 * Messages
 * ------------------------------------------------------------------------------------------------------------ */

void cli_complain(const char *who, const char *format, ...)
{
    char text[4096];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    flockfile(stderr);
    fprintf(stderr, "%s: ", who);
    tki_put_terminal(stderr, text, TKI_TEXT_MOST);
    fputc('\n', stderr);
    funlockfile(stderr);
}

/* A line at most, to the descriptor. */
static ssize_t write_escaped(void *unused, const char *text, size_t length)
{
    char line[8192];
    (void)unused;
    for (size_t at = 0, taken; at < length; at += taken) {
        taken = tki_escape_lines(text + at, length - at, line, sizeof line);
        if (write(STDERR_FILENO, line, strlen(line)) < 0)
            break;
    }
    return (ssize_t)length;
}

int cli_parse_argp(const struct argp *argp, int argc, char **argv, unsigned flags, void *input)
{
    FILE *kept = stderr;
    FILE *escaped = fopencookie(NULL, "w", (cookie_io_functions_t){.write = write_escaped});
    if (escaped) {
        setvbuf(escaped, NULL, _IOLBF, 4096); /* so that no character comes in two parts */
        stderr = escaped;                     /* argp and getopt write there themselves, and argp may exit */
    }
    int error = argp_parse(argp, argc, argv, flags, NULL, input);
    stderr = kept;
    if (escaped)
        fclose(escaped);
    return error;
}

tk_ctx *cli_open(const char *who)
{
    tk_ctx *ctx = NULL;
    if (tk_ctx_create(&ctx) != TK_OK)
        cli_complain(who, "out of memory");
    return ctx;
}

/* ------------------------------------------------------------------------------------------------------------
 * Standard output
 * ------------------------------------------------------------------------------------------------------------ */

/* Runs at exit, so that argp's own --help and --version are covered too. */
static void close_output(void)
{
    bool wrote = __fpending(stdout) > 0;
    bool failed = ferror(stdout) != 0;
    errno = 0;
    bool close_failed = fclose(stdout) != 0;
    /* A standard output that was never open is no failure to a command that had nothing to say. */
    if (!failed && (!close_failed || (errno == EBADF && !wrote)))
        return;
    if (errno)
        fprintf(stderr, "tokitai: cannot write standard output: %s\n", strerror(errno));
    else
        fprintf(stderr, "tokitai: cannot write standard output\n");
    _exit(CLI_BAD);
}

void cli_watch_output(void)
{
    /* A descriptor that the caller left closed must not be given to the next file that is opened. Writing to one that
     * is open for reading fails, as it should. */
    for (int descriptor = 0; descriptor <= STDERR_FILENO; descriptor++)
        if (fcntl(descriptor, F_GETFD) == -1 && errno == EBADF)
            open("/dev/null", descriptor == STDIN_FILENO ? O_WRONLY : O_RDONLY);
    if (atexit(close_output) != 0)
        abort();
}

static bool on_terminal(int descriptor)
{
    const char *terminal = getenv("TERM");
    return isatty(descriptor) == 1 && terminal && strcmp(terminal, "dumb") != 0;
}

static bool use_colour(void)
{
    static int answer = -1;
    if (answer < 0) {
        const char *refused = getenv("NO_COLOR");
        answer = on_terminal(STDOUT_FILENO) && !(refused && refused[0]);
    }
    return answer != 0;
}

static int terminal_width(int descriptor, int otherwise)
{
    struct winsize size;
    if (isatty(descriptor) == 1 && ioctl(descriptor, TIOCGWINSZ, &size) == 0 && size.ws_col >= 20)
        return size.ws_col;
    return otherwise;
}

cli_style cli_style_of(tk_verdict verdict)
{
    switch (verdict) {
    case TK_PROVED:
    case TK_HELD: return CLI_GOOD;
    case TK_REFUTED: return CLI_WRONG;
    case TK_UNKNOWN: return CLI_DOUBTFUL;
    }
    return CLI_PLAIN;
}

void cli_print(cli_style style, const char *text)
{
    static const char *const codes[] = {[CLI_PLAIN] = "",  [CLI_BOLD] = "1",     [CLI_FAINT] = "2",
                                        [CLI_GOOD] = "32", [CLI_WRONG] = "1;31", [CLI_DOUBTFUL] = "33"};
    bool colour = style != CLI_PLAIN && use_colour();
    if (colour)
        printf("\033[%sm", codes[style]);
    tki_put_terminal(stdout, text, TKI_TEXT_MOST);
    if (colour)
        fputs("\033[0m", stdout);
}

void cli_wrap(int indent, int column, const char *text)
{
    int limit = terminal_width(STDOUT_FILENO, 100);
    limit = limit > 120 ? 120 : limit < indent + 20 ? indent + 20 : limit;
    bool first = true;
    while (*text) {
        text += strspn(text, " \n");
        size_t length = strcspn(text, " \n");
        if (length == 0)
            break;
        char word[PATH_MAX + 64]; /* a path is one word */
        snprintf(word, sizeof word, "%.*s", (int)length, text);
        int width = tki_terminal_width(word);
        if (!first && column + 1 + width > limit) {
            printf("\n%*s", indent, "");
            column = indent;
        } else if (!first) {
            putchar(' ');
            column++;
        }
        tki_put_terminal(stdout, word, TKI_TEXT_MOST);
        column += width;
        first = false;
        text += length < sizeof word - 1 ? length : sizeof word - 1;
    }
    putchar('\n');
}

void cli_print_log(const char *log, int most_lines)
{
    enum { MOST_BYTES = 400 };
    char line[2 * MOST_BYTES];
    for (int i = 0; *log && i < most_lines; i++) {
        size_t length = strcspn(log, "\n");
        snprintf(line, sizeof line, "%.*s", (int)(length < sizeof line ? length : sizeof line - 1), log);
        fputs("    | ", stderr);
        tki_put_terminal(stderr, line, MOST_BYTES);
        fputc('\n', stderr);
        log += length + (log[length] == '\n');
    }
    if (*log)
        fputs("    | [cut]\n", stderr);
}

void cli_heading(const char *text)
{
    putchar('\n');
    cli_print(CLI_BOLD, text);
    putchar('\n');
}

cli_table cli_table_of(const char *columns)
{
    cli_table table = {0};
    for (const char *end; *columns && table.count < CLI_MAX_COLUMNS; columns = end + (*end == '|')) {
        const int i = table.count++, title = (int)strcspn(columns + (*columns == '#'), "=|");
        table.columns[i].right = *columns == '#';
        columns += *columns == '#';
        end = columns + strcspn(columns, "|");
        snprintf(table.columns[i].title, sizeof table.columns[i].title, "%.*s", title, columns);
        table.columns[i].width = columns[title] == '=' ? atoi(columns + title + 1) : 0;
    }
    return table;
}

void cli_table_fit(cli_table *table, int column, const char *text)
{
    int width = tki_terminal_width(text);
    if (width > table->columns[column].width)
        table->columns[column].width = width;
}

void cli_table_row(const cli_table *table, const cli_cell cells[])
{
    for (int i = 0; i < table->count; i++) {
        int padding = table->columns[i].width - tki_terminal_width(cells[i].text);
        bool last = i == table->count - 1;
        if (table->columns[i].right && padding > 0)
            printf("%*s", padding, "");
        cli_print(cells[i].style, cells[i].text);
        if (!table->columns[i].right && padding > 0 && !last)
            printf("%*s", padding, "");
        fputs(last ? "\n" : "  ", stdout);
    }
}

void cli_table_head(cli_table *table)
{
    cli_cell cells[CLI_MAX_COLUMNS];
    for (int i = 0; i < table->count; i++) {
        cells[i] = (cli_cell){table->columns[i].title, CLI_BOLD};
        cli_table_fit(table, i, table->columns[i].title);
    }
    cli_table_row(table, cells);
}

cli_exit cli_print_json(json_t *value)
{
    char *text = value ? json_dumps(value, JSON_INDENT(2) | JSON_ENCODE_ANY) : NULL;
    json_decref(value);
    if (!text) {
        cli_complain("tokitai", "out of memory");
        return CLI_BAD;
    }
    tki_put_json(stdout, text, strlen(text));
    putchar('\n');
    free(text);
    return CLI_HOLDS;
}

json_t *cli_json_text(const char *text)
{
    char *copy = tki_utf8(text);
    json_t *value = copy ? json_string(copy) : NULL;
    free(copy);
    return value;
}

json_t *cli_json_shape(const tk_case *c)
{
    json_t *shape = json_object();
    for (int d = 0; d < c->contract->dim_count; d++)
        json_object_set_new(shape, c->contract->dim_names[d], json_integer(c->dims[d]));
    return shape;
}

size_t cli_format_shape(const tk_case *c, char *text, size_t size)
{
    size_t used = 0;
    text[0] = 0;
    for (int d = 0; d < c->contract->dim_count && used < size; d++)
        used += (size_t)snprintf(text + used, size - used, "%s%lld", d ? "x" : "", (long long)c->dims[d]);
    return used < size ? used : size - 1;
}

void cli_format_bytes(int64_t bytes, char *text, size_t size)
{
    static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB"};
    double value = (double)bytes;
    size_t unit = 0;
    while (value >= 1024 && unit + 1 < sizeof units / sizeof *units) {
        value /= 1024;
        unit++;
    }
    snprintf(text, size, unit ? "%.1f %s" : "%.0f %s", value, units[unit]);
}

void cli_format_count(int64_t count, char *text, size_t size)
{
    char digits[24];
    int length = snprintf(digits, sizeof digits, "%lld", (long long)count);
    size_t used = 0;
    for (int i = 0; i < length && used + 2 < size; i++) {
        if (i > 0 && digits[i - 1] != '-' && (length - i) % 3 == 0)
            text[used++] = ',';
        text[used++] = digits[i];
    }
    text[used] = '\0';
}

/* ------------------------------------------------------------------------------------------------------------
 * Progress
 * ------------------------------------------------------------------------------------------------------------ */

double cli_seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

cli_progress cli_progress_begin(int jobs)
{
    return (cli_progress){.enabled = on_terminal(STDERR_FILENO), .start = cli_seconds(), .jobs = jobs > 0 ? jobs : 1};
}

static void draw(const cli_progress *progress, double done, const char *what)
{
    enum { BAR = 24, FIXED = BAR + 20 };
    double share = (progress->job + done) / progress->jobs;
    int filled = (int)(share * BAR);
    char bar[BAR + 1];
    for (int i = 0; i < BAR; i++)
        bar[i] = i < filled ? '#' : '.';
    bar[BAR] = '\0';
    int room = terminal_width(STDERR_FILENO, 80) - FIXED;
    char line[512] = "";
    char position[32] = "";
    if (progress->jobs > 1)
        snprintf(position, sizeof position, "%d/%d ", progress->job + 1, progress->jobs);
    snprintf(line, sizeof line, "%s%s%s", position, progress->label, what ? what : "");
    fprintf(stderr, "\r\033[K[%s] %3d%% ", bar, (int)(share * 100));
    if (room > 0 && strlen(line) > (size_t)room && (size_t)room < sizeof line)
        line[room] = '\0';
    tki_put_terminal(stderr, line, TKI_TEXT_MOST);
    fflush(stderr);
}

void cli_progress_update(double done, const char *what, void *data)
{
    cli_progress *progress = data;
    if (!progress->enabled)
        return;
    double now = cli_seconds();
    if (now - progress->start < 2 || now - progress->last < 0.1)
        return;
    progress->last = now;
    progress->shown = true;
    draw(progress, done < 0 ? 0 : done > 1 ? 1 : done, what);
}

void cli_progress_clear(cli_progress *progress)
{
    if (progress->shown)
        fputs("\r\033[K", stderr);
    progress->shown = false;
}

static void complain_of_note(const char *note, void *who)
{
    if (on_terminal(STDERR_FILENO))
        fputs("\r\033[K", stderr); /* there may be progress; it is drawn again */
    cli_complain(who, "note: %s", note);
}

void cli_show_notes(tk_ctx *ctx, const char *who)
{
    (void)!tk_ctx_set_note_listener(ctx, complain_of_note, (void *)(uintptr_t)who);
}
