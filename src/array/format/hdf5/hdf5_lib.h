/** @file hdf5_lib.h  What is asked of the HDF5 library (internal).
 *
 * The library is entered through fbp_hdf5_contain() only: in child processes after
 * fbp_isolate_readers(true), else in this process, one call at a time.
 */
#ifndef FBP_SRC_HDF5_LIB_H
#define FBP_SRC_HDF5_LIB_H

#include "array/file/format.h"
#include "base/sandbox.h"

#include <hdf5.h>

#define FBP_HDF5_NAME "the HDF5 library"

/** Attributes of numbers that stand for values, named as netCDF and its CF conventions have them:
 *  value = scale_factor * number + add_offset. */
#define FBP_HDF5_SCALE  "scale_factor"
#define FBP_HDF5_OFFSET "add_offset"

enum { FBP_HDF5_RANK = 4, FBP_HDF5_PATH = 256 };

/** A data set of a file. */
struct fbp_hdf5_entry {
    char path[FBP_HDF5_PATH]; /**< "/exchange/data" */
    int rank;                 /**< may be above FBP_HDF5_RANK */
    hsize_t n[FBP_HDF5_RANK];
    bool numeric; /**< integers or floats */
    bool linked;  /**< by way of a soft or an external link */
    bool again;   /**< another name of one that is listed before */
};

/** All data sets: those of the file first, then those that links lead to. */
struct fbp_hdf5_list {
    struct fbp_hdf5_entry *entries;
    size_t n, room;
    char unread[600]; /**< "/a (a link to b.h5:/a) cannot be opened, the library says …"; "" */
};

/** What opening and looking may take. */
extern const struct fbp_child_limits fbp_hdf5_limits;

/**
 * fbp_contain() for functions that enter the library.
 *
 * @return FBP_ERR_NOMEM, too, if the library had no memory for something, whatever fn made of that:
 *         what is not found then may be there
 */
fbp_status fbp_hdf5_contain(const char *path, const struct fbp_child_limits *limits,
                            fbp_contained_fn *fn, void *arg, struct fbp_blob *reply);

/** A file could not be written: the library crashes if such a file is closed again, so that this call
 *  leaves its objects open. */
void fbp_hdf5_leave_open(void);

/** Not all file systems have locks; files are only read, or drafts that no other process knows. */
void fbp_hdf5_no_locks(hid_t access);

/** Open a file for reading without locks; negative on failure.  Close with H5Fclose(). */
hid_t fbp_hdf5_open_file(const char *file);

/** Open for reading; name: for messages.  Close with H5Fclose(). */
fbp_status fbp_hdf5_open(const char *file, const char *name, hid_t *out);

/** Access to objects and data sets that fails for an external link to what is no regular file. */
hid_t fbp_hdf5_access(void);

/** The library's own reason for its last failure, or "" */
const char *fbp_hdf5_reason(char *buf, size_t n);

/** Did a call of the system's fail, whatever the library made of it? */
bool fbp_hdf5_system_failed(void);

/** How samples are written, little-endian, which is how they are in memory, too. */
hid_t fbp_hdf5_type(enum fbp_type type);

/** Integers, floats, and enumerations of integers. */
bool fbp_hdf5_is_numeric(hid_t type);

fbp_status fbp_hdf5_list(hid_t file, const char *name, struct fbp_hdf5_list *out);

/** Why a path cannot be opened, and what to do.  link: what fbp_hdf5_link() says of it; why:
 *  fbp_hdf5_reason(). */
void fbp_hdf5_unread(const char *path, const char *link, const char *why, char *out, size_t n);

/** " (a link to raw.h5:/data)" if the path is a soft or external link, else "" */
void fbp_hdf5_link(hid_t file, const char *path, char *out, size_t n);

/** The data set of a path, as the list has it; NULL. */
const struct fbp_hdf5_entry *fbp_hdf5_find(const struct fbp_hdf5_list *list, const char *path);

/** "FILE: has no data set X: did you mean Y?  It has A (181 x 2 x 640), B …" */
fbp_status fbp_hdf5_missing(const char *file, const char *member, const struct fbp_hdf5_list *list);

/** A numeric data set of any shape as n doubles; at most `most`.  free() them. */
fbp_status fbp_hdf5_numbers(hid_t file, const char *name, const char *path, size_t most,
                            double **out, size_t *n);

/** image_key of each frame, at `path`: 0 projections, 1 flats, 2 darks.  Frames that image_key has
 *  as projections and image_key_control, beside it, has not have the key of that: -1 of the frames
 *  that alignment is seen from.  free() them. */
fbp_status fbp_hdf5_keys(hid_t file, const char *name, const char *path,
                         const struct fbp_hdf5_list *list, double **out, size_t *n);

/** Of a virtual data set: are all files there that its samples are in?  FBP_ERR_INVALID if not; the
 *  library would read the fill value.
 *
 *  files: the names of these files are appended, each with its '\0'
 *  missing: chunks of its sources that were never written, and all of them, are added */
fbp_status fbp_hdf5_check_virtual(hid_t data, const char *path, struct fbp_blob *files,
                                  size_t missing[2]);

/** 1 a slice (of the first dimension) of a virtual data set that has a source. */
void fbp_hdf5_covered(hid_t plist, unsigned char *covered, size_t n);

/** Add to *all the chunks of a data set, and to *missing those that were never written. */
void fbp_hdf5_count_chunks(hid_t data, hid_t plist, size_t *missing, size_t *all);

/** The same before a block is read, for which the library holds all of these files open: *fits:
 *  they are not more than `most`, and so many can be open (else some may not have been looked at).
 */
fbp_status fbp_hdf5_check_block(hid_t data, const char *path, const hsize_t *first,
                                const hsize_t *n, size_t most, bool *fits);

/** Attributes; false if absent or of another kind.  Text: attribute NULL is the data set itself.
 *  Numbers: exactly n of them. */
bool fbp_hdf5_text_of(hid_t object, const char *attribute, char *out, size_t n);
bool fbp_hdf5_numbers_of(hid_t object, const char *attribute, double *out, size_t n);

#endif /* FBP_SRC_HDF5_LIB_H */
