/** @file scratch.h  A temporary file without a name (internal).
 *
 * Its name is removed as soon as it is open, so that nothing is left of it however the process
 * ends; its room is reserved before anything is written.
 */
#ifndef FBP_SRC_SCRATCH_H
#define FBP_SRC_SCRATCH_H

#include "base/base.h"

#include <stdint.h>

/** Can a file be made in this folder?  @return FBP_ERR_IO: it is not there or not writable. */
fbp_status fbp_scratch_check(const char *folder);

struct fbp_scratch {
    int fd; /**< -1: none is open */
    const char *folder;
};

/**
 * A file of so many bytes, all of them zero, in a folder, whose name must outlive it.
 * @return FBP_ERR_IO: the folder is not there or not writable, or has too little room.
 */
fbp_status fbp_scratch_open(struct fbp_scratch *out, const char *folder, uint64_t bytes);
void fbp_scratch_close(struct fbp_scratch *s);

#endif /* FBP_SRC_SCRATCH_H */
