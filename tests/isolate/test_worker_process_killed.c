/* A worker that somebody else kills says nothing about its kernel, unless the same call ends so again. */
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/certificate_test.h"
#include "tests/work_folder.h"

/* Takes long enough over a call that the killer finds it at work. What it does for the other type is not judged. */
static const char slow[] = "#include <tokitai_kernel.h>\n"
                           "#include <signal.h>\n"
                           "#include <unistd.h>\n"
                           "TOKITAI_KERNEL(embedding_fwd)\n"
                           "{\n"
                           "    static int calls;\n"
                           "    const int64_t dim = tensors[2].shape[1];\n"
                           "    if (++calls == DIES_AT)\n"
                           "        kill(getpid(), SIGKILL);\n"
                           "    usleep(call->dtype == TOKITAI_F16 ? PAUSE : 0);\n"
                           "    for (int64_t i = 0; i < tensors[2].shape[0] * dim; i++)\n"
                           "        ((uint16_t *)tensors[2].data)[i] = ((const uint16_t *)tensors[1].data)\n"
                           "            [tokitai_load_index(*call, tensors[0].data, i / dim) * dim + i % dim];\n"
                           "    return 0;\n"
                           "}\n";

static tk_certificate *certify(tk_ctx *ctx, const char *flags)
{
    tk_kernel_file *kernel;
    tk_certificate *certificate;
    FILE *file = fopen("slow.c", "w");
    assert_non_null(file);
    fputs(slow, file);
    assert_int_equal(fclose(file), 0);
    assert_ok(ctx, tk_kernel_file_open(
                       ctx, "slow.c",
                       &(tk_kernel_file_options){.size = sizeof(tk_kernel_file_options), .flags = flags}, &kernel));
    assert_string_equal(tk_kernel_file_problem(kernel), "");
    tk_certify_options options = TK_CERTIFY_DEFAULTS;
    options.kernel_file = kernel;
    options.dims = (int64_t[]){3, 1, 2};
    options.family = "normal";
    options.skip_mutants = true;
    assert_ok(ctx, tk_certify(ctx, tk_contract_find("embedding_fwd"), TK_F16, TK_I32, &options, &certificate));
    tk_kernel_file_close(kernel);
    return certificate;
}

/* -- Who kills ---------------------------------------------------------------------------------------------- */

typedef struct killer {
    int wanted; /* workers */
    atomic_bool over;
} killer;

/* This process's child that has a kernel's artifact among its arguments: the one that everything of a worker ends
 * with; 0 if there is none. */
static pid_t find_worker(void)
{
    char path[64], line[4096];
    pid_t found = 0;
    FILE *children = NULL;
    DIR *tasks = opendir("/proc/self/task");
    for (const struct dirent *entry; tasks && (entry = readdir(tasks)) && !found;) {
        snprintf(path, sizeof path, "/proc/self/task/%.16s/children", entry->d_name);
        children = fopen(path, "r");
        for (int child; children && !found && fscanf(children, "%d", &child) == 1;) {
            snprintf(path, sizeof path, "/proc/%d/cmdline", child);
            FILE *file = fopen(path, "r");
            size_t bytes = file ? fread(line, 1, sizeof line, file) : 0;
            if (bytes && memmem(line, bytes, "artifact=", 9))
                found = child;
            if (file)
                fclose(file);
        }
        if (children)
            fclose(children);
    }
    if (tasks)
        closedir(tasks);
    return found;
}

static void *kill_workers(void *data)
{
    killer *k = data;
    for (int killed = 0; killed < k->wanted && !k->over;) {
        pid_t worker = find_worker();
        usleep(worker ? 1000000 : 1000); /* it starts, and is in one of its calls */
        killed += worker && kill(worker, SIGKILL) == 0;
        while (worker && !k->over && find_worker() == worker)
            usleep(1000);
    }
    return NULL;
}

static tk_certificate *certify_and_kill(tk_ctx *ctx, int times)
{
    killer k = {.wanted = times};
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, kill_workers, &k), 0);
    tk_certificate *certificate = certify(ctx, "-O2 -DDIES_AT=0 -DPAUSE=2000000");
    k.over = true;
    pthread_join(thread, NULL);
    return certificate;
}

/* -- Tests -------------------------------------------------------------------------------------------------- */

TEST(killed_once_is_unknown)
{
    tk_ctx *ctx;
    assert_int_equal(tk_ctx_create(&ctx), TK_OK);
    tk_certificate *certificate = certify_and_kill(ctx, 1);
    assert_int_equal(tk_certificate_verdict(certificate), TK_UNKNOWN);
    if (!strstr(tk_certificate_reason(certificate), "in a fresh process was not killed"))
        fail_msg("%s", tk_certificate_reason(certificate));
    tk_certificate_destroy(certificate);
    tk_ctx_destroy(ctx);
}

TEST(killed_each_time_is_refuted)
{
    tk_ctx *ctx;
    assert_int_equal(tk_ctx_create(&ctx), TK_OK);
    tk_certificate *certificate = certify_and_kill(ctx, 100);
    assert_int_equal(tk_certificate_verdict(certificate), TK_REFUTED);
    tk_certificate_destroy(certificate);
    tk_ctx_destroy(ctx);
}

/* It is no accident, although the second process would come further. */
TEST(a_kernel_that_kills_itself_is_refuted)
{
    tk_ctx *ctx;
    assert_int_equal(tk_ctx_create(&ctx), TK_OK);
    tk_certificate *certificate = certify(ctx, "-O2 -DDIES_AT=2 -DPAUSE=1000");
    assert_int_equal(tk_certificate_verdict(certificate), TK_REFUTED);
    if (!strstr(tk_certificate_reason(certificate), "signal 9"))
        fail_msg("%s", tk_certificate_reason(certificate));
    tk_certificate_destroy(certificate);
    tk_ctx_destroy(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        ENTERED(killed_once_is_unknown),
        ENTERED(killed_each_time_is_refuted),
        ENTERED(a_kernel_that_kills_itself_is_refuted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
