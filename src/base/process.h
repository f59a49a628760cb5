/** @file process.h  A child that was forked holds no threads and no devices of its parent
 * (internal).
 */
#ifndef FBP_SRC_PROCESS_H
#define FBP_SRC_PROCESS_H

#include "base/status.h"

#include <unistd.h>

/** FBP_OK in the process `owner` that opened `what`, else FBP_ERR_INVALID. */
static inline fbp_status fbp_own_process(pid_t owner, const char *what)
{
    if (owner == getpid())
        return FBP_OK;
    return fbp_fail(FBP_ERR_INVALID,
                    "%s: was opened by process %ld, of which this one is a forked child: its "
                    "threads and devices are not here: open another one in this process",
                    what, (long)owner);
}

#endif /* FBP_SRC_PROCESS_H */
