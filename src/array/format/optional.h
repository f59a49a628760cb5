/** @file optional.h  Formats that need a library, which a build may lack (internal). */
#ifndef FBP_SRC_OPTIONAL_H
#define FBP_SRC_OPTIONAL_H

#include "array/file/format.h"

/** Extensions that are read, and those that are written. */
#define FBP_HDF5_READ    ".h5 .hdf5 .nxs .nx .hdf"
#define FBP_HDF5_WRITTEN ".h5 .hdf5"
#define FBP_TIFF_NAMES   ".tif .tiff"

/** Does a file start like HDF5, perhaps behind a user block? */
bool fbp_hdf5_detect(const char *path, const unsigned char *head, size_t n);

/** Does a file start like TIFF or BigTIFF? */
bool fbp_tiff_detect(const char *path, const unsigned char *head, size_t n);

/** "PATH: HDF5 files are not supported by this build …": FBP_ERR_UNSUPPORTED.
 *
 * files    what is not supported: "HDF5 files"
 * package  Debian's name of the library
 * option   of the build: "FBP_HDF5" */
fbp_status fbp_no_library(const char *path, const char *files, const char *package,
                          const char *option);

#endif /* FBP_SRC_OPTIONAL_H */
