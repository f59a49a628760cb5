/** @file outfile.h  Files that appear under their names only when they are complete (internal).
 *
 * What is written has no name, or where the file system does not offer that a hidden one in the
 * output's folder which nobody else has, so that no other file is ever opened for writing.  It is
 * brought to disk before it replaces an older file: after a full disk, a kill or a power cut there
 * is the old file or the new one, whole.
 */
#ifndef FBP_SRC_OUTFILE_H
#define FBP_SRC_OUTFILE_H

#include "base/base.h"

#include <stdio.h>

struct fbp_outfile {
    FILE *f;    /**< to write to; failures of the disk are latched as messages */
    int fd;     /**< of the same file, for fbp_write_at() */
    char *path; /**< the name that it will have */
    char *part; /**< where it can be read until then; NULL: it has been published */
    bool named; /**< `part` is a name in the output's folder */
    bool
        exclusive; /**< a file that is there already is not replaced; to be set before publishing */
    uint64_t at;   /**< where `f` writes next */
};

/** Is the name free, or that of a regular file, which can be replaced? */
fbp_status fbp_output_check(const char *path);

/** The folder of an output, malloc'ed also after an error; created (`made`) if only itself is
 *  missing. */
fbp_status fbp_output_folder(const char *path, char **folder, bool *made);

/** Open a file for writing that will be called `path`. */
fbp_status fbp_outfile_open(struct fbp_outfile *out, const char *path);

/** Everything is written: bring it to disk and close it.  It keeps a temporary name. */
fbp_status fbp_outfile_settle(struct fbp_outfile *out);

/** Give settled files their names, one after another. */
fbp_status fbp_outfile_publish(struct fbp_outfile *out, size_t n);

/** Settle and publish a single file. */
fbp_status fbp_outfile_finish(struct fbp_outfile *out);

/** Free; what was not published is removed. */
void fbp_outfile_clear(struct fbp_outfile *out);

/** What to do where a file cannot be written for this reason, as the end of a message; "" if that
 *  says nothing. */
const char *fbp_write_remedy(int error);

/** Bring the names in the folder of `path` to disk, where that can be done. */
void fbp_sync_folder(const char *path);

/** The system begins to bring bytes [at, at+n) of a file to the disk, and does not wait for it.
 *  fsync() then has less to wait for, whose place this does not take. */
void fbp_begin_sync(int fd, uint64_t at, uint64_t n);

/** fsync(), but for file systems that know no such thing. */
fbp_status fbp_sync_file(int fd, const char *path);

#endif /* FBP_SRC_OUTFILE_H */
