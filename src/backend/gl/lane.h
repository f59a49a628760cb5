/** @file lane.h  The threads behind a queue (internal to queue.c and lane.c). */
#ifndef FBP_SRC_GL_LANE_H
#define FBP_SRC_GL_LANE_H

#include "backend/gl/orders.h"

#include <epoxy/gl.h>

#include <pthread.h>

/** Fences of a lane that are not past yet, at most. */
enum { GL_FENCES = 64 };

struct gl_command {
    gl_command_fn *fn;    /**< NULL: nothing is done */
    bool always;          /**< after a failure, too */
    bool stamp;           /**< only asks for the time */
    double *moment;       /**< gets the time when all before it is done; NULL */
    gl_let_go_fn *let_go; /**< of what it holds; NULL: nothing */
    void *held;
    uint64_t after[GL_N_ORDERS]; /**< points that are to be past; 0: none */
    struct gl_command *next;
    max_align_t copy[]; /**< of what was submitted */
};

struct gl_fence {
    GLsync sync;
    struct gl_point point;
    double *moment;
    gl_let_go_fn *let_go;
    void *held;
};

/** All of it is read and written with the queue's lock, but for what a lane keeps for itself. */
struct gl_list {
    struct gl_command *first, **last;
    enum gl_lane lane;                 /**< that runs it */
    uint64_t submitted, run, finished; /**< commands given, executed by the lane, by the device */
    uint64_t after[GL_N_ORDERS];       /**< what the next command comes after */
    bool stamped;                      /**< its last command was a stamp */
};

struct gl_lane_state {
    struct gl_queue *queue;
    enum gl_lane id;
    pthread_t thread;
    bool started, begun, stop;
    enum gl_order last; /**< the order whose command it ran last */
    unsigned polls;     /**< the lane's own, as are: */
    unsigned n_fences, oldest;
    struct gl_fence fences[GL_FENCES];
};

/** What queue.h gives. */
struct gl_queue {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    const struct gl_queue_life *life;
    void *device;
    struct gl_list lists[GL_N_ORDERS];
    struct gl_lane_state lanes[GL_N_LANES];
    fbp_status status;
    char message[600];
};

/** A thread: from its context's begin to its end. */
void *gl_lane_main(void *lane);

#endif /* FBP_SRC_GL_LANE_H */
