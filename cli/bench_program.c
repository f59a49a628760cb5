/* Starts the program fbp-bench in place of fbp; called by program_main() for `fbp bench` and
 * `fbp rabbitct`, and by `fbp info` for RabbitCT files. */
#include "bench_program.h"

#include "cli.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

bool bench_program_has(const char *word)
{
    return strcmp(word, "bench") == 0 || strcmp(word, "rabbitct") == 0;
}

/* Write the path of fbp-bench in the folder of the running executable to path[n].  False: the
 * folder is unknown, or the path is too long. */
static bool find_program(char *path, size_t n)
{
    static const char name[] = "fbp-bench";
    const ssize_t length = readlink("/proc/self/exe", path, n - 1);

    path[length > 0 ? length : 0] = '\0';
    char *slash = strrchr(path, '/');
    if (!slash || (size_t)(slash + 1 - path) + sizeof name > n)
        return false;
    memcpy(slash + 1, name, sizeof name);
    return true;
}

int bench_program_run(int argc, char **argv)
{
    char path[4096];
    char **words = calloc((size_t)argc + 2, sizeof *words);

    if (!words)
        return cli_error("out of memory for the arguments of fbp-bench; close other programs");
    words[0] = path;
    memcpy(words + 1, argv, (size_t)argc * sizeof *words);
    if (!find_program(path, sizeof path))
        errno = ENOENT;
    else
        execv(path, words);
    const int error = errno;
    free(words);
    if (error == ENOENT)
        return cli_error("the program fbp-bench is not installed in the folder of fbp; install the "
                         "package fbp-bench, or build fbp from source with -DFBP_BENCH=ON");
    return cli_error("%s: cannot be started: %s; reinstall fbp-bench", path, strerror(error));
}
