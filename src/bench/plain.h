/* SHOWS. Plain loops of a definition, which its text gives an op as a first kernel. */
#pragma once

#include "bench/bench.h"

/* The arm is to be closed even if that fails; the context has the reason. They run in one thread. */
TK_MUST_USE tk_status bench_plain_attach(const bench_work *work, const char *id, bench_arm *arm);
