/* CHOOSES. Namespaces, mounts, control group, limits and capabilities. */
#include "worker/sandbox.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <linux/capability.h>
#include <linux/magic.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <sys/wait.h>
#include <unistd.h>

void tki_sandbox_say(tki_sandbox *sandbox, tki_by by, int error, unsigned with, int64_t number)
{
    tki_confinement *report = &sandbox->report;
    if (report->count < TKI_MOST_MEANS) /* else the last is missing, which is weak */
        report->means[report->count++] = (tki_means){(uint16_t)by, (uint16_t)with, error, number};
}

static bool left_out(tki_sandbox *sandbox, unsigned part, tki_by by)
{
    if (sandbox->without & part)
        tki_sandbox_say(sandbox, by, TKI_LEFT_OUT, 0, 0);
    return sandbox->without & part;
}

/* Returns an errno. */
static int write_file(const char *path, const char *text)
{
    int file = open(path, O_WRONLY | O_CLOEXEC);
    if (file < 0)
        return errno;
    int error = write(file, text, strlen(text)) < 0 ? errno : 0;
    close(file);
    return error;
}

/* ------------------------------------------------------------------------------------------------------------
 * Control group
 * ------------------------------------------------------------------------------------------------------------ */

/* Of the second version, or of the first the one whose controller counts tasks: RLIMIT_NPROC does not bind root. */
typedef struct hierarchy {
    const char *root;
    unsigned long magic;
    const char *controller; /* "": the second version has one name for all */
    const char *memory;     /* the file of that limit, or NULL */
} hierarchy;

static const hierarchy hierarchies[] = {{"/sys/fs/cgroup", CGROUP2_SUPER_MAGIC, "", "memory.max"},
                                        {"/sys/fs/cgroup/unified", CGROUP2_SUPER_MAGIC, "", "memory.max"},
                                        {"/sys/fs/cgroup/pids", CGROUP_SUPER_MAGIC, "pids", NULL}};

/* "8:pids,misc:/a/b": where its path begins, if it is that hierarchy's line. */
static const char *path_in_line(const char *line, const char *controller)
{
    const size_t length = strlen(controller);
    const char *name = strchr(line, ':'), *end = name ? strchr(++name, ':') : NULL;
    for (; name && end && name <= end; name += strcspn(name, ",:") + 1)
        if (strcspn(name, ",:") == length && !strncmp(name, controller, length))
            return end + 1;
    return NULL;
}

/* The folder of this process's own group. */
static bool find_group(const hierarchy *h, char *path, size_t size)
{
    struct statfs about;
    char line[400];
    const char *own = NULL;
    if (statfs(h->root, &about) != 0 || (unsigned long)about.f_type != h->magic)
        return false;
    FILE *file = fopen("/proc/self/cgroup", "re");
    while (file && !own && fgets(line, sizeof line, file)) {
        line[strcspn(line, "\n")] = 0;
        own = path_in_line(line, h->controller);
    }
    if (file)
        fclose(file);
    if (own)
        snprintf(path, size, "%s%s", h->root, strcmp(own, "/") ? own : "");
    return own != NULL;
}

static int write_limit(const char *group, const char *name, size_t number)
{
    char path[560], text[32];
    snprintf(path, sizeof path, "%s/%s", group, name);
    snprintf(text, sizeof text, "%zu", number);
    return write_file(path, text);
}

#define GROUP_NAME "tokitai-worker-"

/* Groups whose makers were killed before they could remove them. One that holds a process cannot be removed. */
static void remove_stale_groups(const char *parent)
{
    char path[720];
    DIR *list = opendir(parent);
    for (const struct dirent *entry; list && (entry = readdir(list));) {
        if (strncmp(entry->d_name, GROUP_NAME, sizeof GROUP_NAME - 1) != 0)
            continue;
        const long maker = strtol(entry->d_name + sizeof GROUP_NAME - 1, NULL, 10);
        if (maker <= 0 || kill((pid_t)maker, 0) == 0 || errno != ESRCH)
            continue;
        snprintf(path, sizeof path, "%s/%s", parent, entry->d_name);
        rmdir(path);
    }
    if (list)
        closedir(list);
}

/* True if the file begins with "max", or there is none. */
static bool is_unlimited(const char *group, const char *name)
{
    char path[560], text[4] = "max";
    snprintf(path, sizeof path, "%s/%s", group, name);
    FILE *file = fopen(path, "re");
    if (file && !fgets(text, sizeof text, file))
        text[0] = 0;
    if (file)
        fclose(file);
    return !strcmp(text, "max");
}

/* In the second version a group's children have the limits that it hands on, and only a group without processes, or the root of all, may be
 * told to hand on more. This process's own has one, itself: where it was not told before, the new group goes beside it, if that
 * escapes no limit. */
static void find_parent(const hierarchy *h, char *group)
{
    char path[560];
    snprintf(path, sizeof path, "%s/cgroup.subtree_control", group);
    const bool tasks = !write_file(path, "+pids"), memory = !write_file(path, "+memory");
    if (!tasks && !memory && strcmp(group, h->root) != 0 && is_unlimited(group, "pids.max") &&
        is_unlimited(group, "memory.max") && is_unlimited(group, "memory.high") && is_unlimited(group, "cpu.max"))
        *strrchr(group, '/') = 0;
}

/* Returns an errno. A group that limits nothing is of no use. */
static int make_group_in(tki_sandbox *sandbox, const hierarchy *h)
{
    enum { REAPER = 1 };
    char parent[440];
    if (!find_group(h, parent, sizeof parent))
        return ENOSYS;
    if (h->magic == CGROUP2_SUPER_MAGIC)
        find_parent(h, parent);
    remove_stale_groups(parent);
    snprintf(sandbox->group, sizeof sandbox->group, "%s/" GROUP_NAME "%d", parent, (int)getpid());
    if (mkdir(sandbox->group, 0700))
        return errno;
    int tasks = write_limit(sandbox->group, "pids.max", (size_t)(sandbox->tasks + sandbox->own_tasks) + REAPER);
    int memory = h->memory ? write_limit(sandbox->group, h->memory, sandbox->memory_bytes) : ENOENT;
    sandbox->holds_tasks = !tasks;
    sandbox->holds_memory = !memory;
    if (!tasks || !memory)
        return 0;
    rmdir(sandbox->group);
    return tasks;
}

/* The process that made it stays outside, to remove it when all others have ended. */
static void make_group(tki_sandbox *sandbox)
{
    int first = 0, error = ENOSYS;
    if (left_out(sandbox, TKI_CONFINE_CGROUP, TKI_BY_GROUP))
        return;
    for (size_t i = 0; i < sizeof hierarchies / sizeof *hierarchies && error; i++) {
        error = make_group_in(sandbox, &hierarchies[i]);
        first = first && first != ENOSYS ? first : error;
    }
    if (error) {
        sandbox->group[0] = 0;
        tki_sandbox_say(sandbox, TKI_BY_GROUP, first, 0, 0);
    }
}

void tki_sandbox_join(tki_sandbox *sandbox)
{
    if (!sandbox->group[0])
        return;
    int error = write_limit(sandbox->group, "cgroup.procs", 0);
    tki_sandbox_say(sandbox, TKI_BY_GROUP, error,
                    (sandbox->holds_tasks ? TKI_HOLDS_TASKS : 0) | (sandbox->holds_memory ? TKI_HOLDS_MEMORY : 0), 0);
    if (error)
        sandbox->holds_tasks = sandbox->holds_memory = false;
}

void tki_sandbox_end(const tki_sandbox *sandbox)
{
    /* The end of a process is seen before its group is rid of it. */
    enum { TRIES = 200 };
    for (int i = 0; i < TRIES && sandbox->group[0] && rmdir(sandbox->group) && errno == EBUSY; i++)
        usleep(1000);
}

/* ------------------------------------------------------------------------------------------------------------
 * Namespaces
 * ------------------------------------------------------------------------------------------------------------ */

/* Inside, the user keeps his number and has no other. */
static int map_user(uid_t user, gid_t group)
{
    char text[64];
    snprintf(text, sizeof text, "%u %u 1", (unsigned)user, (unsigned)user);
    int error = write_file("/proc/self/uid_map", text);
    if (!error)
        error = write_file("/proc/self/setgroups", "deny");
    snprintf(text, sizeof text, "%u %u 1", (unsigned)group, (unsigned)group);
    return error ? error : write_file("/proc/self/gid_map", text);
}

static int enter_user_namespace(void)
{
    uid_t user = geteuid();
    gid_t group = getegid();
    return unshare(CLONE_NEWUSER) ? errno : map_user(user, group);
}

/* A child goes first: who is in a namespace but not in its map can create no file, and there is no way back. */
static int try_user_namespace(void)
{
    pid_t child = fork();
    if (child == 0)
        _exit(enter_user_namespace());
    int status = 0;
    while (child > 0 && waitpid(child, &status, 0) < 0 && errno == EINTR)
        ;
    return child < 0 ? errno : WIFEXITED(status) ? WEXITSTATUS(status) : EPERM;
}

static void separate_user(tki_sandbox *sandbox)
{
    if (left_out(sandbox, TKI_CONFINE_USER, TKI_BY_USER))
        return;
    int error = try_user_namespace();
    if (!error)
        error = enter_user_namespace();
    sandbox->own_user = !error;
    tki_sandbox_say(sandbox, TKI_BY_USER, error, 0, 0);
}

static bool separate(tki_sandbox *sandbox, unsigned part, int flag, tki_by by)
{
    if (left_out(sandbox, part, by))
        return false;
    int error = unshare(flag) ? errno : 0;
    tki_sandbox_say(sandbox, by, error, 0, 0);
    return !error;
}

void tki_sandbox_separate(tki_sandbox *sandbox)
{
    tki_sandbox_say(sandbox, TKI_BY_NO_NEW_PRIVILEGES, prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ? errno : 0, 0, 0);
    if (!(sandbox->without & TKI_CONFINE_LIMITS))
        tki_sandbox_say(sandbox, TKI_BY_FIRST_TO_END, write_file("/proc/self/oom_score_adj", "1000"), 0, 0);
    make_group(sandbox);
    separate_user(sandbox);
    separate(sandbox, TKI_CONFINE_NETWORK, CLONE_NEWNET, TKI_BY_NETWORK);
    separate(sandbox, TKI_CONFINE_NETWORK, CLONE_NEWIPC, TKI_BY_IPC);
    sandbox->own_pids = separate(sandbox, TKI_CONFINE_PIDS, CLONE_NEWPID, TKI_BY_PIDS);
}

/* ------------------------------------------------------------------------------------------------------------
 * Mounts
 * ------------------------------------------------------------------------------------------------------------ */

enum { MOUNT_SETATTR = 442, AT_RECURSIVE_ = 0x8000, ATTR_RDONLY = 1 }; /* not in every libc's headers */

static int set_read_only(const char *path, bool on)
{
    struct {
        uint64_t set, clear, propagation, user_namespace;
    } attributes = {.set = on ? ATTR_RDONLY : 0, .clear = on ? 0 : ATTR_RDONLY};
    return syscall(MOUNT_SETATTR, AT_FDCWD, path, on ? AT_RECURSIVE_ : 0, &attributes, sizeof attributes) ? errno : 0;
}

/* All that is mounted, where it is mounted. */
static int keep_root(tki_sandbox *sandbox)
{
    const char *scratch = sandbox->scratch;
    if (sandbox->own_pids)
        tki_sandbox_say(sandbox, TKI_BY_PROC,
                        mount("proc", "/proc", "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC, NULL) ? errno : 0, 0, 0);
    /* A mount of its own over the scratch folder can stay writable. */
    return mount(scratch, scratch, NULL, MS_BIND, NULL) ? errno : 0;
}

void tki_sandbox_mount(tki_sandbox *sandbox)
{
    if (left_out(sandbox, TKI_CONFINE_MOUNTS, TKI_BY_MOUNTS))
        return;
    int error = unshare(CLONE_NEWNS) || mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) ? errno : 0;
    if (error) {
        tki_sandbox_say(sandbox, TKI_BY_MOUNTS, error, 0, 0);
        return;
    }
    int no_tree = tki_sandbox_build_tree(sandbox);
    if (no_tree)
        tki_sandbox_say(sandbox, TKI_BY_TREE, no_tree, 0, 0);
    if (no_tree && !sandbox->own_root)
        error = keep_root(sandbox);
    /* A GPU's driver writes the names of its threads there; Landlock and the lack of capabilities leave it nothing else. */
    bool writable_proc = sandbox->gpu &&
                         (sandbox->own_pids || !mount("/proc", "/proc", NULL, MS_BIND | MS_REC, NULL));
    if (!error)
        error = set_read_only("/", true);
    if (!error)
        error = set_read_only(sandbox->scratch, false);
    if (!error && writable_proc)
        error = set_read_only("/proc", false);
    if (!error)
        error = chdir(sandbox->scratch) ? errno : 0;
    sandbox->keeps_files = !error && !no_tree;
    tki_sandbox_say(sandbox, TKI_BY_MOUNTS, error, TKI_READ_ONLY | (no_tree ? 0 : TKI_OWN_TREE), 0);
}

/* ------------------------------------------------------------------------------------------------------------
 * Limits and capabilities
 * ------------------------------------------------------------------------------------------------------------ */

static int limit(int resource, rlim_t most)
{
    struct rlimit now;
    if (getrlimit((__rlimit_resource_t)resource, &now) != 0)
        return errno;
    if (now.rlim_max != RLIM_INFINITY && now.rlim_max < most)
        most = now.rlim_max;
    return setrlimit((__rlimit_resource_t)resource, &(struct rlimit){most, most}) ? errno : 0;
}

/* Of root's own number the system counts them and stops at nothing, in a user namespace too: it is tried. */
static bool tasks_are_counted(void)
{
    struct rlimit now;
    if (getrlimit(RLIMIT_NPROC, &now) || setrlimit(RLIMIT_NPROC, &(struct rlimit){0, now.rlim_max}))
        return false;
    pid_t child = fork();
    if (child == 0)
        _exit(0);
    while (child > 0 && waitpid(child, NULL, 0) < 0 && errno == EINTR)
        ;
    return setrlimit(RLIMIT_NPROC, &now) == 0 && child < 0;
}

/* For the parent to read: what is asked for need not hold. */
static void say_what_holds(tki_sandbox *sandbox)
{
    const bool memory = sandbox->holds_memory, tasks = sandbox->holds_tasks;
    tki_sandbox_say(sandbox, TKI_BY_MEMORY, 0, memory ? 0 : TKI_NO_LIMIT,
                    memory ? (int64_t)sandbox->memory_bytes : 0);
    tki_sandbox_say(sandbox, TKI_BY_TASKS, 0, tasks ? 0 : TKI_NO_LIMIT, tasks ? sandbox->tasks : 0);
}

static void set_limits(tki_sandbox *sandbox)
{
    enum { KEEPER_AND_REAPER = 2 };
    if (left_out(sandbox, TKI_CONFINE_LIMITS, TKI_BY_LIMITS)) {
        say_what_holds(sandbox);
        return;
    }
    /* 0 would still feed a program that collects cores; 1 is the kernel's word for none at all. */
    int error = limit(RLIMIT_CORE, 1);
    if (!error)
        error = limit(RLIMIT_FSIZE, sandbox->output_bytes);
    if (!error)
        error = limit(RLIMIT_NOFILE, TKI_WORKER_DESCRIPTORS);
    if (!error && sandbox->cpu_seconds > 0)
        error = limit(RLIMIT_CPU, (rlim_t)(sandbox->cpu_seconds + 0.999));
    /* Drivers of GPUs reserve terabytes of addresses. */
    if (!error && !sandbox->gpu)
        error = limit(RLIMIT_AS, sandbox->memory_bytes + sandbox->own_bytes);
    /* Outside a user namespace the count would be that of all processes of this user. */
    if (!error && sandbox->own_user &&
        limit(RLIMIT_NPROC, (rlim_t)(sandbox->tasks + sandbox->own_tasks) + KEEPER_AND_REAPER) == 0)
        sandbox->holds_tasks |= tasks_are_counted();
    sandbox->holds_memory |= !error && !sandbox->gpu;
    tki_sandbox_say(sandbox, TKI_BY_LIMITS, error,
                    (sandbox->gpu ? 0 : TKI_LIMITS_ADDRESSES) | (sandbox->cpu_seconds > 0 ? TKI_LIMITS_TIME : 0),
                    (int64_t)sandbox->output_bytes);
    say_what_holds(sandbox);
}

static void drop_capabilities(tki_sandbox *sandbox)
{
    for (int i = 0; prctl(PR_CAPBSET_READ, i, 0, 0, 0) >= 0; i++)
        prctl(PR_CAPBSET_DROP, i, 0, 0, 0);
    prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
    struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
    struct __user_cap_data_struct none[_LINUX_CAPABILITY_U32S_3] = {{0}};
    int error = syscall(SYS_capset, &header, none) ? errno : 0;
    sandbox->unprivileged = !error && prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) == 1;
    tki_sandbox_say(sandbox, TKI_BY_CAPABILITIES, error, 0, 0);
}

/* Of what foreign code must not be let loose without. */
static void sum_up(tki_sandbox *sandbox)
{
    const unsigned with = (sandbox->keeps_files ? TKI_KEEPS_FILES : 0) | (sandbox->filtered ? TKI_FILTERS_CALLS : 0) |
                          (sandbox->unprivileged ? TKI_GIVES_UP_PRIVILEGES : 0);
    sandbox->strong = with == TKI_STRONG;
    tki_sandbox_say(sandbox, TKI_BY_STRENGTH, 0, with, 0);
}

void tki_sandbox_confine(tki_sandbox *sandbox)
{
    drop_capabilities(sandbox); /* with some of them limits do not hold */
    set_limits(sandbox);
    tki_sandbox_restrict_files(sandbox);
    tki_sandbox_restrict_calls(sandbox);
    sum_up(sandbox);
}
