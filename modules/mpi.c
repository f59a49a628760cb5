/* The module libfbp_mpi.so: carries the messages of a team (fbp/team.h) between processes that
 * Open MPI has started together. fbp_mpi_team() joins them; src/team/team_join.c loads the module
 * and calls this function.
 *
 * Only one thread at a time calls MPI, and no function waits inside MPI: an operation that is not
 * finished is tested again after a short sleep, which leaves the processor cores to threads that
 * compute. */
#include "team/team.h"

#include <mpi.h>

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

struct carrier {
    pthread_mutex_t lock;  /* held during calls of MPI */
    MPI_Comm all;          /* communicator of all processes */
    int rank, size;        /* rank of this process, number of processes */
    bool own;              /* the module has initialized MPI, and will finalize it */
    bool receiving;        /* `request` is active */
    bool (*stopped)(void); /* whether the user has interrupted the process */
    MPI_Request request;   /* receives the next message into `coming` */
    char coming[FBP_TEAM_MESSAGE];
};

/* Sleep for *ns nanoseconds, and double *ns, up to half a millisecond. */
static void sleep_a_little(long *ns)
{
    const struct timespec t = {.tv_nsec = *ns};

    nanosleep(&t, NULL);
    *ns = *ns < 250000 ? 2 * *ns : 500000;
}

static double now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Return whether a request is finished: 1: finished, 0: not yet, -1: it failed. */
static int test(struct carrier *c, MPI_Request *request, MPI_Status *status)
{
    int done = 0;

    pthread_mutex_lock(&c->lock);
    const int rc = MPI_Test(request, &done, status);
    pthread_mutex_unlock(&c->lock);
    return rc != MPI_SUCCESS ? -1 : done;
}

/* A message that its receiver does not accept within SEND_PATIENCE [s] is abandoned; its copy stays
 * allocated, because MPI may still read it. After this process was interrupted, the time is
 * LAST_PATIENCE [s]: mpirun interrupts all processes if one of them has died, and that process
 * accepts no messages. */
static const double SEND_PATIENCE = 10, LAST_PATIENCE = 0.2;

/* Wait for the end of a send request: returns 1 if it is finished, -1 if it failed, and 0 if the
 * receiver did not accept the message in time. */
static int await_sent(struct carrier *c, MPI_Request *request)
{
    double until = now() + SEND_PATIENCE;
    bool last = false;
    long ns = 2000;
    int done = 0;

    while (done = test(c, request, MPI_STATUS_IGNORE), done == 0 && now() < until) {
        if (!last && c->stopped()) {
            last = true;
            until = now() + LAST_PATIENCE;
        }
        sleep_a_little(&ns);
    }
    return done;
}

static int send_message(void *user, size_t to, const void *data, size_t n)
{
    struct carrier *c = user;
    void *copy = malloc(n);
    MPI_Request request;

    if (!copy)
        return 1;
    memcpy(copy, data, n);
    pthread_mutex_lock(&c->lock);
    const int rc = MPI_Isend(copy, (int)n, MPI_BYTE, (int)to, 0, c->all, &request);
    pthread_mutex_unlock(&c->lock);
    if (rc != MPI_SUCCESS) {
        free(copy);
        return 1;
    }
    const int done = await_sent(c, &request);
    if (done == 1)
        free(copy);
    return done == 1 ? 0 : 1; /* NOLINT(clang-analyzer-unix.Malloc): MPI still reads the copy */
}

static int expect_message(struct carrier *c)
{
    pthread_mutex_lock(&c->lock);
    const int rc =
        MPI_Irecv(c->coming, FBP_TEAM_MESSAGE, MPI_BYTE, MPI_ANY_SOURCE, 0, c->all, &c->request);
    pthread_mutex_unlock(&c->lock);
    c->receiving = rc == MPI_SUCCESS;
    return c->receiving ? 0 : 1;
}

/* Receive the next message within `seconds`: the member `receive` of the team's functions. If MPI
 * fails, the function returns 1, as if no message had arrived; the team then notices by the missing
 * messages which process is lost. */
static int receive_message(void *user, double seconds, size_t *from, void *data, size_t *n)
{
    struct carrier *c = user;
    const double until = now() + seconds;
    MPI_Status status;
    long ns = 2000;
    int done = 0, bytes = 0;

    if (!c->receiving && expect_message(c) != 0) {
        sleep_a_little(&(long){500000});
        return 1;
    }
    while (done = test(c, &c->request, &status), done == 0 && now() < until)
        sleep_a_little(&ns);
    if (done == 0)
        return 1;
    c->receiving = false;
    if (done < 0)
        return 1;
    MPI_Get_count(&status, MPI_BYTE, &bytes);
    *from = (size_t)status.MPI_SOURCE;
    *n = (size_t)bytes;
    memcpy(data, c->coming, *n);
    return 0;
}

/* Leave the team. lost: a process is lost, for which MPI_Barrier() would wait; after a second, in
 * which the processes can print their messages, MPI ends all of them. */
static void close_carrier(void *user, int lost)
{
    struct carrier *c = user;

    if (lost) {
        sleep(1);
        MPI_Abort(c->all, 1);
    }
    MPI_Barrier(c->all); /* after this no process sends a message */
    if (c->receiving) {
        MPI_Cancel(&c->request);
        MPI_Wait(&c->request, MPI_STATUS_IGNORE);
    }
    MPI_Comm_free(&c->all);
    if (c->own)
        MPI_Finalize();
    pthread_mutex_destroy(&c->lock);
    free(c);
}

/* Make the symbols of Open MPI's library visible to the whole program, because Open MPI's own
 * modules search for them there. */
static void show_names(void)
{
    Dl_info library;

    if (dladdr((void *)(uintptr_t)MPI_Init_thread, &library) && library.dli_fname)
        (void)dlopen(library.dli_fname, RTLD_NOW | RTLD_GLOBAL | RTLD_NOLOAD);
}

static bool start_mpi(struct carrier *c, char *why, size_t n)
{
    int started = 0, level = MPI_THREAD_SINGLE;

    show_names();
    MPI_Initialized(&started);
    c->own = !started;
    if (!started && MPI_Init_thread(NULL, NULL, MPI_THREAD_SERIALIZED, &level) != MPI_SUCCESS) {
        snprintf(why, n, "Open MPI cannot be started; see its own messages");
        return false;
    }
    MPI_Query_thread(&level);
    if (level < (started ? MPI_THREAD_MULTIPLE : MPI_THREAD_SERIALIZED)) {
        snprintf(why, n,
                 "this MPI does not support calls from several threads; initialize MPI with "
                 "MPI_THREAD_MULTIPLE");
        return false;
    }
    if (MPI_Comm_dup(MPI_COMM_WORLD, &c->all) != MPI_SUCCESS) {
        snprintf(why, n, "MPI_COMM_WORLD cannot be duplicated; see the messages of MPI");
        return false;
    }
    MPI_Comm_set_errhandler(c->all, MPI_ERRORS_RETURN);
    MPI_Comm_rank(c->all, &c->rank);
    MPI_Comm_size(c->all, &c->size);
    return true;
}

/* Start of MPI in a thread of its own: MPI_Init_thread() waits for all processes, without a time
 * limit. If it lasts too long, the thread is abandoned with the memory that it uses. */
struct start {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    bool done;         /* the start has succeeded or failed */
    bool left;         /* the thread is abandoned, and frees this struct */
    struct carrier *c; /* NULL: the start failed */
    char why[300];     /* reason of the failure */
};

static void forget_start(struct start *s)
{
    pthread_cond_destroy(&s->changed);
    pthread_mutex_destroy(&s->lock);
    free(s);
}

static void *start_main(void *arg)
{
    struct start *s = arg;
    struct carrier *c = calloc(1, sizeof *c);

    if (!c)
        snprintf(s->why, sizeof s->why, "out of memory");
    if (c && !start_mpi(c, s->why, sizeof s->why)) {
        free(c);
        c = NULL;
    }
    pthread_mutex_lock(&s->lock);
    s->c = c;
    s->done = true;
    const bool left = s->left;
    pthread_cond_signal(&s->changed);
    pthread_mutex_unlock(&s->lock);
    if (left)
        forget_start(s);
    return NULL;
}

/* Wait until the start has succeeded or failed, `patience` seconds have passed, or the process was
 * interrupted; returns whether it has succeeded or failed. The caller holds s->lock. */
static bool wait_for(struct start *s, double patience, bool (*stopped)(void))
{
    const double until = now() + patience;
    struct timespec next;

    while (!s->done && now() < until && !stopped()) {
        clock_gettime(CLOCK_REALTIME, &next);
        next.tv_nsec += 50000000;
        next.tv_sec += next.tv_nsec / 1000000000;
        next.tv_nsec %= 1000000000;
        (void)pthread_cond_timedwait(&s->changed, &s->lock, &next);
    }
    return s->done;
}

/* Wait for the start; NULL: it failed, lasts too long, or was interrupted, with the reason in
 * why[n]. */
static struct carrier *await_start(struct start *s, double patience, bool (*stopped)(void),
                                   char *why, size_t n)
{
    pthread_mutex_lock(&s->lock);
    const bool done = wait_for(s, patience, stopped);
    struct carrier *c = done ? s->c : NULL;
    s->left = !done;
    if (done && !c)
        snprintf(why, n, "%s", s->why);
    else if (stopped())
        snprintf(why, n, "interrupted before all processes that were started together had joined");
    else if (!done)
        snprintf(why, n,
                 "some of the processes that were started together did not respond within %.0f s; "
                 "start all with the same command, and check whether one has ended",
                 patience);
    pthread_mutex_unlock(&s->lock);
    if (done)
        forget_start(s);
    return c;
}

static struct carrier *start_carrier(double patience, bool (*stopped)(void), char *why, size_t n)
{
    struct start *s = calloc(1, sizeof *s);
    pthread_t thread;

    if (!s) {
        snprintf(why, n, "out of memory");
        return NULL;
    }
    pthread_mutex_init(&s->lock, NULL);
    pthread_cond_init(&s->changed, NULL);
    if (pthread_create(&thread, NULL, start_main, s) != 0) {
        snprintf(why, n, "the system cannot start another thread; close other programs");
        forget_start(s);
        return NULL;
    }
    pthread_detach(thread);
    return await_start(s, patience, stopped, why, n);
}

/* Time for the team to stop after an interruption [s]: mpirun sends SIGKILL one second after
 * SIGTERM. */
static const double STOP_PATIENCE = 0.5;

__attribute__((visibility("default"))) fbp_mpi_fn fbp_mpi_team;

bool fbp_mpi_team(unsigned version, double patience, bool (*stopped)(void),
                  struct fbp_team_functions *out, char *why, size_t n)
{
    struct carrier *c;

    if (version != FBP_MPI_MODULE_VERSION) {
        snprintf(why, n, "libfbp_mpi.so belongs to another release of fbp; reinstall fbp");
        return false;
    }
    c = start_carrier(patience, stopped, why, n);
    if (!c)
        return false;
    pthread_mutex_init(&c->lock, NULL);
    c->stopped = stopped;
    *out = (struct fbp_team_functions){.struct_size = sizeof *out,
                                       .rank = (size_t)c->rank,
                                       .size = (size_t)c->size,
                                       .send = send_message,
                                       .receive = receive_message,
                                       .close = close_carrier,
                                       .user = c,
                                       .stop_patience = STOP_PATIENCE};
    return true;
}
