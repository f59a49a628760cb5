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

fbp_status gl_stamp(fbp_device *device, enum fbp_stage stage, uint64_t *out)
{
    struct gl_device *dev = gl_of(device);

    *out = atomic_fetch_add(&dev->stamps.n, 1);
    return gl_queue_submit(dev->queue, stage, run_stamp, out, sizeof *out);
}

struct reading {
    uint64_t stamp;
    double *seconds;
};

static fbp_status run_stamped(void *device, void *command)
{
    struct gl_stamps *s = &((struct gl_device *)device)->stamps;
    const struct reading *r = command;
    GLuint64 at = 0;

    FBP_TRY(read_query(s->queries[r->stamp], &at));
    *r->seconds = s->zero + 1e-9 * (double)at;
    if (++s->n_read == atomic_load(&s->n)) { /* all: they are used again */
        atomic_store(&s->n, 0);
        s->n_read = 0;
    }
    return FBP_OK;
}

fbp_status gl_stamped(fbp_device *device, uint64_t stamp, double *seconds)
{
    return gl_queue_call(gl_of(device)->queue, run_stamped, &(struct reading){stamp, seconds},
                         sizeof(struct reading));
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

fbp_status gl_time(fbp_device *device, enum fbp_stage stage, double *seconds)
{
    (void)stage; /* all of them are one queue */
    return gl_queue_call(gl_of(device)->queue, run_time, &seconds, sizeof(double *));
}

void gl_times_close(struct gl_device *dev)
{
    if (dev->clock[0])
        glDeleteQueries(2, dev->clock);
    if (dev->stamps.room > 0)
        glDeleteQueries((GLsizei)dev->stamps.room, dev->stamps.queries);
    free(dev->stamps.queries);
}
