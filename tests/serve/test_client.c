/* Kernel servers kept running: good ones, and ones that end, stall, babble, shout and lie. The bad ones are shell scripts. */
#include <dirent.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/clock.h"
#include "isolate/wire.h"
#include "tests/unit_test.h"
#include "tokitai_serve.h"

static const tk_server_options quick = {.size = sizeof(tk_server_options),
                                        .call_seconds = 20,
                                        .restart_seconds = 0.01,
                                        .restart_most_seconds = 0.05,
                                        .reply_bytes = 1 << 20};

typedef struct fixture {
    tk_ctx *ctx;
    tk_server *server;
    const char *reply;
    size_t reply_bytes;
} fixture;

static void open_argv(fixture *f, char *const argv[], const tk_server_options *options)
{
    *f = (fixture){0};
    assert_int_equal(tk_ctx_create(&f->ctx), TK_OK);
    if (tk_server_open(f->ctx, argv, options, &f->server) != TK_OK)
        fail_msg("%s", tk_ctx_message(f->ctx));
}

static char *program(void)
{
    char *path = getenv("TOKITAI");
    assert_non_null(path);
    return path;
}

static void open_kernel(fixture *f, const char *name, bool binary)
{
    char kernel[] = "kernel", server[] = "--server", as_binary[] = "--binary", chosen[32];
    tk_server_options options = quick;
    options.binary = binary;
    snprintf(chosen, sizeof chosen, "%s", name);
    open_argv(f, (char *[]){program(), kernel, chosen, server, binary ? as_binary : NULL, NULL}, &options);
}

static void open_script(fixture *f, const char *script, const tk_server_options *options)
{
    char shell[] = "sh", command[] = "-c", text[4096];
    snprintf(text, sizeof text, "%s", script);
    open_argv(f, (char *[]){shell, command, text, NULL}, options);
}

static void close_server(fixture *f)
{
    tk_server_close(f->server);
    tk_ctx_destroy(f->ctx);
}

static tk_status ask(fixture *f, const char *text)
{
    const void *reply;
    tk_status status = tk_server_call(f->ctx, f->server, text, strlen(text), &reply, &f->reply_bytes);
    f->reply = reply;
    return status;
}

static void assert_says(const fixture *f, const char *text)
{
    if (!strstr(tk_ctx_message(f->ctx), text))
        fail_msg("'%s' does not say '%s'", tk_ctx_message(f->ctx), text);
}

static int open_descriptors(void)
{
    int count = 0;
    DIR *folder = opendir("/proc/self/fd");
    assert_non_null(folder);
    while (readdir(folder))
        count++;
    closedir(folder);
    return count;
}

/* ------------------------------------------------------------------------------------------------------------
 * Programs of ours
 * ------------------------------------------------------------------------------------------------------------ */

TEST(text_requests)
{
    fixture f;
    open_kernel(&f, "embedding", false);
    for (int i = 0; i < 200; i++) {
        char request[64], expected[32];
        snprintf(request, sizeof request, "1 1 2 0 %d %d %d", i % 2, i, 65535 - i);
        snprintf(expected, sizeof expected, "\nOUTPUT=%d\n", i % 2 ? 65535 - i : i);
        assert_int_equal(ask(&f, request), TK_OK);
        assert_non_null(strstr(f.reply, expected));
        assert_int_equal(strlen(f.reply), f.reply_bytes);
    }
    assert_int_equal(tk_server_starts(f.server), 1);
    assert_int_equal(tk_server_wait_status(f.server), -1);
    close_server(&f);
}

/* A refusal comes with the program's own words and status, and the next request is served at once. */
TEST(refusals)
{
    fixture f;
    open_kernel(&f, "embedding", false);
    for (int i = 0; i < 5; i++) {
        assert_int_equal(ask(&f, "1 1 1 0 0"), TK_BAD_ARGUMENT);
        assert_says(&f, "weight[0] is missing");
        assert_non_null(strstr(f.reply, "weight[0] is missing"));
        assert_true(WIFEXITED(tk_server_wait_status(f.server)));
        assert_int_equal(WEXITSTATUS(tk_server_wait_status(f.server)), 6);
        assert_non_null(strstr(tk_server_errors(f.server), "weight[0] is missing"));
        assert_int_equal(ask(&f, "1 1 1 0 7 0"), TK_BAD_INDEX);
        assert_says(&f, "index[0]");
        assert_int_equal(ask(&f, "1 1 1 0 0 9"), TK_OK);
    }
    assert_int_equal(tk_server_starts(f.server), 11);
    close_server(&f);
}

TEST(long_requests)
{
    fixture f;
    char kernel[] = "kernel", name[] = "gelu-bwd", server[] = "--server", limit[] = "--max-frame", bytes[] = "1000";
    open_argv(&f, (char *[]){program(), kernel, name, server, limit, bytes, NULL}, &quick);
    size_t size = 4 << 20;
    char *request = malloc(size);
    assert_non_null(request);
    memset(request, '1', size);
    /* More than a socket holds: the program ends while it is being sent. */
    assert_int_equal(tk_server_call(f.ctx, f.server, request, size, NULL, NULL), TK_BAD_ARGUMENT);
    assert_says(&f, "of this length");
    assert_int_equal(WEXITSTATUS(tk_server_wait_status(f.server)), 22);
    assert_int_equal(ask(&f, "1 1 1"), TK_OK);
    free(request);
    close_server(&f);
}

/* Small ones in the frame, large ones through shared memory, grown and shrunk in turn. */
TEST(cases)
{
    static const int64_t sizes[] = {1, 3, 1000, 200001, 5, 100000, 1 << 20, 7};
    fixture f;
    open_kernel(&f, "gelu-bwd", true);
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++)
        for (tk_dtype dtype = TK_F16; dtype <= TK_BF16; dtype++) {
            size_t n = (size_t)sizes[s];
            uint16_t *grad = malloc(2 * n), *x = malloc(2 * n), *got = malloc(2 * n), *expected = malloc(2 * n);
            assert_true(grad && x && got && expected);
            for (size_t i = 0; i < n; i++) {
                grad[i] = (uint16_t)(i * 40503u + 77);
                x[i] = (uint16_t)(i * 9973u >> 3);
            }
            tk_case c = tk_case_init(tk_contract_find("gelu_bwd"), dtype);
            c.dims[0] = (int64_t)n;
            double seconds = -1;
            assert_int_equal(tk_gelu_bwd(f.ctx, dtype, (int64_t)n, grad, x, expected), TK_OK);
            assert_int_equal(tk_server_run(f.ctx, f.server, &c, (void *[]){grad, x, got}, &seconds), TK_OK);
            assert_memory_equal(got, expected, 2 * n);
            assert_true(seconds >= 0);
            free(grad);
            free(x);
            free(got);
            free(expected);
        }
    assert_int_equal(tk_server_starts(f.server), 1);
    close_server(&f);
}

TEST(cases_with_indices)
{
    fixture f;
    open_kernel(&f, "embedding", true);
    int64_t index[] = {1, 0, 1};
    uint16_t weight[] = {10, 20}, out[3] = {0};
    tk_case c = tk_case_init(tk_contract_find("embedding_fwd"), TK_BF16);
    c.index_dtype = TK_I64;
    c.dims[0] = 3;
    c.dims[1] = 1;
    c.dims[2] = 2;
    void *buffers[] = {index, weight, out};
    assert_int_equal(tk_server_run(f.ctx, f.server, &c, buffers, NULL), TK_OK);
    assert_memory_equal(out, ((uint16_t[]){20, 10, 20}), sizeof out);
    index[1] = 2;
    assert_int_equal(tk_server_run(f.ctx, f.server, &c, buffers, NULL), TK_BAD_INDEX);
    assert_says(&f, "index[1]");
    assert_memory_equal(out, ((uint16_t[]){20, 10, 20}), sizeof out);
    index[1] = 1;
    assert_int_equal(tk_server_run(f.ctx, f.server, &c, buffers, NULL), TK_OK);
    assert_memory_equal(out, ((uint16_t[]){20, 20, 20}), sizeof out);
    /* Another program's op. */
    c = tk_case_init(tk_contract_find("gelu_fwd"), TK_F16);
    c.dims[0] = 2;
    assert_int_equal(tk_server_run(f.ctx, f.server, &c, (void *[]){weight, out}, NULL), TK_BAD_ARGUMENT);
    assert_says(&f, "'gelu_fwd'");
    assert_int_equal(ask(&f, "rubbish"), TK_BAD_ARGUMENT);
    assert_says(&f, "a short frame");
    close_server(&f);
}

/* ------------------------------------------------------------------------------------------------------------
 * Programs that go wrong
 * ------------------------------------------------------------------------------------------------------------ */

TEST(cannot_start)
{
    tk_ctx *ctx;
    tk_server *server;
    char missing[] = "/no/such/program";
    int before = open_descriptors();
    assert_int_equal(tk_ctx_create(&ctx), TK_OK);
    assert_int_equal(tk_server_open(ctx, (char *[]){missing, NULL}, NULL, &server), TK_UNAVAILABLE);
    assert_null(server);
    assert_int_equal(tk_server_open(ctx, (char *[]){NULL}, NULL, &server), TK_BAD_ARGUMENT);
    assert_int_equal(tk_server_open(ctx, NULL, NULL, &server), TK_BAD_ARGUMENT);
    tk_server_options never = {.size = sizeof never};
    assert_int_equal(tk_server_open(ctx, (char *[]){missing, NULL}, &never, &server), TK_BAD_ARGUMENT);
    assert_int_equal(tk_server_open(NULL, NULL, NULL, &server), TK_BAD_ARGUMENT);
    tk_server_close(NULL);
    tk_ctx_destroy(ctx);
    assert_int_equal(open_descriptors(), before);
}

TEST(ends_without_an_answer)
{
    fixture f;
    open_script(&f, "head -c 6 >/dev/null; echo no luck >&2; exit 7", &quick);
    assert_int_equal(ask(&f, "1\n"), TK_KERNEL_FAULT);
    assert_says(&f, "exit status 7 without a reply: no luck");
    assert_null(f.reply);
    close_server(&f);
    open_script(&f, "head -c 6 >/dev/null; kill -SEGV $$", &quick);
    assert_int_equal(ask(&f, "1\n"), TK_KERNEL_FAULT);
    assert_says(&f, "signal 11");
    close_server(&f);
    /* In the middle of its reply. */
    open_script(&f, "head -c 6 >/dev/null; printf '\\377\\0\\0\\0RESU'", &quick);
    assert_int_equal(ask(&f, "1\n"), TK_KERNEL_FAULT);
    close_server(&f);
    /* At once; then again. */
    open_script(&f, "exit 1", &quick);
    for (int i = 0; i < 3; i++)
        assert_int_equal(ask(&f, "1\n"), TK_KERNEL_FAULT);
    close_server(&f);
}

/* It and what it started are gone when the call returns. */
TEST(misses_its_deadline)
{
    fixture f;
    tk_server_options options = quick;
    options.call_seconds = 1.5;
    open_script(&f, "sleep 1000 & echo $! >&2; head -c 6 >/dev/null; wait", &options);
    double begin = tki_now();
    assert_int_equal(ask(&f, "1\n"), TK_TIMEOUT);
    assert_true(tki_now() - begin < 15);
    assert_true(WIFSIGNALED(tk_server_wait_status(f.server)));
    pid_t grandchild = (pid_t)strtol(tk_server_errors(f.server), NULL, 10);
    assert_true(grandchild > 1);
    /* Killed, though whoever inherited it may not have reaped it yet. */
    char path[64], line[256] = "";
    snprintf(path, sizeof path, "/proc/%d/stat", grandchild);
    for (int i = 0; i < 100; i++) {
        FILE *file = fopen(path, "re");
        if (!file)
            break;
        const char *read = fgets(line, sizeof line, file);
        fclose(file);
        if (!read || strstr(line, ") Z"))
            break;
        nanosleep(&(struct timespec){.tv_nsec = 10000000}, NULL);
        assert_true(i < 99);
    }
    close_server(&f);
}

/* The late answer to the first request must not be taken for that to the second. */
TEST(late_answers)
{
    fixture f;
    tk_server_options options = quick;
    options.call_seconds = 1.5;
    open_script(&f,
                "n=$(head -c 6 | tail -c 1); [ $n = 1 ] && sleep 2.5; "
                "printf '\\014\\0\\0\\0A=1\\nOUTPUT=%s' $n; sleep 5",
                &options);
    assert_int_equal(ask(&f, "x1"), TK_TIMEOUT);
    nanosleep(&(struct timespec){.tv_sec = 2}, NULL);
    assert_int_equal(ask(&f, "x2"), TK_OK);
    assert_string_equal(f.reply, "A=1\nOUTPUT=2");
    close_server(&f);
}

TEST(speaks_unasked)
{
    fixture f;
    /* A second answer behind the first. */
    open_script(&f,
                "head -c 6 | tail -c 1 >/dev/null; printf "
                "'\\014\\0\\0\\0A=1\\nOUTPUT=1\\014\\0\\0\\0A=1\\nOUTPUT=9'; sleep 5",
                &quick);
    for (int i = 1; i <= 3; i++) {
        assert_int_equal(ask(&f, "x1"), TK_OK);
        assert_string_equal(f.reply, "A=1\nOUTPUT=1");
        assert_int_equal(tk_server_starts(f.server), i);
    }
    close_server(&f);
}

TEST(answers_too_much)
{
    fixture f;
    open_script(&f, "head -c 6 >/dev/null; printf '\\377\\377\\377\\377'; sleep 5", &quick);
    assert_int_equal(ask(&f, "1\n"), TK_KERNEL_FAULT);
    assert_says(&f, "a reply exceeds reply_bytes");
    close_server(&f);
}

/* More on standard error than a pipe holds, and without end; the end of it is kept. */
TEST(shouts)
{
    fixture f;
    open_script(&f,
                "i=0; while [ $i -lt 3000 ]; do echo \"line $i of what nobody wants to read so much of\" >&2; "
                "i=$((i + 1)); done; head -c 6 >/dev/null; printf '\\014\\0\\0\\0A=1\\nOUTPUT=1'; sleep 5",
                &quick);
    assert_int_equal(ask(&f, "1\n"), TK_OK);
    assert_non_null(strstr(tk_server_errors(f.server), "line 2999 of"));
    assert_null(strstr(tk_server_errors(f.server), "line 10 of"));
    assert_true(strlen(tk_server_errors(f.server)) <= 16384);
    close_server(&f);
    tk_server_options options = quick;
    options.call_seconds = 0.3;
    open_script(&f, "while :; do echo noise; done >&2", &options);
    double begin = tki_now();
    assert_int_equal(ask(&f, "1\n"), TK_TIMEOUT);
    assert_true(tki_now() - begin < 15);
    close_server(&f);
}

/* Pauses double up to the most, and a call whose deadline lies before the next start says so at once. */
TEST(backs_off)
{
    fixture f;
    tk_server_options options = quick;
    options.restart_seconds = 0.05;
    options.restart_most_seconds = 0.2;
    open_script(&f, "head -c 6 >/dev/null; exit 1", &options);
    double begin = tki_now();
    for (int i = 0; i < 6; i++)
        assert_int_equal(ask(&f, "1\n"), TK_KERNEL_FAULT);
    double waited = tki_now() - begin; /* 0.05 + 0.1 + 0.2 + 0.2 + 0.2 and six short lives */
    assert_true(waited >= 0.74);
    assert_int_equal(tk_server_starts(f.server), 6);
    close_server(&f);
    options.restart_seconds = options.restart_most_seconds = 100;
    open_script(&f, "head -c 6 >/dev/null; exit 1", &options);
    assert_int_equal(ask(&f, "1\n"), TK_KERNEL_FAULT);
    begin = tki_now();
    assert_int_equal(ask(&f, "1\n"), TK_UNAVAILABLE);
    assert_true(tki_now() - begin < 10);
    assert_says(&f, "failed 1 times in a row");
    close_server(&f);
}

/* It has left the process group that it was started in; it is ended all the same. */
TEST(leaves_its_group)
{
    fixture f;
    tk_server_options options = quick;
    options.call_seconds = 0.5;
    open_script(&f, "exec perl -e 'setpgrp(0, getpgrp(getppid())); sleep 1000'", &options);
    double begin = tki_now();
    tk_status status = ask(&f, "1\n");
    assert_true(status == TK_TIMEOUT || status == TK_KERNEL_FAULT); /* the latter where there is no perl */
    assert_true(tki_now() - begin < 15);
    close_server(&f);
}

/* Killed from outside between two calls: the next one starts it again. */
TEST(ends_between_calls)
{
    fixture f;
    open_script(&f, "head -c 6 >/dev/null; printf '\\014\\0\\0\\0A=1\\nOUTPUT=1'", &quick);
    for (int i = 1; i <= 4; i++) {
        assert_int_equal(ask(&f, "1\n"), TK_OK);
        siginfo_t ended; /* it is left for the server to collect */
        assert_int_equal(waitid(P_ALL, 0, &ended, WEXITED | WNOWAIT), 0);
    }
    assert_int_equal(tk_server_starts(f.server), 4);
    close_server(&f);
}

/* ------------------------------------------------------------------------------------------------------------
 * Binary replies that lie
 * ------------------------------------------------------------------------------------------------------------ */

/* Echoes a file as the reply to whatever comes. */
static tk_status run_against(const void *reply, size_t bytes)
{
    char path[] = "/tmp/tokitai_reply_XXXXXX", script[256];
    int file = mkstemp(path);
    assert_true(file >= 0);
    uint32_t length = (uint32_t)bytes;
    assert_int_equal(write(file, &length, 4), 4);
    assert_int_equal(write(file, reply, bytes), (ssize_t)bytes);
    close(file);
    /* A length, a head, a size, three tensors and two inputs of 8 bytes each. */
    const size_t request = 4 + sizeof(tki_wire_head) + 8 + 3 * sizeof(tki_wire_buffer) + 2 * 8;
    snprintf(script, sizeof script, "head -c %zu >/dev/null; cat %s; sleep 5", request, path);
    fixture f;
    tk_server_options options = quick;
    options.binary = true;
    open_script(&f, script, &options);
    uint16_t data[3] = {0x3c00, 0, 7};
    tk_case c = tk_case_init(tk_contract_find("gelu_bwd"), TK_F16);
    c.dims[0] = 1;
    tk_status status = tk_server_run(f.ctx, f.server, &c, (void *[]){&data[0], &data[1], &data[2]}, NULL);
    if (status != TK_OK)
        assert_int_equal(data[2], 7);
    close_server(&f);
    unlink(path);
    return status;
}

typedef struct forged_reply {
    tki_wire_reply fixed;
    tki_wire_buffer buffers[3];
    char array[8];
} forged_reply;

TEST(forged_replies)
{
    const forged_reply reply = {
        .fixed = {.header = {TKI_WIRE_MAGIC, TKI_WIRE_REPLY, 12345}, .param = -1, .buffer_count = 3},
        .buffers = {{.memory = TKI_WIRE_NOWHERE},
                    {.memory = TKI_WIRE_NOWHERE},
                    {.bytes = 2, .place = offsetof(forged_reply, array), .memory = TKI_WIRE_INLINE, .output = 1}}};
    /* Everything but the nonce is right. */
    assert_int_equal(run_against(&reply, sizeof reply), TK_KERNEL_FAULT);
    for (size_t bytes = 0; bytes < sizeof reply; bytes += 40)
        assert_int_equal(run_against(&reply, bytes), TK_KERNEL_FAULT);
}

/* ------------------------------------------------------------------------------------------------------------
 * What is left behind, and several at once
 * ------------------------------------------------------------------------------------------------------------ */

TEST(leaves_nothing)
{
    fixture f;
    int before = open_descriptors();
    for (int i = 0; i < 5; i++) {
        open_kernel(&f, "gelu-bwd", false);
        assert_int_equal(ask(&f, "1 1 1"), TK_OK);
        assert_int_equal(ask(&f, "1 1"), TK_BAD_ARGUMENT);
        close_server(&f);
        open_script(&f, "trap '' TERM HUP; sleep 1000", &quick);
        close_server(&f);
    }
    assert_int_equal(open_descriptors(), before);
    assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
    assert_int_equal(errno, ECHILD);
}

/* A caller that has closed its standard input still gets a server that works. */
TEST(closed_standard_input)
{
    fixture f;
    int kept = dup(STDIN_FILENO);
    assert_true(kept > STDERR_FILENO);
    close(STDIN_FILENO);
    open_kernel(&f, "gelu-bwd", false);
    assert_int_equal(ask(&f, "1 1 1"), TK_OK);
    close_server(&f);
    assert_int_equal(dup2(kept, STDIN_FILENO), STDIN_FILENO);
    close(kept);
}

static void *ask_many(void *argument)
{
    int id = *(int *)argument;
    fixture f;
    open_kernel(&f, "embedding", false);
    for (int i = 0; i < 100; i++) {
        char request[64], expected[32];
        snprintf(request, sizeof request, "1 1 1 0 0 %d", id * 1000 + i);
        snprintf(expected, sizeof expected, "\nOUTPUT=%d\n", id * 1000 + i);
        assert_int_equal(ask(&f, request), TK_OK);
        assert_non_null(strstr(f.reply, expected));
        if (i % 25 == 0)
            assert_int_equal(ask(&f, "rubbish"), TK_BAD_ARGUMENT);
    }
    close_server(&f);
    return NULL;
}

TEST(side_by_side)
{
    pthread_t threads[4];
    int ids[4] = {1, 2, 3, 4};
    for (int i = 0; i < 4; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, ask_many, &ids[i]), 0);
    for (int i = 0; i < 4; i++)
        assert_int_equal(pthread_join(threads[i], NULL), 0);
}

int main(void)
{
    /* As in a program that has done nothing about it: a signal would end the test. */
    signal(SIGPIPE, SIG_DFL);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(text_requests),
        cmocka_unit_test(refusals),
        cmocka_unit_test(long_requests),
        cmocka_unit_test(cases),
        cmocka_unit_test(cases_with_indices),
        cmocka_unit_test(cannot_start),
        cmocka_unit_test(ends_without_an_answer),
        cmocka_unit_test(misses_its_deadline),
        cmocka_unit_test(late_answers),
        cmocka_unit_test(speaks_unasked),
        cmocka_unit_test(answers_too_much),
        cmocka_unit_test(shouts),
        cmocka_unit_test(backs_off),
        cmocka_unit_test(leaves_its_group),
        cmocka_unit_test(ends_between_calls),
        cmocka_unit_test(forged_replies),
        cmocka_unit_test(leaves_nothing),
        cmocka_unit_test(closed_standard_input),
        cmocka_unit_test(side_by_side),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
