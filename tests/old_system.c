/* old_system MEANS COMMAND...: runs the command where these means of confinement are not to be had, named and separated by commas: landlock,
 * namespaces, seccomp. By a filter of system calls, which all that it starts inherits. */
#include <errno.h>
#include <sched.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

static struct sock_filter code[32];
static unsigned short length;

static void refuse(int number, int error)
{
    code[length++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)number, 0, 1);
    code[length++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | (uint32_t)error);
}

int main(int count, char **arguments)
{
    enum { LANDLOCK_CREATE_RULESET = 444 };
    if (count < 3) {
        fputs("usage: old_system MEANS COMMAND...\n", stderr);
        return 2;
    }
    code[length++] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr));
    if (strstr(arguments[1], "landlock"))
        refuse(LANDLOCK_CREATE_RULESET, ENOSYS);
    if (strstr(arguments[1], "namespaces"))
        refuse(SYS_unshare, EPERM);
    if (strstr(arguments[1], "seccomp"))
        refuse(SYS_seccomp, ENOSYS);
    code[length++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
    struct sock_fprog program = {.len = length, .filter = code};
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program)) {
        perror("old_system");
        return 77;
    }
    execvp(arguments[2], arguments + 2);
    perror(arguments[2]);
    return 127;
}
