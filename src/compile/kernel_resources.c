/* RECORDS. Reads the lines that ptxas and clang write about each kernel. Lines that do not fit are passed over. */
#include "compile/kernel_resources.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "core/escape.h"

enum { LINE = 512 };

/* Copies the next line, cut to fit, as it can be shown; returns where the one after it begins, or NULL at the end. */
static const char *next_line(const char *text, char line[LINE])
{
    if (!*text)
        return NULL;
    size_t length = strcspn(text, "\n");
    tki_escape_line(text, length, line, LINE);
    return text + length + (text[length] == '\n');
}

/* Decimal digits, no more than an int holds; -1 if there are none. */
static int number_at(const char *text)
{
    int value = -1;
    for (; *text >= '0' && *text <= '9'; text++) {
        int digit = *text - '0';
        value = value < 0 ? 0 : value;
        value = value > (INT_MAX - digit) / 10 ? INT_MAX : value * 10 + digit;
    }
    return value;
}

/* The number that stands before `unit`, as in "256 bytes smem"; -1 if there is none. */
static int number_before(const char *line, const char *unit)
{
    const char *end = strstr(line, unit);
    if (!end)
        return -1;
    const char *start = end;
    while (start > line && start[-1] >= '0' && start[-1] <= '9')
        start--;
    return start < end ? number_at(start) : -1;
}

static int add_clamped(int a, int b)
{
    return a > INT_MAX - b ? INT_MAX : a + b;
}

static void keep_name(tki_kernel_resources *kernel, const char *name, size_t length)
{
    *kernel = (tki_kernel_resources){0};
    size_t kept = length < sizeof kernel->name ? length : sizeof kernel->name - 1;
    memcpy(kernel->name, name, kept);
}

/* ptxas info    : Compiling entry function 'second' for 'sm_90'
 * ptxas info    : Function properties for second
 * ptxas         .     744 bytes stack frame, 1476 bytes spill stores, 1564 bytes spill loads
 * ptxas info    : Used 32 registers, used 1 barriers, 744 bytes cumulative stack size, 256 bytes smem
 * A function that was not inlined has properties of its own among those of the kernel; its spills count too. */
int tki_resources_of_ptxas(const char *log, tki_kernel_resources *kernels, int most)
{
    static const char entry[] = "Compiling entry function '";
    char line[LINE];
    int count = 0;
    tki_kernel_resources *kernel = NULL;
    while ((log = next_line(log, line))) {
        const char *name = strstr(line, entry);
        if (name) {
            name += sizeof entry - 1;
            size_t length = strcspn(name, "' ");
            bool takes = name[length] == '\'' && length && count < most;
            kernel = takes ? &kernels[count++] : NULL;
            if (takes)
                keep_name(kernel, name, length);
            continue;
        }
        if (!kernel)
            continue;
        int frame = number_before(line, " bytes stack frame");
        int stores = number_before(line, " bytes spill stores");
        int loads = number_before(line, " bytes spill loads");
        if (frame >= 0 && stores >= 0 && loads >= 0) {
            kernel->stack_bytes = frame > kernel->stack_bytes ? frame : kernel->stack_bytes;
            kernel->spill_store_bytes = add_clamped(kernel->spill_store_bytes, stores);
            kernel->spill_load_bytes = add_clamped(kernel->spill_load_bytes, loads);
        }
        int registers = number_before(line, " registers");
        if (registers >= 0 && strstr(line, "Used ")) {
            int whole_stack = number_before(line, " bytes cumulative stack size");
            int shared = number_before(line, " bytes smem");
            kernel->registers = registers;
            kernel->shared_bytes = shared > 0 ? shared : 0;
            kernel->stack_bytes = whole_stack > kernel->stack_bytes ? whole_stack : kernel->stack_bytes;
        }
    }
    return count;
}

/* ops/gelu/kernel.cu:4:1: remark: Function Name: first [-Rpass-analysis=kernel-resource-usage]
 * ops/gelu/kernel.cu:4:1: remark:     VGPRs: 4 [-Rpass-analysis=kernel-resource-usage]
 * VGPRs that are spilled go to memory, 4 bytes a lane; spilled SGPRs go to lanes of VGPRs, not to memory. */
int tki_resources_of_clang(const char *log, tki_kernel_resources *kernels, int most)
{
    static const struct {
        const char *label;
        size_t field;
    } fields[] = {
        {"VGPRs: ", offsetof(tki_kernel_resources, registers)},
        {"AGPRs: ", offsetof(tki_kernel_resources, registers)},
        {"ScratchSize [bytes/lane]: ", offsetof(tki_kernel_resources, stack_bytes)},
        {"VGPRs Spill: ", offsetof(tki_kernel_resources, spill_store_bytes)},
        {"LDS Size [bytes/block]: ", offsetof(tki_kernel_resources, shared_bytes)},
    };
    static const char remark[] = ": remark: ", function[] = "Function Name: ";
    char line[LINE];
    int count = 0;
    tki_kernel_resources *kernel = NULL;
    while ((log = next_line(log, line))) {
        const char *text = strstr(line, remark);
        if (!text || !strstr(text, "[-Rpass-analysis=kernel-resource-usage]"))
            continue;
        text += sizeof remark - 1;
        text += strspn(text, " ");
        if (!strncmp(text, function, sizeof function - 1)) {
            text += sizeof function - 1;
            size_t length = strcspn(text, " ");
            bool takes = length && count < most;
            kernel = takes ? &kernels[count++] : NULL;
            if (takes)
                keep_name(kernel, text, length);
            continue;
        }
        for (size_t i = 0; kernel && i < sizeof fields / sizeof *fields; i++) {
            size_t length = strlen(fields[i].label);
            int value = strncmp(text, fields[i].label, length) != 0 ? -1 : number_at(text + length);
            if (value < 0)
                continue;
            int *field = (int *)((char *)kernel + fields[i].field);
            *field = add_clamped(*field, value);
        }
    }
    for (int i = 0; i < count; i++) {
        int lanes = kernels[i].spill_store_bytes;
        int bytes = lanes > INT_MAX / 4 ? INT_MAX : lanes * 4;
        kernels[i].spill_store_bytes = kernels[i].spill_load_bytes = bytes;
    }
    return count;
}

/* ptxas calls its warnings about slow code "info": (C7511) says that products wait for each other. */
static bool warns(const char *line)
{
    return strcasestr(line, "warning") && !strstr(line, "warnings can be suppressed") && !strstr(line, " generated");
}

static bool tells_of_slow_code(const char *line)
{
    return strstr(line, "(C75") != NULL;
}

void tki_log_warnings(const char *log, char *text, size_t size)
{
    char line[LINE];
    size_t used = 0;
    text[0] = 0;
    while ((log = next_line(log, line))) {
        if (!warns(line) && !tells_of_slow_code(line))
            continue;
        const char *separator = used ? " | " : "";
        if (strlen(separator) >= size - used)
            return;
        used = (size_t)(stpcpy(text + used, separator) - text);
        if (tki_escape_line(line, strlen(line), text + used, size - used) < strlen(line))
            return;
        used += strlen(line);
    }
}
