/** @file orders.h  Orders of commands, and the lanes that run them (internal to the queue). */
#ifndef FBP_SRC_GL_ORDERS_H
#define FBP_SRC_GL_ORDERS_H

#include "backend/backend.h"

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

#endif /* FBP_SRC_GL_ORDERS_H */
