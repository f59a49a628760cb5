/* A thread with a context: takes what is ready, and sees which fences are past. */
#include "backend/gl/lane.h"

#include "backend/gl/error.h"
#include "backend/gpu/host.h"
#include "base/clock.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

/* How long a fence that is not past is left alone, unless a command comes; and a full list of
 * fences is waited for.  Whether the context is lost is asked once in so many looks. */
enum { PATIENCE_NS = 20000, FULL_NS = 200000, ASK_EVERY = 64 };

static void latch(struct gl_queue *q, fbp_status st)
{
    pthread_mutex_lock(&q->lock);
    if (q->status == FBP_OK) {
        q->status = st;
        snprintf(q->message, sizeof q->message, "%s", gpu_host->message());
    }
    pthread_mutex_unlock(&q->lock);
}

/* The device has come to a point. */
static void finish(struct gl_queue *q, const struct gl_fence *f)
{
    if (f->let_go)
        f->let_go(f->held);
    pthread_mutex_lock(&q->lock);
    if (f->moment)
        *f->moment = fbp_seconds();
    q->lists[f->point.order].finished = f->point.ticket;
    pthread_cond_broadcast(&q->changed);
    pthread_mutex_unlock(&q->lock);
}

/* Was the renderer reset?  Then a fence may count as past; of one that is not this is asked now and
 * then. */
static bool is_lost(struct gl_lane_state *l, GLenum is)
{
    if (is == GL_WAIT_FAILED)
        return true;
    return (is != GL_TIMEOUT_EXPIRED || l->polls++ % ASK_EVERY == 0) && gl_was_reset();
}

/* Is the oldest fence past, within so long? */
static bool retire(struct gl_lane_state *l, GLuint64 nanoseconds)
{
    const struct gl_fence f = l->fences[l->oldest];
    const GLenum is = glClientWaitSync(f.sync, GL_SYNC_FLUSH_COMMANDS_BIT, nanoseconds);
    const bool lost = is_lost(l, is);

    if (is == GL_TIMEOUT_EXPIRED && !lost)
        return false;
    if (lost) {
        gpu_host->message_clear();
        latch(l->queue, gl_check_lost());
    }
    glDeleteSync(f.sync);
    l->oldest = (l->oldest + 1) % GL_FENCES;
    l->n_fences--;
    finish(l->queue, &f);
    return true;
}

static void retire_all(struct gl_lane_state *l)
{
    while (l->n_fences > 0)
        (void)retire(l, FULL_NS);
}

static void put_fence(struct gl_lane_state *l, struct gl_fence f)
{
    while (l->n_fences == GL_FENCES)
        (void)retire(l, FULL_NS);
    f.sync = glFenceSync(GL_SYNC_GPU_COMMANDS_COMPLETE, 0);
    if (!f.sync) {
        latch(l->queue, gpu_host->fail(FBP_ERR_DEVICE,
                                       "gl: the driver of %s makes no fence: close other programs "
                                       "that use it, or use --device cpu",
                                       gl_check_name()));
        retire_all(l);
        finish(l->queue, &f);
        return;
    }
    l->fences[(l->oldest + l->n_fences++) % GL_FENCES] = f;
    glFlush(); /* so that the device begins, and others see the fence */
}

/* Has all happened that the command comes after?  A context executes in order: of this lane it is
 * enough that it was run. */
static bool is_ready(const struct gl_queue *q, const struct gl_command *c, enum gl_lane lane)
{
    for (int o = 0; o < GL_N_ORDERS; o++) {
        const struct gl_list *other = &q->lists[o];
        if (c->after[o] > (other->lane == lane ? other->run : other->finished))
            return false;
    }
    return true;
}

/* The first command of an order, if this lane can run it now. */
static struct gl_command *ready(const struct gl_lane_state *l, enum gl_order order)
{
    const struct gl_list *list = &l->queue->lists[order];

    return list->lane == l->id && list->first && is_ready(l->queue, list->first, l->id)
               ? list->first
               : NULL;
}

/* What is short and others wait for goes before backprojections; but a stamp and the command beside
 * it stay together. */
static struct gl_command *choose(const struct gl_lane_state *l, enum gl_order *order)
{
    static const enum gl_order orders[GL_N_ORDERS] = {
        GL_ORDER_CALL, GL_ORDER_IN, GL_ORDER_FILTER, GL_ORDER_UNPACK, GL_ORDER_OUT, GL_ORDER_BP};
    struct gl_command *c = ready(l, l->last);

    *order = l->last;
    if (c && c->stamp != l->queue->lists[l->last].stamped)
        return c;
    for (int i = 0; i < GL_N_ORDERS; i++) {
        c = ready(l, orders[i]);
        *order = orders[i];
        if (c)
            return c;
    }
    return NULL;
}

static bool has_any(const struct gl_lane_state *l)
{
    for (int o = 0; o < GL_N_ORDERS; o++)
        if (l->queue->lists[o].lane == l->id && l->queue->lists[o].first)
            return true;
    return false;
}

/* A moment, or until something changes where no fence has to be looked at. */
static void rest(struct gl_lane_state *l)
{
    struct gl_queue *q = l->queue;
    struct timespec until;

    if (l->n_fences == 0) {
        pthread_cond_wait(&q->changed, &q->lock);
        return;
    }
    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_nsec += PATIENCE_NS;
    if (until.tv_nsec >= 1000000000) {
        until.tv_nsec -= 1000000000;
        until.tv_sec++;
    }
    (void)pthread_cond_timedwait(&q->changed, &q->lock, &until);
}

/* The next command, taken from its list; NULL: look at the fences.  *over: nothing will come. */
static struct gl_command *take(struct gl_lane_state *l, enum gl_order *order, bool *runs,
                               bool *over)
{
    struct gl_queue *q = l->queue;

    pthread_mutex_lock(&q->lock);
    struct gl_command *c = choose(l, order);
    *over = !c && l->stop && l->n_fences == 0 && !has_any(l);
    if (!c && !*over)
        rest(l);
    if (c) {
        struct gl_list *list = &q->lists[*order];
        list->first = c->next;
        if (!list->first)
            list->last = &list->first;
        list->stamped = c->stamp;
        l->last = *order;
        *runs = c->fn && (q->status == FBP_OK || c->always);
    }
    pthread_mutex_unlock(&q->lock);
    return c;
}

static void run(struct gl_lane_state *l, struct gl_command *c, enum gl_order order, bool runs)
{
    struct gl_queue *q = l->queue;
    struct gl_list *list = &q->lists[order];
    struct gl_fence f = {
        .point = {order, list->run + 1}, .moment = c->moment, .let_go = c->let_go, .held = c->held};

    if (f.moment && l->n_fences == 0) { /* else when the last fence is past */
        *f.moment = fbp_seconds();
        f.moment = NULL;
    }
    if (runs) {
        gpu_host->message_clear();
        const fbp_status st = c->fn(q->device, c->copy);
        if (st != FBP_OK)
            latch(q, st);
    }
    free(c);
    put_fence(l, f);
    pthread_mutex_lock(&q->lock);
    list->run = f.point.ticket;
    pthread_cond_broadcast(&q->changed);
    pthread_mutex_unlock(&q->lock);
}

static void work(struct gl_lane_state *l)
{
    bool over = false;

    while (!over) {
        enum gl_order order;
        bool runs = false;
        while (l->n_fences > 0 && retire(l, 0))
            ;
        struct gl_command *c = take(l, &order, &runs, &over);
        if (c)
            run(l, c, order, runs);
    }
}

/* The lane has begun, or failed to: then the first one does what it had to do. */
static void say_begun(struct gl_lane_state *l, fbp_status st)
{
    struct gl_queue *q = l->queue;

    if (st != FBP_OK && l->id == GL_LANE_COMPUTES)
        latch(q, st);
    pthread_mutex_lock(&q->lock);
    for (int o = 0; st != FBP_OK && o < GL_N_ORDERS; o++)
        if (q->lists[o].lane == l->id)
            q->lists[o].lane = GL_LANE_COMPUTES;
    l->begun = true;
    pthread_cond_broadcast(&q->changed);
    pthread_mutex_unlock(&q->lock);
}

void *gl_lane_main(void *lane)
{
    struct gl_lane_state *l = lane;
    const struct gl_queue *q = l->queue;
    const bool first = l->id == GL_LANE_COMPUTES;

    gpu_host->message_clear();
    const fbp_status st =
        first ? q->life->begin(q->device) : q->life->begin_copies(q->device, l->id);
    say_begun(l, st);
    if (st == FBP_OK)
        work(l);
    if (first)
        q->life->end(q->device);
    else
        q->life->end_copies(q->device, l->id);
    return NULL;
}
