/* A fresh folder that every test of a program works in and that is removed afterwards: ENTERED(test) in its list. */
#ifndef WORK_FOLDER_H
#define WORK_FOLDER_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char work[] = "/tmp/tokitai_test_XXXXXX";

static int enter(void **state)
{
    (void)state;
    strcpy(work + strlen(work) - 6, "XXXXXX");
    return mkdtemp(work) && !chdir(work) ? 0 : -1;
}

static int leave(void **state)
{
    (void)state;
    char command[128];
    snprintf(command, sizeof command, "rm -rf '%s'", work);
    return chdir("/") || system(command) ? -1 : 0;
}

#endif
