/** @file split_files.h  An array as several files, of a run of slices each, which one more joins
 * (internal).
 */
#ifndef FBP_SRC_SPLIT_FILES_H
#define FBP_SRC_SPLIT_FILES_H

#include "fbp/array.h"

#include "base/status.h"

#include <stdint.h>

/** Slices [z0, z0 + nz) in a file of their own. */
struct fbp_split_file {
    size_t z0, nz;
    char name[80]; /**< in the folder: "slices_0000-0063.h5" */
    /** What stands before its samples, as far as it is not zero; malloc'ed. */
    char *header;
    size_t header_bytes;
};

struct fbp_split_files {
    char *folder; /**< beside the file that joins them, without other folders; malloc'ed */
    struct fbp_split_file *file;
    size_t n_files;
    size_t offset; /**< of the samples in each */
};

struct fbp_layout;

/** How such files are written. */
struct fbp_split_format {
    const char *extension; /**< of a piece: ".h5" */
    /** The file that joins them as the header of `out`, which it is all of; headers of the pieces,
     *  and their offset.  path: as of fbp_sink_format.layout. */
    fbp_status (*layout)(const char *path, const struct fbp_array_info *info,
                         struct fbp_split_files *pieces, struct fbp_layout *out);
};

#endif /* FBP_SRC_SPLIT_FILES_H */
