/* SHOWS. PyTorch as a process of its own, where python3 has it: bench/peers/pytorch.py. */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bench/peers.h"

/* Beside the sources when run from a build folder in them, else where it is installed. */
bool bench_script_find(const char *name, char path[PATH_MAX])
{
    static const char *const places[] = {"/../src/bench/peers/", "/../share/tokitai/"};
    char program[PATH_MAX];
    ssize_t length = readlink("/proc/self/exe", program, sizeof program - 1);
    if (length <= 0)
        return false;
    program[length] = '\0';
    char *slash = strrchr(program, '/');
    if (!slash)
        return false;
    *slash = '\0';
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        int needed = snprintf(path, PATH_MAX, "%s%s%s", program, places[i], name);
        if (needed < PATH_MAX && access(path, R_OK) == 0)
            return true;
    }
    return false;
}

/* The first line that the script writes with these arguments, which are ours and need no quoting. */
static bool ask(const char *python, const char *arguments, char *line, size_t size)
{
    char path[PATH_MAX];
    char command[512];
    if (!python || !bench_script_find("pytorch.py", path) || setenv("TOKITAI_PYTORCH", path, 1))
        return false;
    snprintf(command, sizeof command, "exec %s \"$TOKITAI_PYTORCH\" %s 2>/dev/null", python, arguments);
    FILE *pipe = popen(command, "r");
    if (!pipe)
        return false;
    bool got = fgets(line, (int)size, pipe) != NULL;
    line[got ? strcspn(line, "\n") : 0] = '\0';
    return pclose(pipe) == 0 && got;
}

/* The first Python that has torch: the user's own, else the distribution's. NULL if none has; `version` tells what it is.
 * Asked once, since starting Python takes a while. */
static const char *find_python(const char **version)
{
    static const char *const pythons[] = {"python3", "/usr/bin/python3"};
    static const char *found;
    static char text[96];
    static bool asked;
    char line[64];
    for (size_t i = 0; !asked && !found && i < sizeof pythons / sizeof *pythons; i++) {
        if (!ask(pythons[i], "--version", line, sizeof line))
            continue;
        found = pythons[i];
        snprintf(text, sizeof text, "torch %s", line);
    }
    asked = true;
    *version = text;
    return found;
}

const char *bench_pytorch_find(const char **missing)
{
    const char *version;
    *missing = "python3 has no torch";
    return find_python(&version) ? version : NULL;
}

bool bench_pytorch_time(const bench_work *work, double seconds, double *best, double *median, int64_t *samples)
{
    char arguments[256];
    char line[128];
    long long count = 0;
    int length = snprintf(arguments, sizeof arguments, "%s %s %s %d %.3f", work->c.contract->name,
                          tk_dtype_name(work->c.dtype), bench_indices_name(work->indices), work->threads, seconds);
    for (int d = 0; d < work->c.contract->dim_count; d++)
        length += snprintf(arguments + length, sizeof arguments - (size_t)length, " %lld",
                           (long long)work->c.dims[d]);
    const char *version;
    bool good = ask(find_python(&version), arguments, line, sizeof line) &&
                sscanf(line, "%lf %lf %lld", best, median, &count) == 3;
    *samples = count;
    return good && *best > 0;
}
