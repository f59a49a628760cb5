/* Marks: numbers of commands in the queue, which runs in order. */
#include "backend/gl/gl.h"

fbp_status gl_mark(fbp_device *device, enum fbp_stage stage, struct fbp_mark *out)
{
    *out = (struct fbp_mark){stage, gl_queue_ticket(gl_of(device)->queue, stage)};
    return FBP_OK;
}

/* What is submitted from now on comes after all that was. */
fbp_status gl_after(fbp_device *device, enum fbp_stage stage, struct fbp_mark mark)
{
    (void)device;
    (void)stage;
    (void)mark;
    return FBP_OK;
}

fbp_status gl_wait(fbp_device *device, struct fbp_mark mark)
{
    return gl_queue_wait(gl_of(device)->queue, mark.ticket);
}
