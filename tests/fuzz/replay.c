/* Runs a fuzz target once over each file given, or in each folder given: the kept inputs as an ordinary test.
 * Fails if there was no file at all. A finding shows as a crash of the target or of a sanitizer. */
#include <dirent.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* The input gets a block of exactly its size, so that a read past its end is seen. */
static int replay_file(const char *path, size_t size)
{
    uint8_t *data = malloc(size ? size : 1);
    FILE *file = fopen(path, "rb");
    if (!data || !file || fread(data, 1, size, file) != size) {
        perror(path);
        if (file)
            fclose(file);
        free(data);
        return -1;
    }
    fclose(file);
    LLVMFuzzerTestOneInput(data, size);
    free(data);
    return 1;
}

/* Files replayed under `path`, or -1. */
static int replay(const char *path)
{
    struct stat info;
    if (stat(path, &info) != 0) {
        perror(path);
        return -1;
    }
    if (!S_ISDIR(info.st_mode))
        return replay_file(path, (size_t)info.st_size);

    struct dirent **entries;
    int count = scandir(path, &entries, NULL, alphasort);
    if (count < 0) {
        perror(path);
        return -1;
    }
    int total = 0;
    for (int i = 0; i < count; i++) {
        char child[PATH_MAX];
        if (total >= 0 && entries[i]->d_name[0] != '.') {
            int length = snprintf(child, sizeof child, "%s/%s", path, entries[i]->d_name);
            int done = length < (int)sizeof child ? replay(child) : -1;
            total = done < 0 ? -1 : total + done;
        }
        free(entries[i]);
    }
    free(entries);
    return total;
}

int main(int argc, char **argv)
{
    int total = 0;
    for (int i = 1; i < argc; i++) {
        int done = replay(argv[i]);
        if (done < 0)
            return 1;
        total += done;
    }
    if (total == 0) {
        fprintf(stderr, "no inputs to replay\n");
        return 1;
    }
    printf("replayed %d inputs\n", total);
    return 0;
}
