/** @file queue.h  The queue of a device: commands, and the threads that own its contexts and run
 * them (internal).
 *
 * A context belongs to one thread, but a device's slots are called from four.  They submit commands
 * and return.  The commands of one order run in the order of submission; different orders run
 * concurrently, except for dependencies set by gl_queue_after(), like the stages of backend.h.
 *
 * A lane is a thread with a context that runs the commands of some orders.  One lane computes.  Two
 * others only copy between buffers, one per direction, in contexts that share objects with the
 * first, so that drivers can copy while kernels run.  If such a context cannot be created, the
 * computing lane copies, too.  A lane runs any command that is ready.  No context waits for another
 * one on the device: a command is passed to a context when its dependencies are met, those of other
 * lanes when their fence is signaled, those of the same lane as soon as they were passed to it,
 * because a context executes in order.
 *
 * The first failure and its message are kept and returned to all callers that wait; later commands
 * are skipped.
 */
#ifndef FBP_SRC_GL_QUEUE_H
#define FBP_SRC_GL_QUEUE_H

#include "backend/backend.h"

/** Orders: first those of the stages, with the stages' numbers. */
enum gl_order {
    GL_ORDER_IN = FBP_STAGE_IN,
    GL_ORDER_FILTER = FBP_STAGE_FILTER,
    GL_ORDER_BP = FBP_STAGE_BP,
    GL_ORDER_OUT = FBP_STAGE_OUT,
    GL_ORDER_UNPACK = FBP_N_STAGES, /**< computations for OUT */
    GL_ORDER_CALL,                  /**< synchronous calls, and commands of no stage */
    GL_N_ORDERS
};

enum gl_lane { GL_LANE_COMPUTES = 0, GL_LANE_IN, GL_LANE_OUT, GL_N_LANES };

/** A point in an order: all commands up to this ticket; ticket 0: always passed. */
struct gl_point {
    enum gl_order order;
    uint64_t ticket;
};

/** A command; `device` as passed to gl_queue_open(), `command` a copy of the submitted parameters.
 */
typedef fbp_status gl_command_fn(void *device, void *command);

/** Releases an object that a command holds, when the device is done or the command was skipped. */
typedef void gl_release_fn(void *held);

/** First and last functions of the threads, with their contexts. */
struct gl_queue_life {
    fbp_status (*begin)(void *device);
    void (*end)(void *device); /**< called after a failed begin(), too */
    /** The same of the lanes that copy.  They begin after the computing lane, and end before it.
     * NULL: there is one lane only. */
    fbp_status (*begin_copies)(void *device, enum gl_lane lane);
    void (*end_copies)(void *device, enum gl_lane lane);
};

struct gl_queue;

/** Start the threads; returns the status of the first begin(). */
fbp_status gl_queue_open(struct gl_queue **out, const struct gl_queue_life *life, void *device);
/** Run all submitted commands, then stop the threads. */
void gl_queue_close(struct gl_queue **queue);

/** Submit a command; `bytes` bytes of parameters are copied. */
fbp_status gl_queue_submit(struct gl_queue *queue, enum gl_order order, gl_command_fn *fn,
                           const void *command, size_t bytes);

/** Properties of commands that most do not have. */
struct gl_submission {
    /** Depends on all commands submitted so far, and runs after a failure, too: it drops memory. */
    bool last;
    bool stamp; /**< a timestamp, run together with the neighbouring command */
    /** Receives the host's time (fbp_seconds()) at which a lane that copies passes this point,
     * before gl_queue_wait() returns for it. */
    double *moment;
    gl_release_fn *release; /**< called with `held` in any case, unless the submission fails */
    void *held;
};

/** Submit a command with such properties; fn NULL: it only marks a point. */
fbp_status gl_queue_submit_with(struct gl_queue *queue, enum gl_order order, gl_command_fn *fn,
                                const void *command, size_t bytes,
                                const struct gl_submission *with);

/** Submit a command of GL_ORDER_CALL and wait until it has run, not until the device is done. */
fbp_status gl_queue_call(struct gl_queue *queue, gl_command_fn *fn, const void *command,
                         size_t bytes);
/** The same in another order. */
fbp_status gl_queue_call_in(struct gl_queue *queue, enum gl_order order, gl_command_fn *fn,
                            const void *command, size_t bytes);

/** Make all later commands of an order depend on a point of another. */
void gl_queue_after(struct gl_queue *queue, enum gl_order order, struct gl_point point);
/** The point of an order after its last command and all dependencies of the next one. */
fbp_status gl_queue_point(struct gl_queue *queue, enum gl_order order, struct gl_point *out);
/** Wait until the device has passed a point; returns the first failure, with its message. */
fbp_status gl_queue_wait(struct gl_queue *queue, struct gl_point point);

/** Is this order run by a lane that only copies? */
bool gl_queue_copies(struct gl_queue *queue, enum gl_order order);

#endif /* FBP_SRC_GL_QUEUE_H */
