/* peak LIMIT_MIB COMMAND…: run it; fail if it fails or its resident set ever passes the limit. */
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    struct rusage usage;
    int status;

    if (argc < 3)
        return 2;
    const double limit = strtod(argv[1], NULL);
    const pid_t child = fork();
    if (child == 0) {
        execvp(argv[2], argv + 2);
        _exit(127);
    }
    if (child < 0 || wait4(child, &status, 0, &usage) != child)
        return 2;
    const double peak = (double)usage.ru_maxrss / 1024;
    fprintf(stderr, "peak resident set %.1f MiB of %.1f\n", peak, limit);
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
        return 1;
    return !(peak <= limit);
}
