/* CHOOSES. Loading libraries of other people. */
#include "core/library.h"

#include <dlfcn.h>
#include <glob.h>
#include <link.h>
#include <stdio.h>

void *tki_library_load(const char *path)
{
    return dlopen(path, RTLD_LAZY | RTLD_LOCAL | RTLD_NODELETE);
}

static void *load_newest(const char *pattern)
{
    glob_t found;
    void *library = NULL;
    if (glob(pattern, 0, NULL, &found))
        return NULL;
    for (size_t i = found.gl_pathc; i > 0 && !library; i--)
        library = tki_library_load(found.gl_pathv[i - 1]);
    globfree(&found);
    return library;
}

void *tki_library_search(const char *root, const char *name)
{
    static const char *const folders[] = {"lib64", "lib", "targets/*/lib", "lib/python3*/*-packages/nvidia/*/lib"};
    char pattern[4096];
    void *library = NULL;
    for (size_t i = 0; i < sizeof folders / sizeof *folders && !library; i++)
        if (snprintf(pattern, sizeof pattern, "%s/%s/%s", root, folders[i], name) < (int)sizeof pattern)
            library = load_newest(pattern);
    return library;
}

const char *tki_library_path(void *library)
{
    struct link_map *map = NULL;
    return dlinfo(library, RTLD_DI_LINKMAP, &map) == 0 && map && map->l_name ? map->l_name : "";
}
