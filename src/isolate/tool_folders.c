/* CHOOSES. What foreign code is shown of the folders of tools, and of homes. All paths are compared without links. */
#include "isolate/tool_folders.h"

#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Is the path that folder, or in it? */
static bool is_within(const char *path, const char *folder)
{
    const size_t length = strlen(folder);
    return !strncmp(path, folder, length) && (!path[length] || path[length] == '/' || folder[length - 1] == '/');
}

/* Takes the last name away; "" of a path with one name. */
static bool go_up(char *path)
{
    char *slash = strrchr(path, '/');
    if (slash)
        *slash = 0;
    return slash;
}

static const char *last_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

/* A home, or what holds one. */
static bool holds_home(const char *folder, const char *home)
{
    char *real = home && *home ? realpath(home, NULL) : NULL;
    const bool holds = real && is_within(real, folder);
    free(real);
    return holds;
}

/* Homes are those of the users that this machine knows, and of others what is named as homes are. In hidden folders programs keep what is
 * not theirs to show. */
static bool is_private(const char *folder)
{
    char line[4096], *above = strdup(folder);
    bool found = !above || last_name(folder)[0] == '.' || holds_home(folder, getenv("HOME")) ||
                 is_within("/root", folder);
    if (!found && go_up(above))
        found = !above[0] || !strcmp(last_name(above), "home") || !strcmp(last_name(above), "Users");
    free(above);
    FILE *users = found ? NULL : fopen("/etc/passwd", "re");
    while (users && !found && fgets(line, sizeof line, users)) {
        enum { HOME_FIELD = 5 };
        char *field = line;
        for (int i = 0; i < HOME_FIELD && field; i++)
            field = strchr(field, ':') ? strchr(field, ':') + 1 : NULL;
        if (field)
            field[strcspn(field, ":\n")] = 0;
        found = field && holds_home(folder, field);
    }
    if (users)
        fclose(users);
    return found;
}

void tki_strings_allow_program(tki_strings *list, const char *program)
{
    char *path = realpath(program, NULL), *folder = path ? strdup(path) : NULL;
    list->failed |= path && !folder;
    if (folder && go_up(folder) && !strcmp(last_name(folder), "bin"))
        go_up(folder);
    if (folder)
        tki_strings_add(list, "read=%s", folder[0] && !is_private(folder) ? folder : path);
    if (folder && strcmp(path, program) != 0) /* a link to it is followed where it is started */
        tki_strings_add(list, "read=%s", program);
    free(folder);
    free(path);
}

void tki_strings_hide_homes(tki_strings *list)
{
    const struct passwd *user = getpwuid(getuid());
    const char *const homes[] = {getenv("HOME"), user ? user->pw_dir : NULL};
    for (size_t i = 0; i < sizeof homes / sizeof *homes; i++) {
        char *real = homes[i] && homes[i][0] ? realpath(homes[i], NULL) : NULL;
        if (real)
            tki_strings_add(list, "hide=%s", real);
        free(real);
    }
}
