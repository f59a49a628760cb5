/** @file sink_stack.h  Slices in a file each (internal).
 *
 * Slice k is written whole as NAME.part; all get their names at the end.  PATTERN.part.log is lock
 * and journal; a line's hash is that of a whole file.
 */
#ifndef FBP_SRC_SINK_STACK_H
#define FBP_SRC_SINK_STACK_H

#include "array/sink.h"

fbp_status fbp_sink_stack_open(struct fbp_sink *s, const char *path,
                               const struct fbp_sink_params *params);
fbp_status fbp_sink_stack_write(struct fbp_sink *s, size_t z0, size_t nz, const void *data);
fbp_status fbp_sink_stack_publish(struct fbp_sink *s);
/** Remove what is there of an unfinished stack. */
void fbp_sink_stack_remove(struct fbp_sink *s);

#endif /* FBP_SRC_SINK_STACK_H */
