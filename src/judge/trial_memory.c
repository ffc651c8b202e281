/* DECIDES. The memory that a trial needs, and what there is. */
#include "judge/trial_memory.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

double tki_case_gib(const tk_case *c, bool kernel_file)
{
    double inputs = 0;
    double all = 0;
    for (int p = 0; p < c->contract->param_count; p++) {
        double bytes = (double)tk_case_elements(c, p) * (double)tk_dtype_size(tk_case_param_dtype(c, p));
        inputs += c->contract->params[p].output ? 0 : bytes;
        all += bytes;
    }
    /* Two runs side by side; a kernel file has a third, with inputs of its own. */
    return (kernel_file ? 2 * inputs + 3 * all : inputs + 2 * all) * 0x1p-30;
}

double tki_free_gib(void)
{
    char line[256];
    long long kib = 0;
    FILE *file = fopen("/proc/meminfo", "re");
    while (file && fgets(line, sizeof line, file))
        if (!strncmp(line, "MemAvailable:", 13))
            kib = strtoll(line + 13, NULL, 10);
    if (file)
        fclose(file);
    return (double)kib * 0x1p-20;
}
