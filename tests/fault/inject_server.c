/* The program as a server: everything before main() is done once, and each request gets a fork. */
#include "inject_calls.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

static bool get(int fd, void *data, size_t n)
{
    for (char *p = data; n > 0;) {
        const ssize_t got = read(fd, p, n);
        if (got <= 0)
            return false;
        p += got;
        n -= (size_t)got;
    }
    return true;
}

static void redirect(const char *folder, const char *end, int to)
{
    char name[300];

    snprintf(name, sizeof name, "%s.%s", folder, end);
    const int fd = open(name, O_WRONLY | O_CREAT | O_TRUNC, 0666);
    if (fd < 0 || dup2(fd, to) < 0)
        _exit(99);
    close(fd);
}

/* Where the driver's request says, with its words: main() goes on from here. */
static char **prepare(const struct fault_request *r)
{
    char **argv = calloc((size_t)r->n_words + 1, sizeof *argv);
    const char *at = r->words;
    const struct rlimit none = {0};

    setpgid(0, 0);
    setrlimit(RLIMIT_CORE, &none);
    unsetenv("LD_PRELOAD"); /* fbp-bench, which fbp may start, is no server */
    redirect(r->folder, "out", STDOUT_FILENO);
    redirect(r->folder, "err", STDERR_FILENO);
    if (!argv || chdir(r->folder) != 0)
        _exit(99);
    for (int i = 0; i < r->n_words; i++, at += strlen(at) + 1)
        argv[i] = strdup(at);
    return argv;
}

/* Waits for the run, then for children that it left: those that end of themselves are none. */
static struct fault_reply await(pid_t pid)
{
    struct fault_reply reply = {0};

    while (waitpid(pid, &reply.status, 0) < 0 && errno == EINTR)
        ;
    for (int i = 0; i < 30000; i++) {
        const pid_t left = waitpid(-pid, NULL, WNOHANG);
        if (left < 0)
            return reply;
        if (left == 0)
            usleep(1000);
    }
    reply.leaked = 1;
    kill(-pid, SIGKILL);
    while (waitpid(-pid, NULL, 0) > 0)
        ;
    return reply;
}

int fault_serve(int (*real_main)(int, char **, char **), char **env)
{
    const int fd = atoi(getenv(FAULT_SERVER)), memory = atoi(getenv(FAULT_SHARED));
    struct fault_state *shared =
        mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED, memory, 0);
    static struct fault_request r;

    if (shared == MAP_FAILED)
        return 99;
    close(memory);
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    while (get(fd, &r, sizeof r)) {
        const pid_t pid = fork();
        if (pid == 0) {
            close(fd);
            char **argv = prepare(&r);
            fault_arm(shared);
            return real_main(r.n_words, argv, env);
        }
        setpgid(pid, pid);
        const struct fault_reply started = {.pid = pid};
        if (write(fd, &started, sizeof started) != sizeof started)
            return 99;
        const struct fault_reply ended = await(pid);
        if (write(fd, &ended, sizeof ended) != sizeof ended)
            return 99;
    }
    return 0;
}
