/* CHOOSES. What shuts a child in, with whatever this system offers. Each means is tried by itself and reported in a record of its own, so that a
 * refusal (an old kernel, a container) costs that means alone. For the worker program: its processes have one thread each
 * when they call this. docs/worker.md tells people what it comes to. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "isolate/worker_start.h"

/* Means that can be left out, for tests of what holds without them. */
enum {
    TKI_CONFINE_USER = 1, /* namespaces */
    TKI_CONFINE_PIDS = 2,
    TKI_CONFINE_NETWORK = 4, /* and System V objects */
    TKI_CONFINE_MOUNTS = 8,
    TKI_CONFINE_LANDLOCK = 16,
    TKI_CONFINE_SECCOMP = 32,
    TKI_CONFINE_LIMITS = 64,
    TKI_CONFINE_CGROUP = 128,
    TKI_CONFINE_ALL = 255
};

typedef struct tki_sandbox {
    unsigned without; /* TKI_CONFINE_... */
    bool programs;    /* it may start programs: a compiler */
    bool watches;     /* it is compute-sanitizer, which starts a program and connects to it */
    bool gpu;         /* it may use the machine's GPUs */
    const char *home; /* where a tree of its own has the scratch folder; NULL: where it is */
    int own_tasks;    /* threads of ours beside the one that runs foreign code, and what these need: */
    size_t own_bytes;
    const char *scratch;         /* the one folder that it may write; an absolute path */
    const char *const *readable; /* what it may read beside the system's folders, up to NULL */
    const char *const
        *hidden;         /* homes, without links, which the system's folders do not show; up to NULL; may be NULL */
    size_t memory_bytes; /* addresses of each process, and memory of all where there is a control group */
    size_t output_bytes; /* of each file */
    int tasks;           /* of foreign code */
    double cpu_seconds;  /* 0: no limit */
    bool allow_weak;     /* foreign code is run even where nothing keeps files or calls from it */
    /* Set by the calls below. */
    bool own_user, own_pids;
    bool own_root;      /* the tree was entered */
    bool unprivileged;  /* and cannot become otherwise */
    bool strong;        /* files, calls and privileges: all is there that foreign code must not be run without */
    bool keeps_files;   /* no file outside can be reached but those that are meant to be */
    bool keeps_signals; /* by Landlock */
    bool filtered;      /* by seccomp */
    char group[512];    /* the control group that was made, "" if none */
    bool holds_tasks, holds_memory; /* the limit, by the control group or by rlimits */
    tki_confinement report;
} tki_sandbox;

/* 1. In the process that the parent started: a control group, which it does not join, and namespaces. If own_pids is set afterwards, the next child is the first
 * process of a namespace, and all in it end when that child ends. */
void tki_sandbox_separate(tki_sandbox *sandbox);

/* 2. In that child: joins the control group. */
void tki_sandbox_join(tki_sandbox *sandbox);

/* 3. There as well: nothing is writable but the scratch folder, which becomes the working directory. */
void tki_sandbox_mount(tki_sandbox *sandbox);

/* 4. In the process that will run foreign code: limits, capabilities, Landlock, system calls, these for all of its threads. There is no way
 * back, and once more only makes it narrower. */
void tki_sandbox_confine(tki_sandbox *sandbox);

/* In the first process, when all others have ended: removes the control group. */
void tki_sandbox_end(const tki_sandbox *sandbox);

/* All paths that it may reach beside the scratch folder, whether or not they are there; of /proc what is its own stands as /proc/self. */
enum { TKI_PATH_LOOK, TKI_PATH_DEVICE };
typedef void tki_visit_path(void *context, const char *path, unsigned access);
void tki_sandbox_visit_paths(const tki_sandbox *sandbox, tki_visit_path *visit, void *context);

/* Parts of step 3 and step 4. */
int tki_sandbox_build_tree(tki_sandbox *sandbox); /* returns an errno; worker/sandbox_tree.c */
void tki_sandbox_restrict_files(tki_sandbox *sandbox);
void tki_sandbox_restrict_calls(tki_sandbox *sandbox);

/* A record of the report: what it is, and what became of it. `error` is an errno, 0 for success. */
void tki_sandbox_say(tki_sandbox *sandbox, tki_by by, int error, unsigned with, int64_t number);
