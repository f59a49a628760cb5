/** @file outfile.h  Output files that appear under their names when they are complete, temporary
 *  files without a name, and room on disks (internal; outfile.c).
 *
 * An output file is written without a name, or, if the file system does not offer that, under a
 * hidden random name in the output's folder: no existing file is opened for writing.  It is synced
 * to disk before it replaces an older file: after a full disk, a kill or a power cut there is the
 * old file or the new one, whole.
 */
#ifndef FBP_SRC_ARRAY_FILE_OUTFILE_H
#define FBP_SRC_ARRAY_FILE_OUTFILE_H

#include "base/base.h"

#include <stdint.h>
#include <stdio.h>

struct fbp_outfile {
    FILE *f;        /**< stream to write to; failures of the disk are latched as messages */
    int fd;         /**< descriptor of the same file, for fbp_write_at() */
    char *path;     /**< final name */
    char *part;     /**< name under which it can be read until then; NULL: published */
    bool named;     /**< `part` is a name in the output's folder */
    bool exclusive; /**< an existing file is not replaced; to be set before publishing */
    uint64_t at;    /**< byte at which `f` writes next */
};

/** Check that a name is free, or that of a regular file, which can be replaced. */
fbp_status fbp_output_check(const char *path);

/** The folder of an output, malloc'ed also after an error; created (`made`) if only itself is
 *  missing. */
fbp_status fbp_output_folder(const char *path, char **folder, bool *made);

/** Open a file for writing that will be called `path`. */
fbp_status fbp_outfile_open(struct fbp_outfile *out, const char *path);

/** Sync a completely written file to disk and close it.  It keeps a temporary name. */
fbp_status fbp_outfile_settle(struct fbp_outfile *out);

/** Give settled files their names, one after another. */
fbp_status fbp_outfile_publish(struct fbp_outfile *out, size_t n);

/** Settle and publish a single file. */
fbp_status fbp_outfile_finish(struct fbp_outfile *out);

/** Free; a file that was not published is removed. */
void fbp_outfile_clear(struct fbp_outfile *out);

/** Remedy for an errno of creating a file, as the end of a message; "": none. */
const char *fbp_write_remedy(int error);

/** Sync the names in the folder of `path` to disk, if the file system can do that. */
void fbp_sync_folder(const char *path);

/** Start to write bytes [at, at+n) of a file to disk without waiting, to shorten the later fsync().
 */
void fbp_begin_sync(int fd, uint64_t at, uint64_t n);

/** fsync(); file systems without it are no error. */
fbp_status fbp_sync_file(int fd, const char *path);

/** Bytes that this user may still fill on a file's disk; UINT64_MAX: unknown. */
uint64_t fbp_disk_free(int fd);

/** Reserve the first bytes of a file.
 *  @return 0; EOPNOTSUPP on a file system that cannot; another errno. */
int fbp_disk_reserve(int fd, uint64_t bytes);

/** Fail with "PATH: the disk is too small" for so many bytes, and the remedy: FBP_ERR_IO. */
fbp_status fbp_fail_disk_full(const char *path, uint64_t need, uint64_t left);

/** Open a file in a folder that has no name, or none any more: nothing is left of it however the
 *  process ends.  @return descriptor for reading and writing; -1 with errno */
int fbp_open_nameless(const char *folder);

/** A temporary file without a name whose room is reserved before anything is written. */
struct fbp_scratch {
    int fd; /**< -1: none is open */
    const char *folder;
};

/** Check that a file can be made in this folder.  @return FBP_ERR_IO: missing or not writable. */
fbp_status fbp_scratch_check(const char *folder);

/**
 * Open a file of so many bytes, all of them zero, in a folder, whose name must outlive it.
 * @return FBP_ERR_IO: the folder is missing or not writable, or has too little room.
 */
fbp_status fbp_scratch_open(struct fbp_scratch *out, const char *folder, uint64_t bytes);
void fbp_scratch_close(struct fbp_scratch *s);

#endif /* FBP_SRC_ARRAY_FILE_OUTFILE_H */
