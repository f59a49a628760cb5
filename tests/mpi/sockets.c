/* libfbp_test_team.so: processes of one machine that exchange the messages of a team by Unix
 * sockets, for tests.  FBP_TEAM=RANK/SIZE:FOLDER names this process; it listens at FOLDER/RANK. */
#include "team/team.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

enum { MOST_RANKS = 1024, PATIENCE_S = 10 };

struct socket_team {
    size_t rank, size;
    int *fds; /* [size]; -1: none */
    pthread_mutex_t *locks;
    struct pollfd *polled; /* [size], of the thread that receives */
    size_t next;           /* the rank that is checked first */
};

static double now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static bool send_all(int fd, struct iovec *part, size_t n_parts)
{
    while (n_parts > 0) {
        const struct msghdr message = {.msg_iov = part, .msg_iovlen = n_parts};
        ssize_t done = sendmsg(fd, &message, MSG_NOSIGNAL);
        if (done < 0 && errno == EINTR)
            continue;
        if (done < 0)
            return false;
        for (; n_parts > 0 && (size_t)done >= part->iov_len; part++, n_parts--)
            done -= (ssize_t)part->iov_len;
        if (n_parts > 0) {
            part->iov_base = (char *)part->iov_base + done;
            part->iov_len -= (size_t)done;
        }
    }
    return true;
}

static bool receive_all(int fd, void *data, size_t n)
{
    for (size_t at = 0; at < n;) {
        const ssize_t done = recv(fd, (char *)data + at, n - at, 0);
        if (done < 0 && errno == EINTR)
            continue;
        if (done <= 0)
            return false;
        at += (size_t)done;
    }
    return true;
}

static int send_message(void *user, size_t to, const void *data, size_t n)
{
    struct socket_team *s = user;
    uint32_t length = (uint32_t)n;
    struct iovec parts[] = {{&length, sizeof length}, {(void *)(uintptr_t)data, n}};

    if (to >= s->size || to == s->rank)
        return 1;
    pthread_mutex_lock(&s->locks[to]);
    const bool done = s->fds[to] >= 0 && send_all(s->fds[to], parts, 2);
    if (!done && s->fds[to] >= 0) /* what followed half a message would be taken for its rest */
        shutdown(s->fds[to], SHUT_RDWR);
    pthread_mutex_unlock(&s->locks[to]);
    return done ? 0 : 1;
}

static void hang_up(struct socket_team *s, size_t rank)
{
    pthread_mutex_lock(&s->locks[rank]);
    close(s->fds[rank]);
    s->fds[rank] = -1;
    pthread_mutex_unlock(&s->locks[rank]);
}

/* Ranks are checked in turn. */
static int receive_message(void *user, double seconds, size_t *from, void *data, size_t *n)
{
    struct socket_team *s = user;
    uint32_t length;

    for (size_t r = 0; r < s->size; r++)
        s->polled[r] = (struct pollfd){.fd = s->fds[r], .events = POLLIN};
    if (poll(s->polled, (nfds_t)s->size, (int)(1000 * seconds)) <= 0)
        return 1;
    for (size_t i = 0; i < s->size; i++) {
        const size_t r = (s->next + i) % s->size;
        if (!s->polled[r].revents)
            continue;
        s->next = r + 1;
        *from = r;
        if (receive_all(s->fds[r], &length, sizeof length) && length <= FBP_TEAM_MESSAGE &&
            receive_all(s->fds[r], data, length)) {
            *n = length;
            return 0;
        }
        hang_up(s, r);
        return 2;
    }
    return 1;
}

static void be_patient(int fd, int seconds)
{
    const struct timeval limit = {.tv_sec = seconds};

    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
    setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit);
}

/* Read the rest of what other ranks send: otherwise they lose what they have not read yet. */
static void close_team(void *user, int lost)
{
    struct socket_team *s = user;
    char rest[4096];

    for (size_t r = 0; s->fds && r < s->size; r++)
        if (s->fds[r] >= 0) {
            be_patient(s->fds[r], 1);
            shutdown(s->fds[r], SHUT_WR);
        }
    for (size_t r = 0; s->fds && r < s->size; r++) {
        while (!lost && s->fds[r] >= 0 && recv(s->fds[r], rest, sizeof rest, 0) > 0)
            ;
        if (s->fds[r] >= 0)
            close(s->fds[r]);
    }
    for (size_t r = 0; s->locks && r < s->size; r++)
        pthread_mutex_destroy(&s->locks[r]);
    free(s->fds);
    free(s->locks);
    free(s->polled);
    free(s);
}

static bool name_socket(struct sockaddr_un *out, const char *folder, size_t rank)
{
    *out = (struct sockaddr_un){.sun_family = AF_UNIX};
    return snprintf(out->sun_path, sizeof out->sun_path, "%s/%zu", folder, rank) <
           (int)sizeof out->sun_path;
}

/* The other process may not listen yet. */
static bool call_up(struct socket_team *s, const char *folder, size_t rank, double until)
{
    struct sockaddr_un address;
    const uint32_t own = (uint32_t)s->rank;

    if (!name_socket(&address, folder, rank))
        return false;
    while (now() < until) {
        const int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
        if (fd >= 0 && connect(fd, (struct sockaddr *)&address, sizeof address) == 0) {
            be_patient(fd, PATIENCE_S);
            s->fds[rank] = fd;
            return send(fd, &own, sizeof own, MSG_NOSIGNAL) == (ssize_t)sizeof own;
        }
        if (fd >= 0)
            close(fd);
        usleep(10000);
    }
    return false;
}

static bool answer(struct socket_team *s, int listener)
{
    struct pollfd ready = {.fd = listener, .events = POLLIN};
    uint32_t rank = 0;

    if (poll(&ready, 1, 1000 * PATIENCE_S) != 1)
        return false;
    const int fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
    if (fd < 0)
        return false;
    be_patient(fd, PATIENCE_S);
    if (!receive_all(fd, &rank, sizeof rank) || rank >= s->size || s->fds[rank] >= 0) {
        close(fd);
        return false;
    }
    s->fds[rank] = fd;
    return true;
}

/* Connect to lower ranks, accept higher ranks. */
static bool connect_all(struct socket_team *s, const char *folder)
{
    const double until = now() + PATIENCE_S;
    const int listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    struct sockaddr_un address;

    bool ok = listener >= 0 && name_socket(&address, folder, s->rank) &&
              bind(listener, (struct sockaddr *)&address, sizeof address) == 0 &&
              listen(listener, MOST_RANKS) == 0;
    for (size_t r = 0; ok && r < s->rank; r++)
        ok = call_up(s, folder, r, until);
    for (size_t r = s->rank + 1; ok && r < s->size; r++)
        ok = answer(s, listener);
    if (listener >= 0)
        close(listener);
    return ok;
}

static bool make(struct socket_team *s)
{
    s->locks = calloc(s->size, sizeof *s->locks);
    s->polled = calloc(s->size, sizeof *s->polled);
    s->fds = calloc(s->size, sizeof *s->fds);
    if (!s->locks || !s->polled || !s->fds)
        return false;
    for (size_t r = 0; r < s->size; r++) {
        pthread_mutex_init(&s->locks[r], NULL);
        s->fds[r] = -1;
    }
    return true;
}

/* Without FBP_TEAM the process is alone. */
__attribute__((visibility("default"))) fbp_mpi_fn fbp_mpi_team;

bool fbp_mpi_team(unsigned version, double patience, bool (*stopped)(void),
                  struct fbp_team_functions *out, char *why, size_t n)
{
    const char *place = getenv("FBP_TEAM");
    struct socket_team *s = calloc(1, sizeof *s);
    int at = 0;

    if (!s || version != FBP_MPI_MODULE_VERSION) {
        snprintf(why, n, "the module for tests is of another version");
        free(s);
        return false;
    }
    s->size = 1;
    if (place && (sscanf(place, "%zu/%zu:%n", &s->rank, &s->size, &at) != 2 || at == 0 ||
                  s->rank >= s->size || s->size > MOST_RANKS)) {
        snprintf(why, n, "FBP_TEAM: found %s, expected RANK/SIZE:FOLDER", place);
        free(s);
        return false;
    }
    if (!make(s) || (place && !connect_all(s, place + at))) {
        snprintf(why, n, "FBP_TEAM: %s: the processes do not all connect within %d s",
                 place ? place : "", PATIENCE_S);
        close_team(s, 1);
        return false;
    }
    *out = (struct fbp_team_functions){.struct_size = sizeof *out,
                                       .rank = s->rank,
                                       .size = s->size,
                                       .send = send_message,
                                       .receive = receive_message,
                                       .close = close_team,
                                       .user = s};
    return true;
}
