/* The folder of the kernel cache (compile/cache_folder.c): damage, room, locks, folders and disks that do not take anything. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "compile/cache_folder.h"
#include "core/file.h"
#include "tests/op_test.h"

static char work[] = "/tmp/tokitai_store_XXXXXX";
static tki_digest digest;
static tk_ctx *ctx;

/* In place of the C library's: as on NFS, where an exclusive lock is only for those who may write. */
int flock(int file, int operation)
{
    if ((operation & LOCK_EX) && (fcntl(file, F_GETFL) & O_ACCMODE) == O_RDONLY) {
        errno = EBADF;
        return -1;
    }
    return (int)syscall(SYS_flock, file, operation);
}

static int enter(void **state)
{
    (void)state;
    strcpy(work + strlen(work) - 6, "XXXXXX");
    ctx = new_context();
    return mkdtemp(work) && !chdir(work) && !setenv("TOKITAI_CACHE", work, 1) && !unsetenv("TOKITAI_CACHE_LIMIT") &&
                   tki_digest_open(ctx, &digest) == TK_OK
               ? 0
               : -1;
}

static int leave(void **state)
{
    (void)state;
    char command[128];
    tk_ctx_destroy(ctx);
    snprintf(command, sizeof command, "chmod -R u+w '%s' && rm -rf '%s'", work, work);
    return chdir("/") || system(command) ? -1 : 0;
}

static int files_in(const char *folder)
{
    int count = 0;
    DIR *list = opendir(folder);
    assert_non_null(list);
    for (const struct dirent *e; (e = readdir(list));)
        count += e->d_name[0] != '.';
    closedir(list);
    return count;
}

static tki_store open_store(void)
{
    tki_store store;
    tki_store_open(ctx, &store, true);
    assert_string_equal(store.problem, "");
    return store;
}

/* An artifact of its own for each number, not yet stored. */
static tki_compiled_kernel make(int number, size_t image_bytes)
{
    tki_compiled_kernel a = {
        .image_bytes = image_bytes, .backend = "hip", .architecture = "gfx942", .types = {TK_F16, TK_F16}};
    snprintf(a.source, sizeof a.source, "ops/%d/kernel.cu", number);
    a.image = malloc(image_bytes + 1);
    assert_non_null(a.image);
    memset(a.image, number, image_bytes + 1);
    assert_true(tki_digest_bytes(&digest, a.image, image_bytes, a.hash));
    assert_true(tki_digest_bytes(&digest, a.source, strlen(a.source), a.source_hash));
    assert_true(tki_entry_key(&digest, &a, a.key));
    return a;
}

/* Stores it, lets go of it, and dates its last use. */
static void put(tki_store *store, int number, size_t image_bytes, time_t used, char key[TKI_DIGEST_HEX])
{
    tki_compiled_kernel a = make(number, image_bytes);
    tki_store_save(ctx, store, &digest, &a);
    assert_string_equal(store->problem, "");
    memcpy(key, a.key, sizeof a.key);
    if (used)
        assert_int_equal(utimensat(AT_FDCWD, a.path, (struct timespec[]){{.tv_sec = used}, {.tv_sec = used}}, 0), 0);
    tki_compiled_kernel_free(&a);
}

static tki_store_result find(const tki_store *store, const char *key, char problem[256])
{
    tki_compiled_kernel a;
    tki_store_result result = tki_store_load(ctx, store, &digest, key, &a, problem, 256);
    assert_true((result == TKI_STORE_FOUND) == (a.image != NULL));
    assert_true((result == TKI_STORE_DAMAGED) == (problem[0] != 0));
    if (result == TKI_STORE_FOUND) {
        assert_string_equal(a.key, key);
        assert_true(a.was_cached && a.hold > 0 && strstr(a.path, key));
    }
    tki_compiled_kernel_free(&a);
    return result;
}

TEST(saved_then_found)
{
    tki_store store = open_store();
    char key[TKI_DIGEST_HEX], problem[256];
    put(&store, 1, 1000, 0, key);
    assert_int_equal(find(&store, key, problem), TKI_STORE_FOUND);
    assert_int_equal(files_in(work), 1);
    key[0] = key[0] == 'a' ? 'b' : 'a';
    assert_int_equal(find(&store, key, problem), TKI_STORE_ABSENT);
}

/* Bytes of every region: first line, hashes, fields, end of the header, image. */
TEST(damage_is_found)
{
    tki_store store = open_store();
    char key[TKI_DIGEST_HEX], path[4096], problem[256], *data;
    size_t bytes;
    put(&store, 1, 5000, 0, key);
    snprintf(path, sizeof path, "%s/%s.artifact", work, key);
    assert_ok(ctx, tki_file_read(ctx, path, 1 << 20, &data, &bytes));
    for (size_t i = 0; i < bytes; i += i < bytes - 5100 ? 1 : 501) {
        data[i] ^= 4;
        assert_ok(ctx, tki_file_write(ctx, path, data, bytes));
        assert_int_equal(find(&store, key, problem), TKI_STORE_DAMAGED);
        data[i] ^= 4;
    }
    static const size_t lengths[] = {0, 1, 17, 18, 19, 100, 300, 600};
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
        assert_ok(ctx, tki_file_write(ctx, path, data, lengths[i]));
        assert_int_equal(find(&store, key, problem), TKI_STORE_DAMAGED);
    }
    for (size_t cut = 1; cut <= 5001; cut += 1000) {
        assert_ok(ctx, tki_file_write(ctx, path, data, bytes - cut));
        assert_int_equal(find(&store, key, problem), TKI_STORE_DAMAGED);
    }
    assert_ok(ctx, tki_file_write(ctx, path, data, bytes));
    assert_int_equal(find(&store, key, problem), TKI_STORE_FOUND);
    free(data);
}

TEST(what_is_no_entry_is_refused)
{
    tki_store store = open_store();
    char a[TKI_DIGEST_HEX], b[TKI_DIGEST_HEX], from[4096], to[4096], problem[256];
    put(&store, 1, 100, 0, a);
    put(&store, 2, 100, 0, b);
    snprintf(from, sizeof from, "%s/%s.artifact", work, a);
    snprintf(to, sizeof to, "%s/%s.artifact", work, b);
    assert_int_equal(rename(from, to), 0);
    assert_int_equal(find(&store, b, problem), TKI_STORE_DAMAGED);
    assert_non_null(strstr(problem, "key is another"));
    assert_int_equal(find(&store, a, problem), TKI_STORE_ABSENT);
    assert_int_equal(symlink(to, from), 0);
    assert_int_equal(find(&store, a, problem), TKI_STORE_DAMAGED);
    assert_int_equal(unlink(from), 0);
    assert_int_equal(mkdir(from, 0700), 0);
    assert_int_equal(find(&store, a, problem), TKI_STORE_DAMAGED);
    assert_int_equal(rmdir(from), 0);
    assert_int_equal(mkfifo(from, 0600), 0);
    assert_int_equal(find(&store, a, problem), TKI_STORE_DAMAGED);
}

/* The oldest go first, but not one that is held, and not the one just written. */
TEST(room_is_made)
{
    assert_int_equal(setenv("TOKITAI_CACHE_LIMIT", "40K", 1), 0);
    tki_store store = open_store();
    assert_int_equal(store.limit, 40960);
    char keys[4][TKI_DIGEST_HEX], problem[256];
    put(&store, 0, 10000, 1000, keys[0]);
    put(&store, 1, 10000, 3000, keys[1]);
    put(&store, 2, 10000, 2000, keys[2]);
    tki_compiled_kernel held;
    assert_int_equal(tki_store_load(ctx, &store, &digest, keys[0], &held, problem, sizeof problem), TKI_STORE_FOUND);
    assert_int_equal(utimensat(AT_FDCWD, held.path, (struct timespec[]){{.tv_sec = 1000}, {.tv_sec = 1000}}, 0), 0);
    put(&store, 3, 10000, 0, keys[3]);
    assert_int_equal(find(&store, keys[0], problem), TKI_STORE_FOUND);
    assert_int_equal(find(&store, keys[1], problem), TKI_STORE_FOUND);
    assert_int_equal(find(&store, keys[2], problem), TKI_STORE_ABSENT);
    assert_int_equal(find(&store, keys[3], problem), TKI_STORE_FOUND);
    tki_compiled_kernel_free(&held);

    /* Finding is using: the others were found before this one and go. */
    assert_int_equal(setenv("TOKITAI_CACHE_LIMIT", "0", 1), 0);
    store = open_store();
    char last[TKI_DIGEST_HEX];
    put(&store, 5, 10000, 0, last);
    assert_int_equal(files_in(work), 1);
    assert_int_equal(find(&store, last, problem), TKI_STORE_FOUND);
}

TEST(a_use_makes_it_young)
{
    tki_store store = open_store();
    tki_store_file *files;
    int count;
    char old[TKI_DIGEST_HEX], young[TKI_DIGEST_HEX], found[TKI_DIGEST_HEX], problem[256];
    put(&store, 1, 100, 1000, old);
    put(&store, 2, 100, 2000, young);
    assert_int_equal(find(&store, old, problem), TKI_STORE_FOUND);
    assert_ok(ctx, tki_store_list(ctx, &store, tki_store_artifact, &files, &count));
    assert_int_equal(count, 2);
    assert_true(tki_store_key_of(files[0].name, tki_store_artifact, found));
    assert_string_equal(found, old);
    assert_int_equal(files[1].used.tv_sec, 2000);
    free(files);
}

TEST(limits_as_text)
{
    static const struct {
        const char *text;
        int64_t bytes; /* -1: refused */
    } cases[] = {{"4096", 4096},
                 {"3K", 3072},
                 {"2M", 2097152},
                 {"1G", 1073741824},
                 {"0", 0},
                 {"-1", -1},
                 {"1T", -1},
                 {"G", -1},
                 {"1 G", -1},
                 {"1GG", -1},
                 {"", 1 << 30},
                 {"0x10", -1},
                 {"1g", -1},
                 {"1GB", -1},
                 {"99999999999999999999x", -1},
                 {"99999999999999999999", INT64_MAX},
                 {"99999999999G", INT64_MAX},
                 {"9223372036854775807", INT64_MAX},
                 {"8589934591G", INT64_MAX - ((1 << 30) - 1)},
                 {"8589934592G", INT64_MAX}};
    tki_store unlimited = open_store();
    char key[TKI_DIGEST_HEX], problem[256];
    put(&unlimited, 1, 1000, 0, key);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        tki_store store;
        assert_int_equal(setenv("TOKITAI_CACHE_LIMIT", cases[i].text, 1), 0);
        tki_store_open(ctx, &store, true);
        if (cases[i].bytes >= 0) {
            assert_string_equal(store.problem, "");
            assert_int_equal(store.limit, cases[i].bytes);
        } else {
            assert_non_null(strstr(store.problem, cases[i].text));
        }
        /* What is there is used all the same. */
        assert_int_equal(find(&store, key, problem), TKI_STORE_FOUND);
        if (cases[i].bytes < 0) {
            tki_compiled_kernel a = make(2, 100);
            tki_store_save(ctx, &store, &digest, &a);
            assert_string_equal(a.path, "");
            tki_compiled_kernel_free(&a);
        }
    }
    assert_int_equal(files_in(work), 1);
}

TEST(where_the_folder_is)
{
    tki_store store;
    assert_int_equal(unsetenv("TOKITAI_CACHE"), 0);
    char *kept = getenv("XDG_CACHE_HOME") ? strdup(getenv("XDG_CACHE_HOME")) : NULL;
    assert_int_equal(setenv("XDG_CACHE_HOME", "/nowhere/cache", 1), 0);
    tki_store_open(ctx, &store, false);
    assert_string_equal(store.folder, "/nowhere/cache/tokitai/artifacts");
    assert_int_equal(setenv("XDG_CACHE_HOME", "relative", 1), 0);
    assert_int_equal(setenv("HOME", "/nowhere/home", 1), 0);
    tki_store_open(ctx, &store, false);
    assert_string_equal(store.folder, "/nowhere/home/.cache/tokitai/artifacts");
    if (kept)
        assert_int_equal(setenv("XDG_CACHE_HOME", kept, 1), 0);
    free(kept);
}

TEST(folders_that_cannot_be_used)
{
    tki_store store;
    assert_ok(ctx, tki_file_write(ctx, "file", "x", 1));
    char path[4096];
    snprintf(path, sizeof path, "%s/file/cache", work);
    assert_int_equal(setenv("TOKITAI_CACHE", path, 1), 0);
    tki_store_open(ctx, &store, true);
    assert_non_null(strstr(store.problem, "cannot make the directory"));

    /* Anyone could leave code there that we would run. */
    assert_int_equal(mkdir("open", 0700), 0);
    snprintf(path, sizeof path, "%s/open", work);
    assert_int_equal(setenv("TOKITAI_CACHE", path, 1), 0);
    char key[TKI_DIGEST_HEX], problem[256];
    tki_store_open(ctx, &store, true);
    put(&store, 1, 100, 0, key);
    assert_int_equal(chmod("open", 0777), 0);
    tki_store_open(ctx, &store, true);
    assert_true(strstr(store.problem, path) && strstr(store.problem, "has mode 0777") &&
                strstr(store.problem, "chmod it to 0700"));
    assert_int_equal(find(&store, key, problem), TKI_STORE_ABSENT);
    tki_compiled_kernel a = make(2, 100);
    tki_store_save(ctx, &store, &digest, &a);
    assert_string_equal(a.path, "");
    assert_int_equal(files_in("open"), 1);
    tki_compiled_kernel_free(&a);
    assert_int_equal(chmod("open", 01777), 0);
    tki_store_open(ctx, &store, true);
    assert_true(strstr(store.problem, "has mode 1777") && strstr(store.problem, "set TOKITAI_CACHE") &&
                !strstr(store.problem, "chmod"));
    assert_int_equal(chmod("open", 0770), 0);
    tki_store_open(ctx, &store, true);
    assert_true(strstr(store.problem, "has mode 0770: its group can write to it") &&
                strstr(store.problem, "chmod it to 0700"));
    assert_int_equal(find(&store, key, problem), TKI_STORE_ABSENT);
    assert_int_equal(chmod("open", 0750), 0);
    store = open_store();
    assert_int_equal(find(&store, key, problem), TKI_STORE_FOUND);
    /* Only root can give a folder away. */
    if (geteuid() == 0) {
        assert_int_equal(chown("open", 65534, 65534), 0);
        tki_store_open(ctx, &store, true);
        assert_true(strstr(store.problem, path) && strstr(store.problem, "belongs to user 65534") &&
                    store.distrusted);
    }

    char *much = malloc(4000);
    assert_non_null(much);
    memset(much, '/', 3999);
    much[3071] = 0;
    assert_int_equal(setenv("TOKITAI_CACHE", much, 1), 0);
    tki_store_open(ctx, &store, false);
    assert_string_equal(store.problem, "");
    much[3071] = '/';
    much[3072] = 0;
    assert_int_equal(setenv("TOKITAI_CACHE", much, 1), 0);
    tki_store_open(ctx, &store, true);
    assert_non_null(strstr(store.problem, "its path has 3072 bytes"));
    assert_string_equal(store.folder, "");
    assert_int_equal(find(&store, key, problem), TKI_STORE_ABSENT);
    assert_int_equal(setenv("TOKITAI_CACHE_LIMIT", "bad", 1), 0);
    tki_store_open(ctx, &store, true);
    assert_non_null(strstr(store.problem, "its path has 3072 bytes"));
    free(much);
}

/* Whatever the umask: what others can write to would be refused at the next use. */
TEST(the_folder_is_its_users)
{
    struct stat about;
    char path[4096];
    snprintf(path, sizeof path, "%s/a/b", work);
    assert_int_equal(setenv("TOKITAI_CACHE", path, 1), 0);
    mode_t before = umask(0);
    tki_store store = open_store();
    umask(before);
    assert_int_equal(stat("a/b", &about), 0);
    assert_int_equal(about.st_mode & 07777, 0700);
    store = open_store();
    assert_false(store.distrusted);
}

/* Runs `body` as somebody who is bound by the permissions of files. */
static void as_another(bool (*body)(void))
{
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        bool bound = geteuid() != 0 || (!chown(work, 65534, 65534) && !setgid(65534) && !setuid(65534));
        _exit(bound && body() ? 0 : 1);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

static bool saving_to_read_only_fails(void)
{
    tki_store store;
    char problem[256];
    tki_store_open(ctx, &store, true);
    tki_compiled_kernel first = make(1, 100), second = make(2, 100), found;
    tki_store_save(ctx, &store, &digest, &first);
    bool good = !store.problem[0] && first.path[0] && !chmod(work, 0555);
    good = good && tki_store_lock(&store, second.key, 1) < 0;
    tki_store_save(ctx, &store, &digest, &second);
    good = good && strstr(store.problem, "Permission denied") && !second.path[0];
    /* What is there can be read. */
    tki_store_open(ctx, &store, true);
    good = good &&
           tki_store_load(ctx, &store, &digest, first.key, &found, problem, sizeof problem) == TKI_STORE_FOUND;
    tki_compiled_kernel_free(&found);
    tki_compiled_kernel_free(&first);
    tki_compiled_kernel_free(&second);
    return good;
}

TEST(a_read_only_folder)
{
    as_another(saving_to_read_only_fails);
}

/* What nobody can have written is not damaged. */
static bool is_closed(const char *folder, const char *told)
{
    tki_store store;
    tki_compiled_kernel a = make(1, 100), found;
    char path[4096], problem[256];
    snprintf(path, sizeof path, "%s/%s", work, folder);
    setenv("TOKITAI_CACHE", path, 1);
    tki_store_open(ctx, &store, true);
    bool good = strstr(store.problem, told) && strstr(store.problem, folder) &&
                strstr(store.problem, "Permission denied") &&
                tki_store_load(ctx, &store, &digest, a.key, &found, problem, sizeof problem) == TKI_STORE_ABSENT &&
                !problem[0];
    tki_compiled_kernel_free(&a);
    return good;
}

static bool closed_folders_hold_nothing(void)
{
    bool good = !mkdir("closed", 0) && is_closed("closed/cache", "cannot make the directory");
    mode_t before = umask(0777);
    good = is_closed("own", "cannot enter the folder") && good;
    umask(before);
    return !chmod("closed", 0700) && !chmod("own", 0700) && good;
}

TEST(a_folder_that_cannot_be_entered)
{
    as_another(closed_folders_hold_nothing);
}

TEST(a_full_disk)
{
    tki_store store = open_store();
    struct rlimit before;
    tki_compiled_kernel a = make(1, 100000);
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
    void (*handler)(int) = signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &(struct rlimit){5000, before.rlim_max}), 0);
    tki_store_save(ctx, &store, &digest, &a);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
    signal(SIGXFSZ, handler);
    assert_non_null(strstr(store.problem, "File too large"));
    assert_string_equal(a.path, "");
    assert_int_equal(files_in(work), 0);
    tki_compiled_kernel_free(&a);
}

TEST(what_was_left_half_written_goes)
{
    static const struct timespec long_ago[2] = {{.tv_sec = 1}, {.tv_sec = 1}};
    tki_store store = open_store();
    char key[TKI_DIGEST_HEX], name[128];
    put(&store, 1, 100, 0, key);
    snprintf(name, sizeof name, "%s.artifact.aB3dE6", key);
    for (size_t bytes = 0; bytes <= 4; bytes += 4) {
        assert_ok(ctx, tki_file_write(ctx, name, "half", bytes));
        put(&store, 1, 100, 0, key);
        assert_int_equal(files_in(work), 2); /* another machine may be writing it */
        assert_int_equal(utimensat(AT_FDCWD, name, long_ago, 0), 0);
        int writer = open(name, O_RDONLY | O_CLOEXEC);
        assert_int_equal(flock(writer, LOCK_SH), 0);
        put(&store, 1, 100, 0, key);
        assert_int_equal(files_in(work), 2); /* a process writes it */
        close(writer);
        tki_store_sweep(&store, key[0] == 'a' ? "b" : "a");
        assert_int_equal(files_in(work), 2);
        put(&store, 1, 100, 0, key);
        assert_int_equal(files_in(work), 1);
    }
}

TEST(locks_of_ended_builds_go)
{
    tki_store store = open_store();
    char key[TKI_DIGEST_HEX], name[128];
    put(&store, 1, 100, 0, key);
    int lock = tki_store_lock(&store, key, 1);
    assert_true(lock >= 0);
    tki_store_sweep(&store, "");
    assert_int_equal(files_in(work), 2);
    snprintf(name, sizeof name, "%s.lock", key);
    tki_store_unlock(&store, key, lock);
    assert_ok(ctx, tki_file_write(ctx, name, "", 0));
    assert_ok(ctx, tki_file_write(ctx, "other.lock", "", 0));
    tki_store_sweep(&store, "");
    assert_int_equal(access(name, F_OK), -1);
    assert_int_equal(files_in(work), 2);
}

/* What a load refuses is damaged to one who only looks. */
static bool collect(const tk_cache_entry *entry, void *damage)
{
    snprintf(damage, 256, "%s", entry->damage);
    return true;
}

TEST(looking_judges_like_loading)
{
    tki_store store = open_store();
    char key[TKI_DIGEST_HEX], path[4096], problem[256], damage[256];
    put(&store, 1, 100, 0, key);
    assert_ok(ctx, tk_cache_each(ctx, true, collect, damage));
    assert_string_equal(damage, "");
    snprintf(path, sizeof path, "%s/%s.artifact", work, key);
    assert_int_equal(rename(path, "elsewhere"), 0);
    assert_int_equal(symlink("elsewhere", path), 0);
    assert_int_equal(find(&store, key, problem), TKI_STORE_DAMAGED);
    assert_ok(ctx, tk_cache_each(ctx, true, collect, damage));
    assert_string_equal(damage, problem);
    assert_int_equal(unlink(path), 0);
    assert_int_equal(rename("elsewhere", path), 0);
    assert_int_equal(chmod(work, 0777), 0);
    assert_ok(ctx, tk_cache_each(ctx, true, collect, damage));
    assert_non_null(strstr(damage, "others can write"));
    assert_int_equal(chmod(work, 0700), 0);
}

TEST(clearing_goes_on)
{
    tki_store store = open_store();
    char keys[3][TKI_DIGEST_HEX], path[4096];
    int removed;
    int64_t bytes;
    for (int i = 0; i < 3; i++)
        put(&store, i, 100, 1000 * (i + 1), keys[i]);
    snprintf(path, sizeof path, "%s/%s.artifact", work, keys[1]);
    assert_int_equal(unlink(path), 0);
    assert_int_equal(mkdir(path, 0700), 0);
    assert_refused(ctx, tk_cache_clear(ctx, NULL, &removed, &bytes), TK_IO,
                   "1 of 3 entries were not removed; cannot remove");
    assert_non_null(strstr(tk_ctx_message(ctx), "Is a directory"));
    assert_int_equal(removed, 2);
    assert_int_equal(files_in(work), 1);
}

/* Each of several processes adds one to a number under the lock, without any other protection. */
TEST(the_lock_excludes)
{
    enum { PROCESSES = 6, ROUNDS = 20 };
    tki_store store = open_store();
    assert_ok(ctx, tki_file_write(ctx, "number", "0", 1));
    for (int p = 0; p < PROCESSES; p++) {
        pid_t child = fork();
        assert_true(child >= 0);
        if (child > 0)
            continue;
        bool good = true;
        for (int i = 0; good && i < ROUNDS; i++) {
            int lock = tki_store_lock(&store, "key", 100);
            char text[32] = "";
            FILE *file = fopen("number", "re");
            good = lock >= 0 && file && fgets(text, sizeof text, file);
            if (file)
                fclose(file);
            snprintf(text, sizeof text, "%d", atoi(text) + 1);
            file = fopen("number", "we");
            good = good && file && fputs(text, file) >= 0;
            if (file)
                fclose(file);
            tki_store_unlock(&store, "key", lock);
        }
        _exit(good ? 0 : 1);
    }
    for (int p = 0; p < PROCESSES; p++) {
        int status;
        assert_true(wait(&status) > 0);
        assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    }
    char *text;
    size_t bytes;
    assert_ok(ctx, tki_file_read(ctx, "number", 100, &text, &bytes));
    assert_int_equal(atoi(text), PROCESSES * ROUNDS);
    free(text);
    assert_int_equal(files_in(work), 1); /* no lock is left */
}

TEST(waiting_for_a_lock_ends)
{
    tki_store store = open_store();
    int lock = tki_store_lock(&store, "key", 1);
    assert_true(lock >= 0);
    assert_int_equal(tki_store_lock(&store, "key", 0.1), -1);
    int other = tki_store_lock(&store, "other", 1);
    assert_true(other >= 0);
    tki_store_unlock(&store, "other", other);
    tki_store_unlock(&store, "key", lock);
    lock = tki_store_lock(&store, "key", 1);
    assert_true(lock >= 0);
    tki_store_unlock(&store, "key", lock);
}

static bool count_one(const tk_cache_entry *entry, void *data)
{
    int *counts = data;
    counts[entry->damage[0] != 0]++;
    return true;
}

TEST(the_public_calls)
{
    tki_store store = open_store();
    char a[TKI_DIGEST_HEX], b[TKI_DIGEST_HEX], folder[4096], path[4096];
    put(&store, 1, 100, 0, a);
    put(&store, 2, 100, 0, b);
    assert_ok(ctx, tk_cache_folder(ctx, folder, sizeof folder));
    assert_string_equal(folder, work);
    assert_refused(ctx, tk_cache_folder(ctx, folder, 3), TK_BAD_ARGUMENT, "too small");
    int counts[2] = {0};
    assert_ok(ctx, tk_cache_each(ctx, true, count_one, counts));
    assert_true(counts[0] == 2 && counts[1] == 0);

    /* The last byte of the image: seen only by those who look at all of it. */
    snprintf(path, sizeof path, "%s/%s.artifact", work, a);
    char *data;
    size_t bytes;
    assert_ok(ctx, tki_file_read(ctx, path, 1 << 20, &data, &bytes));
    data[bytes - 1] ^= 1;
    assert_ok(ctx, tki_file_write(ctx, path, data, bytes));
    free(data);
    counts[0] = counts[1] = 0;
    assert_ok(ctx, tk_cache_each(ctx, false, count_one, counts));
    assert_true(counts[0] == 2 && counts[1] == 0);
    counts[0] = counts[1] = 0;
    assert_ok(ctx, tk_cache_each(ctx, true, count_one, counts));
    assert_true(counts[0] == 1 && counts[1] == 1);

    int removed;
    int64_t freed;
    assert_ok(ctx, tk_cache_clear(ctx, a, &removed, &freed));
    assert_true(removed == 1 && freed > 100);
    assert_ok(ctx, tk_cache_clear(ctx, "no key", &removed, &freed));
    assert_int_equal(removed, 0);
    assert_ok(ctx, tk_cache_clear(ctx, NULL, &removed, NULL));
    assert_int_equal(removed, 1);
    assert_int_equal(files_in(work), 0);
    assert_int_equal(setenv("TOKITAI_CACHE", "/nowhere/cache", 1), 0);
    counts[0] = 0;
    assert_ok(ctx, tk_cache_each(ctx, true, count_one, counts));
    assert_int_equal(counts[0], 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        ENTERED(saved_then_found),
        ENTERED(damage_is_found),
        ENTERED(what_is_no_entry_is_refused),
        ENTERED(room_is_made),
        ENTERED(a_use_makes_it_young),
        ENTERED(limits_as_text),
        ENTERED(where_the_folder_is),
        ENTERED(folders_that_cannot_be_used),
        ENTERED(a_read_only_folder),
        ENTERED(a_folder_that_cannot_be_entered),
        ENTERED(a_full_disk),
        ENTERED(the_folder_is_its_users),
        ENTERED(what_was_left_half_written_goes),
        ENTERED(locks_of_ended_builds_go),
        ENTERED(looking_judges_like_loading),
        ENTERED(clearing_goes_on),
        ENTERED(the_lock_excludes),
        ENTERED(waiting_for_a_lock_ends),
        ENTERED(the_public_calls),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
