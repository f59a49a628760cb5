/* Marks: points in the queue's orders, which have the stages' numbers. */
#include "backend/gl/gl.h"

fbp_status gl_mark(fbp_device *device, enum fbp_stage stage, struct fbp_mark *out)
{
    struct gl_point point;

    FBP_TRY(gl_queue_point(gl_of(device)->queue, (enum gl_order)stage, &point));
    *out = (struct fbp_mark){stage, point.ticket};
    return FBP_OK;
}

static struct gl_point point_of(struct fbp_mark mark)
{
    return (struct gl_point){(enum gl_order)mark.stage, mark.ticket};
}

fbp_status gl_after(fbp_device *device, enum fbp_stage stage, struct fbp_mark mark)
{
    struct gl_queue *queue = gl_of(device)->queue;

    if (mark.ticket == 0)
        return FBP_OK;
    gl_queue_after(queue, (enum gl_order)stage, point_of(mark));
    if (stage == FBP_STAGE_OUT)
        gl_queue_after(queue, GL_ORDER_UNPACK, point_of(mark));
    return FBP_OK;
}

fbp_status gl_wait(fbp_device *device, struct fbp_mark mark)
{
    return gl_queue_wait(gl_of(device)->queue, point_of(mark));
}
