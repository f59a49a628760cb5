#include "backend/gl/queue.h"

#include "backend/gl/lane.h"
#include "backend/gpu/host.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static fbp_status pass_on(const struct gl_queue *q)
{
    return q->status == FBP_OK ? FBP_OK : gpu_host->fail(q->status, "%s", q->message);
}

static fbp_status start(struct gl_queue *q, enum gl_lane id)
{
    struct gl_lane_state *l = &q->lanes[id];

    if (pthread_create(&l->thread, NULL, gl_lane_main, l) != 0)
        return gpu_host->fail(FBP_ERR_NOMEM,
                              "threads: the system grants no more: close other programs");
    l->started = true;
    return FBP_OK;
}

static void await_begin(struct gl_queue *q, enum gl_lane id)
{
    pthread_mutex_lock(&q->lock);
    while (q->lanes[id].started && !q->lanes[id].begun)
        pthread_cond_wait(&q->changed, &q->lock);
    pthread_mutex_unlock(&q->lock);
}

static void give_order(struct gl_queue *q, enum gl_order order, enum gl_lane lane)
{
    pthread_mutex_lock(&q->lock);
    q->lists[order].lane = lane;
    pthread_mutex_unlock(&q->lock);
}

/* A lane without a thread leaves its order to the first one. */
static void start_copies(struct gl_queue *q)
{
    static const struct {
        enum gl_lane lane;
        enum gl_order order;
    } copies[] = {{GL_LANE_IN, GL_ORDER_IN}, {GL_LANE_OUT, GL_ORDER_OUT}};

    for (size_t i = 0; q->life->begin_copies && i < sizeof copies / sizeof *copies; i++) {
        give_order(q, copies[i].order, copies[i].lane);
        if (start(q, copies[i].lane) != FBP_OK)
            give_order(q, copies[i].order, GL_LANE_COMPUTES);
    }
}

static struct gl_queue *make(const struct gl_queue_life *life, void *device)
{
    struct gl_queue *q = calloc(1, sizeof *q);
    pthread_condattr_t monotonic;

    if (!q)
        return NULL;
    pthread_mutex_init(&q->lock, NULL);
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_cond_init(&q->changed, &monotonic);
    pthread_condattr_destroy(&monotonic);
    for (int o = 0; o < GL_N_ORDERS; o++)
        q->lists[o].last = &q->lists[o].first;
    for (int i = 0; i < GL_N_LANES; i++) {
        q->lanes[i].queue = q;
        q->lanes[i].id = (enum gl_lane)i;
    }
    q->life = life;
    q->device = device;
    return q;
}

fbp_status gl_queue_open(struct gl_queue **out, const struct gl_queue_life *life, void *device)
{
    struct gl_queue *q = make(life, device);

    *out = q;
    if (!q)
        return gpu_host->fail(FBP_ERR_NOMEM, "gl: cannot allocate %zu bytes", sizeof *q);
    fbp_status st = start(q, GL_LANE_COMPUTES);
    if (st == FBP_OK) {
        await_begin(q, GL_LANE_COMPUTES);
        st = pass_on(q);
    }
    if (st == FBP_OK)
        start_copies(q);
    else
        gl_queue_close(out);
    return st;
}

/* The lane runs what is there, and ends. */
static void stop(struct gl_queue *q, enum gl_lane id)
{
    if (!q->lanes[id].started)
        return;
    pthread_mutex_lock(&q->lock);
    q->lanes[id].stop = true;
    pthread_cond_broadcast(&q->changed);
    pthread_mutex_unlock(&q->lock);
    (void)pthread_join(q->lanes[id].thread, NULL);
}

/* The lane that computes is the last: it owns what the others copy, and what they come after. */
void gl_queue_close(struct gl_queue **queue)
{
    struct gl_queue *q = *queue;

    if (!q)
        return;
    for (int i = GL_N_LANES; i-- > 0;)
        stop(q, (enum gl_lane)i);
    for (int o = 0; o < GL_N_ORDERS; o++) /* of a context that was never there */
        for (struct gl_command *c = q->lists[o].first, *next; c; c = next) {
            next = c->next;
            if (c->let_go)
                c->let_go(c->held);
            free(c);
        }
    pthread_cond_destroy(&q->changed);
    pthread_mutex_destroy(&q->lock);
    free(q);
    *queue = NULL;
}

static struct gl_command *new_command(gl_command_fn *fn, const void *command, size_t bytes)
{
    struct gl_command *c = malloc(sizeof *c + bytes);

    if (!c) {
        (void)!gpu_host->fail(FBP_ERR_NOMEM, "gl: cannot allocate %zu bytes", sizeof *c + bytes);
        return NULL;
    }
    *c = (struct gl_command){.fn = fn};
    if (bytes > 0)
        memcpy(c->copy, command, bytes);
    return c;
}

/* With the lock: at the end of a list, after what was demanded. */
static uint64_t append(struct gl_queue *q, enum gl_order order, struct gl_command *c)
{
    struct gl_list *list = &q->lists[order];

    for (int o = 0; o < GL_N_ORDERS; o++) {
        c->after[o] = c->after[o] > list->after[o] ? c->after[o] : list->after[o];
        list->after[o] = 0;
    }
    *list->last = c;
    list->last = &c->next;
    pthread_cond_broadcast(&q->changed);
    return ++list->submitted;
}

static fbp_status submit(struct gl_queue *q, enum gl_order order, struct gl_command *c,
                         struct gl_point *out)
{
    if (!c)
        return FBP_ERR_NOMEM;
    pthread_mutex_lock(&q->lock);
    *out = (struct gl_point){order, append(q, order, c)};
    pthread_mutex_unlock(&q->lock);
    return FBP_OK;
}

fbp_status gl_queue_submit(struct gl_queue *q, enum gl_order order, gl_command_fn *fn,
                           const void *command, size_t bytes)
{
    struct gl_point unused;

    return submit(q, order, new_command(fn, command, bytes), &unused);
}

fbp_status gl_queue_submit_holding(struct gl_queue *q, enum gl_order order, gl_command_fn *fn,
                                   const void *command, size_t bytes, gl_let_go_fn *let_go,
                                   void *held)
{
    struct gl_command *c = new_command(fn, command, bytes);
    struct gl_point unused;

    if (c) {
        c->let_go = let_go;
        c->held = held;
    }
    return submit(q, order, c, &unused);
}

fbp_status gl_queue_submit_stamp(struct gl_queue *q, enum gl_order order, gl_command_fn *fn,
                                 const void *command, size_t bytes)
{
    struct gl_command *c = new_command(fn, command, bytes);
    struct gl_point unused;

    if (c)
        c->stamp = true;
    return submit(q, order, c, &unused);
}

fbp_status gl_queue_moment(struct gl_queue *q, enum gl_order order, double *when)
{
    struct gl_command *c = new_command(NULL, NULL, 0);
    struct gl_point unused;

    if (c)
        c->moment = when;
    return submit(q, order, c, &unused);
}

fbp_status gl_queue_submit_last(struct gl_queue *q, gl_command_fn *fn, const void *command,
                                size_t bytes)
{
    struct gl_command *c = new_command(fn, command, bytes);

    if (!c)
        return FBP_ERR_NOMEM;
    c->always = true;
    pthread_mutex_lock(&q->lock);
    for (int o = 0; o < GL_N_ORDERS; o++)
        c->after[o] = q->lists[o].submitted;
    (void)append(q, GL_ORDER_CALL, c);
    pthread_mutex_unlock(&q->lock);
    return FBP_OK;
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

fbp_status gl_queue_call_in(struct gl_queue *q, enum gl_order order, gl_command_fn *fn,
                            const void *command, size_t bytes)
{
    struct gl_point at;

    FBP_TRY(submit(q, order, new_command(fn, command, bytes), &at));
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

static bool is_demanded(const struct gl_list *list)
{
    for (int o = 0; o < GL_N_ORDERS; o++)
        if (list->after[o] > 0)
            return true;
    return false;
}

/* What the next command would come after needs one to be waited for. */
fbp_status gl_queue_point(struct gl_queue *q, enum gl_order order, struct gl_point *out)
{
    struct gl_list *list = &q->lists[order];

    pthread_mutex_lock(&q->lock);
    const bool demanded = is_demanded(list);
    *out = (struct gl_point){order, list->submitted};
    pthread_mutex_unlock(&q->lock);
    return demanded ? submit(q, order, new_command(NULL, NULL, 0), out) : FBP_OK;
}

fbp_status gl_queue_wait(struct gl_queue *q, struct gl_point point)
{
    return wait_for(q, &q->lists[point.order].finished, point.ticket);
}

bool gl_queue_copies(struct gl_queue *q, enum gl_order order)
{
    await_begin(q, GL_LANE_IN);
    await_begin(q, GL_LANE_OUT);
    pthread_mutex_lock(&q->lock);
    const bool copies = q->lists[order].lane != GL_LANE_COMPUTES;
    pthread_mutex_unlock(&q->lock);
    return copies;
}
