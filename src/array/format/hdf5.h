/** @file hdf5.h  HDF5 files: calls of the HDF5 library, lists of data sets, and data sets as
 * sources (internal; hdf5.c, hdf5_lib.c, hdf5_chunks.c, hdf5_virtual.c). The library is entered
 * only through fbp_hdf5_contain(): after fbp_isolate_readers(true) in a child process, else in the
 * calling process, one call at a time.
 * Used by: array/format/, scan/format/. */
#ifndef FBP_SRC_ARRAY_FORMAT_HDF5_H
#define FBP_SRC_ARRAY_FORMAT_HDF5_H

#include "array/file/format.h"
#include "base/sandbox.h"

#include <hdf5.h>

/** Names of the attributes with the scale of stored integers, as in netCDF's CF conventions: value
 * = scale_factor * number + add_offset. */
#define FBP_HDF5_SCALE  "scale_factor"
#define FBP_HDF5_OFFSET "add_offset"

enum { FBP_HDF5_RANK = 4, FBP_HDF5_PATH = 256 };

/** A data set of a file. */
struct fbp_hdf5_entry {
    char path[FBP_HDF5_PATH]; /**< path of the data set, such as "/exchange/data" */
    int rank;                 /**< number of dimensions; may exceed FBP_HDF5_RANK */
    hsize_t n[FBP_HDF5_RANK];
    bool numeric; /**< the samples are integers or floats */
    bool linked;  /**< The data set was found through a soft or an external link. */
    bool again;   /**< The data set was already listed under another name. */
};

/** Data sets of an HDF5 file, at most 4096: first those in the file itself, then those behind soft
 * and external links. */
struct fbp_hdf5_list {
    struct fbp_hdf5_entry *entries;
    size_t n, room;
    /** sentence about the first object that cannot be opened; "": all could be opened */
    char unread[600];
};

/* ---- the library (hdf5_lib.c) */

/** Limits (memory, time) of a child process that opens and describes an HDF5 file. */
extern const struct fbp_sandbox_limits fbp_hdf5_limits;

/**
 * fbp_sandbox_run() for functions that call the HDF5 library.
 *
 * @return FBP_ERR_NOMEM if the library ran out of memory, and FBP_ERR_IO if a system call in the
 * library failed, even if fn() returned FBP_OK, because fn() may then have missed a data set; else
 * the status of fn()
 */
fbp_status fbp_hdf5_contain(const char *path, const struct fbp_sandbox_limits *limits,
                            fbp_sandbox_fn *fn, void *arg, struct fbp_blob *reply);

/** Leave all HDF5 objects of the current call open after a failed write: the HDF5 library crashes
 * if it closes such a file again. */
void fbp_hdf5_leave_open(void);

/** Disable the HDF5 library's file locks, which some file systems do not have. fbp only reads
 * files, or writes new ones that no other process uses. */
void fbp_hdf5_no_locks(hid_t access);

/** Open an HDF5 file for reading without locks; negative on failure. To be closed by H5Fclose(). */
hid_t fbp_hdf5_open_file(const char *file);

/** Open an HDF5 file for reading. name: for messages. The caller closes *out by H5Fclose(). */
fbp_status fbp_hdf5_open(const char *file, const char *name, hid_t *out);

/** Property list for opening objects of a file; external links to pipes and devices are refused. */
hid_t fbp_hdf5_access(void);

/** Print the reason of the HDF5 library's last failure to buf[n], as the end of a message; "":
 * unknown reason. */
const char *fbp_hdf5_reason(char *buf, size_t n);

/** Whether a system call inside the HDF5 library failed since the current call entered it, even if
 * the library continued. Missing or inaccessible files do not count, because the library causes
 * such errors when it searches for targets of links. */
bool fbp_hdf5_system_failed(void);

/** HDF5 type of samples of `type` in memory and in written files: little-endian. */
hid_t fbp_hdf5_type(enum fbp_type type);

/** List the data sets of an HDF5 file; name: for messages. The caller frees out->entries. */
fbp_status fbp_hdf5_list(hid_t file, const char *name, struct fbp_hdf5_list *out);

/** Find the data set of a path in a list; NULL: not in the list. */
const struct fbp_hdf5_entry *fbp_hdf5_find(const struct fbp_hdf5_list *list, const char *path);

/** Find, among the numeric data sets whose path ends with `name`, such as "control/data", the one
 * whose path has the longest beginning in common with the path `to`; n > 0: only a list of n
 * numbers.  NULL: no such array. */
const struct fbp_hdf5_entry *fbp_hdf5_nearest(const struct fbp_hdf5_list *list, const char *name,
                                              const char *to, hsize_t n);

/** Fail with a message that the file has no data set `member`, with the most similar name and a
 * list of the file's arrays. member NULL: the file has no array, or several and none was chosen. */
fbp_status fbp_hdf5_missing(const char *file, const char *member, const struct fbp_hdf5_list *list);

/** Print a sentence that an object at a path in an HDF5 file cannot be opened, with advice, to
 * out[n]. link: text of fbp_hdf5_link(); why: text of fbp_hdf5_reason(). */
void fbp_hdf5_unread(const char *path, const char *link, const char *why, char *out, size_t n);

/** Print " (a link to raw.h5:/data)" to out[n] if the path is a link to that object, else "". */
void fbp_hdf5_link(hid_t file, const char *path, char *out, size_t n);

/** Read a numeric data set of any rank as n doubles; FBP_ERR_INVALID if it has more than `most`.
 * The caller frees *out. */
fbp_status fbp_hdf5_numbers(hid_t file, const char *name, const char *path, size_t most,
                            double **out, size_t *n);

/** Read the NeXus image_key of each image from the data set `path`: 0 projection, 1 flat, 2 dark.
 * If a data set "PATH_control" exists, it replaces the key of projections; there, -1 is an
 * alignment image. The caller frees *out. */
fbp_status fbp_hdf5_keys(hid_t file, const char *name, const char *path,
                         const struct fbp_hdf5_list *list, double **out, size_t *n);

/** Read a text attribute (fbp_hdf5_text_of()) or exactly n numbers (fbp_hdf5_numbers_of()); false
 * if the attribute is missing or of another type. attribute NULL: the object is a data set that
 * contains the text. */
bool fbp_hdf5_text_of(hid_t object, const char *attribute, char *out, size_t n);
bool fbp_hdf5_numbers_of(hid_t object, const char *attribute, double *out, size_t n);

/* ---- virtual data sets (hdf5_virtual.c) */

/**
 * Check that the source files of a virtual data set exist and are large enough, because the HDF5
 * library would read the fill value instead: FBP_ERR_INVALID if one is not. Other data sets have no
 * sources.
 *
 * files: names of the source files are appended, each with its '\0'
 * missing: [0] is increased by the number of unwritten chunks of the sources, [1] by the number of
 *          all their chunks
 */
fbp_status fbp_hdf5_check_virtual(hid_t data, const char *path, struct fbp_blob *files,
                                  size_t missing[2]);

/** Check the source files of a block (first sample, number of samples n per dimension; NULL: the
 * whole data set) of a virtual data set before it is read. *fits: the block has at most `most`
 * source files, and this process may open all of them at once, because the HDF5 library keeps them
 * open; if false, some files are unchecked. */
fbp_status fbp_hdf5_check_block(hid_t data, const char *path, const hsize_t *first,
                                const hsize_t *n, size_t most, bool *fits);

/** Set covered[z] to 1 for each slice z (first dimension) of a virtual data set with a source. */
void fbp_hdf5_covered(hid_t plist, unsigned char *covered, size_t n);

/** Add the number of chunks of a data set to *all, and that of unwritten ones to *missing. */
void fbp_hdf5_count_chunks(hid_t data, hid_t plist, size_t *missing, size_t *all);

/* data sets as sources (arrays to read): hdf5.c, hdf5_chunks.c */

enum fbp_hdf5_how {
    FBP_HDF5_CONTIGUOUS, /**< samples contiguous in the file from `offset` on */
    /** chunks that fbp reads without the HDF5 library: plain, deflated, shuffled */
    FBP_HDF5_CHUNKED,
    FBP_HDF5_LIBRARY, /**< blocks that only the HDF5 library can read */
    /** array of MATLAB, whose columns are contiguous: transposed into memory */
    FBP_HDF5_COLUMNS,
};

/** Position of a chunk in the file; bytes 0: never written, its samples have the fill value. */
struct fbp_hdf5_chunk {
    uint64_t at;
    uint32_t bytes;
    uint32_t left_out; /**< bit i: filter i was not applied */
};

/** Description of a data set by the HDF5 library. In the reply of describe() in hdf5.c, these
 * follow: the names of source files; if `selected`, map[n[2]], the indices of the selected slices
 * in the data set; the table of chunks. */
struct fbp_hdf5_array {
    enum fbp_hdf5_how how;
    /** properties except `format`; n[2]: number of selected slices (those with the requested
     * image_key) */
    struct fbp_array_info info;
    size_t n_slices; /**< number of all slices of the data set */
    uint64_t offset;
    /** columns, rows, slices of a chunk, or of a block that the HDF5 library reads at once */
    size_t chunk[3];
    int rank;
    bool sinogram; /**< two dimensions are [view][column] */
    bool selected, shuffle, deflate;
    /** value of samples that were never written, in the byte order of the file */
    unsigned char fill[8];
    size_t n_chunks; /**< number of entries in the table of chunks: all chunks, written or not */
    /** length of the names of source files that follow this struct in the reply [bytes] */
    size_t file_bytes;
    char file[1024]; /**< file that contains the data set, which may be the target of an external
                        link */
    char data_set[1024];
};

/** A block of a data set and a buffer for its samples: argument of fbp_hdf5_read_block(). */
struct fbp_hdf5_block {
    const char *path;
    const struct fbp_hdf5_array *array;
    size_t first[3], n[3]; /**< first sample and size of the block: columns, rows, slices */
    size_t room[3];        /**< size of the buffer `out`: columns, rows, slices */
    void *out;
};

/** Function for fbp_hdf5_contain(): reads a struct fbp_hdf5_block through the HDF5 library. */
fbp_sandbox_fn fbp_hdf5_read_block;

/** Meaning of dimension i of a data set: 0 columns, 1 rows, 2 slices. */
int fbp_hdf5_axis(const struct fbp_hdf5_array *a, int i);

/** Compute the number of chunks of a data set along each axis; returns the number of all chunks,
 * SIZE_MAX if it overflows. */
size_t fbp_hdf5_grid(const struct fbp_hdf5_array *a, size_t grid[3]);

/** Make `src` a source that reads chunks or blocks of an HDF5 data set. The function takes over
 * `map` and `chunks`, both malloc'ed. */
fbp_status fbp_hdf5_chunks_open(struct fbp_source *src, const struct fbp_hdf5_array *a,
                                uint64_t *map, struct fbp_hdf5_chunk *chunks);

#endif /* FBP_SRC_ARRAY_FORMAT_HDF5_H */
