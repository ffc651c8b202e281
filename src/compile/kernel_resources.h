/* RECORDS. What compilers say that kernels use, read from their output. Any text will do as input. */
#pragma once

#include "compile/compiled_kernel.h"

/* Kernels found in `log`, at most `most`, in the order of the log. */
int tki_resources_of_ptxas(const char *log, tki_kernel_resources *kernels,
                           int most); /* ptxas -v, alone or in NVRTC's log */
int tki_resources_of_clang(const char *log, tki_kernel_resources *kernels,
                           int most); /* -Rpass-analysis=kernel-resource-usage */

/* The first lines that warn, joined by " | "; "" if there are none. */
void tki_log_warnings(const char *log, char *text, size_t size);
