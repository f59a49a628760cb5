/** @file hdf5_look.h  A data set that is looked at (internal). */
#ifndef FBP_SRC_HDF5_LOOK_H
#define FBP_SRC_HDF5_LOOK_H

#include "array/format/hdf5/hdf5.h"
#include "array/format/hdf5/hdf5_lib.h"

/** All that is open while a data set is looked at. */
struct fbp_hdf5_look {
    const struct fbp_hdf5_wanted *wanted;
    struct fbp_hdf5_list list;
    hid_t file, data, type, space, plist;
    char member[512];
    long key; /**< of image_key; -1: all slices */
    struct fbp_hdf5_array a;
    uint64_t *map;
    struct fbp_blob files; /**< of virtual sources */
    size_t missing[2];     /**< chunks that these lack, of so many */
};

/** How its samples lie and are read; chunks: their table, if this program reads them. */
fbp_status fbp_hdf5_look_layout(struct fbp_hdf5_look *l, struct fbp_hdf5_chunk **chunks);

#endif /* FBP_SRC_HDF5_LOOK_H */
