/* CHOOSES. What files foreign code can reach: one list, by which the tree of its own is built and Landlock is told. */
#include "worker/sandbox.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

static const char *const system_paths[] = {"/usr",
                                           "/bin",
                                           "/sbin",
                                           "/lib",
                                           "/lib32",
                                           "/lib64",
                                           "/opt",
                                           "/nix/store",
                                           "/gnu/store",
                                           "/etc/ld.so.cache",
                                           "/etc/ld.so.conf",
                                           "/etc/ld.so.conf.d",
                                           "/etc/alternatives", /* where links out of /usr lead, and back */
                                           "/sys/devices/system",
                                           "/proc/self",
                                           "/proc/cpuinfo",
                                           "/proc/meminfo",
                                           "/proc/stat",
                                           "/proc/sys/vm/overcommit_memory",
                                           NULL};
static const char *const device_paths[] = {"/dev/null", "/dev/urandom", "/dev/random", NULL};
/* A shared mapping of it is memory that no limit counts, which kernels on the CPU do not get. */
static const char *const shared_memory_paths[] = {"/dev/zero", NULL};
static const char *const gpu_paths[] = {"/proc/driver/nvidia", "/proc/devices", "/proc/modules", "/proc/version",
                                        "/sys/module",         "/sys/bus/pci",  "/sys/devices",  "/sys/class",
                                        "/proc/sys/vm",        "/etc/OpenCL",   "/etc/nvidia",   NULL};
static const char *const gpu_devices[] = {"/dev/nvidia*", "/dev/nvidia-caps/*", "/dev/kfd", "/dev/dri/*"};

static void visit_list(const char *const paths[], unsigned access, tki_visit_path *visit, void *context)
{
    for (int i = 0; paths && paths[i]; i++)
        visit(context, paths[i], access);
}

static void visit_pattern(const char *pattern, unsigned access, tki_visit_path *visit, void *context)
{
    glob_t found;
    if (glob(pattern, 0, NULL, &found) == 0)
        for (size_t i = 0; i < found.gl_pathc; i++)
            visit(context, found.gl_pathv[i], access);
    globfree(&found);
}

static bool is_within(const char *path, const char *folder)
{
    const size_t length = strlen(folder);
    return !strncmp(path, folder, length) && (!path[length] || path[length] == '/');
}

/* One that holds the system itself, as of some of its users, is none that could be hidden. */
static bool can_hide(const char *home)
{
    static const char *const needed[] = {"/usr/bin",   "/usr/sbin",      "/usr/lib",       "/usr/lib64",
                                         "/usr/local", "/usr/local/bin", "/usr/local/lib", "/etc/alternatives"};
    bool can = strcmp(home, "/") != 0;
    for (size_t i = 0; i < sizeof needed / sizeof *needed; i++)
        can &= !is_within(needed[i], home);
    return can;
}

/* A folder with a home in it is its other entries. */
static void visit_but_homes(const tki_sandbox *sandbox, const char *path, tki_visit_path *visit, void *context)
{
    char *real = realpath(path, NULL), entry[PATH_MAX];
    bool holds_home = false;
    for (int i = 0; real && sandbox->hidden && sandbox->hidden[i]; i++) {
        const char *home = sandbox->hidden[i];
        if (can_hide(home) && is_within(real, home)) {
            free(real);
            return;
        }
        holds_home |= can_hide(home) && is_within(home, real);
    }
    free(real);
    DIR *list = holds_home ? opendir(path) : NULL;
    if (!holds_home)
        visit(context, path, TKI_PATH_LOOK);
    for (const struct dirent *next; list && (next = readdir(list));)
        if (strcmp(next->d_name, ".") != 0 && strcmp(next->d_name, "..") != 0 &&
            snprintf(entry, sizeof entry, "%s/%s", path, next->d_name) < (int)sizeof entry)
            visit_but_homes(sandbox, entry, visit, context);
    if (list)
        closedir(list);
}

void tki_sandbox_visit_paths(const tki_sandbox *sandbox, tki_visit_path *visit, void *context)
{
    for (int i = 0; system_paths[i]; i++)
        visit_but_homes(sandbox, system_paths[i], visit, context);
    visit_list(sandbox->readable, TKI_PATH_LOOK, visit, context);
    visit_list(device_paths, TKI_PATH_DEVICE, visit, context);
    if (sandbox->gpu || sandbox->programs)
        visit_list(shared_memory_paths, TKI_PATH_DEVICE, visit, context);
    if (sandbox->gpu) {
        visit_list(gpu_paths, TKI_PATH_LOOK, visit, context);
        for (size_t i = 0; i < sizeof gpu_devices / sizeof *gpu_devices; i++)
            visit_pattern(gpu_devices[i], TKI_PATH_DEVICE, visit, context);
    }
}

/* ------------------------------------------------------------------------------------------------------------
 * Landlock. Its header came late to the distributions, so what is needed of it stands here.
 * ------------------------------------------------------------------------------------------------------------ */

enum { LANDLOCK_CREATE = 444, LANDLOCK_ADD_RULE = 445, LANDLOCK_RESTRICT_SELF = 446 };
enum { LANDLOCK_VERSION_FLAG = 1, LANDLOCK_PATH_BENEATH = 1 };

enum {
    FS_EXECUTE = 1 << 0,
    FS_WRITE_FILE = 1 << 1,
    FS_READ_FILE = 1 << 2,
    FS_READ_DIR = 1 << 3,
    FS_TRUNCATE = 1 << 14,  /* version 3 */
    FS_IOCTL_DEV = 1 << 15, /* version 5 */
    FS_FIRST_VERSION = (1 << 13) - 1,
    FS_REFER = 1 << 13, /* version 2 */
    FS_OF_FILES = FS_EXECUTE | FS_WRITE_FILE | FS_READ_FILE | FS_TRUNCATE | FS_IOCTL_DEV,
    FS_LOOK = FS_READ_FILE | FS_READ_DIR | FS_EXECUTE,
    FS_DEVICE = FS_READ_FILE | FS_WRITE_FILE | FS_IOCTL_DEV,
    NET_TCP = 3,   /* bind and connect; version 4 */
    SCOPE_BOTH = 3 /* abstract sockets and signals; version 6 */
};

typedef struct landlock_rules {
    uint64_t files, network, scoped; /* what is forbidden unless a rule allows it */
} landlock_rules;

typedef struct landlock_path {
    uint64_t allowed;
    int32_t folder;
} __attribute__((packed)) landlock_path;

typedef struct ruleset {
    int rules;
    landlock_rules handled;
} ruleset;

/* Paths that do not exist need no rule. */
static void allow(const ruleset *r, const char *path, uint64_t access)
{
    struct stat about;
    int file = open(path, O_PATH | O_CLOEXEC);
    if (file < 0)
        return;
    access &= r->handled.files;
    if (fstat(file, &about) == 0 && !S_ISDIR(about.st_mode))
        access &= FS_OF_FILES;
    syscall(LANDLOCK_ADD_RULE, r->rules, LANDLOCK_PATH_BENEATH, &(landlock_path){access, file}, 0);
    close(file);
}

static void allow_visited(void *context, const char *path, unsigned access)
{
    allow(context, path, access == TKI_PATH_DEVICE ? FS_DEVICE : FS_LOOK);
}

static void add_rules(ruleset *r, const tki_sandbox *sandbox)
{
    tki_sandbox_visit_paths(sandbox, allow_visited, r);
    /* What it starts reads its own maps and names its own threads, and /proc/self would be this process alone; and it looks for the
     * devices that it will be allowed. */
    if (sandbox->watches) {
        allow(r, "/proc", FS_LOOK | FS_WRITE_FILE | FS_TRUNCATE);
        allow(r, "/dev", FS_READ_DIR);
    }
    /* A driver that cannot name its threads does not start. */
    if (sandbox->gpu)
        allow(r, "/proc/self/task", FS_LOOK | FS_WRITE_FILE | FS_TRUNCATE);
    allow(r, sandbox->scratch, r->handled.files & ~(uint64_t)FS_IOCTL_DEV);
}

void tki_sandbox_restrict_files(tki_sandbox *sandbox)
{
    if (sandbox->without & TKI_CONFINE_LANDLOCK) {
        tki_sandbox_say(sandbox, TKI_BY_LANDLOCK, TKI_LEFT_OUT, 0, 0);
        return;
    }
    long version = syscall(LANDLOCK_CREATE, NULL, 0, LANDLOCK_VERSION_FLAG);
    if (version < 1) {
        tki_sandbox_say(sandbox, TKI_BY_LANDLOCK, errno, 0, 0);
        return;
    }
    ruleset r = {.handled = {.files = FS_FIRST_VERSION}};
    landlock_rules *handled = &r.handled;
    handled->files |= version >= 2 ? FS_REFER : 0;
    handled->files |= version >= 3 ? FS_TRUNCATE : 0;
    handled->files |= version >= 5 ? FS_IOCTL_DEV : 0;
    handled->network = version >= 4 ? NET_TCP : 0;
    handled->scoped = version >= 6 ? SCOPE_BOTH : 0;
    size_t known = version >= 6 ? sizeof *handled : version >= 4 ? 2 * sizeof(uint64_t) : sizeof(uint64_t);
    r.rules = (int)syscall(LANDLOCK_CREATE, handled, known, 0);
    int error = r.rules < 0 ? errno : 0;
    if (!error) {
        add_rules(&r, sandbox);
        error = syscall(LANDLOCK_RESTRICT_SELF, r.rules, 0) ? errno : 0;
        close(r.rules);
    }
    sandbox->keeps_files |= !error;
    sandbox->keeps_signals |= !error && handled->scoped;
    tki_sandbox_say(sandbox, TKI_BY_LANDLOCK, error,
                    (handled->network ? TKI_KEEPS_TCP : 0) | (handled->scoped ? TKI_KEEPS_SIGNALS : 0), version);
}
