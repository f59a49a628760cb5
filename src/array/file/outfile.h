/** @file outfile.h  Output files that are published when complete, temporary files without a name,
 * and free disk space (internal; outfile.c). An output file is written under a hidden random name
 * in the output's folder: no existing file is opened for writing. The file is synced to disk before
 * it replaces an older file. After a full disk, a kill or a power failure, either the old file or
 * the new one exists, complete.
 * Used by: bench/, cli/, array/, picture/, pipeline/, scan/. */
#ifndef FBP_SRC_ARRAY_FILE_OUTFILE_H
#define FBP_SRC_ARRAY_FILE_OUTFILE_H

#include "base/base.h"

#include <stdio.h>

struct fbp_outfile {
    FILE *f;        /**< stream for writing; a failed write records a message */
    int fd;         /**< descriptor of the file that `f` writes, for fbp_write_at() */
    char *path;     /**< final name */
    char *part;     /**< malloc'ed temporary name; NULL: the file has its final name */
    bool exclusive; /**< An existing file is not replaced. */
    uint64_t at;    /**< byte at which `f` writes next */
};

/** Check that an output file can have the name `path`: FBP_ERR_INVALID if anything but a regular
 * file has this name. */
fbp_status fbp_output_check(const char *path);

/** Get the folder of an output `path`, malloc'ed, also after an error. A missing folder is created
 * (*made) if its parent folder exists. */
fbp_status fbp_output_folder(const char *path, char **folder, bool *made);

/** Open an output file for writing under a temporary name; `path` is its later, final name. */
fbp_status fbp_outfile_open(struct fbp_outfile *out, const char *path);

/** Sync a complete output file to disk and close it; the file keeps its temporary name. */
fbp_status fbp_outfile_settle(struct fbp_outfile *out);

/** Rename n output files, which fbp_outfile_settle() has closed, to their final names, one after
 * another. All names are checked before the first renaming. */
fbp_status fbp_outfile_publish(struct fbp_outfile *out, size_t n);

/** Settle and publish a single file. */
fbp_status fbp_outfile_finish(struct fbp_outfile *out);

/** Free the struct; an output file without its final name is removed from the disk. */
void fbp_outfile_clear(struct fbp_outfile *out);

/** Random number, for the name of a temporary file. */
uint64_t fbp_random_number(void);

/** End of a message about a failed file creation: "; make it writable, or choose another folder …"
 * if the errno `error` means missing permission or a read-only file system; else "". */
const char *fbp_write_remedy(int error);

/** Sync the folder that contains `path` to disk, if the file system supports that. */
void fbp_sync_folder(const char *path);

/** Start writing bytes [at, at + n) of a file to disk without waiting, to shorten fsync(). */
void fbp_begin_sync(int fd, uint64_t at, uint64_t n);

/** fsync(), but no error on file systems that do not support it. */
fbp_status fbp_sync_file(int fd, const char *path);

/** Free space for this user on the disk that contains an open file [bytes]; UINT64_MAX: unknown. */
uint64_t fbp_disk_free(int fd);

/** Reserve disk space for the first `bytes` bytes of a file. If the file system cannot reserve
 * space, the free space is checked and the file enlarged. @return 0, or an errno */
int fbp_disk_reserve(int fd, uint64_t bytes);

/** Enlarge a file to `bytes` bytes without reserving blocks, if the disk has the free space.
 * @return 0, or an errno */
int fbp_disk_extend(int fd, uint64_t bytes);

/** Map the first `bytes` bytes of a file on a file system in memory (tmpfs), as the destination of
 * fbp_map_copy(); NULL: another file system, or the system refuses. */
char *fbp_map_memory_file(int fd, uint64_t bytes);

/** Copy data[n] to byte `at` of a mapping of fbp_map_memory_file(). Several threads can copy at
 * once, but write() lets one thread at a time into a file. false: the bytes were not all copied,
 * because the disk is full, the file was shortened, or the system refuses. */
bool fbp_map_copy(char *map, uint64_t at, const void *data, size_t n);

/** Fail with FBP_ERR_IO and the message that the disk that contains `path` is too full. need:
 * required bytes; left: free bytes. */
fbp_status fbp_fail_disk_full(const char *path, uint64_t need, uint64_t left);

/** Open a file without a name in a folder; it disappears when it is closed. @return
 * descriptor for reading and writing; -1 with errno */
int fbp_open_nameless(const char *folder);

/** A temporary file without a name, for filtered or corrected views; its disk space is reserved at
 * opening. */
struct fbp_scratch {
    int fd; /**< -1: none is open */
    const char *folder;
};

/** Check that a file can be created in this folder. @return FBP_ERR_IO: missing or not writable */
fbp_status fbp_scratch_check(const char *folder);

/**
 * Open a temporary file of `bytes` zeros without a name in a folder. The text `folder` must outlive
 * the struct.
 * @return FBP_ERR_IO: the folder is missing or not writable, or its disk has too little space
 */
fbp_status fbp_scratch_open(struct fbp_scratch *out, const char *folder, uint64_t bytes);
void fbp_scratch_close(struct fbp_scratch *s);

/**
 * Write a small text file under a temporary name, flush it to disk, and rename it.  A file of the
 * final name is therefore always complete, and an older file is not lost if the disk is full.
 *
 * replace  true: replace an existing file; false: an existing file is an error
 * @return FBP_ERR_IO, FBP_ERR_INVALID (the file exists, or is not a regular file), FBP_ERR_NOMEM.
 */
fbp_status fbp_text_save(const char *path, const char *text, bool replace);

/** Write pixels[n_rows][n_columns][channels] of 8 bits, top row first, as a PNG file
 * (array/format/png.c). channels: 1 (grey) or 3 (RGB). */
fbp_status fbp_png_write(const char *path, size_t n_columns, size_t n_rows, int channels,
                         const uint8_t *pixels);

#endif /* FBP_SRC_ARRAY_FILE_OUTFILE_H */
