/* Checks the command queue of the OpenGL device (src/backend/gl/queue.c) with simulated contexts
 * and fences: which commands run at the same time, and that none begins before its events. */
#include "backend/gl/queue.c"

#include "backend/gl/egl.h"
#include "backend/module.h"
#include "test.h"

#include <pthread.h>
#include <stdatomic.h>

enum { MANY = 400 };

/* Which lane a thread is; fences of each that were made, and those that may be past; how often one
 * is looked at before it is. */
static _Thread_local enum gl_lane lane_here;
static atomic_uint made[GL_N_LANES], allowed[GL_N_LANES];
static atomic_bool lost, one_context;
static atomic_uint looks;

struct pretended {
    enum gl_lane lane;
    unsigned number, looks;
};

static GLsync make_fence(GLenum condition, GLbitfield flags)
{
    struct pretended *f = calloc(1, sizeof *f);

    f->lane = lane_here;
    f->number = atomic_fetch_add(&made[lane_here], 1) + 1;
    f->looks = atomic_load(&looks) ? (f->number * 2654435761u >> 8) % atomic_load(&looks) : 0;
    return (GLsync)(void *)f;
}

static GLenum look(GLsync sync, GLbitfield flags, GLuint64 nanoseconds)
{
    struct pretended *f = (void *)sync;

    assert_true(f->lane == lane_here); /* nobody waits on another context's fence */
    if (atomic_load(&lost))
        return GL_WAIT_FAILED;
    if (f->number > atomic_load(&allowed[f->lane]) || (f->looks > 0 && f->looks-- > 0))
        return GL_TIMEOUT_EXPIRED;
    return GL_ALREADY_SIGNALED;
}

static void delete_fence(GLsync sync)
{
    free((void *)sync);
}

static void flush(void)
{
}

PFNGLFENCESYNCPROC epoxy_glFenceSync = make_fence;
PFNGLCLIENTWAITSYNCPROC epoxy_glClientWaitSync = look;
PFNGLDELETESYNCPROC epoxy_glDeleteSync = delete_fence;
PFNGLFLUSHPROC epoxy_glFlush = flush;

bool gl_was_reset(void)
{
    return false;
}

const char *gl_check_name(void)
{
    return "a simulated renderer";
}

fbp_status gl_check_lost(void)
{
    return fbp_fail(FBP_ERR_DEVICE, "was reset during the computation");
}

fbp_status gl_fail_nomem(size_t bytes)
{
    return fbp_fail(FBP_ERR_NOMEM, "gl: cannot allocate %zu bytes", bytes);
}

static const struct fbp_module_host host = {
    .fail = fbp_fail, .message = fbp_message, .message_clear = fbp_message_clear};

/* What ran, in this order, and where.  Lanes run at the same time: an entry is written and counted
 * under the lock. */
struct device {
    pthread_mutex_t lock;
    atomic_uint n, in_the_way;
    struct {
        atomic_int lane, tag;
    } log[2 * MANY];
};

static fbp_status begin(void *device)
{
    lane_here = GL_LANE_COMPUTES;
    return FBP_OK;
}

static void end(void *device)
{
}

static fbp_status begin_copies(void *device, enum gl_lane lane)
{
    lane_here = lane;
    return atomic_load(&one_context) ? fbp_fail(FBP_ERR_DEVICE, "no more contexts") : FBP_OK;
}

static void end_copies(void *device, enum gl_lane lane)
{
    assert_true(lane == lane_here);
}

static const struct gl_queue_life life = {begin, end, begin_copies, end_copies};

static fbp_status note(void *device, void *command)
{
    struct device *d = device;

    pthread_mutex_lock(&d->lock);
    const unsigned at = atomic_load(&d->n);
    atomic_store(&d->log[at].lane, (int)lane_here);
    atomic_store(&d->log[at].tag, *(const int *)command);
    atomic_store(&d->n, at + 1);
    pthread_mutex_unlock(&d->lock);
    return FBP_OK;
}

/* A kernel that takes until the test clears the way. */
static fbp_status linger(void *device, void *command)
{
    struct device *d = device;

    while (atomic_load(&d->in_the_way))
        usleep(100);
    return FBP_OK;
}

static fbp_status break_down(void *device, void *command)
{
    return fbp_fail(FBP_ERR_DEVICE, "a planted failure");
}

static struct gl_queue *open_queue(struct device *d)
{
    struct gl_queue *q;

    gpu_host = &host;
    fbp_message_clear();
    memset(d, 0, sizeof *d);
    assert_int_equal(pthread_mutex_init(&d->lock, NULL), 0);
    for (int i = 0; i < GL_N_LANES; i++) {
        atomic_store(&made[i], 0);
        atomic_store(&allowed[i], UINT32_MAX);
    }
    OK(gl_queue_open(&q, &life, d));
    return q;
}

static struct gl_point put(struct gl_queue *q, enum gl_order order, int tag)
{
    struct gl_point at;

    OK(gl_queue_submit(q, order, note, &tag, sizeof tag));
    OK(gl_queue_point(q, order, &at));
    return at;
}

TEST(copies_run_beside_a_kernel)
{
    struct device d;
    struct gl_queue *q = open_queue(&d);

    atomic_store(&d.in_the_way, 1);
    OK(gl_queue_submit(q, GL_ORDER_BP, linger, "", 1));
    OK(gl_queue_wait(q, put(q, GL_ORDER_IN, 1)));
    OK(gl_queue_wait(q, put(q, GL_ORDER_OUT, 2)));
    assert_int_equal(d.log[0].lane, GL_LANE_IN);
    assert_int_equal(d.log[1].lane, GL_LANE_OUT);
    atomic_store(&d.in_the_way, 0);
    gl_queue_close(&q);
}

/* The filter comes after an upload whose fence is not past; what does not may go before it. */
TEST(fences_of_other_contexts_are_awaited)
{
    struct device d;
    struct gl_queue *q = open_queue(&d);

    atomic_store(&allowed[GL_LANE_IN], 0);
    gl_queue_after(q, GL_ORDER_FILTER, put(q, GL_ORDER_IN, 1));
    const struct gl_point filtered = put(q, GL_ORDER_FILTER, 3);
    OK(gl_queue_wait(q, put(q, GL_ORDER_BP, 2)));
    while (atomic_load(&d.n) < 2)
        usleep(100);
    usleep(2000);
    assert_int_equal(d.n, 2);
    atomic_store(&allowed[GL_LANE_IN], UINT32_MAX);
    OK(gl_queue_wait(q, filtered));
    assert_int_equal(d.n, 3);
    assert_int_equal(d.log[2].tag, 3);
    gl_queue_close(&q);
}

/* A context executes in order: its own fences are not waited for. */
TEST(one_context_is_given_all_at_once)
{
    struct device d;
    struct gl_queue *q = open_queue(&d);

    atomic_store(&allowed[GL_LANE_COMPUTES], 0);
    atomic_store(&d.in_the_way, 1);
    OK(gl_queue_submit(q, GL_ORDER_FILTER, linger, "", 1));
    gl_queue_after(q, GL_ORDER_FILTER, put(q, GL_ORDER_BP, 1));
    (void)put(q, GL_ORDER_FILTER, 2);
    gl_queue_after(q, GL_ORDER_BP, put(q, GL_ORDER_FILTER, 3));
    const struct gl_point last = put(q, GL_ORDER_BP, 4);
    atomic_store(&d.in_the_way, 0);
    while (atomic_load(&d.n) < 4)
        usleep(100);
    for (int i = 0; i < 4; i++)
        assert_int_equal(d.log[i].tag, i + 1);
    atomic_store(&allowed[GL_LANE_COMPUTES], UINT32_MAX);
    OK(gl_queue_wait(q, last));
    gl_queue_close(&q);
}

/* A mark is past when that is which the next command would come after. */
TEST(a_point_includes_what_it_comes_after)
{
    struct device d;
    struct gl_queue *q = open_queue(&d);
    struct gl_point out;

    atomic_store(&d.in_the_way, 1);
    OK(gl_queue_submit(q, GL_ORDER_UNPACK, linger, "", 1));
    gl_queue_after(q, GL_ORDER_OUT, put(q, GL_ORDER_UNPACK, 1));
    OK(gl_queue_point(q, GL_ORDER_OUT, &out));
    assert_true(out.ticket > 0);
    atomic_store(&d.in_the_way, 0);
    OK(gl_queue_wait(q, out));
    assert_int_equal(d.n, 1);
    gl_queue_close(&q);
}

TEST(one_context_does_all_where_there_are_no_more)
{
    struct device d;

    atomic_store(&one_context, true);
    struct gl_queue *q = open_queue(&d);
    gl_queue_after(q, GL_ORDER_FILTER, put(q, GL_ORDER_IN, 1));
    gl_queue_after(q, GL_ORDER_BP, put(q, GL_ORDER_FILTER, 2));
    gl_queue_after(q, GL_ORDER_OUT, put(q, GL_ORDER_BP, 3));
    OK(gl_queue_wait(q, put(q, GL_ORDER_OUT, 4)));
    for (int i = 0; i < 4; i++) {
        assert_int_equal(d.log[i].lane, GL_LANE_COMPUTES);
        assert_int_equal(d.log[i].tag, i + 1);
    }
    gl_queue_close(&q);
    atomic_store(&one_context, false);
}

/* The first failure is everybody's; what gives back memory runs all the same, and last. */
TEST(what_gives_back_memory_is_last)
{
    struct device d;
    struct gl_queue *q = open_queue(&d);
    const int tag = 9;

    OK(gl_queue_wait(q, put(q, GL_ORDER_IN, 1)));
    OK(gl_queue_wait(q, put(q, GL_ORDER_OUT, 2)));
    OK(gl_queue_submit(q, GL_ORDER_BP, break_down, "", 1));
    assert_int_equal(gl_queue_wait(q, put(q, GL_ORDER_BP, 3)), FBP_ERR_DEVICE);
    assert_string_equal(fbp_message(), "a planted failure");
    (void)put(q, GL_ORDER_IN, 4);
    OK(gl_queue_submit_with(q, GL_ORDER_CALL, note, &tag, sizeof tag,
                            &(struct gl_submission){.last = true}));
    gl_queue_close(&q);
    assert_int_equal(d.n, 3);
    assert_int_equal(d.log[2].tag, 9);
}

TEST(a_lost_context_ends_all_waiting)
{
    struct device d;
    struct gl_queue *q = open_queue(&d);

    atomic_store(&allowed[GL_LANE_IN], 0);
    gl_queue_after(q, GL_ORDER_BP, put(q, GL_ORDER_IN, 1));
    const struct gl_point last = put(q, GL_ORDER_BP, 2);
    atomic_store(&lost, true);
    assert_fails(gl_queue_wait(q, last), FBP_ERR_DEVICE, "was reset during the computation");
    gl_queue_close(&q);
    atomic_store(&lost, false);
}

TEST(moments_are_when_a_copy_was_over)
{
    struct device d;
    struct gl_queue *q = open_queue(&d);
    double before = 0, after = 0;

    atomic_store(&allowed[GL_LANE_OUT], 1); /* that of the first moment */
    OK(gl_queue_submit_with(q, GL_ORDER_OUT, NULL, NULL, 0,
                            &(struct gl_submission){.moment = &before}));
    (void)put(q, GL_ORDER_OUT, 1);
    OK(gl_queue_submit_with(q, GL_ORDER_OUT, NULL, NULL, 0,
                            &(struct gl_submission){.moment = &after}));
    while (atomic_load(&d.n) < 1)
        usleep(100);
    usleep(20000);
    atomic_store(&allowed[GL_LANE_OUT], UINT32_MAX);
    OK(gl_queue_wait(q, put(q, GL_ORDER_OUT, 2)));
    assert_true(before > 0 && after - before >= 20e-3);
    gl_queue_close(&q);
}

/* Each command looks whether all that it comes after has run, or its fence is past. */
struct checked {
    struct gl_queue *queue;
    struct gl_point after[2];
};

static atomic_uint n_checked;

static fbp_status check(void *device, void *command)
{
    const struct checked *c = command;

    for (int i = 0; i < 2; i++) {
        const struct gl_list *list = &c->queue->lists[c->after[i].order];
        pthread_mutex_lock(&c->queue->lock);
        const uint64_t there = list->lane == lane_here ? list->run : list->finished;
        pthread_mutex_unlock(&c->queue->lock);
        if (there < c->after[i].ticket)
            return fbp_fail(FBP_ERR_DEVICE, "a command has begun too early");
    }
    atomic_fetch_add(&n_checked, 1);
    return FBP_OK;
}

TEST(many_orders_hold)
{
    struct device d;
    struct gl_queue *q = open_queue(&d);
    struct gl_point points[MANY];
    unsigned random = 1;

    atomic_store(&looks, 5);
    atomic_store(&n_checked, 0);
    for (unsigned i = 0; i < MANY; i++) {
        random = random * 1664525u + 1013904223u;
        const enum gl_order order = (enum gl_order)((random >> 12) % GL_ORDER_CALL);
        struct checked c = {.queue = q};
        for (int k = 0; i > 0 && k < 2; k++) {
            c.after[k] = points[i - 1 - (random >> (8 + 8 * k)) % (i < 9 ? i : 9)];
            gl_queue_after(q, order, c.after[k]);
        }
        OK(gl_queue_submit(q, order, check, &c, sizeof c));
        OK(gl_queue_point(q, order, &points[i]));
    }
    for (unsigned i = 0; i < MANY; i++)
        OK(gl_queue_wait(q, points[i]));
    assert_int_equal(n_checked, MANY);
    gl_queue_close(&q);
    atomic_store(&looks, 0);
}

int main(int argc, char **argv)
{
    alarm(60); /* a lane that waits for ever */
    return run_file_tests(argc, argv, NULL, NULL);
}
