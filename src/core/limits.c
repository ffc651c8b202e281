/* CHOOSES. Limits of foreign code. */
#include "core/limits.h"

#include <unistd.h>

#include "core/context.h"

tk_status tki_limits_check(tk_ctx *ctx, const tk_limits *asked)
{
    const struct {
        const char *what;
        int64_t value, least, most;
    } numbers[] = {{"bytes of memory", asked->memory_bytes, TK_LEAST_MEMORY, INT64_MAX},
                   {"bytes of output", asked->output_bytes, TK_LEAST_OUTPUT, INT64_MAX},
                   {"tasks", asked->tasks, 1, TK_MOST_TASKS},
                   {"nested folders", asked->folder_depth, 1, TK_MOST_FOLDER_DEPTH}};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        if (numbers[i].value && (numbers[i].value < numbers[i].least || numbers[i].value > numbers[i].most))
            return tki_fail(ctx, TK_BAD_ARGUMENT, "a limit is %lld %s; it must be from %lld to %lld",
                            (long long)numbers[i].value, numbers[i].what, (long long)numbers[i].least,
                            (long long)numbers[i].most);
    return TK_OK;
}

tk_limits tki_limits_of(const tk_limits *asked)
{
    const int64_t machine = (int64_t)sysconf(_SC_PHYS_PAGES) * sysconf(_SC_PAGESIZE);
    tk_limits limits = asked ? *asked : (tk_limits){0};
    if (!limits.memory_bytes) /* the rest is for those who judge it */
        limits.memory_bytes = machine / 4 * 3;
    if (limits.memory_bytes > machine)
        limits.memory_bytes = machine;
    limits.output_bytes = limits.output_bytes ? limits.output_bytes : INT64_C(1) << 30;
    limits.tasks = limits.tasks ? limits.tasks : 1024;
    limits.folder_depth = limits.folder_depth ? limits.folder_depth : 16;
    return limits;
}
