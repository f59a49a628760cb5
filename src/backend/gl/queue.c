/* The queue of an OpenGL device (gl_queue_submit(), gl_queue_wait()): sequences of commands, and
 * the thread with an OpenGL context that runs them (queue.h).
 * Used by: bench/gl/, backend/gl/. */
#include "backend/gl/queue.h"

#include "backend/gl/egl.h"
#include "backend/module.h"
#include "base/system.h"

#include <epoxy/gl.h>

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* Greatest numbers: of unsignaled fences (if there are so many, the thread waits), and of commands
 * whose work waits for other commands to launch it (less than GL_MOST_HELD of program.h). */
enum { GL_FENCES = 64, GL_RIDERS = 8 };

struct gl_command {
    gl_command_fn *fn; /* NULL: a command that only marks a point */
    struct gl_submission with;
    /* [sequence] number of its last command that must be done before this one; 0: none */
    uint64_t after[GL_N_ORDERS];
    struct gl_command *next;
    max_align_t copy[]; /* copy of the submitted parameters */
};

/* A fence after a command. */
struct gl_fence {
    GLsync sync;
    struct gl_point point;
    struct gl_submission with;
};

/* Commands of a sequence (enum gl_order) that have not run yet; guarded by the queue's lock. */
struct gl_list {
    struct gl_command *first, **last;
    /* Tickets (numbers of commands of this sequence): last submitted command, last command that
     * was taken, last command that has run, last command that the device has finished. */
    uint64_t submitted, taken, run, finished;
    uint64_t after[GL_N_ORDERS]; /* dependencies of the next command */
    bool stamped;                /* the command that was taken last is a timestamp */
};

struct gl_queue {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    const struct gl_queue_life *life;
    void *device;
    struct gl_list lists[GL_N_ORDERS];
    fbp_status status;
    char message[600];
    pthread_t thread;
    bool started, begun, stop;
    /* Used only by the thread: */
    enum gl_order last; /* sequence of the command that was taken last */
    unsigned polls;     /* number of checks of pending fences */
    unsigned n_fences, oldest;
    struct gl_fence fences[GL_FENCES];
    unsigned n_riders;
    struct gl_fence riders[GL_RIDERS]; /* commands that ran, but are not launched: no fences yet */
};

/* POLL_NS: time between two checks of a fence while no command arrives [ns]; FULL_NS: duration of
 * one wait for a fence if there are GL_FENCES fences [ns]; CHECK_EVERY: number of checks of
 * pending fences between two tests for a reset of the renderer. */
enum { POLL_NS = 20000, FULL_NS = 200000, CHECK_EVERY = 64 };

static void keep_failure(struct gl_queue *q, fbp_status st)
{
    pthread_mutex_lock(&q->lock);
    if (q->status == FBP_OK) {
        q->status = st;
        snprintf(q->message, sizeof q->message, "%s", gpu_host->message());
    }
    pthread_mutex_unlock(&q->lock);
}

/* Finish a command, usually because the fence after it is signaled: release the object that the
 * command used, store the time if the command is a timestamp, and mark the command as finished. */
static void finish(struct gl_queue *q, const struct gl_fence *f)
{
    if (f->with.release)
        f->with.release(f->with.held);
    pthread_mutex_lock(&q->lock);
    if (f->with.moment)
        *f->with.moment = fbp_seconds();
    q->lists[f->point.order].finished = f->point.ticket;
    pthread_cond_broadcast(&q->changed);
    pthread_mutex_unlock(&q->lock);
}

/* Remove the oldest fence and finish its command if the fence is signaled within `nanoseconds`, or
 * if the renderer was reset; else return false. */
static bool retire(struct gl_queue *q, GLuint64 nanoseconds)
{
    const struct gl_fence f = q->fences[q->oldest];
    const GLenum is = glClientWaitSync(f.sync, GL_SYNC_FLUSH_COMMANDS_BIT, nanoseconds);
    const bool waits = is == GL_TIMEOUT_EXPIRED;

    /* After a reset, fences may be signaled before the work is done: test for resets after each
     * signaled fence, and at one of CHECK_EVERY checks of pending fences. */
    const bool lost =
        is == GL_WAIT_FAILED || ((!waits || q->polls++ % CHECK_EVERY == 0) && gl_was_reset());
    if (waits && !lost)
        return false;
    if (lost) {
        gpu_host->message_clear();
        keep_failure(q, gl_check_lost());
    }
    glDeleteSync(f.sync);
    q->oldest = (q->oldest + 1) % GL_FENCES;
    q->n_fences--;
    finish(q, &f);
    return true;
}

/* First command of a sequence if its dependencies are met; else NULL. The context executes in
 * order, so a dependency on a command is met when that command has run. */
static struct gl_command *ready(const struct gl_queue *q, enum gl_order order)
{
    struct gl_command *c = q->lists[order].first;

    for (int o = 0; c && o < GL_N_ORDERS; o++)
        if (c->after[o] > q->lists[o].run)
            return NULL;
    return c && c->with.rides && q->n_riders == GL_RIDERS ? NULL : c;
}

/* Take the next command; without one, wait until the queue changes (while fences are pending, at
 * most POLL_NS), and return NULL. *runs: false if it is only counted, like most commands after a
 * failure; *over: true if the thread must end. */
static struct gl_command *take(struct gl_queue *q, enum gl_order *order, bool *runs, bool *over)
{
    /* Backprojections come last: other commands are short, and other stages wait for them. */
    static const enum gl_order orders[GL_N_ORDERS] = {
        GL_ORDER_CALL, GL_ORDER_IN, GL_ORDER_FILTER, GL_ORDER_UNPACK, GL_ORDER_OUT, GL_ORDER_BP};

    pthread_mutex_lock(&q->lock);
    /* A timestamp and the command that it times should run without commands of other sequences in
     * between.  The next command of the sequence that ran last is therefore preferred if either
     * that command or the one before it is a timestamp (not both). */
    struct gl_command *c = ready(q, q->last);
    *order = q->last;
    if (c && (c->with.moment != NULL) == q->lists[q->last].stamped)
        c = NULL;
    for (int i = 0; !c && i < GL_N_ORDERS; i++) {
        c = ready(q, orders[i]);
        *order = orders[i];
    }
    if (c) {
        struct gl_list *list = &q->lists[*order];
        list->first = c->next;
        if (!list->first)
            list->last = &list->first;
        list->stamped = c->with.moment != NULL;
        q->last = *order;
        list->taken++;
        *runs = c->fn && (q->status == FBP_OK || c->with.last);
    } else if (q->n_riders == 0 || q->n_fences > 1) {
        bool any = false;
        for (int o = 0; o < GL_N_ORDERS; o++)
            any = any || q->lists[o].first;
        *over = q->stop && q->n_fences == 0 && !any;
        if (!*over && q->n_fences == 0) {
            pthread_cond_wait(&q->changed, &q->lock);
        } else if (!*over) {
            struct timespec until;
            clock_gettime(CLOCK_MONOTONIC, &until);
            until.tv_nsec += POLL_NS;
            if (until.tv_nsec >= 1000000000) {
                until.tv_nsec -= 1000000000;
                until.tv_sec++;
            }
            (void)pthread_cond_timedwait(&q->changed, &q->lock, &until);
        }
    }
    pthread_mutex_unlock(&q->lock);
    return c;
}

/* Put a fence after a command that is launched (or skipped), and count the command as run. */
static void put_fence(struct gl_queue *q, struct gl_fence f)
{
    while (q->n_fences == GL_FENCES)
        (void)retire(q, FULL_NS);
    f.sync = glFenceSync(GL_SYNC_GPU_COMMANDS_COMPLETE, 0);
    if (f.sync) {
        q->fences[(q->oldest + q->n_fences++) % GL_FENCES] = f;
        glFlush(); /* starts the commands */
    } else {
        keep_failure(q, gpu_host->fail(FBP_ERR_DEVICE,
                                       "gl: the driver of %s cannot create a fence; close other "
                                       "programs that use the GPU, or use --device cpu",
                                       gl_check_name()));
        while (q->n_fences > 0)
            (void)retire(q, FULL_NS);
        finish(q, &f);
    }
    pthread_mutex_lock(&q->lock);
    q->lists[f.point.order].run = f.point.ticket;
    pthread_cond_broadcast(&q->changed);
    pthread_mutex_unlock(&q->lock);
}

/* Put fences after the riders that are launched; launch: first launch the oldest rider. */
static void pass_riders(struct gl_queue *q, bool launch)
{
    unsigned n = 0;

    if (q->n_riders == 0)
        return;
    const fbp_status st = q->life->held(q->device, launch, &n);
    if (st != FBP_OK)
        keep_failure(q, st);
    for (; q->n_riders > n; memmove(q->riders, q->riders + 1, --q->n_riders * sizeof *q->riders))
        put_fence(q, q->riders[0]);
}

/* Run a command (runs false: skip it), and put a fence after it, unless it rides. */
static void run(struct gl_queue *q, struct gl_command *c, enum gl_order order, bool runs)
{
    const bool rides = c->with.rides && runs && q->life->held;
    struct gl_fence f = {.point = {order, q->lists[order].taken}, .with = c->with};
    fbp_status st = FBP_OK;

    while (!rides && (order == GL_ORDER_IN || order == GL_ORDER_OUT) && q->n_riders > 0)
        pass_riders(q, true);                /* commands of a sequence end in order */
    if (f.with.moment && q->n_fences == 0) { /* if fences are pending, finish() stores the time */
        *f.with.moment = fbp_seconds();
        f.with.moment = NULL;
    }
    if (runs) {
        gpu_host->message_clear();
        st = c->fn(q->device, c->copy);
        if (st != FBP_OK)
            keep_failure(q, st);
    }
    free(c);
    while (st != FBP_OK && q->n_riders > 0)
        pass_riders(q, true);
    if (rides)
        q->riders[q->n_riders++] = f;
    pass_riders(q, false);
    if (!rides)
        put_fence(q, f);
}

static void *gl_queue_main(void *queue)
{
    struct gl_queue *q = queue;

    gpu_host->message_clear();
    const fbp_status st = q->life->begin(q->device);
    if (st != FBP_OK)
        keep_failure(q, st);
    pthread_mutex_lock(&q->lock);
    q->begun = true;
    pthread_cond_broadcast(&q->changed);
    pthread_mutex_unlock(&q->lock);

    for (bool over = st != FBP_OK; !over;) {
        enum gl_order order;
        bool runs = false;
        while (q->n_fences > 0 && retire(q, 0))
            ;
        struct gl_command *c = take(q, &order, &runs, &over);
        if (c)
            run(q, c, order, runs);
        else if (q->n_fences <= 1) /* the device has almost nothing else to do */
            pass_riders(q, true);
    }
    q->life->end(q->device);
    return NULL;
}

static fbp_status failure_of(const struct gl_queue *q)
{
    return q->status == FBP_OK ? FBP_OK : gpu_host->fail(q->status, "%s", q->message);
}

fbp_status gl_queue_open(struct gl_queue **out, const struct gl_queue_life *life, void *device)
{
    struct gl_queue *q = calloc(1, sizeof *q);
    pthread_condattr_t monotonic;

    *out = q;
    if (!q)
        return gl_fail_nomem(sizeof *q);
    pthread_mutex_init(&q->lock, NULL);
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_cond_init(&q->changed, &monotonic);
    pthread_condattr_destroy(&monotonic);
    for (int o = 0; o < GL_N_ORDERS; o++)
        q->lists[o].last = &q->lists[o].first;
    q->life = life;
    q->device = device;

    q->started = pthread_create(&q->thread, NULL, gl_queue_main, q) == 0;
    fbp_status st = FBP_OK;
    if (q->started) {
        pthread_mutex_lock(&q->lock);
        while (!q->begun)
            pthread_cond_wait(&q->changed, &q->lock);
        st = failure_of(q);
        pthread_mutex_unlock(&q->lock);
    } else {
        st = gpu_host->fail(FBP_ERR_NOMEM, "threads: the system cannot start another thread; "
                                           "close other programs");
    }
    if (st != FBP_OK)
        gl_queue_close(out);
    return st;
}

void gl_queue_close(struct gl_queue **queue)
{
    struct gl_queue *q = *queue;

    if (!q)
        return;
    if (q->started) {
        pthread_mutex_lock(&q->lock);
        q->stop = true;
        pthread_cond_broadcast(&q->changed);
        pthread_mutex_unlock(&q->lock);
        (void)pthread_join(q->thread, NULL);
    }
    for (int o = 0; o < GL_N_ORDERS; o++) /* commands that did not run, if begin() failed */
        for (struct gl_command *c = q->lists[o].first, *next; c; c = next) {
            next = c->next;
            if (c->with.release)
                c->with.release(c->with.held);
            free(c);
        }
    pthread_cond_destroy(&q->changed);
    pthread_mutex_destroy(&q->lock);
    free(q);
    *queue = NULL;
}

/* Submit a command with the dependencies that gl_queue_after() has stored for its sequence. */
fbp_status gl_queue_submit_with(struct gl_queue *q, enum gl_order order, gl_command_fn *fn,
                                const void *command, size_t bytes, const struct gl_submission *with)
{
    struct gl_command *c = malloc(sizeof *c + bytes);
    struct gl_list *list = &q->lists[order];

    if (!c)
        return gl_fail_nomem(sizeof *c + bytes);
    *c = (struct gl_command){.fn = fn, .with = *with};
    if (bytes > 0)
        memcpy(c->copy, command, bytes);

    pthread_mutex_lock(&q->lock);
    for (int o = 0; o < GL_N_ORDERS; o++) {
        c->after[o] = with->last ? q->lists[o].submitted : 0;
        if (list->after[o] > c->after[o])
            c->after[o] = list->after[o];
        list->after[o] = 0;
    }
    *list->last = c;
    list->last = &c->next;
    list->submitted++;
    if (with->point)
        *with->point = (struct gl_point){order, list->submitted};
    pthread_cond_broadcast(&q->changed);
    pthread_mutex_unlock(&q->lock);
    return FBP_OK;
}

fbp_status gl_queue_submit(struct gl_queue *q, enum gl_order order, gl_command_fn *fn,
                           const void *command, size_t bytes)
{
    return gl_queue_submit_with(q, order, fn, command, bytes, &(struct gl_submission){0});
}

static fbp_status wait_for(struct gl_queue *q, const uint64_t *what, uint64_t ticket)
{
    pthread_mutex_lock(&q->lock);
    while (*what < ticket)
        pthread_cond_wait(&q->changed, &q->lock);
    const fbp_status st = failure_of(q);
    pthread_mutex_unlock(&q->lock);
    return st;
}

fbp_status gl_queue_call_in(struct gl_queue *q, enum gl_order order, gl_command_fn *fn,
                            const void *command, size_t bytes)
{
    struct gl_point at;

    FBP_TRY(
        gl_queue_submit_with(q, order, fn, command, bytes, &(struct gl_submission){.point = &at}));
    return wait_for(q, &q->lists[order].run, at.ticket);
}

fbp_status gl_queue_call(struct gl_queue *q, gl_command_fn *fn, const void *command, size_t bytes)
{
    return gl_queue_call_in(q, GL_ORDER_CALL, fn, command, bytes);
}

void gl_queue_after(struct gl_queue *q, enum gl_order order, struct gl_point point)
{
    uint64_t *after = &q->lists[order].after[point.order];

    if (point.order == order)
        return;
    pthread_mutex_lock(&q->lock);
    if (point.ticket > q->lists[point.order].finished && point.ticket > *after)
        *after = point.ticket;
    pthread_mutex_unlock(&q->lock);
}

/* Get the point after the last command of a sequence.  If dependencies are stored for the next
 * command, an empty command that has these dependencies is submitted first. */
fbp_status gl_queue_point(struct gl_queue *q, enum gl_order order, struct gl_point *out)
{
    const struct gl_list *list = &q->lists[order];
    bool dependent = false;

    pthread_mutex_lock(&q->lock);
    for (int o = 0; o < GL_N_ORDERS; o++)
        dependent = dependent || list->after[o] > 0;
    *out = (struct gl_point){order, list->submitted};
    pthread_mutex_unlock(&q->lock);
    return dependent ? gl_queue_submit_with(q, order, NULL, NULL, 0,
                                            &(struct gl_submission){.point = out})
                     : FBP_OK;
}

fbp_status gl_queue_wait(struct gl_queue *q, struct gl_point point)
{
    return wait_for(q, &q->lists[point.order].finished, point.ticket);
}
