/** @file queue.h  The one thread that owns a device's context, and what it is given to do
 * (internal).
 *
 * A context belongs to one thread, while a device's slots are called from four.  They leave
 * commands here and return; the thread runs them one after another, whatever stage they are of.
 * That meets all orders that marks demand, because a context executes its commands in the order in
 * which they are given: a command comes after all that were there before it, of any stage, and
 * nobody has to wait for a mark but the host.  A mark is the number of the last command of its
 * stage, and is past when the fence behind that command is.
 *
 * The first failure stays, with its message, for all who wait; later commands are left out.
 */
#ifndef FBP_SRC_GL_QUEUE_H
#define FBP_SRC_GL_QUEUE_H

#include "backend/backend.h"

struct gl_queue;

/** A command: `device` as given to gl_queue_open(), `command` its own copy of what was submitted.
 */
typedef fbp_status gl_command_fn(void *device, void *command);

/** What the thread does first and last, with the context. */
struct gl_queue_life {
    fbp_status (*begin)(void *device);
    void (*end)(void *device); /**< after a failed begin(), too */
};

/** Start the thread; returns when it has begun, with its status. */
fbp_status gl_queue_open(struct gl_queue **out, const struct gl_queue_life *life, void *device);
/** All that was submitted is run first. */
void gl_queue_close(struct gl_queue **queue);

/** Leave a command of `bytes` bytes, which are copied. */
fbp_status gl_queue_submit(struct gl_queue *queue, enum fbp_stage stage, gl_command_fn *fn,
                           const void *command, size_t bytes);
/** The same, of a command that runs after a failure, too: what gives back memory. */
fbp_status gl_queue_submit_always(struct gl_queue *queue, gl_command_fn *fn, const void *command,
                                  size_t bytes);
/** As gl_queue_submit(), and wait until it has run; not until the device is done with it. */
fbp_status gl_queue_call(struct gl_queue *queue, gl_command_fn *fn, const void *command,
                         size_t bytes);

/** The stage's last command. */
uint64_t gl_queue_ticket(struct gl_queue *queue, enum fbp_stage stage);
/** Wait until the device is done with a command; the first failure, with its message. */
fbp_status gl_queue_wait(struct gl_queue *queue, uint64_t ticket);

#endif /* FBP_SRC_GL_QUEUE_H */
