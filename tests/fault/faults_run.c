/* Runs of the command, each a fork of a server with the preloaded library in it. */
#include "faults.h"
#include "inject.h"

#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

enum { SECONDS = 120 }; /* of a busy machine */

static struct fault_state *state;
static int server = -1;
static char work[200];

unsigned long fault_runs;

const char *fault_path(const char *name)
{
    static char path[2][300];
    static int turn;

    turn = !turn;
    snprintf(path[turn], sizeof path[turn], "%s/%s", work, name);
    return path[turn];
}

void fault_start(const char *folder, const char *fbp, const char *inject)
{
    char number[2][16];
    int ends[2];

    snprintf(work, sizeof work, "%s", folder);
    const int memory = memfd_create("faults", 0);

    if (memory < 0 || ftruncate(memory, sizeof *state) != 0 ||
        socketpair(AF_UNIX, SOCK_STREAM, 0, ends) != 0) {
        perror("faults");
        exit(1);
    }
    state = mmap(NULL, sizeof *state, PROT_READ | PROT_WRITE, MAP_SHARED, memory, 0);
    if (fork() == 0) {
        close(ends[0]);
        snprintf(number[0], sizeof number[0], "%d", ends[1]);
        snprintf(number[1], sizeof number[1], "%d", memory);
        setenv(FAULT_SERVER, number[0], 1);
        setenv(FAULT_SHARED, number[1], 1);
        setenv("LD_PRELOAD", inject, 1);
        setenv("LD_BIND_NOW", "1", 1); /* once, and not in every run */
        execl(fbp, "fbp", (char *)NULL);
        _exit(127);
    }
    close(ends[1]);
    close(memory);
    server = ends[0];
}

void fault_end(void)
{
    close(server);
    while (wait(NULL) > 0)
        ;
    munmap(state, sizeof *state);
}

static bool get(void *data, size_t n, int seconds)
{
    struct pollfd p = {.fd = server, .events = POLLIN};

    return poll(&p, 1, seconds * 1000) > 0 && read(server, data, n) == (ssize_t)n;
}

/* Fills r with a command's words. */
static void ask(struct fault_request *r, const char *folder, const char *words)
{
    char *to = r->words;

    memset(r, 0, sizeof *r);
    snprintf(r->folder, sizeof r->folder, "%s", fault_path(folder));
    to += sprintf(to, "fbp") + 1;
    r->n_words = 1;
    for (const char *at = words; *at; r->n_words++) {
        const size_t n = strcspn(at, " ");
        memcpy(to, at, n);
        to += n + 1;
        at += n + strspn(at + n, " ");
    }
}

int fault_run(const char *folder, const char *words, int kind, long n, bool on)
{
    static struct fault_request r;
    struct fault_reply reply;
    pid_t pid;

    ask(&r, folder, words);
    state->kind = kind;
    state->n = n;
    state->on = on;
    atomic_store(&state->calls, 0);
    atomic_store(&state->fired, 0);
    if (write(server, &r, sizeof r) != sizeof r || !get(&reply, sizeof reply, SECONDS)) {
        printf("faults: the program does not start\n");
        exit(1);
    }
    fault_runs++;
    pid = reply.pid;
    if (!get(&reply, sizeof reply, SECONDS)) {
        kill(-pid, SIGKILL);
        if (!get(&reply, sizeof reply, SECONDS))
            exit(1);
        return -1;
    }
    return reply.leaked ? -1 : reply.status;
}

int fault_run_whole(const char *folder, const char *words)
{
    return fault_run(folder, words, -1, 0, false);
}

long fault_fired(void)
{
    return atomic_load(&state->fired);
}
