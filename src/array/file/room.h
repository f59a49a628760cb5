/** @file room.h  Room on a disk, and files without a name (internal). */
#ifndef FBP_SRC_ROOM_H
#define FBP_SRC_ROOM_H

#include "base/base.h"

#include <stdint.h>

/** Bytes that this user may still fill on a file's disk; UINT64_MAX: not known. */
uint64_t fbp_room_left(int fd);

/** Reserve the first bytes of a file.
 *  @return 0; EOPNOTSUPP on a file system that cannot; another errno. */
int fbp_room_reserve(int fd, uint64_t bytes);

/** "PATH: the disk is too small" for so many bytes, with the remedy: FBP_ERR_IO. */
fbp_status fbp_fail_room(const char *path, uint64_t need, uint64_t left);

/** A file in a folder that has no name, or none any more: nothing is left of it however the process
 *  ends.  @return for reading and writing; -1 with errno */
int fbp_nameless_open(const char *folder);

#endif /* FBP_SRC_ROOM_H */
