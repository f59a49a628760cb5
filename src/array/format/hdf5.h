/** @file hdf5.h  HDF5 files: calls of the HDF5 library, lists of data sets, and data sets as
 * sources (internal; hdf5.c, hdf5_lib.c, hdf5_chunks.c, hdf5_virtual.c).
 *
 * Included by the HDF5 format and by the scan reader scan/format/hdf5_scan.c. The library is
 * entered only through fbp_hdf5_contain(): after fbp_isolate_readers(true) in a child process, else
 * in the calling process, one call at a time.
 */
#ifndef FBP_SRC_ARRAY_FORMAT_HDF5_H
#define FBP_SRC_ARRAY_FORMAT_HDF5_H

#include "array/file/format.h"
#include "base/sandbox.h"

#include <hdf5.h>

/** Attributes of integers, named as in netCDF's CF conventions: value = scale_factor * number +
 *  add_offset. */
#define FBP_HDF5_SCALE  "scale_factor"
#define FBP_HDF5_OFFSET "add_offset"

enum { FBP_HDF5_RANK = 4, FBP_HDF5_PATH = 256 };

/** A data set of a file. */
struct fbp_hdf5_entry {
    char path[FBP_HDF5_PATH]; /**< "/exchange/data" */
    int rank;                 /**< may exceed FBP_HDF5_RANK */
    hsize_t n[FBP_HDF5_RANK];
    bool numeric; /**< integers or floats */
    bool linked;  /**< reached through a soft or an external link */
    bool again;   /**< another name of a data set that is listed before */
};

/** All data sets: those of the file first, then those that links lead to. */
struct fbp_hdf5_list {
    struct fbp_hdf5_entry *entries;
    size_t n, room;
    char unread[600]; /**< "/a (a link to b.h5:/a) cannot be opened, the library says …"; "" */
};

/* ---- the library (hdf5_lib.c) */

/** Limits of a child process that opens and lists a file. */
extern const struct fbp_sandbox_limits fbp_hdf5_limits;

/**
 * fbp_sandbox_run() for functions that enter the library.
 *
 * @return FBP_ERR_NOMEM, too, if the library had no memory for something, whatever fn returned: a
 *         data set that was not found then may exist
 */
fbp_status fbp_hdf5_contain(const char *path, const struct fbp_sandbox_limits *limits,
                            fbp_sandbox_fn *fn, void *arg, struct fbp_blob *reply);

/** After a failed write: leave this call's objects open, because the library crashes if such a file
 *  is closed again. */
void fbp_hdf5_leave_open(void);

/** Use no file locks: some file systems have none, and files are only read, or are drafts that no
 *  other process knows. */
void fbp_hdf5_no_locks(hid_t access);

/** Open a file for reading without locks; negative on failure.  Close with H5Fclose(). */
hid_t fbp_hdf5_open_file(const char *file);

/** Open for reading; name: for messages.  Close with H5Fclose(). */
fbp_status fbp_hdf5_open(const char *file, const char *name, hid_t *out);

/** Access to objects that fails for an external link to a file that is not regular. */
hid_t fbp_hdf5_access(void);

/** The library's reason for its last failure, or "". */
const char *fbp_hdf5_reason(char *buf, size_t n);

/** Did a system call fail, whatever the library made of it? */
bool fbp_hdf5_system_failed(void);

/** Type of samples in files that are written, and in memory: little-endian. */
hid_t fbp_hdf5_type(enum fbp_type type);

/** List all data sets; free(out->entries). */
fbp_status fbp_hdf5_list(hid_t file, const char *name, struct fbp_hdf5_list *out);

/** Find the data set of a path; NULL. */
const struct fbp_hdf5_entry *fbp_hdf5_find(const struct fbp_hdf5_list *list, const char *path);

/** Fail with "FILE: has no data set X: did you mean Y?  It has A (181 x 2 x 640), B …". */
fbp_status fbp_hdf5_missing(const char *file, const char *member, const struct fbp_hdf5_list *list);

/** Put a sentence into out: a path cannot be opened, and the remedy.  link: from fbp_hdf5_link();
 *  why: from fbp_hdf5_reason(). */
void fbp_hdf5_unread(const char *path, const char *link, const char *why, char *out, size_t n);

/** " (a link to raw.h5:/data)" if the path is a soft or external link, else "". */
void fbp_hdf5_link(hid_t file, const char *path, char *out, size_t n);

/** Read a numeric data set of any shape as n doubles, at most `most`; free(*out). */
fbp_status fbp_hdf5_numbers(hid_t file, const char *name, const char *path, size_t most,
                            double **out, size_t *n);

/** Read the image_key of each frame, at `path`: 0 projections, 1 flats, 2 darks.  Projections that
 *  image_key_control, beside it, marks otherwise have its key: -1 for frames of the alignment.
 *  free(*out). */
fbp_status fbp_hdf5_keys(hid_t file, const char *name, const char *path,
                         const struct fbp_hdf5_list *list, double **out, size_t *n);

/** Read an attribute; false if it is missing or of another kind.  Text: attribute NULL is the data
 *  set itself.  Numbers: exactly n of them. */
bool fbp_hdf5_text_of(hid_t object, const char *attribute, char *out, size_t n);
bool fbp_hdf5_numbers_of(hid_t object, const char *attribute, double *out, size_t n);

/* ---- virtual data sets (hdf5_virtual.c) */

/** Check that all files of a virtual data set's sources exist: the library would read the fill
 *  value.  FBP_ERR_INVALID if not.
 *
 *  files: the names of these files are appended, each with its '\0'
 *  missing: chunks of the sources that were never written, and all of them, are added */
fbp_status fbp_hdf5_check_virtual(hid_t data, const char *path, struct fbp_blob *files,
                                  size_t missing[2]);

/** The same for a block that is read next, for which the library holds all of these files open.
 *  *fits: they are at most `most`, and so many can be open; else some may be unchecked. */
fbp_status fbp_hdf5_check_block(hid_t data, const char *path, const hsize_t *first,
                                const hsize_t *n, size_t most, bool *fits);

/** Set 1 for each slice (of the first dimension) of a virtual data set that has a source. */
void fbp_hdf5_covered(hid_t plist, unsigned char *covered, size_t n);

/** Add to *all the chunks of a data set, and to *missing those that were never written. */
void fbp_hdf5_count_chunks(hid_t data, hid_t plist, size_t *missing, size_t *all);

/* ---- data sets as sources (hdf5.c, hdf5_chunks.c) */

enum fbp_hdf5_how {
    FBP_HDF5_CONTIGUOUS, /**< one run of samples at `offset` */
    FBP_HDF5_CHUNKED,    /**< chunks that fbp reads itself: plain, deflate, shuffle */
    FBP_HDF5_LIBRARY,    /**< only the library can read them */
    FBP_HDF5_COLUMNS,    /**< of MATLAB: transposed into memory */
};

/** Place of a chunk; bytes 0: it was never written, its samples are the fill value. */
struct fbp_hdf5_chunk {
    uint64_t at;
    uint32_t bytes;
    uint32_t left_out; /**< bit i: filter i was not applied */
};

/** Description of a data set by the library; followed in the reply by names of files, map[n[2]] (if
 *  `selected`) and the chunks. */
struct fbp_hdf5_array {
    enum fbp_hdf5_how how;
    struct fbp_array_info info; /**< all but `format`; n[2]: number of selected slices */
    size_t n_slices;            /**< number of slices of the data set */
    uint64_t offset;
    size_t chunk[3]; /**< columns, rows, slices of a chunk, or of a block that the library reads */
    int rank;
    bool sinogram; /**< two dimensions are [view][column] */
    bool selected, shuffle, deflate;
    unsigned char fill[8]; /**< value of unwritten samples, in the byte order of the file */
    size_t n_chunks;       /**< entries of the table: all chunks, written or not */
    size_t file_bytes; /**< bytes of names of virtual sources' files, in the reply behind this */
    char file[1024];   /**< file that holds the samples: links may lead to others */
    char data_set[1024];
};

/** A block of a data set, to be read into shared memory; argument of fbp_hdf5_read_block(). */
struct fbp_hdf5_block {
    const char *path;
    const struct fbp_hdf5_array *array;
    size_t first[3], n[3]; /**< columns, rows, slices in the file */
    size_t room[3];        /**< size of `out`, which starts with the block */
    void *out;
};

/** In a child: read a block through the library. */
fbp_sandbox_fn fbp_hdf5_read_block;

/** Which of columns, rows, slices (0, 1, 2) dimension i of the data set is. */
int fbp_hdf5_axis(const struct fbp_hdf5_array *a, int i);

/** Size of the grid of chunks; returns their number, SIZE_MAX if it is larger. */
size_t fbp_hdf5_grid(const struct fbp_hdf5_array *a, size_t grid[3]);

/** Make src read chunks: takes over map and chunks, which free() frees. */
fbp_status fbp_hdf5_chunks_open(struct fbp_source *src, const struct fbp_hdf5_array *a,
                                uint64_t *map, struct fbp_hdf5_chunk *chunks);

#endif /* FBP_SRC_ARRAY_FORMAT_HDF5_H */
