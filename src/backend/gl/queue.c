#include "backend/gl/queue.h"

#include "backend/gl/error.h"
#include "backend/gpu/host.h"

#include <epoxy/gl.h>

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Fences that are not past yet, at most; how long one is waited for while commands may come. */
enum { FENCES = 64, PATIENCE_NS = 200000 };

struct command {
    gl_command_fn *fn;
    bool always; /* after a failure, too */
    struct command *next;
    max_align_t copy[]; /* of what was submitted */
};

struct fence {
    uint64_t ticket;
    GLsync sync;
};

struct gl_queue {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    pthread_t thread;
    const struct gl_queue_life *life;
    void *device;
    struct command *first, **last;
    uint64_t submitted, run, finished; /* commands given, executed by the thread, by the device */
    uint64_t of_stage[FBP_N_STAGES];
    bool begun, stop;
    fbp_status status;
    char message[600];
    struct fence fences[FENCES]; /* the thread's own, as are: */
    unsigned n_fences, oldest;
};

static void latch(struct gl_queue *q, fbp_status st)
{
    pthread_mutex_lock(&q->lock);
    if (q->status == FBP_OK) {
        q->status = st;
        snprintf(q->message, sizeof q->message, "%s", gpu_host->message());
    }
    pthread_mutex_unlock(&q->lock);
}

static void advance(struct gl_queue *q, uint64_t *to, uint64_t ticket)
{
    pthread_mutex_lock(&q->lock);
    *to = ticket;
    pthread_cond_broadcast(&q->changed);
    pthread_mutex_unlock(&q->lock);
}

/* Look whether the oldest fence is past, for so long. */
static void retire(struct gl_queue *q, GLuint64 nanoseconds)
{
    struct fence *f = &q->fences[q->oldest];
    const GLenum is = glClientWaitSync(f->sync, GL_SYNC_FLUSH_COMMANDS_BIT, nanoseconds);
    const bool lost =
        is == GL_WAIT_FAILED || gl_was_reset(); /* by a watchdog: fences may count as past */

    if (is == GL_TIMEOUT_EXPIRED && !lost)
        return;
    if (lost)
        latch(q, gl_check_lost());
    glDeleteSync(f->sync);
    q->oldest = (q->oldest + 1) % FENCES;
    q->n_fences--;
    advance(q, &q->finished, f->ticket);
}

static void put_fence(struct gl_queue *q, uint64_t ticket)
{
    while (q->n_fences == FENCES)
        retire(q, PATIENCE_NS);
    GLsync sync = glFenceSync(GL_SYNC_GPU_COMMANDS_COMPLETE, 0);
    if (!sync) {
        latch(q, gpu_host->fail(FBP_ERR_DEVICE,
                                "gl: the driver of %s makes no fence: close other programs that "
                                "use it, or use --device cpu",
                                gl_check_name()));
        while (q->n_fences > 0)
            retire(q, PATIENCE_NS);
        advance(q, &q->finished, ticket);
        return;
    }
    q->fences[(q->oldest + q->n_fences++) % FENCES] = (struct fence){ticket, sync};
}

/* The next command; NULL if there is none now. */
static struct command *take(struct gl_queue *q, bool wait, bool *over)
{
    pthread_mutex_lock(&q->lock);
    while (wait && !q->first && !q->stop)
        pthread_cond_wait(&q->changed, &q->lock);
    struct command *c = q->first;
    if (c)
        q->first = c->next;
    if (!q->first)
        q->last = &q->first;
    *over = !c && q->stop;
    pthread_mutex_unlock(&q->lock);
    return c;
}

static void run(struct gl_queue *q, struct command *c)
{
    const uint64_t ticket = q->run + 1;

    if (q->status == FBP_OK || c->always) { /* which this thread alone changes */
        gpu_host->message_clear();
        const fbp_status st = c->fn(q->device, c->copy);
        if (st != FBP_OK)
            latch(q, st);
    }
    free(c);
    put_fence(q, ticket);
    advance(q, &q->run, ticket);
}

static void work(struct gl_queue *q)
{
    bool over = false;

    while (!over || q->n_fences > 0) {
        struct command *c = take(q, q->n_fences == 0, &over);
        if (c)
            run(q, c);
        else if (q->n_fences > 0)
            retire(q, PATIENCE_NS);
    }
}

static void *queue_main(void *arg)
{
    struct gl_queue *q = arg;

    gpu_host->message_clear();
    const fbp_status st = q->life->begin(q->device);
    if (st != FBP_OK)
        latch(q, st);
    pthread_mutex_lock(&q->lock);
    q->begun = true;
    pthread_cond_broadcast(&q->changed);
    pthread_mutex_unlock(&q->lock);
    if (st == FBP_OK)
        work(q);
    q->life->end(q->device);
    return NULL;
}

static fbp_status pass_on(const struct gl_queue *q)
{
    return q->status == FBP_OK ? FBP_OK : gpu_host->fail(q->status, "%s", q->message);
}

fbp_status gl_queue_open(struct gl_queue **out, const struct gl_queue_life *life, void *device)
{
    struct gl_queue *q = calloc(1, sizeof *q);

    *out = NULL;
    if (!q)
        return gpu_host->fail(FBP_ERR_NOMEM, "gl: cannot allocate %zu bytes", sizeof *q);
    pthread_mutex_init(&q->lock, NULL);
    pthread_cond_init(&q->changed, NULL);
    q->last = &q->first;
    q->life = life;
    q->device = device;
    if (pthread_create(&q->thread, NULL, queue_main, q) != 0) {
        pthread_cond_destroy(&q->changed);
        pthread_mutex_destroy(&q->lock);
        free(q);
        return gpu_host->fail(FBP_ERR_NOMEM,
                              "threads: the system grants no more: close other programs");
    }
    *out = q;
    pthread_mutex_lock(&q->lock);
    while (!q->begun)
        pthread_cond_wait(&q->changed, &q->lock);
    pthread_mutex_unlock(&q->lock);
    return pass_on(q);
}

void gl_queue_close(struct gl_queue **queue)
{
    struct gl_queue *q = *queue;

    if (!q)
        return;
    pthread_mutex_lock(&q->lock);
    q->stop = true;
    pthread_cond_broadcast(&q->changed);
    pthread_mutex_unlock(&q->lock);
    (void)pthread_join(q->thread, NULL);
    for (struct command *c = q->first, *next; c; c = next) { /* a context that was never there */
        next = c->next;
        free(c);
    }
    pthread_cond_destroy(&q->changed);
    pthread_mutex_destroy(&q->lock);
    free(q);
    *queue = NULL;
}

enum { OF_NO_STAGE = -1, ALWAYS = -2 };

static fbp_status submit(struct gl_queue *q, int stage, gl_command_fn *fn, const void *command,
                         size_t bytes, uint64_t *ticket)
{
    struct command *c = malloc(sizeof *c + bytes);

    if (!c)
        return gpu_host->fail(FBP_ERR_NOMEM, "gl: cannot allocate %zu bytes", sizeof *c + bytes);
    c->fn = fn;
    c->always = stage == ALWAYS;
    c->next = NULL;
    memcpy(c->copy, command, bytes);
    pthread_mutex_lock(&q->lock);
    *q->last = c;
    q->last = &c->next;
    *ticket = ++q->submitted;
    if (stage >= 0)
        q->of_stage[stage] = *ticket;
    pthread_cond_broadcast(&q->changed);
    pthread_mutex_unlock(&q->lock);
    return FBP_OK;
}

fbp_status gl_queue_submit(struct gl_queue *q, enum fbp_stage stage, gl_command_fn *fn,
                           const void *command, size_t bytes)
{
    uint64_t ticket;

    return submit(q, (int)stage, fn, command, bytes, &ticket);
}

fbp_status gl_queue_submit_always(struct gl_queue *q, gl_command_fn *fn, const void *command,
                                  size_t bytes)
{
    uint64_t ticket;

    return submit(q, ALWAYS, fn, command, bytes, &ticket);
}

static fbp_status wait_for(struct gl_queue *q, const uint64_t *what, uint64_t ticket)
{
    pthread_mutex_lock(&q->lock);
    while (*what < ticket)
        pthread_cond_wait(&q->changed, &q->lock);
    const fbp_status st = pass_on(q);
    pthread_mutex_unlock(&q->lock);
    return st;
}

fbp_status gl_queue_call(struct gl_queue *q, gl_command_fn *fn, const void *command, size_t bytes)
{
    uint64_t ticket;

    FBP_TRY(submit(q, OF_NO_STAGE, fn, command, bytes, &ticket));
    return wait_for(q, &q->run, ticket);
}

uint64_t gl_queue_ticket(struct gl_queue *q, enum fbp_stage stage)
{
    pthread_mutex_lock(&q->lock);
    const uint64_t ticket = q->of_stage[stage];
    pthread_mutex_unlock(&q->lock);
    return ticket;
}

fbp_status gl_queue_wait(struct gl_queue *q, uint64_t ticket)
{
    return wait_for(q, &q->finished, ticket);
}
