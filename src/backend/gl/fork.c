#include "backend/gl/fork.h"

#include "backend/gl/plant.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static pid_t process; /* that has loaded the module */

/* Is this the number of an open file of a card? */
static bool is_card(int folder, const char *number)
{
    const char *const of[] = {"/dev/nvidia", gl_plant.card_files};
    char target[64];
    const ssize_t n = readlinkat(folder, number, target, sizeof target - 1);

    target[n > 0 ? n : 0] = '\0';
    for (size_t i = 0; i < sizeof of / sizeof *of; i++)
        if (of[i] && strncmp(target, of[i], strlen(of[i])) == 0)
            return true;
    return false;
}

/* In a child at its end: what the driver asks of the card goes to nobody. */
static void blind_child(void)
{
    if (getpid() == process)
        return;
    const int null = open("/dev/null", O_RDWR | O_CLOEXEC);
    DIR *files = opendir("/proc/self/fd");

    for (const struct dirent *e; null >= 0 && files && (e = readdir(files));)
        if (is_card(dirfd(files), e->d_name))
            (void)dup3(null, (int)strtol(e->d_name, NULL, 10), O_CLOEXEC);
    if (files)
        closedir(files);
    if (null >= 0)
        close(null);
}

void gl_fork_guard(void)
{
    process = getpid();
    (void)atexit(blind_child); /* a module that is closed takes it along */
}
