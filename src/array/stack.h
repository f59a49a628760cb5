/** @file stack.h  Views in a file each: a pattern of names, or a folder, as one source (internal).
 */
#ifndef FBP_SRC_STACK_H
#define FBP_SRC_STACK_H

#include "array/file/format.h"

/** How the file of one view is opened: fbp_source_open(), of whose files a stack is made. */
typedef fbp_status fbp_open_view_fn(fbp_source **out, const char *path, const struct fbp_raw *raw);

/** Fill in src, whose path is a pattern or a folder.  raw: n[2] is the number of files or 0, the
 * rest holds for each file.  All files are looked at; of a growing source the first, if it has a
 * header. */
fbp_status fbp_stack_open(struct fbp_source *src, const struct fbp_raw *raw,
                          fbp_open_view_fn *open);

#endif /* FBP_SRC_STACK_H */
