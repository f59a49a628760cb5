/** @file zarr.h  OME-Zarr: an image as a folder of chunks, a file each (internal).
 * https://ngff.openmicroscopy.org/0.4, https://zarr-specs.readthedocs.io/en/latest/v2/v2.0.html
 */
#ifndef FBP_SRC_ZARR_H
#define FBP_SRC_ZARR_H

#include "array/file/format.h"

extern const struct fbp_chunk_format fbp_zarr_chunks;

/** The layout of a fbp_sink_format. */
fbp_status fbp_zarr_layout(const char *path, const struct fbp_array_info *info,
                           uint64_t compressed_bytes, struct fbp_layout *out);

/** The beginning of a .zarray as fbp writes it. */
#define FBP_ZARR_BEGIN "{\n  \"zarr_format\": 2,\n  \"shape\": ["

/** What .zarray says beside size and type. */
struct fbp_zarr_array {
    int n_dims;      /**< 2 or more; those before the last three have one sample */
    size_t chunk[3]; /**< x, y, z */
    bool compressed; /**< by zlib or gzip */
    bool foreign;    /**< bytes of the other order */
    char separator;  /**< between numbers in the name of a chunk */
    bool ours;       /**< written by fbp, which omits no chunk */
    unsigned char fill[8];
};

/** Is this folder an array or an image? */
bool fbp_zarr_is_folder(const char *path);

/** The `open` of the format. */
fbp_status fbp_zarr_open(fbp_source *src);

/** Of src->file, an array or an image: src->info, and *folder, malloc'ed: that of the array, of an
 *  image its largest. */
fbp_status fbp_zarr_describe(fbp_source *src, struct fbp_zarr_array *out, char **folder);

#endif /* FBP_SRC_ZARR_H */
