/** @file hdf5_draft.h  Files that the library drafts in memory, without samples (internal). */
#ifndef FBP_SRC_HDF5_DRAFT_H
#define FBP_SRC_HDF5_DRAFT_H

#include "array/file/split_files.h"
#include "array/format/hdf5/hdf5_lib.h"

#define FBP_HDF5_WRITTEN ".h5 .hdf5"
/** The data set of a piece. */
#define FBP_HDF5_PIECE "volume"

struct fbp_hdf5_draft {
    const char *path, *file, *data_set;
    int fd;          /**< of the draft */
    char sketch[40]; /**< its name, for the library */
    const struct fbp_array_info *info;
    struct fbp_split_files *pieces; /**< that hold the samples; NULL: they follow the header */
};

/** A draft of the output `path`, whose file is *data_path then, malloc'ed. */
fbp_status fbp_hdf5_draft_open(const char *path, const struct fbp_array_info *info,
                               char **data_path, struct fbp_hdf5_draft *out);
void fbp_hdf5_draft_close(struct fbp_hdf5_draft *draft);

/* --- in a child --- */

/** The header of a file whose samples follow it, behind what is in `reply`; *offset: its bytes. */
fbp_status fbp_hdf5_draft_header(const struct fbp_hdf5_draft *draft, struct fbp_blob *reply,
                                 size_t *offset);
/** The same of a file that joins its pieces, all of it. */
fbp_status fbp_hdf5_draft_whole(const struct fbp_hdf5_draft *draft, struct fbp_blob *reply);
/** The output replaces a whole file: FBP_ERR_INVALID if that holds other data sets. */
fbp_status fbp_hdf5_spare_others(const struct fbp_hdf5_draft *draft);

/** Slices of `pieces` become the samples of a data set of this shape, by its creation properties
 *  (hdf5_join.c). */
bool fbp_hdf5_join(hid_t how, hid_t space, const struct fbp_hdf5_draft *draft);

extern const struct fbp_split_format fbp_hdf5_split;

#endif /* FBP_SRC_HDF5_DRAFT_H */
