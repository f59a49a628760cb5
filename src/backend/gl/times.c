/* When the renderer came to a point of its work: time stamps, by its clock and by the host's. */
#include "backend/gl/gl.h"

#include "backend/gl/error.h"
#include "base/clock.h"

#include <epoxy/gl.h>

#include <stdlib.h>

/* In the queue: the renderer's clock now, in nanoseconds, when all before is done. */
static fbp_status read_query(GLuint query, GLuint64 *at)
{
    glGetQueryObjectui64v(query, GL_QUERY_RESULT, at);
    return gl_check("a time stamp");
}

/* Twice as many queries; the first stamp tells where the two clocks stand. */
static fbp_status make_room(struct gl_stamps *s)
{
    const size_t room = s->room ? 2 * s->room : 64;
    GLuint *more = realloc(s->queries, room * sizeof *more);
    GLint64 now = 0;

    if (!more)
        return gpu_host->fail(FBP_ERR_NOMEM, "gl: no memory for %zu stamps", room);
    s->queries = more;
    glGenQueries((GLsizei)(room - s->room), s->queries + s->room);
    if (s->room == 0) {
        glFinish();
        glGetInteger64v(GL_TIMESTAMP, &now);
        s->zero = fbp_seconds() - 1e-9 * (double)now;
    }
    s->room = room;
    return gl_check("time stamps");
}

static fbp_status run_stamp(void *device, void *command)
{
    struct gl_stamps *s = &((struct gl_device *)device)->stamps;
    const uint64_t *at = command;

    while (*at >= s->room)
        FBP_TRY(make_room(s));
    glQueryCounter(s->queries[*at], GL_TIMESTAMP);
    return gl_check("a time stamp");
}

/* Of a lane that copies: its context is left alone, and the host looks when it came there. */
struct gl_moment {
    double seconds;
    struct gl_moment *next;
};

/* A stamp is the number of a query, or the address of a moment, which is even, and one. */
static uint64_t number_of(const struct gl_moment *m)
{
    return (uint64_t)(uintptr_t)m | 1;
}

static fbp_status add_moment(struct gl_device *dev, enum gl_order order, uint64_t *out)
{
    struct gl_moment *m = calloc(1, sizeof *m);

    if (!m)
        return gpu_host->fail(FBP_ERR_NOMEM, "gl: cannot allocate %zu bytes", sizeof *m);
    pthread_mutex_lock(&dev->moments_lock);
    m->next = dev->moments;
    dev->moments = m;
    pthread_mutex_unlock(&dev->moments_lock);
    *out = number_of(m);
    return gl_queue_moment(dev->queue, order, &m->seconds);
}

static void read_moment(struct gl_device *dev, uint64_t stamp, double *seconds)
{
    struct gl_moment **at = &dev->moments;

    pthread_mutex_lock(&dev->moments_lock);
    while (*at && number_of(*at) != stamp)
        at = &(*at)->next;
    struct gl_moment *m = *at;
    if (m) {
        *seconds = m->seconds;
        *at = m->next;
        free(m);
    }
    pthread_mutex_unlock(&dev->moments_lock);
}

void gl_moments_drop(struct gl_device *dev)
{
    for (struct gl_moment *m = dev->moments, *next; m; m = next) {
        next = m->next;
        free(m);
    }
    dev->moments = NULL;
}

fbp_status gl_stamp(fbp_device *device, enum fbp_stage stage, uint64_t *out)
{
    struct gl_device *dev = gl_of(device);
    const enum gl_order order = (enum gl_order)stage;

    if (gl_queue_copies(dev->queue, order))
        return add_moment(dev, order, out);
    const uint64_t at = atomic_fetch_add(&dev->stamps.n, 1);
    *out = 2 * at;
    return gl_queue_submit_stamp(dev->queue, order, run_stamp, &at, sizeof at);
}

struct reading {
    uint64_t at;
    double *seconds;
};

static fbp_status run_stamped(void *device, void *command)
{
    struct gl_stamps *s = &((struct gl_device *)device)->stamps;
    const struct reading *r = command;
    GLuint64 at = 0;

    FBP_TRY(read_query(s->queries[r->at], &at));
    *r->seconds = s->zero + 1e-9 * (double)at;
    if (++s->n_read == atomic_load(&s->n)) { /* all: they are used again */
        atomic_store(&s->n, 0);
        s->n_read = 0;
    }
    return FBP_OK;
}

fbp_status gl_stamped(fbp_device *device, uint64_t stamp, double *seconds)
{
    struct gl_device *dev = gl_of(device);

    if (stamp % 2 == 0)
        return gl_queue_call(dev->queue, run_stamped, &(struct reading){stamp / 2, seconds},
                             sizeof(struct reading));
    read_moment(dev, stamp, seconds);
    return FBP_OK;
}

/* Start the clock, or stop it and read: two queries. */
static fbp_status run_time(void *device, void *command)
{
    GLuint *clock = ((struct gl_device *)device)->clock;
    double *const *seconds = command;
    GLuint64 at[2] = {0, 0};

    if (!clock[0])
        glGenQueries(2, clock);
    glQueryCounter(clock[*seconds != NULL], GL_TIMESTAMP);
    if (!*seconds)
        return gl_check("a time stamp");
    for (int i = 0; i < 2; i++)
        FBP_TRY(read_query(clock[i], &at[i]));
    **seconds = 1e-9 * (double)(at[1] - at[0]);
    return FBP_OK;
}

/* Of kernels: what only copies has no clock of its own. */
fbp_status gl_time(fbp_device *device, enum fbp_stage stage, double *seconds)
{
    struct gl_queue *queue = gl_of(device)->queue;

    if (gl_queue_copies(queue, (enum gl_order)stage))
        return gpu_host->fail(FBP_ERR_UNSUPPORTED, "gl: copies are not timed by the renderer");
    return gl_queue_call_in(queue, (enum gl_order)stage, run_time, &seconds, sizeof(double *));
}

void gl_times_close(struct gl_device *dev)
{
    if (dev->clock[0])
        glDeleteQueries(2, dev->clock);
    if (dev->stamps.room > 0)
        glDeleteQueries((GLsizei)dev->stamps.room, dev->stamps.queries);
    free(dev->stamps.queries);
}
