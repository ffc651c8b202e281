#include "cli/limit_options.h"

#include "cli/parse.h"

enum {
    KEY_MEMORY = CLI_LIMITS_KEYS,
    KEY_TASKS,
    KEY_OUTPUT_SIZE,
    KEY_FOLDER_DEPTH,
    KEY_TOTAL_TIMEOUT,
    KEY_ALLOW_WEAK_SANDBOX
};

static const struct argp_option option_list[] = {
    {"memory", KEY_MEMORY, "SIZE", 0,
     "Of each process of a kernel file, its compiler's too: 4G, 512M; three quarters of the machine's is the "
     "default, "
     "all that it has the most",
     0},
    {"tasks", KEY_TASKS, "COUNT", 0,
     "Threads and processes of a kernel file; 1024 is the default. Where the system cannot hold it to that, the "
     "certificate says so",
     0},
    {"output-size", KEY_OUTPUT_SIZE, "SIZE", 0,
     "Of a file that a kernel file or its compiler writes; 1G is the default", 0},
    {"folder-depth", KEY_FOLDER_DEPTH, "COUNT", 0,
     "Folders of a kernel, or of headers, that lie in each other; 16 is the default", 0},
    {"total-timeout", KEY_TOTAL_TIMEOUT, "SECONDS", 0,
     "Of a whole judgement or replay, all calls together; 3600 is the default for kernel files and programs", 0},
    {"allow-weak-sandbox", KEY_ALLOW_WEAK_SANDBOX, NULL, 0,
     "Compile and run kernel files even where this system cannot keep files and system calls from them", 0},
    {0},
};

static int64_t size(struct argp_state *state, const char *option, const char *text, int64_t least)
{
    int64_t bytes = 0;
    if (!cli_parse_size(text, &bytes) || bytes < least)
        argp_error(state, "--%s '%.80s' is not a size of at least %lldK: 512M, 4G", option, text,
                   (long long)least >> 10);
    return bytes;
}

static int number(struct argp_state *state, const char *option, const char *text, int most)
{
    int value = 0;
    if (!cli_parse_count(text, 1, most, &value))
        argp_error(state, "--%s '%.80s' is not a number from 1 to %d", option, text, most);
    return value;
}

static error_t parse_option(int key, char *argument, struct argp_state *state)
{
    cli_limits *l = state->input;
    float seconds = 0;
    switch (key) {
    case KEY_MEMORY: l->limits.memory_bytes = size(state, "memory", argument, TK_LEAST_MEMORY); break;
    case KEY_TASKS: l->limits.tasks = number(state, "tasks", argument, TK_MOST_TASKS); break;
    case KEY_OUTPUT_SIZE: l->limits.output_bytes = size(state, "output-size", argument, TK_LEAST_OUTPUT); break;
    case KEY_FOLDER_DEPTH:
        l->limits.folder_depth = number(state, "folder-depth", argument, TK_MOST_FOLDER_DEPTH);
        break;
    case KEY_TOTAL_TIMEOUT:
        if (!cli_parse_float(argument, &seconds) || seconds < 0.01f || seconds > 31536000)
            argp_error(state, "--total-timeout '%.80s' is not a number of seconds from 0.01 to 31536000", argument);
        l->total_seconds = (double)seconds;
        return 0;
    case KEY_ALLOW_WEAK_SANDBOX: l->allow_weak_sandbox = true; break;
    default: return ARGP_ERR_UNKNOWN;
    }
    l->any = true;
    return 0;
}

const struct argp cli_limits_parser = {.options = option_list, .parser = parse_option};
