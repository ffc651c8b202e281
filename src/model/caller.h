/* DECIDES. How a kernel is called, as the judge sees it; runtime/kernel_runner.h has the ways. */
#pragma once

#include "core/fault.h"
#include "tokitai.h"

typedef struct tki_caller tki_caller;
struct tki_caller {
    /* Runs the case once, as tki_runner_call() does. */
    tk_status (*call)(tki_caller *caller, const tk_case *c, void *const buffers[], int threads, double *seconds);
    bool copies;         /* the kernel works on copies of its buffers, which are guarded where they are */
    bool leaves_by_rows; /* beside a bad index it may have written what does not belong to it: it runs on a GPU */
    tki_overrun overrun; /* what the last call changed beside its outputs */
};
