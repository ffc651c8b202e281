/* DECIDES. The memory that a trial needs, and what there is, in GiB. */
#pragma once

#include "tokitai.h"

double tki_case_gib(const tk_case *c, bool kernel_file);
double tki_free_gib(void); /* 0 if the system does not tell */
