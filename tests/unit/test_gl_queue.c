/* Checks the command queue of the OpenGL device (src/backend/gl/queue.c) with a simulated context
 * and fences: in which order commands run, and that none begins before its events. */
#include "backend/gl/queue.c"

#include "backend/gl/egl.h"
#include "backend/module.h"
#include "test.h"

#include <pthread.h>
#include <stdatomic.h>

enum { MANY = 400 };

/* Number of fences that were made; number of those that may be past; how often a fence is tested
 * before it is past. */
static atomic_uint made, allowed;
static atomic_bool lost;
static atomic_uint looks;

struct pretended {
    unsigned number, looks;
};

static GLsync make_fence(GLenum condition, GLbitfield flags)
{
    struct pretended *f = calloc(1, sizeof *f);

    f->number = atomic_fetch_add(&made, 1) + 1;
    f->looks = atomic_load(&looks) ? (f->number * 2654435761u >> 8) % atomic_load(&looks) : 0;
    return (GLsync)(void *)f;
}

static GLenum look(GLsync sync, GLbitfield flags, GLuint64 nanoseconds)
{
    struct pretended *f = (void *)sync;

    if (atomic_load(&lost))
        return GL_WAIT_FAILED;
    if (f->number > atomic_load(&allowed) || (f->looks > 0 && f->looks-- > 0))
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

/* Tags of the commands that ran, in this order. */
struct device {
    atomic_uint n, in_the_way;
    atomic_int log[2 * MANY];
};

static fbp_status begin(void *device)
{
    return FBP_OK;
}

static void end(void *device)
{
}

static const struct gl_queue_life life = {.begin = begin, .end = end};

static fbp_status note(void *device, void *command)
{
    struct device *d = device;

    atomic_store(&d->log[atomic_load(&d->n)], *(const int *)command);
    atomic_fetch_add(&d->n, 1);
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

/* Number of commands whose work is prepared, but not launched. */
static atomic_uint n_prepared;

static fbp_status prepare(void *device, void *command)
{
    atomic_fetch_add(&n_prepared, 1);
    return FBP_OK;
}

/* A kernel that launches all prepared work beside its own. */
static fbp_status carry(void *device, void *command)
{
    atomic_store(&n_prepared, 0);
    return note(device, command);
}

static fbp_status count_prepared(void *device, bool launch, unsigned *n)
{
    if (launch && atomic_load(&n_prepared) > 0)
        atomic_fetch_sub(&n_prepared, 1);
    *n = atomic_load(&n_prepared);
    return FBP_OK;
}

static const struct gl_queue_life life_with_riders = {begin, end, count_prepared};

static struct gl_queue *open_queue_of(const struct gl_queue_life *of, struct device *d)
{
    struct gl_queue *q;

    gpu_host = &host;
    fbp_message_clear();
    memset(d, 0, sizeof *d);
    atomic_store(&made, 0);
    atomic_store(&allowed, UINT32_MAX);
    OK(gl_queue_open(&q, of, d));
    return q;
}

static struct gl_queue *open_queue(struct device *d)
{
    return open_queue_of(&life, d);
}

static struct gl_point put(struct gl_queue *q, enum gl_order order, int tag)
{
    struct gl_point at;

    OK(gl_queue_submit(q, order, note, &tag, sizeof tag));
    OK(gl_queue_point(q, order, &at));
    return at;
}

/* A context executes in order: its own fences are not waited for. */
TEST(commands_do_not_wait_for_fences)
{
    struct device d;
    struct gl_queue *q = open_queue(&d);

    atomic_store(&allowed, 0);
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
        assert_int_equal(d.log[i], i + 1);
    atomic_store(&allowed, UINT32_MAX);
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
    assert_int_equal(d.log[2], 9);
}

TEST(a_lost_context_ends_all_waiting)
{
    struct device d;
    struct gl_queue *q = open_queue(&d);

    atomic_store(&allowed, 0);
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

    atomic_store(&allowed, 1); /* that of the first moment */
    OK(gl_queue_submit_with(q, GL_ORDER_OUT, NULL, NULL, 0,
                            &(struct gl_submission){.moment = &before}));
    (void)put(q, GL_ORDER_OUT, 1);
    OK(gl_queue_submit_with(q, GL_ORDER_OUT, NULL, NULL, 0,
                            &(struct gl_submission){.moment = &after}));
    while (atomic_load(&d.n) < 1)
        usleep(100);
    usleep(20000);
    atomic_store(&allowed, UINT32_MAX);
    OK(gl_queue_wait(q, put(q, GL_ORDER_OUT, 2)));
    assert_true(before > 0 && after - before >= 20e-3);
    gl_queue_close(&q);
}

static const struct gl_submission riding = {.rides = true};

/* While the device is busy, a copy waits for a kernel that carries it, and so do commands that
 * depend on the copy. */
TEST(a_kernel_carries_copies)
{
    struct device d;
    struct gl_queue *q = open_queue_of(&life_with_riders, &d);
    struct gl_point copied;
    const int tag = 3;

    atomic_store(&allowed, 0);
    (void)put(q, GL_ORDER_CALL, 1);
    (void)put(q, GL_ORDER_CALL, 2);
    while (atomic_load(&d.n) < 2)
        usleep(100);
    for (int i = 0; i < 2; i++)
        OK(gl_queue_submit_with(q, GL_ORDER_IN, prepare, NULL, 0, &riding));
    OK(gl_queue_point(q, GL_ORDER_IN, &copied));
    gl_queue_after(q, GL_ORDER_FILTER, copied);
    const struct gl_point last = put(q, GL_ORDER_FILTER, 4);
    usleep(20000);
    assert_int_equal(d.n, 2);
    OK(gl_queue_submit(q, GL_ORDER_BP, carry, &tag, sizeof tag));
    while (atomic_load(&d.n) < 4)
        usleep(100);
    assert_int_equal(d.log[2], 3);
    assert_int_equal(d.log[3], 4);
    atomic_store(&allowed, UINT32_MAX);
    OK(gl_queue_wait(q, last));
    gl_queue_close(&q);
}

/* Without a kernel, the queue launches copies alone; also before a failure, and before the next
 * command of their sequence. */
TEST(an_idle_device_copies_at_once)
{
    struct device d;
    struct gl_queue *q = open_queue_of(&life_with_riders, &d);
    struct gl_point copied;

    for (int i = 0; i < 2 * GL_RIDERS; i++)
        OK(gl_queue_submit_with(q, GL_ORDER_OUT, prepare, NULL, 0, &riding));
    OK(gl_queue_wait(q, put(q, GL_ORDER_OUT, 1)));
    assert_int_equal(n_prepared, 0);
    OK(gl_queue_submit_with(q, GL_ORDER_IN, prepare, NULL, 0, &riding));
    OK(gl_queue_submit(q, GL_ORDER_BP, break_down, "", 1));
    OK(gl_queue_submit_with(q, GL_ORDER_IN, prepare, NULL, 0, &riding));
    OK(gl_queue_point(q, GL_ORDER_IN, &copied));
    assert_int_equal(gl_queue_wait(q, copied), FBP_ERR_DEVICE);
    gl_queue_close(&q);
    assert_int_equal(n_prepared, 0);
}

/* Each command tests whether the commands on which it depends have run. */
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
        const uint64_t there = list->run;
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
    alarm(60); /* a thread that waits for ever */
    return run_file_tests(argc, argv, NULL, NULL);
}
