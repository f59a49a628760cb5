/** @file queue.h  The queue of an OpenGL device: commands in sequences ("orders", like CUDA
 * streams), and the thread that owns its OpenGL context and runs the commands (internal).
 * An OpenGL context belongs to one thread, but four threads of the pipeline call a device's
 * functions; these submit commands to the queue and return.  The commands of one order run in the
 * order of submission; different orders run in any order, except for dependencies that
 * gl_queue_after() sets.
 *
 * The first failure and its message are stored, and returned to all callers that wait; later
 * commands are skipped.
 * Used by: bench/gl/entry.c, bench/gl/s3.c, gl.h, queue.c.
 */
#ifndef FBP_SRC_GL_QUEUE_H
#define FBP_SRC_GL_QUEUE_H

#include "backend/backend.h"

/** Sequences of commands ("orders"), like CUDA streams.  The first four belong to the stages of the
 * pipeline, and have the numbers of enum fbp_stage. */
enum gl_order {
    GL_ORDER_IN = FBP_STAGE_IN,
    GL_ORDER_FILTER = FBP_STAGE_FILTER,
    GL_ORDER_BP = FBP_STAGE_BP,
    GL_ORDER_OUT = FBP_STAGE_OUT,
    /** computations that convert slices, which GL_ORDER_OUT then copies */
    GL_ORDER_UNPACK = FBP_N_STAGES,
    GL_ORDER_CALL, /**< commands with a waiting caller, or without a stage */
    GL_N_ORDERS
};

/** A point in a sequence of commands: it is reached when the device has finished the command with
 * number `ticket`, counted from 1; ticket 0: already reached. */
struct gl_point {
    enum gl_order order;
    uint64_t ticket;
};

/** Runs a command. device: argument of gl_queue_open(); command: copy of the parameters. */
typedef fbp_status gl_command_fn(void *device, void *command);

/** Function that releases the object `held`, which a command uses; called after the device has
 * finished the command, or when the command was skipped. */
typedef void gl_release_fn(void *held);

/** The thread of the queue calls begin() first, to open its OpenGL context, and end() last, after a
 * failed begin(), too.  held() sets *n to the number of commands (gl_submission.rides) whose work
 * is not launched yet; launch: first launch that of the oldest.  NULL: there are no such commands.
 */
struct gl_queue_life {
    fbp_status (*begin)(void *device);
    void (*end)(void *device);
    fbp_status (*held)(void *device, bool launch, unsigned *n);
};

struct gl_queue;

/** Start the thread of a queue; fails if it cannot start, or begin() fails. */
fbp_status gl_queue_open(struct gl_queue **out, const struct gl_queue_life *life, void *device);
/** Run all submitted commands, then stop the thread of a queue. */
void gl_queue_close(struct gl_queue **queue);

/** Submit a command; its parameters (`bytes` bytes) are copied. */
fbp_status gl_queue_submit(struct gl_queue *queue, enum gl_order order, gl_command_fn *fn,
                           const void *command, size_t bytes);

/** Optional properties of a command. */
struct gl_submission {
    /** The command frees memory: it runs after all earlier commands, even if one of them failed. */
    bool last;
    /** The command, of GL_ORDER_IN or GL_ORDER_OUT, only prepares work, which the next commands
     * launch beside their own, or the queue when the device has little else to do. */
    bool rides;
    /** A timestamp: *moment receives the host's time [s] when the device has reached the command;
     * if possible, it runs directly between its neighbours in the sequence. */
    double *moment;
    /** receives the point after this command in its sequence of commands; NULL: not needed */
    struct gl_point *point;
    gl_release_fn *release; /**< called with the argument `held` after the command, also if the
                               command is skipped, but not if its submission fails */
    void *held;
};

/** Submit a command with optional properties; fn NULL: only its end can be awaited. */
fbp_status gl_queue_submit_with(struct gl_queue *queue, enum gl_order order, gl_command_fn *fn,
                                const void *command, size_t bytes,
                                const struct gl_submission *with);

/** Submit a command to GL_ORDER_CALL, and wait for its function, not for the device. */
fbp_status gl_queue_call(struct gl_queue *queue, gl_command_fn *fn, const void *command,
                         size_t bytes);
/** Submit a command to a sequence (order), and wait for its function, not for the device. */
fbp_status gl_queue_call_in(struct gl_queue *queue, enum gl_order order, gl_command_fn *fn,
                            const void *command, size_t bytes);

/** Let later commands of a sequence (order) wait for a point of another sequence. */
void gl_queue_after(struct gl_queue *queue, enum gl_order order, struct gl_point point);
/** Gets the point after the last command of a sequence and the dependencies of its next. */
fbp_status gl_queue_point(struct gl_queue *queue, enum gl_order order, struct gl_point *out);
/** Wait until the device has reached a point; returns the queue's first failure. */
fbp_status gl_queue_wait(struct gl_queue *queue, struct gl_point point);

#endif /* FBP_SRC_GL_QUEUE_H */
