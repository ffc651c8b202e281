/* CHOOSES. Finding compute-sanitizer, what it is told, what it says. */
#include "isolate/sanitizer.h"

#include <glob.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "compile/run_program.h"
#include "core/clock.h"
#include "isolate/tool_folders.h"
#include "isolate/worker_spawn.h"

const char *tki_sanitizer_name(tki_sanitizer_tool tool)
{
    static const char *const names[TKI_SANITIZER_TOOLS] = {"", "memcheck", "racecheck", "initcheck", "synccheck"};
    return (unsigned)tool < TKI_SANITIZER_TOOLS ? names[tool] : "";
}

/* ------------------------------------------------------------------------------------------------------------
 * The program
 * ------------------------------------------------------------------------------------------------------------ */

static const char program_name[] = "compute-sanitizer";

/* FOLDER/bin/compute-sanitizer or FOLDER/compute-sanitizer/compute-sanitizer. */
static bool found_in(const char *folder, char *path, size_t size)
{
    static const char *const places[] = {"bin", "compute-sanitizer"};
    for (size_t i = 0; folder && *folder && i < sizeof places / sizeof *places; i++) {
        int length = snprintf(path, size, "%s/%s/%s", folder, places[i], program_name);
        if (length > 0 && (size_t)length < size && access(path, X_OK) == 0)
            return true;
    }
    return false;
}

bool tki_sanitizer_find(char *path, size_t size)
{
    static const char *const patterns[] = {"/usr/local/cuda", "/usr/local/cuda-*", "/opt/cuda", "/usr/lib/cuda",
                                           "/usr/lib/nvidia-cuda-toolkit"};
    if (tki_program_find(program_name, NULL, path, size) || found_in(getenv("CUDA_HOME"), path, size) ||
        found_in(getenv("CUDA_PATH"), path, size))
        return true;
    bool found = false;
    for (size_t i = 0; i < sizeof patterns / sizeof *patterns && !found; i++) {
        glob_t folders;
        if (glob(patterns[i], 0, NULL, &folders) == 0)
            for (size_t k = folders.gl_pathc; k > 0 && !found; k--) /* the newest has the largest number */
                found = found_in(folders.gl_pathv[k - 1], path, size);
        globfree(&folders);
    }
    return found;
}

void tki_sanitizer_version(char *version, size_t size)
{
    static const double seconds = 20;
    char path[PATH_MAX], option[] = "--version";
    tki_process process;
    version[0] = 0;
    if (!tki_sanitizer_find(path, sizeof path))
        return;
    tki_process_run((char *[]){path, option, NULL}, NULL, seconds, &process);
    const char *number = process.output ? strstr(process.output, "Version ") : NULL;
    if (number) {
        number += strlen("Version ");
        snprintf(version, size, "%.*s", (int)strspn(number, "0123456789."), number);
    }
    free(process.output);
}

/* What it is told. One process is watched, the one that it starts; findings are few and short, so that they fit in a pipe; what the driver
 * says is the worker's to tell. Memory behind an allocation belongs to nobody, so that what reaches there is seen. */
static const char *const common_options[] = {
    "--target-processes", "application-only", "--print-limit", "8", "--show-backtrace", "no", "--demangle", "simple"};
static const char *const own_options[TKI_SANITIZER_TOOLS][6] = {
    [TKI_SANITIZER_MEMCHECK] = {"--padding", "4096", "--report-api-errors", "no"},
};

/* Initcheck looks at shared memory, too, from 2025.4 on. */
static bool knows_shared_memory(void)
{
    char version[32];
    int year = 0, release = 0;
    tki_sanitizer_version(version, sizeof version);
    return sscanf(version, "%d.%d", &year, &release) == 2 && (year > 2025 || (year == 2025 && release >= 4));
}

bool tki_sanitizer_arguments(tki_sanitizer_tool tool, tki_strings *arguments)
{
    char path[PATH_MAX];
    if (!tki_sanitizer_find(path, sizeof path))
        return false;
    tki_strings_add(arguments, "sanitizer=%s", path);
    tki_strings_add(arguments, "tool=%s", tki_sanitizer_name(tool));
    tki_strings_add(arguments, "sanitizer-option=--tool");
    tki_strings_add(arguments, "sanitizer-option=%s", tki_sanitizer_name(tool));
    for (size_t i = 0; i < sizeof common_options / sizeof *common_options; i++)
        tki_strings_add(arguments, "sanitizer-option=%s", common_options[i]);
    for (int i = 0; own_options[tool][i]; i++)
        tki_strings_add(arguments, "sanitizer-option=%s", own_options[tool][i]);
    if (tool == TKI_SANITIZER_INITCHECK && knows_shared_memory()) {
        tki_strings_add(arguments, "sanitizer-option=--initcheck-address-space");
        tki_strings_add(arguments, "sanitizer-option=all");
    }
    tki_strings_allow_program(arguments, path);
    return true;
}

void tki_sanitizer_finish(tki_child *child, char **log)
{
    enum { MOST = 1 << 16, PATIENCE = 60 };
    size_t before = *log ? strlen(*log) : 0;
    char *longer = realloc(*log, before + MOST);
    int status;
    if (!longer)
        return;
    *log = longer;
    longer[before] = 0;
    close(child->frames); /* its loop ends, it ends, and then the sanitizer speaks */
    child->frames = -1;
    tki_child_read_until_end(child, tki_now() + PATIENCE, longer + before, MOST, &status);
}

/* ------------------------------------------------------------------------------------------------------------
 * What it says. A line is "========= " and a text; the first of a record begins at once, its others are indented.
 * ------------------------------------------------------------------------------------------------------------ */

static const char prefix[] = "=========";

/* The text of a line behind its prefix, or NULL; *indented tells the first of a record from the others. */
static const char *text_of(const char *line, size_t length, size_t *text_length, bool *indented)
{
    const char *end = line + length;
    line += strspn(line, " ");
    if (line > end || (size_t)(end - line) < sizeof prefix - 1 || strncmp(line, prefix, sizeof prefix - 1) != 0)
        return NULL;
    line += sizeof prefix - 1;
    const char *text = line + strspn(line, " \t");
    *indented = text - line > 1;
    *text_length = text < end ? (size_t)(end - text) : 0;
    return text;
}

static bool begins(const char *text, size_t length, const char *with)
{
    size_t needed = strlen(with);
    return length >= needed && !strncasecmp(text, with, needed);
}

static bool holds(const char *text, size_t length, const char *word)
{
    return memmem(text, length, word, strlen(word)) != NULL;
}

static tki_sanitizer_kind kind_of(const char *text, size_t length)
{
    if (begins(text, length, "Invalid __") || begins(text, length, "Potential invalid __"))
        return holds(text, length, " read of size") ? TKI_SANITIZER_STRAY_READ : TKI_SANITIZER_STRAY_WRITE;
    if (begins(text, length, "Uninitialized __"))
        return TKI_SANITIZER_UNINITIALISED;
    if (begins(text, length, "Host API") && holds(text, length, "access"))
        return TKI_SANITIZER_UNWRITTEN;
    if (begins(text, length, "Error: Race reported") || begins(text, length, "Warning: Race reported") ||
        holds(text, length, " hazard detected"))
        return TKI_SANITIZER_RACE;
    if (begins(text, length, "Barrier error") || begins(text, length, "Warpgroup MMA sequence error") ||
        begins(text, length, "Deadlock detected"))
        return TKI_SANITIZER_BARRIER;
    if (begins(text, length, "Malloc/Free error"))
        return TKI_SANITIZER_STRAY_WRITE;
    return TKI_SANITIZER_NOTHING;
}

/* What it says of itself, the application and the driver, and not of the kernel. */
static bool is_about_itself(const char *text, size_t length)
{
    static const char *const list[] = {"COMPUTE-SANITIZER",           "ERROR SUMMARY",
                                       "RACECHECK SUMMARY",           "LEAK SUMMARY",
                                       "Internal Sanitizer",          "Error: process didn't terminate",
                                       "Error: Target application",   "Error: couldn't",
                                       "Error: Device not supported", "Error: No attachable",
                                       "Target application",          "Tracking kernels",
                                       "Warning: Detected overflow",  "Program hit"};
    for (size_t i = 0; i < sizeof list / sizeof *list; i++)
        if (begins(text, length, list[i]))
            return true;
    return false;
}

static void add_text(char *place, size_t size, const char *separator, const char *text, size_t length)
{
    size_t used = strlen(place);
    if (used && size - used > strlen(separator) + 1)
        used += (size_t)snprintf(place + used, size - used, "%s", separator);
    snprintf(place + used, size - used, "%.*s", (int)length, text);
}

/* "ERROR SUMMARY: 2 errors", "RACECHECK SUMMARY: 1 hazard displayed (1 error, 0 warnings)". */
static void read_summary(const char *text, size_t length, tki_sanitizer_report *report)
{
    const char *colon = memchr(text, ':', length);
    int count = colon ? atoi(colon + 1) : 0;
    report->complete = true;
    report->findings = count > report->findings ? count : report->findings;
}

void tki_sanitizer_read(const char *log, tki_sanitizer_report *report)
{
    *report = (tki_sanitizer_report){0};
    char other[sizeof report->text] = ""; /* the first record of a kind that is not known here */
    bool in_first = false, untracked = false;
    int records = 0;
    for (const char *line = log; *line;) {
        size_t whole = strcspn(line, "\n"), length = 0;
        bool indented = false;
        const char *text = text_of(line, whole, &length, &indented);
        line += whole + (line[whole] == '\n');
        if (!text || !length) {
            in_first = false;
            continue;
        }
        if (indented) {
            if (in_first)
                add_text(report->text, sizeof report->text, begins(text, length, "and ") ? " " : ", ", text, length);
            continue;
        }
        const tki_sanitizer_kind kind = kind_of(text, length);
        in_first = kind && !report->kind;
        if (in_first) {
            report->kind = kind;
            add_text(report->text, sizeof report->text, "", text, length);
        }
        records += kind != TKI_SANITIZER_NOTHING;
        if (holds(text, length, "SUMMARY:") && !begins(text, length, "LEAK"))
            read_summary(text, length, report);
        untracked |= begins(text, length, "Internal Sanitizer");
        if (!kind && !is_about_itself(text, length) && !other[0])
            add_text(other, sizeof other, "", text, length);
        if (!kind && is_about_itself(text, length) && !holds(text, length, "SUMMARY") &&
            !begins(text, length, "COMPUTE-SANITIZER") && !report->problem[0])
            add_text(report->problem, sizeof report->problem, "", text, length);
    }
    report->findings = records > report->findings ? records : report->findings;
    if (report->findings && !report->kind) {
        report->kind = TKI_SANITIZER_OTHER;
        snprintf(report->text, sizeof report->text, "%s", other[0] ? other : "errors without a description");
    }
    report->complete &= !untracked;
    if (report->complete)
        report->problem[0] = 0;
    else if (!report->problem[0] && other[0])
        add_text(report->problem, sizeof report->problem, "", other, strlen(other));
    else if (!report->problem[0])
        snprintf(report->problem, sizeof report->problem, "it printed no summary");
}
