#include "backend/gl/share.h"

#include "backend/gl/error.h"
#include "backend/gl/plant.h"
#include "backend/gl/queue.h"
#include "backend/gpu/host.h"

#include <epoxy/gl.h>

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

struct gl_share {
    int index;
    unsigned users; /* by the lock below */
    struct gl_queue *queue;
    struct gl_egl egl;
};

/* That of each renderer; one whose context is lost is no longer here, though some may still use it.
 */
static struct {
    pthread_mutex_t lock;
    struct gl_share *of[GL_MOST_RENDERERS];
} all = {.lock = PTHREAD_MUTEX_INITIALIZER};

static fbp_status begin(void *share)
{
    struct gl_share *s = share;

    FBP_TRY(gl_egl_open(&s->egl, s->index));
    gl_check_shared();
    return FBP_OK;
}

static void end(void *share)
{
    gl_egl_close(&((struct gl_share *)share)->egl);
}

static fbp_status make(struct gl_share **out, int index)
{
    static const struct gl_queue_life life = {.begin = begin, .end = end};
    struct gl_share *s = calloc(1, sizeof *s);

    *out = NULL;
    if (!s)
        return gpu_host->fail(FBP_ERR_NOMEM, "gl: cannot allocate %zu bytes", sizeof *s);
    s->index = index;
    const fbp_status st = gl_queue_open(&s->queue, &life, s);
    if (st == FBP_OK)
        *out = s;
    else
        free(s);
    return st;
}

static fbp_status run_look(void *share, void *command)
{
    bool *const *lost = command;

    (void)share;
    **lost = gl_was_reset();
    return FBP_OK;
}

/* A renderer that was reset takes all contexts with it that share something. */
static bool is_lost(struct gl_share *s)
{
    bool lost = false, *to = &lost;

    return gl_queue_call(s->queue, run_look, &to, sizeof to) != FBP_OK || lost;
}

fbp_status gl_share_enter(struct gl_share **out, int index)
{
    fbp_status st = FBP_OK;

    pthread_mutex_lock(&all.lock);
    struct gl_share **at = &all.of[index];
    if (*at && is_lost(*at))
        *at = NULL;
    if (!*at)
        st = make(at, index);
    *out = *at;
    if (*at)
        (*at)->users++;
    pthread_mutex_unlock(&all.lock);
    return st;
}

void gl_share_leave(struct gl_share **share)
{
    struct gl_share *s = *share;

    if (!s)
        return;
    pthread_mutex_lock(&all.lock);
    if (--s->users == 0) {
        if (all.of[s->index] == s)
            all.of[s->index] = NULL;
        gl_queue_close(&s->queue);
        gl_buffers_forget(s);
        free(s);
    }
    pthread_mutex_unlock(&all.lock);
    *share = NULL;
}

const struct gl_egl *gl_share_context(const struct gl_share *share)
{
    return &share->egl;
}

/* What fails here fails for one plan alone: the queue is told nothing of it. */
struct making {
    struct gl_buffer *buffer;
    const char *what;
    fbp_status *status;
    char *message;
    size_t n;
};

static fbp_status run_make(void *share, void *command)
{
    const struct making *m = command;

    (void)share;
    *m->status = gl_buffer_make(m->buffer, true, m->what);
    if (*m->status != FBP_OK)
        snprintf(m->message, m->n, "%s", gpu_host->message());
    glFinish(); /* so that other contexts find it */
    return FBP_OK;
}

static fbp_status run_drop(void *share, void *command)
{
    struct gl_buffer *const *b = command;

    (void)share;
    gl_buffer_drop(*b);
    free(*b);
    return FBP_OK;
}

static void drop(struct gl_buffer *b)
{
    struct gl_share *s = (struct gl_share *)(uintptr_t)b->owner;

    (void)!gl_queue_submit_last(s->queue, run_drop, &b, sizeof(struct gl_buffer *));
}

fbp_status gl_share_alloc(struct gl_share *share, size_t bytes, const char *what, void **out)
{
    struct gl_buffer *b = calloc(1, sizeof *b);
    fbp_status st = FBP_OK;
    char message[600];

    *out = NULL;
    if (!b)
        return gpu_host->fail(FBP_ERR_NOMEM, "gl: cannot allocate %zu bytes", sizeof *b);
    b->bytes = bytes ? bytes : 4;
    b->owner = share;
    b->holders = 1;
    const struct making m = {b, what, &st, message, sizeof message};
    const fbp_status called = gl_queue_call(share->queue, run_make, &m, sizeof m);
    if (called != FBP_OK || st != FBP_OK) {
        drop(b);
        return called != FBP_OK ? called : gpu_host->fail(st, "%s", message);
    }
    *out = b->base;
    atomic_fetch_add(&gl_plant.n_host, 1);
    gl_buffers_add(b);
    return FBP_OK;
}

void gl_share_let_go(void *buffer)
{
    struct gl_buffer *b = buffer;

    if (b && gl_buffer_less(b))
        drop(b);
}
