/** @file queue.h  What a device is given to do, and the threads that own its contexts and do it
 * (internal).
 *
 * A context belongs to one thread, while a device's slots are called from four.  They leave
 * commands here and return.  Commands of one order run in the order in which they were left; orders
 * run side by side, but for what gl_queue_after() demands, as the stages of backend.h do.
 *
 * Orders are run by lanes: a thread with a context each.  One lane computes.  Two others only copy
 * between buffers, one each way, in contexts that share the first one's objects, so that drivers
 * can copy beside kernels.  Where no such context is to be had, the first lane does their work,
 * too.  A lane does what is ready, of whatever order; nothing ever waits on the device for another
 * context: a command is given to it when what it comes after is done, of another lane by the fence
 * behind it, of the same one as soon as that was given to the context, which executes in order.
 *
 * The first failure stays, with its message, for all who wait; later commands are left out.
 */
#ifndef FBP_SRC_GL_QUEUE_H
#define FBP_SRC_GL_QUEUE_H

#include "backend/backend.h"

/* Orders of commands, and the lanes that run them (internal to the queue). */

/** Those of the stages come first, with the stages' numbers. */
enum gl_order {
    GL_ORDER_IN = FBP_STAGE_IN,
    GL_ORDER_FILTER = FBP_STAGE_FILTER,
    GL_ORDER_BP = FBP_STAGE_BP,
    GL_ORDER_OUT = FBP_STAGE_OUT,
    GL_ORDER_UNPACK = FBP_N_STAGES, /**< what is computed for OUT */
    GL_ORDER_CALL,                  /**< what is waited for at once, or belongs to no stage */
    GL_N_ORDERS
};

enum gl_lane { GL_LANE_COMPUTES = 0, GL_LANE_IN, GL_LANE_OUT, GL_N_LANES };

/** A point in an order: all up to this command; ticket 0 = long past. */
struct gl_point {
    enum gl_order order;
    uint64_t ticket;
};

/** A command: `device` as given to gl_queue_open(), `command` its own copy of what was submitted.
 */
typedef fbp_status gl_command_fn(void *device, void *command);

/** What a command holds until the device is done with it, or has left it out. */
typedef void gl_let_go_fn(void *held);

/** What the threads do first and last, with their contexts. */
struct gl_queue_life {
    fbp_status (*begin)(void *device);
    void (*end)(void *device); /**< after a failed begin(), too */
    /** The same of the lanes that copy, of which the others may have none: they begin when the
     *  first one has, and end before it does.  NULL: there is one lane. */
    fbp_status (*begin_copies)(void *device, enum gl_lane lane);
    void (*end_copies)(void *device, enum gl_lane lane);
};

struct gl_queue;

/** Start the threads; returns when the first has begun, with its status. */
fbp_status gl_queue_open(struct gl_queue **out, const struct gl_queue_life *life, void *device);
/** All that was submitted is run first. */
void gl_queue_close(struct gl_queue **queue);

/** Leave a command of `bytes` bytes, which are copied. */
fbp_status gl_queue_submit(struct gl_queue *queue, enum gl_order order, gl_command_fn *fn,
                           const void *command, size_t bytes);
/** ... that holds something: let_go(held) follows in any case, unless this fails. */
fbp_status gl_queue_submit_holding(struct gl_queue *queue, enum gl_order order, gl_command_fn *fn,
                                   const void *command, size_t bytes, gl_let_go_fn *let_go,
                                   void *held);
/** The same, of a command that comes after all of any order that is there, and runs after a
 *  failure, too: what gives back memory. */
fbp_status gl_queue_submit_last(struct gl_queue *queue, gl_command_fn *fn, const void *command,
                                size_t bytes);
/** A command of GL_ORDER_CALL; wait until it has run, not until the device is done with it. */
fbp_status gl_queue_call(struct gl_queue *queue, gl_command_fn *fn, const void *command,
                         size_t bytes);
/** The same, at this point of an order. */
fbp_status gl_queue_call_in(struct gl_queue *queue, enum gl_order order, gl_command_fn *fn,
                            const void *command, size_t bytes);

/** What is submitted to an order from now on comes after a point of another. */
void gl_queue_after(struct gl_queue *queue, enum gl_order order, struct gl_point point);
/** An order's last command, and what the next one would come after. */
fbp_status gl_queue_point(struct gl_queue *queue, enum gl_order order, struct gl_point *out);
/** Wait until the device has come to a point; the first failure, with its message. */
fbp_status gl_queue_wait(struct gl_queue *queue, struct gl_point point);

/** The computing lane takes a stamp together with the command beside it: a command that only asks
 *  for the time. */
fbp_status gl_queue_submit_stamp(struct gl_queue *queue, enum gl_order order, gl_command_fn *fn,
                                 const void *command, size_t bytes);
/** Is this order run by a lane of its own, that only copies? */
bool gl_queue_copies(struct gl_queue *queue, enum gl_order order);
/** *when becomes the time when such a lane comes to this point, by fbp_seconds(), before the point
 *  is past for gl_queue_wait(). */
fbp_status gl_queue_moment(struct gl_queue *queue, enum gl_order order, double *when);

#endif /* FBP_SRC_GL_QUEUE_H */
