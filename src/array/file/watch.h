/** @file watch.h  Files that are read: are they still what they were when reading began? (internal)
 */
#ifndef FBP_SRC_WATCH_H
#define FBP_SRC_WATCH_H

#include "base/base.h"

#include <stdbool.h>
#include <stddef.h>
#include <sys/stat.h>

/** Files by name, with device, inode, size and time as they were. */
struct fbp_watch {
    struct fbp_watched *files;
    size_t n, room;
    fbp_status status; /**< why one of them could not be noted */
};

/** Note a file, as a fbp_stack_fn; false: it is not there, or cannot be noted (`status`). */
bool fbp_watch_file(void *watch, const char *file);

/** FBP_ERR_IO, with a message that names the first that is another, has another size or time, or is
 *  gone. */
fbp_status fbp_watch_check(const struct fbp_watch *watch);

void fbp_watch_clear(struct fbp_watch *watch);

#endif /* FBP_SRC_WATCH_H */
