/** @file watch.h  Files that are read: are they still what they were when reading began? (internal)
 */
#ifndef FBP_SRC_WATCH_H
#define FBP_SRC_WATCH_H

#include "base/private.h"
#include "base/status.h"

#include <stddef.h>
#include <sys/stat.h>

/** Files by name, with device, inode, size and time as they were. */
struct fbp_watch {
    struct fbp_watched *files;
    size_t n, room;
    fbp_status status; /**< why one of them could not be noted */
};

/** Note the file, or all files, of an array: a name as sources are opened by.  Of one that is not
 *  there, which is for whoever opens it to say, none behind it are noted. */
FBP_PRIVATE_API fbp_status fbp_watch_add(struct fbp_watch *watch, const char *array);

/** FBP_ERR_IO, with a message that names the first that is another, has another size or time, or is
 *  gone. */
FBP_PRIVATE_API fbp_status fbp_watch_check(const struct fbp_watch *watch);

FBP_PRIVATE_API void fbp_watch_clear(struct fbp_watch *watch);

#endif /* FBP_SRC_WATCH_H */
