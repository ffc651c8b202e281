/* What a worker's records of confinement are read for, and the sentences that certificates have of them. */
#include <errno.h>

#include "isolate/confinement.h"
#include "tests/op_test.h"

/* As the worker sends it. */
static tki_confinement read_back(const void *records, size_t bytes, tki_sanitizer_tool tool)
{
    struct {
        tki_wire_reply reply;
        unsigned char text[TKI_WIRE_TEXT];
    } frame = {.reply.text_bytes = (uint32_t)bytes};
    tki_confinement confinement;
    memcpy(frame.text, records, bytes);
    tki_confinement_read(&frame.reply, tool, &confinement);
    return confinement;
}

#define READ(...) read_back((tki_means[]){__VA_ARGS__}, sizeof((tki_means[]){__VA_ARGS__}), TKI_SANITIZER_NONE)
#define STRENGTH(bits)              \
    {                               \
        TKI_BY_STRENGTH, bits, 0, 0 \
    }

TEST(limits)
{
    const struct {
        tki_confinement confinement;
        int64_t memory, tasks;
    } list[] = {
        {READ(STRENGTH(TKI_STRONG)), -1, -1},
        {READ({TKI_BY_MEMORY, 0, 0, 4096}, {TKI_BY_TASKS, 0, 0, 7}), 4096, 7},
        {READ({TKI_BY_MEMORY, TKI_NO_LIMIT, 0, 0}, {TKI_BY_TASKS, TKI_NO_LIMIT, 0, 0}), -1, -1},
        {READ({TKI_BY_MEMORY, 0, 0, -3}, {TKI_BY_TASKS, 0, EPERM, 7}), -1, -1},
        /* The last counts: the first is that of compute-sanitizer's process. */
        {READ({TKI_BY_TASKS, 0, 0, 7}, {TKI_BY_MEMORY, 0, 0, 1}, {TKI_BY_TASKS, TKI_NO_LIMIT, 0, 0}), 1, -1},
    };
    for (size_t i = 0; i < sizeof list / sizeof *list; i++) {
        assert_true(tki_confinement_limit(&list[i].confinement, TKI_BY_MEMORY) == list[i].memory);
        assert_true(tki_confinement_limit(&list[i].confinement, TKI_BY_TASKS) == list[i].tasks);
    }
}

static void assert_weak(tki_confinement confinement, const char *why)
{
    char weakness[TKI_MEANS_TEXT], line[TKI_MEANS_TEXT];
    assert_false(tki_confinement_is_strong(&confinement));
    tki_confinement_weakness(&confinement, weakness, sizeof weakness);
    assert_string_equal(weakness, why);
    assert_true(confinement.count > 0); /* a certificate says so */
    tk_ctx *ctx = new_context();
    const tki_worker_terms strict = {0}, lax = {.allow_weak = true};
    assert_refused(ctx, tki_terms_accept(ctx, &strict, &confinement), TK_UNAVAILABLE, why);
    assert_ok(ctx, tki_terms_accept(ctx, &lax, &confinement));
    tk_ctx_destroy(ctx);
    const tki_means *last = &confinement.means[confinement.count - 1];
    tki_means_text(last, line, sizeof line);
    assert_int_equal(last->by == TKI_BY_STRENGTH, !strncmp(line, "confinement: weak: ", 19));
}

TEST(strength)
{
    const char *silent = "the worker did not report its confinement";
    const tki_confinement strong = READ(STRENGTH(0), STRENGTH(TKI_STRONG));
    assert_true(tki_confinement_is_strong(&strong));
    assert_weak(READ(STRENGTH(TKI_STRONG), STRENGTH(TKI_STRONG & ~TKI_FILTERS_CALLS)), "no system call filter");
    assert_weak(READ(STRENGTH(TKI_FILTERS_CALLS)),
                "files are not protected: neither Landlock nor a private file tree; privileges could not be dropped");
    /* Nothing, a means that is not known, a bit, a number or a result that is not, half a record, more than there can be. */
    assert_weak(read_back("", 0, TKI_SANITIZER_NONE), silent);
    assert_weak(READ({TKI_BY_USER, 0, 0, 0}), silent);
    assert_weak(READ({TKI_BY_STRENGTH, TKI_STRONG, EPERM, 0}), silent);
    assert_weak(READ({0, 0, 0, 0}, STRENGTH(TKI_STRONG)), silent);
    assert_weak(READ({TKI_BY_END, 0, 0, 0}, STRENGTH(TKI_STRONG)), silent);
    assert_weak(READ({TKI_BY_USER, 1, 0, 0}, STRENGTH(TKI_STRONG)), silent);
    assert_weak(READ({TKI_BY_USER, 0, 0, 1}, STRENGTH(TKI_STRONG)), silent);
    assert_weak(READ(STRENGTH(TKI_STRONG | 8)), silent);
    assert_weak(READ({TKI_BY_USER, 0, -2, 0}, STRENGTH(TKI_STRONG)), silent);
    assert_weak(READ({TKI_BY_OUTER, 0, 0, 1}, STRENGTH(TKI_STRONG)), silent); /* there was no compute-sanitizer */
    const tki_means one = STRENGTH(TKI_STRONG);
    assert_weak(read_back(&one, sizeof one - 1, TKI_SANITIZER_NONE), silent);
    tki_means many[TKI_MOST_MEANS + 1];
    for (size_t i = 0; i < sizeof many / sizeof *many; i++)
        many[i] = one;
    assert_weak(read_back(many, sizeof many, TKI_SANITIZER_NONE), silent);
    const tki_confinement most = read_back(many, sizeof many - sizeof *many, TKI_SANITIZER_NONE);
    assert_true(tki_confinement_is_strong(&most) && most.count == TKI_MOST_MEANS);
}

TEST(sentences)
{
    static const struct {
        tki_means means;
        const char *text;
    } list[] = {
        {{TKI_BY_NO_NEW_PRIVILEGES, 0, 0, 0}, "no new privileges"},
        {{TKI_BY_FIRST_TO_END, 0, 0, 0}, "first to be killed when the machine runs out of memory"},
        {{TKI_BY_GROUP, TKI_HOLDS_TASKS | TKI_HOLDS_MEMORY, 0, 0}, "control group: tasks memory"},
        {{TKI_BY_GROUP, 0, TKI_LEFT_OUT, 0}, "control group: left out"},
        {{TKI_BY_GROUP, TKI_HOLDS_TASKS, EPERM, 0}, "control group: tasks: failed: Operation not permitted"},
        {{TKI_BY_USER, 0, EPERM, 0}, "user namespace: failed: Operation not permitted"},
        {{TKI_BY_NETWORK, 0, 0, 0}, "network namespace"},
        {{TKI_BY_IPC, 0, 0, 0}, "IPC namespace"},
        {{TKI_BY_PIDS, 0, 0, 0}, "process namespace"},
        {{TKI_BY_MOUNTS, TKI_OWN_TREE | TKI_READ_ONLY, 0, 0},
         "mount namespace: private file tree, read-only except the scratch folder"},
        {{TKI_BY_MOUNTS, TKI_READ_ONLY, 0, 0}, "mount namespace: read-only except the scratch folder"},
        {{TKI_BY_TREE, 0, ENOSYS, 0}, "private file tree: failed: Function not implemented"},
        {{TKI_BY_PROC, 0, 0, 0}, "private /proc"},
        {{TKI_BY_SCRATCH, 0, 0, 0}, "scratch folder: 256 MiB of memory, 16384 files"},
        {{TKI_BY_CAPABILITIES, 0, 0, 0}, "capabilities: none"},
        {{TKI_BY_LIMITS, TKI_LIMITS_ADDRESSES, 0, 1 << 19},
         "limits: no core files, files of 524288 bytes, 4096 descriptors, addresses of each process"},
        {{TKI_BY_LIMITS, TKI_LIMITS_TIME, 0, 1},
         "limits: no core files, files of 1 bytes, 4096 descriptors, processor time"},
        {{TKI_BY_MEMORY, 0, 0, 18957388800}, "memory limit in bytes: 18957388800"},
        {{TKI_BY_MEMORY, TKI_NO_LIMIT, 0, 0}, "memory limit in bytes: none"},
        {{TKI_BY_TASKS, 0, 0, 1024}, "task limit: 1024"},
        {{TKI_BY_LANDLOCK, TKI_KEEPS_TCP | TKI_KEEPS_SIGNALS, 0, 7},
         "Landlock, version 7: files, TCP, signals, abstract sockets"},
        {{TKI_BY_LANDLOCK, 0, 0, 1}, "Landlock, version 1: files"},
        {{TKI_BY_LANDLOCK, 0, ENOSYS, 0}, "Landlock: failed: Function not implemented"},
        {{TKI_BY_SECCOMP, TKI_FOR_KERNELS, 0, 0}, "seccomp: for kernels"},
        {{TKI_BY_SECCOMP, TKI_FOR_COMPILERS, 0, 0}, "seccomp: for compilers"},
        {{TKI_BY_SECCOMP, TKI_FOR_SANITIZER, 0, 0}, "seccomp: for compute-sanitizer"},
        {{TKI_BY_STRENGTH, TKI_STRONG, 0, 0}, "confinement: strong"},
        {{TKI_BY_STRENGTH, TKI_STRONG & ~TKI_GIVES_UP_PRIVILEGES, 0, 0},
         "confinement: weak: privileges could not be dropped"},
        {{TKI_BY_OUTER, 0, 0, 0},
         "compute-sanitizer racecheck: may start programs and connect to them; what follows is the kernel's own"},
    };
    uint32_t seen = 0;
    for (size_t i = 0; i < sizeof list / sizeof *list; i++) {
        char text[TKI_MEANS_TEXT];
        const tki_confinement c = read_back(&list[i].means, sizeof list[i].means, TKI_SANITIZER_RACECHECK);
        tki_means_text(&c.means[0], text, sizeof text);
        assert_string_equal(text, list[i].text);
        seen |= UINT32_C(1) << list[i].means.by;
    }
    assert_true(seen == (UINT32_C(1) << TKI_BY_END) - 2); /* each means is among them */
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(limits), cmocka_unit_test(strength),
                                       cmocka_unit_test(sentences)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
