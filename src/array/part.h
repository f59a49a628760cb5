/** @file part.h  Temporary files beside an output: only those that this program left are taken over
 * (internal).
 *
 * In a folder that others can write to, a name such as v.mha.part may be anybody's: a file that is
 * an input, a link to one, a pipe.  A file is created only where nothing is; one that is there is
 * taken over only beside a journal of ours, if it is a regular file without other names.
 */
#ifndef FBP_SRC_PART_H
#define FBP_SRC_PART_H

#include "fbp/array.h"

#include "base/base.h"

#include <sys/stat.h>

/** Files that are read, by device and inode. */
struct fbp_part_inputs {
    const struct fbp_sink_params *params; /**< their names, too */
    struct stat *is;
    size_t n, room;
    fbp_status status; /**< why one of them is not known */
};

fbp_status fbp_part_inputs_open(struct fbp_part_inputs *out, const struct fbp_sink_params *params);
void fbp_part_inputs_close(struct fbp_part_inputs *inputs);

/** FBP_ERR_INVALID if this temporary file of an output is read for it. */
fbp_status fbp_part_spare(const struct fbp_part_inputs *inputs, const char *path);

/**
 * Open and lock the journal of an output, which is created if it is not there.
 *
 * left  it is a journal that an earlier run left; else it is new, empty, or a mere lock
 * made  it can be removed: it was not there, or says nothing of a temporary file
 * @return FBP_ERR_IO if another process holds it, FBP_ERR_INVALID if the file is no journal.
 */
fbp_status fbp_part_lock(const struct fbp_part_inputs *inputs, const char *path, int *fd,
                         bool *left, bool *made);

/** The head of an output that several processes write begins so (array/joint.h). */
#define FBP_PART_HEAD "fbp-journal 3 "
enum { FBP_PART_TURN_SECONDS = 600 };

/**
 * The same of a head, whose lock another process of the output may have for a moment: that is
 * waited for, so many seconds at most.
 *
 * create  where there is none; else *fd is -1 then
 */
fbp_status fbp_part_turn(const struct fbp_part_inputs *inputs, const char *path, bool create,
                         int *fd, bool *left);

/** Is an open file still what `path` names?  FBP_ERR_IO if nobody can say. */
fbp_status fbp_part_find_named(int fd, const char *path, bool *named);

/** Nothing is there, or it is removed if it is `ours` or empty; anything else is refused. */
fbp_status fbp_part_clear(const struct fbp_part_inputs *inputs, const char *path, bool ours);

/** What a lock without temporary files of its own holds begins so. */
#define FBP_PART_LOCK "fbp-journal 2 lock "

/** Create for reading and writing, where nothing is. */
fbp_status fbp_part_create(const char *path, int *fd);

/** Open what an earlier run of ours left; *fd -1: it is gone. */
fbp_status fbp_part_reopen(const struct fbp_part_inputs *inputs, const char *path, int *fd);

#endif /* FBP_SRC_PART_H */
